// SPDX-License-Identifier: Apache-2.0
// Who reads some rows, and what a filter of them asks; for filter_pushdown.cpp and
// filter_pushdown_concat.cpp.
#pragma once
#include "headrace/plan/optimize/input_fusion.h"

#include <span>
#include <unordered_set>
#include <vector>

namespace hr {

/// Columns of the same rows, and who reads them: expressions over their rows, and picks of these by
/// one mask.
class FilterReaders {
 public:
  /// `columns`: nodes of the plan.
  FilterReaders(std::span<const NodePtr> columns, const PlanNodes& nodes);

  /// Whether all consumers are filters, and there is one.
  explicit operator bool() const { return fits_; }

  bool is_column(const NodePtr& node) const { return columns_.contains(node.get()); }

  /// Whether the node is a column or an expression over these.
  bool contains(const NodePtr& node) const { return inside_.contains(node.get()); }

  const NodePtr& mask() const { return mask_; }

  const std::vector<NodePtr>& picks() const { return picks_; }

 private:
  void add(const NodePtr& node);
  bool is_read(const Node* node) const;

  const PlanNodes& nodes_;
  std::unordered_set<const Node*> columns_{};
  std::unordered_set<const Node*> inside_{};
  std::vector<NodePtr> picks_{};
  std::unordered_set<const Node*> pick_set_{};
  NodePtr mask_{};
  bool fits_ = true;
};

/// What has to be true for a mask to be true.
class Conditions {
 public:
  explicit Conditions(const FilterReaders& readers);

  const std::vector<NodePtr>& all() const { return all_; }

  /// Whether the node is an expression over the rows of the columns.
  bool contains(const NodePtr& node) const {
    return readers_.contains(node) || made_.contains(node.get());
  }

  /// The columns that a condition reads.
  std::vector<NodePtr> columns_of(const NodePtr& condition) const;
  /// Whether it cannot be true where all of its columns are null.
  bool needs_values(const NodePtr& condition) const;

 private:
  const FilterReaders& readers_;
  std::vector<NodePtr> all_{};
  std::unordered_set<const Node*> made_{};  // those that are no nodes of the plan
};

/// Both conditions; `a` may be null.
NodePtr both_of(const NodePtr& a, const NodePtr& b);

/// The rows of a node that a mask picks before operator `op`, in a domain of their own.
NodePtr picked_before(const NodePtr& rows, const NodePtr& mask, uint64_t domain,
                      const std::string& op, Tag tag);

/// Makes a pick give `rows`, of which a mask (null: none) picks again.
void replace_pick(const NodePtr& pick, const NodePtr& rows, const NodePtr& mask);

}  // namespace hr
