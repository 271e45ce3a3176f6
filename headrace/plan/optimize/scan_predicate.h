// SPDX-License-Identifier: Apache-2.0
// A test of rows that are not there yet: what a table that is read asks before it keeps them.
#pragma once
#include "headrace/data/column.h"
#include "headrace/plan/graph/node.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hr {

struct ColumnBounds;

/// An expression over columns of one table, by their places.
class HR_API RowPredicate {
 public:
  /// `test`: over parts of `table`; `is_inside`: which nodes follow row by row from these.
  static std::shared_ptr<const RowPredicate> of(
      const NodePtr& test, const NodePtr& table,
      const std::function<bool(const NodePtr&)>& is_inside);

  /// Places of the columns that it reads.
  const std::vector<int64_t>& columns() const { return columns_; }

  /// What it reads in addition to them, which has to be computed first.
  const std::vector<NodePtr>& others() const { return others_; }

  const std::string& text() const { return text_; }

 private:
  friend Column evaluate_predicates(std::span<const std::shared_ptr<const RowPredicate>> predicates,
                                    const std::function<Column(int64_t)>& column,
                                    std::span<const Value> others);
  friend std::vector<bool> prune_row_groups(
      std::span<const std::shared_ptr<const RowPredicate>> predicates, const Column& rows,
      const std::function<ColumnBounds(int64_t)>& bounds, std::span<const Value> others);
  friend bool may_have_members(std::span<const std::shared_ptr<const RowPredicate>> predicates,
                               std::span<const Value> others,
                               const std::function<bool(int64_t, const Column&)>& may_have);

  NodePtr test_{};  // over nodes that only stand for something
  std::vector<NodePtr> columns_in_{};
  std::vector<NodePtr> others_in_{};
  std::vector<int64_t> columns_{};
  std::vector<NodePtr> others_{};
  std::string text_{};
};

using RowPredicates = std::vector<std::shared_ptr<const RowPredicate>>;

/// The predicates for explain(), " where (a > 5) and (b < 3)".
HR_API std::string where_text(const RowPredicates& predicates);
/// What they read in addition to columns, one after the other: inputs of the table that is read.
HR_API std::vector<NodePtr> inputs_of(const RowPredicates& predicates);
HR_API RowPredicates both_of(RowPredicates some, const RowPredicates& more);

/// The estimated number of `rows` that pass a number of conditions: a third passes each.
HR_API int64_t guess_passing(int64_t rows, size_t conditions);

/// Whether all predicates, at least one, are true: a bool a row, which may be null. `column`: by
/// place; `others`: those of the predicates, one after the other. For an operator that runs.
HR_API Column evaluate_predicates(std::span<const std::shared_ptr<const RowPredicate>> predicates,
                                  const std::function<Column(int64_t)>& column,
                                  std::span<const Value> others);

}  // namespace hr
