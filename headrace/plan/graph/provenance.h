// SPDX-License-Identifier: Apache-2.0
// Where values come from, and their tags. Both follow the values through operators.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Columns that a call read or drew, or a tag. Two of equal words are one, and it goes with the
/// last node that holds it.
struct ValueSource {
  bool is_tag = false;
  std::string words{};                 ///< what the caller says of it
  std::vector<std::string> columns{};  ///< their names; for a tag that of the column it was set on
  uint64_t first = 0;                  ///< the number of its first column; no others have it
};

using ValueSourcePtr = std::shared_ptr<const ValueSource>;

/// One column of a source, or a tag.
struct Mark {
  ValueSourcePtr source{};
  uint64_t column = 0;

  const std::string& name() const { return source->columns[column]; }
};

/// A set of marks. A larger set shares the memory of those it was made of, and what adds no mark
/// makes no new set: a loop that adds columns holds each of its marks once. Null: no marks.
class MarkNode;
using Marks = std::shared_ptr<const MarkNode>;

HR_API ValueSourcePtr value_source(std::string words, std::vector<std::string> columns);
HR_API ValueSourcePtr tag_source(std::string word, std::string column);

/// The number of sources and tags that some node holds.
HR_API size_t count_value_sources();

/// The marks of the values that a node's are made of, in order of their numbers. A filter, a sort
/// or a join adds no marks of its mask or keys to other columns; a column of a table that declares
/// no inputs of its own, such as a count, has those of all inputs that every column needs. They
/// stay when the node has run.
HR_API std::vector<Mark> marks_of(const NodePtr& node);

/// The same values, those of `column`, with these tags too; `node` stays as it is.
HR_API NodePtr add_tags(const NodePtr& node, std::string_view column,
                        std::span<const std::string> tags);
/// The same values without these tags.
HR_API NodePtr remove_tags(const NodePtr& node, std::span<const std::string> tags);

/// Gives values that were made at once the marks of what they were made of.
HR_API void share_marks(const NodePtr& made, std::span<const NodePtr> from);

/// `made`, whose values are those of `from`, with the marks of `from`: another node where its own
/// differ. For plans that are remade.
NodePtr keep_marks(const NodePtr& made, const NodePtr& from);

/// Says what was just read, column by column, that no other node uses yet; `plan_of_sources` ends
/// at them. With `mark`, values have the first mark of that source instead of their own: draws of
/// one generator.
HR_API void mark_sources(std::span<const NodePtr> nodes, const ValueSourcePtr& source,
                         const ValueSourcePtr& mark = nullptr);

/// The tags whose values may not leave the process; none allows all.
HR_API void deny_tags(std::vector<std::string> tags);
HR_API std::vector<std::string> denied_tags();
/// The tags of a node that are denied; costs one load where none is denied.
HR_API std::vector<Mark> denied_tags_of(const Node& node);
/// Throws InvalidArgumentError, naming a tag and its column, for values that may not leave.
HR_API void check_export(const Node& node);

/// For `make_node`: the marks of inputs, as far as values come from them.
void note_marks(Node::Fields& fields);

}  // namespace hr
