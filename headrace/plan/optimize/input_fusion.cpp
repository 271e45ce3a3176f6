// SPDX-License-Identifier: Apache-2.0
// Which inputs of a step are computed while it reads them.
#include "headrace/plan/optimize/input_fusion.h"

#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <set>

namespace hr {

namespace {

bool is_value(const NodePtr& node) {
  return node->signature().dtype.is_number();
}

class Finder {
 public:
  Finder(const PlanNodes& nodes, size_t index)
      : nodes_(nodes),
        table_(*nodes.order()[index]),
        fields_(nodes.order()[index]->fields()),
        op_(fields_.table()) {
    nodes.for_each_input(table_, [&](const NodePtr& node) { needed_.insert(node.get()); });
    for (const int64_t place : op_.fused_keys) {
      keys_.insert(input(place).get());
      if (const NodePtr pick = picked_of(input(place))) key_picks_.insert(pick.get());
    }
    std::vector<bool> is_other(fields_.inputs.size(), true);
    for (const std::vector<int64_t>* places : {&op_.fused_keys, &op_.fused_values})
      for (const int64_t place : *places) is_other[static_cast<size_t>(place)] = false;
    for (size_t i = 0; i < is_other.size(); ++i)
      if (is_other[i]) others_.insert(fields_.inputs[i].get());
  }

  // Rows that `mask` picks; null: chains over all rows.
  std::shared_ptr<const RowPass> find(const NodePtr& mask) {
    auto pass = std::make_shared<RowPass>();
    pass->mask = mask;
    rows_ = mask ? mask : input(op_.fused_keys[0]);
    std::set<size_t> places, inside;
    const auto look_at_inputs = [&](const Node& node) {
      nodes_.for_each_input(node, [&](const NodePtr& input) {
        if (!input->is_ready()) places.insert(nodes_.place(input.get()));
      });
    };
    look_at_inputs(table_);
    while (!places.empty()) {  // users before inputs
      const size_t place = *places.rbegin();
      places.erase(place);
      const NodePtr& node = nodes_.order()[place];
      if (!may_be_inside(node, *pass)) continue;
      pass->inside.insert(node.get());
      inside.insert(place);
      look_at_inputs(*node);
    }
    if (inside.empty() || !reads_fit(*pass, inside)) return nullptr;
    return pass;
  }

  /// The mask that picks all keys; null: none does.
  NodePtr mask_of_keys() const {
    NodePtr mask;
    for (const int64_t place : op_.fused_keys) {
      const NodePtr pick = picked_of(input(place));
      if (!pick) return nullptr;
      const NodePtr& own = pick->fields().inputs[1];
      if (mask && own != mask) return nullptr;
      mask = own;
    }
    return mask;
  }

 private:
  const NodePtr& input(int64_t place) const { return fields_.inputs[static_cast<size_t>(place)]; }

  bool has_rows(const NodePtr& node) const {
    return node->signature().same_rows(rows_->signature());
  }

  bool may_be_inside(const NodePtr& node, const RowPass& pass) const {
    const Node::Fields& fields = node->fields();
    if (node == pass.mask) return false;
    const auto picks = [&](const NodePtr& each) {
      return pass.mask && !each->is_ready() && each->fields().lineage() == RowLineage::kFiltered &&
             each->fields().inputs[1] == pass.mask;
    };
    const bool is_picked =
        pass.mask && node->signature().same_rows(input(op_.fused_keys[0])->signature());
    const bool is_pick = picks(node) || (fields.lineage() == RowLineage::kSame &&
                                         (is_picked || picks(fields.inputs[0])));
    const bool is_chain = fields.kind() == NodeKind::kElementwise &&
                          fields.chain_length < kLongestChain && (is_picked || has_rows(node));
    if ((!is_pick && !is_chain) || nodes_.is_root(node.get()) || others_.contains(node.get()))
      return false;
    const bool is_key = keys_.contains(node.get());
    if (is_key && !is_pick) return false;
    const std::span<const Node* const> users = nodes_.users(node.get());
    return std::all_of(users.begin(), users.end(), [&](const Node* user) {
      // What keys are picked of is read as it is.
      return user == &table_ || (pass.inside.contains(user) && !key_picks_.contains(user));
    });
  }

  bool is_key_pick(const NodePtr& node) const { return key_picks_.contains(node.get()); }

  // Notes what is read from memory by what stands at places `inside`, and by the table; false where
  // some of it has other rows.
  bool reads_fit(RowPass& pass, const std::set<size_t>& inside) const {
    std::unordered_set<const Node*> seen;
    const auto leaf = [&](const NodePtr& node) {
      if (seen.insert(node.get()).second) pass.leaves.push_back(node);
    };
    for (const size_t place : inside) {
      const NodePtr& node = nodes_.order()[place];
      const Node::Fields& fields = node->fields();
      for (const NodePtr& each : fields.inputs) {
        if (pass.inside.contains(each.get()) || each == pass.mask) continue;
        if (!each->signature().is_scalar() &&
            !(has_rows(each) && (is_key_pick(node) || is_value(each))))
          return false;
        leaf(each);
      }
    }
    for (const std::vector<int64_t>* places : {&op_.fused_keys, &op_.fused_values})
      for (const int64_t place : *places) {
        const NodePtr& node = input(place);
        if (!needed_.contains(node.get())) continue;
        const bool is_key = places == &op_.fused_keys;
        if (pass.mask && !pass.inside.contains(node.get())) return false;
        if (!is_key && !is_value(node)) return false;
        if (!pass.inside.contains(node.get())) leaf(node);
        if (!is_key) pass.values.push_back(place);
      }
    if (pass.mask) leaf(pass.mask);
    return true;
  }

  const PlanNodes& nodes_;
  const Node& table_;
  const Node::Fields& fields_;
  const TableOperator& op_;
  std::unordered_set<const Node*> needed_{};
  std::unordered_set<const Node*> keys_{};       // inputs of the table
  std::unordered_set<const Node*> key_picks_{};  // what picks their rows
  std::unordered_set<const Node*> others_{};
  NodePtr rows_{};  // that have the rows of the pass
};

}  // namespace

NodePtr picked_of(const NodePtr& node) {
  NodePtr pick = node;
  while (!pick->is_ready() && pick->fields().lineage() == RowLineage::kSame)
    pick = NodePtr(pick->fields().inputs[0]);
  return !pick->is_ready() && pick->fields().lineage() == RowLineage::kFiltered ? pick : nullptr;
}

std::shared_ptr<const RowPass> find_row_pass(const PlanNodes& nodes, size_t index) {
  if (!nodes.order()[index]->fields().table().is_fusable()) return nullptr;
  Finder finder(nodes, index);
  if (const NodePtr mask = finder.mask_of_keys())
    if (auto pass = finder.find(mask)) return pass;
  return finder.find(nullptr);
}

std::unordered_map<const Node*, NodePtr> find_picks(const PlanNodes& nodes,
                                                    const std::unordered_set<const Node*>& others) {
  std::unordered_map<const Node*, NodePtr> picks;
  std::unordered_map<uint64_t, const Node*> masks;  // by domain
  const auto has_rows = [](const NodePtr& node) {
    return is_value(node) && node->signature().shape.size() == 1;
  };
  // Once the number of rows is known, a pass may run over those of several masks.
  const auto is_counted = [](const NodePtr& node) { return node->signature().rows() != kUnknown; };
  for (size_t i = nodes.order().size(); i-- > 0;) {  // users before inputs
    const NodePtr& node = nodes.order()[i];
    if (node->is_ready() || others.contains(node.get()) || nodes.is_root(node.get())) continue;
    const NodePtr pick = picked_of(node);
    const uint64_t domain = node->signature().domain;
    if (!pick || domain == 0 || is_counted(node) || !has_rows(node) ||
        !has_rows(pick->fields().inputs[0]))
      continue;
    const std::span<const Node* const> users = nodes.users(node.get());
    const bool in_passes = std::all_of(users.begin(), users.end(), [&](const Node* user) {
      if (picks.contains(user) || user->kind() == NodeKind::kReduction) return true;
      return user->kind() == NodeKind::kElementwise &&
             user->signature().same_rows(node->signature());
    });
    const Node* mask = pick->fields().inputs[1].get();
    if (in_passes && masks.try_emplace(domain, mask).first->second == mask)
      picks.emplace(node.get(), pick);
  }
  return picks;
}

namespace {

// Whether a table's own rows, or a join's, could flow on the host.
bool may_flow(const NodePtr& node) {
  return node->signature().form == Form::kColumn && node->fields().place.is_host();
}

bool takes_late(const Node& table, const Node* input) {
  const Node::Fields& fields = table.fields();
  for (size_t i = 0; i < fields.inputs.size(); ++i) {
    if (!may_flow(fields.inputs[i])) return false;
    if (fields.inputs[i].get() == input && !fields.table().takes_late(static_cast<int64_t>(i)))
      return false;
  }
  return true;
}

// Whether a table repeats the column of one of its inputs in this one.
bool is_repeated(const Node::Fields& part) {
  const Node::Fields& table = part.inputs[0]->fields();
  if (!std::ranges::all_of(table.inputs, may_flow)) return false;
  return std::ranges::any_of(table.table().sources, [&](const RowSource& source) {
    const int64_t place = source.columns[static_cast<size_t>(part.part())];
    return place >= 0 && table.table().takes_late(place);
  });
}

}  // namespace

std::unordered_set<const Node*> find_late(const PlanNodes& nodes) {
  std::unordered_set<const Node*> late;
  for (size_t i = nodes.order().size(); i-- > 0;) {  // users before inputs
    const NodePtr& node = nodes.order()[i];
    if (node->is_ready() || nodes.is_root(node.get()) || !may_flow(node)) continue;
    const Node::Fields& fields = node->fields();
    const bool is_part = fields.kind() == NodeKind::kPart && !fields.inputs[0]->is_ready();
    const bool flows = fields.lineage() == RowLineage::kSame
                           ? !fields.inputs[0]->is_ready() && may_flow(fields.inputs[0])
                       : fields.lineage() == RowLineage::kFiltered
                           ? may_flow(fields.inputs[0]) && may_flow(fields.inputs[1])
                           : is_part && is_repeated(fields);
    const std::span<const Node* const> users = nodes.users(node.get());
    if (flows && !users.empty() && std::ranges::all_of(users, [&](const Node* user) {
          return user->kind() == NodeKind::kTable
                     ? takes_late(*user, node.get())
                     : user->fields().lineage() == RowLineage::kSame && late.contains(user);
        }))
      late.insert(node.get());
  }
  // Other domains of what is made after all.
  for (const NodePtr& node : nodes.order())
    if (!node->is_ready() && node->fields().lineage() == RowLineage::kSame &&
        !late.contains(node->fields().inputs[0].get()))
      late.erase(node.get());
  return late;
}

std::vector<NodePtr> late_sources(const NodePtr& node) {
  if (node->is_ready() || node->kind() == NodeKind::kPart) return {node};
  const std::vector<NodePtr>& inputs = node->fields().inputs;
  return node->fields().lineage() == RowLineage::kFiltered ? inputs : late_sources(inputs[0]);
}

}  // namespace hr
