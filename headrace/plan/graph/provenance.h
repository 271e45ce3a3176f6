// SPDX-License-Identifier: Apache-2.0
// Marks of columns: where their values come from and what was said of them. They follow the values.
#pragma once
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hr {

/// Marks in ascending order; null: none. What a mark means is the caller's.
using Marks = std::shared_ptr<const std::vector<uint32_t>>;

/// The marks of the values that a node's are made of. A filter, a sort or a join adds no marks of
/// its mask or keys to other columns; a column of a table that declares no inputs of its own, such
/// as a count, has those of all inputs that every column needs. They stay when the node has run.
HR_API std::vector<uint32_t> marks_of(const NodePtr& node);

/// The same values with these marks in the place of its own; `node` stays as it is.
HR_API NodePtr with_marks(const NodePtr& node, std::vector<uint32_t> marks);

/// Marks the columns of something that was just read and that no other node uses yet: mark
/// `first + k` for the k-th. `plan_to_bytes_of_sources` ends at them.
HR_API void mark_sources(std::span<const NodePtr> nodes, uint32_t first);

/// For `make_node`: the marks of inputs, as far as values come from them.
void note_marks(Node::Fields& fields);

}  // namespace hr
