// SPDX-License-Identifier: Apache-2.0
// The nodes that a plan has to run, and who reads them.
#pragma once
#include "headrace/plan/graph/node_fields.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hr {

/// Nodes and inputs that planning has visited so far. Passes that only make a plan better end
/// when they have visited many times its size; tests hold the count against that size.
HR_API int64_t planning_visits();
void count_visits(int64_t count);

/// The plan whose passes make nodes now, on this thread; 0: none.
uint64_t current_plan();
/// Sets it and gives what it was.
uint64_t set_current_plan(uint64_t plan);

/// What has to run for some roots. Inputs that only unneeded columns of a table read are left out.
class PlanNodes {
 public:
  PlanNodes() = default;
  /// `plan`: whose own copies of nodes are taken as they are; others are looked up in the form that
  /// an earlier plan left them in.
  PlanNodes(std::span<const NodePtr> roots, uint64_t plan);

  /// What stands for a node of another plan: the value that is there, or what the user holds.
  static NodePtr standing_for(const NodePtr& node, uint64_t plan);
  /// The operator and inputs that a node of another plan is run with.
  static const Node::Fields& form_of(const Node& node, uint64_t plan);

  /// Inputs before users.
  const std::vector<NodePtr>& order() const { return order_; }

  /// Where a node stands in `order`; its size for others.
  size_t place(const Node* node) const;

  bool is_root(const Node* node) const { return roots_.contains(node); }

  /// Who reads a node, in order; one that reads it twice is there twice.
  std::span<const Node* const> users(const Node* node) const;

  /// The inputs that a node reads.
  std::vector<NodePtr> inputs(const Node& node) const;
  template <class F>
  void for_each_input(const Node& node, F&& visit) const {
    const std::vector<NodePtr>& all = form_of(node, plan_).inputs;
    count_visits(1 + static_cast<int64_t>(all.size()));
    const std::vector<bool>* const needed = needs_of(node);
    for (size_t i = 0; i < all.size(); ++i)
      if (!needed || (*needed)[i]) visit_standing(all[i], plan_, visit);
  }

  /// Calls `visit` with what stands for a node; most stand for themselves, at no cost.
  template <class F>
  static void visit_standing(const NodePtr& node, uint64_t plan, F&& visit) {
    if (node->is_ready() || node->fields().plan == plan)
      visit(node);
    else
      visit(standing_for(node, plan));
  }

 private:
  static constexpr size_t kNoPlace = static_cast<size_t>(-1);

  struct Known {
    size_t place = kNoPlace;  // in `order_`
    size_t first_user = 0;    // in `users_`
    size_t num_users = 0;
  };

  void order_nodes(std::span<const NodePtr> roots);
  void find_users();

  // Which inputs a table reads; null: all.
  const std::vector<bool>* needs_of(const Node& node) const {
    if (node.kind() != NodeKind::kTable) return nullptr;
    const auto found = needs_.find(&node);
    return found == needs_.end() ? nullptr : &found->second;
  }

  uint64_t plan_ = 0;
  std::unordered_map<const Node*, std::vector<bool>> needs_{};  // of tables, by input
  std::vector<NodePtr> order_{};
  std::unordered_map<const Node*, Known> known_{};  // these nodes, and what they read
  std::vector<const Node*> users_{};
  std::unordered_set<const Node*> roots_{};
};

/// What a table, the first node, reads to make some of its columns, the others.
std::vector<NodePtr> inputs_of_columns(std::span<const NodePtr> table_and_columns);

}  // namespace hr
