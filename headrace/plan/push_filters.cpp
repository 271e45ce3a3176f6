// SPDX-License-Identifier: Apache-2.0
// Filters moved before the tables whose rows they pick.
#include "headrace/plan/push_filters.h"

#include "headrace/plan/clone_rows.h"
#include "headrace/plan/node_fields.h"
#include "headrace/plan/row_predicate.h"

#include <algorithm>
#include <optional>

namespace hr {

namespace {

constexpr size_t kMostNodes = 2000;  // bounds the recursion and the time

/// Who reads a table: expressions over its rows, and picks of these by one mask.
class Readers {
 public:
  Readers(std::span<const NodePtr> order, size_t index, const NodeUsers& users,
          const std::unordered_set<const Node*>& roots)
      : table_(order[index]), users_(users), roots_(roots) {
    for (size_t i = index + 1; i < order.size() && fits_; ++i) add(order[i]);
    fits_ = fits_ && mask && inside.size() < kMostNodes && !is_read(table_.get()) &&
            std::none_of(
                inside.begin(), inside.end(), [this](const Node* node) { return is_read(node); });
  }

  /// Whether there is nobody else.
  explicit operator bool() const { return fits_; }

  bool contains(const NodePtr& node) const { return inside.contains(node.get()); }

  bool is_part(const NodePtr& node) const {
    return contains(node) && node->fields().kind == NodeKind::kPart;
  }

  std::unordered_set<const Node*> inside{};
  std::vector<NodePtr> picks{};
  NodePtr mask{};

 private:
  void add(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    const auto& inputs = fields.inputs;
    const auto in = [this](const NodePtr& each) { return contains(each); };
    if (fields.kind == NodeKind::kPart) {
      if (inputs[0] == table_) inside.insert(node.get());
      return;
    }
    if (fields.kind == NodeKind::kTable || std::none_of(inputs.begin(), inputs.end(), in)) return;
    if (fields.picks) {
      if (!in(inputs[0]) || !in(inputs[1]) || (mask && mask != inputs[1])) {
        fits_ = false;
        return;
      }
      mask = inputs[1];
      picks.push_back(node);
      return;
    }
    const size_t rows = row_inputs(*node);
    fits_ = is_row_by_row(*node);
    for (size_t i = 0; i < inputs.size() && fits_; ++i) {
      const bool by_row = i < rows || (fields.masked && i + 1 == inputs.size());
      fits_ = by_row ? in(inputs[i]) || inputs[i]->signature().is_scalar() : !in(inputs[i]);
    }
    inside.insert(node.get());
  }

  // Whether somebody else reads the node.
  bool is_read(const Node* node) const {
    if (roots_.contains(node)) return true;
    const auto found = users_.find(node);
    if (found == users_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [this](const Node* user) {
      return !inside.contains(user) &&
             std::none_of(picks.begin(), picks.end(),
                          [user](const NodePtr& pick) { return pick.get() == user; });
    });
  }

  NodePtr table_;
  const NodeUsers& users_;
  const std::unordered_set<const Node*>& roots_;
  bool fits_ = true;
};

// Whether two conditions on rows have to be true.
bool is_and(const Node::Fields& fields) {
  return fields.kind == NodeKind::kElementwise &&
         (fields.operation == Op::kLogicalAnd || fields.operation == Op::kBitwiseAnd) &&
         std::all_of(fields.inputs.begin(), fields.inputs.end(), [](const NodePtr& input) {
           return input->signature().dtype.is_bool() && !input->signature().is_scalar();
         });
}

/// What has to be true for a mask to be true.
struct Conditions {
  std::vector<NodePtr> all{};
  std::unordered_set<const Node*> made{};  // those that are no nodes of the plan

  explicit Conditions(const NodePtr& mask) {
    std::vector<NodePtr> stack{mask};
    while (!stack.empty()) {
      const NodePtr node = stack.back();
      stack.pop_back();
      const Node::Fields& fields = node->fields();
      if (node->is_ready()) {
        all.push_back(node);
      } else if (is_and(fields)) {
        stack.push_back(fields.inputs[1]);
        stack.push_back(fields.inputs[0]);
      } else if (fields.renames) {
        stack.push_back(fields.inputs[0]);
      } else if (fields.masked) {
        std::vector<NodePtr> inputs(fields.inputs.begin(), fields.inputs.end() - 1);
        all.push_back(test_node(fields.op, fields.detail, fields.signature, std::move(inputs),
                                fields.test, fields.traits));
        all.back()->fields().tag = node->tag();
        made.insert(all.back().get());
        stack.push_back(fields.inputs.back());
      } else {
        all.push_back(node);
      }
    }
  }
};

// Whether an operation of null is null.
bool keeps_null(Op op, Dtype dtype) {
  switch (op) {
    case Op::kIsNull:
    case Op::kFillNull:
    case Op::kWhere:
    case Op::kLogicalAnd:
    case Op::kLogicalOr:
      return false;
    case Op::kBitwiseAnd:
    case Op::kBitwiseOr:
      return !dtype.is_bool();
    default:
      return true;
  }
}

/// One condition of a filter on a table.
class Condition {
 public:
  Condition(const NodePtr& node, const NodePtr& table) : node_(node), table_(table) {
    std::vector<NodePtr> stack{node};
    std::unordered_set<const Node*> seen;
    while (!stack.empty()) {
      const NodePtr each = stack.back();
      stack.pop_back();
      if (each->is_ready() || !seen.insert(each.get()).second) continue;
      const Node::Fields& fields = each->fields();
      if (is_column(fields)) {
        columns.push_back(fields.part);
        continue;
      }
      if (!is_row_by_row(*each) || each->signature().is_scalar()) continue;
      const auto count = static_cast<std::ptrdiff_t>(row_inputs(*each));
      stack.insert(stack.end(), fields.inputs.begin(), fields.inputs.begin() + count);
    }
  }

  /// Whether it cannot be true where all of its columns are null.
  bool needs_values() const { return is_null(node_); }

  /// That it reads.
  std::vector<int64_t> columns{};

 private:
  bool is_column(const Node::Fields& fields) const {
    return fields.kind == NodeKind::kPart && fields.inputs[0] == table_;
  }

  bool is_null(const NodePtr& node) const {
    if (node->is_ready() || node->signature().is_scalar()) return false;
    const Node::Fields& fields = node->fields();
    if (is_column(fields)) return true;
    if (fields.renames) return is_null(fields.inputs[0]);
    return fields.kind == NodeKind::kElementwise &&
           keeps_null(fields.operation, fields.signature.dtype) &&
           std::any_of(fields.inputs.begin(), fields.inputs.end(),
                       [this](const NodePtr& input) { return is_null(input); });
  }

  NodePtr node_;
  NodePtr table_;
};

NodePtr both(const NodePtr& a, const NodePtr& b) {
  return a ? elementwise_node(Op::kBitwiseAnd, {a, b}) : b;
}

/// Makes a table again of fewer rows.
class Push {
 public:
  Push(const NodePtr& table, const Readers& readers)
      : table_(table), fields_(table->fields()), readers_(readers), conditions_(readers.mask) {}

  bool run() {
    NodePtr known =
        fields_.filtered_by.lock() == readers_.mask ? fields_.filtered_to.lock() : nullptr;
    // A second look at other rows makes the table once, to be kept; files are read each time.
    if (!known && fields_.was_filtered && !fields_.filtered) return false;
    const NodePtr made = fields_.filtered ? read_less(known) : made_of_less(known);
    if (!made) return false;
    if (made != known) made->fields().tag = table_->tag();
    fields_.was_filtered = true;
    fields_.filtered_to = made;
    fields_.filtered_by = readers_.mask;
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (!readers_.is_part(node)) return is_inside(node) ? nullptr : node;
      NodePtr part = part_node(made, node->fields().part);
      part->fields().tag = node->tag();
      return part;
    });
    NodePtr mask;
    for (const NodePtr& condition : stay_) mask = both(mask, over.of(condition));
    for (const NodePtr& pick : readers_.picks) replace(pick, over, mask);
    return true;
  }

 private:
  // Whether the node is an expression over the table's rows.
  bool is_inside(const NodePtr& node) const {
    return readers_.contains(node) || conditions_.made.contains(node.get());
  }

  // `known`: the table of these rows, if it was made for other columns.
  NodePtr read_less(const NodePtr& known) {
    std::vector<std::shared_ptr<const RowPredicate>> predicates;
    for (const NodePtr& condition : conditions_.all) {
      if (Condition(condition, table_).columns.empty())
        stay_.push_back(condition);
      else
        predicates.push_back(RowPredicate::of(
            condition, table_, [this](const NodePtr& node) { return is_inside(node); }));
    }
    return predicates.empty() || known ? known : fields_.filtered(predicates);
  }

  NodePtr made_of_less(const NodePtr& known) {
    std::vector<std::vector<NodePtr>> moved(fields_.sources.size());
    std::vector<bool> required(fields_.sources.size());
    for (const NodePtr& condition : conditions_.all) {
      const std::optional<size_t> to = source_of(Condition(condition, table_));
      if (to) {
        moved[*to].push_back(condition);
        if (fields_.sources[*to].optional) required[*to] = true;
      } else {
        stay_.push_back(condition);
      }
    }
    if (stay_.size() == conditions_.all.size() || known) return known;
    std::vector<NodePtr> inputs = fields_.inputs;
    for (size_t s = 0; s < moved.size(); ++s)
      if (!moved[s].empty() && !pick_before(fields_.sources[s], moved[s], inputs)) return nullptr;
    return fields_.remade(inputs, required);
  }

  // The source that has all columns of a condition.
  std::optional<size_t> source_of(const Condition& condition) const {
    if (condition.columns.empty()) return {};
    for (size_t s = 0; s < fields_.sources.size(); ++s) {
      const RowSource& source = fields_.sources[s];
      const bool has_all = std::all_of(
          condition.columns.begin(), condition.columns.end(),
          [&](int64_t column) { return source.columns[static_cast<size_t>(column)] >= 0; });
      if (has_all && (!source.optional || condition.needs_values())) return s;
    }
    return {};
  }

  bool pick_before(const RowSource& source, const std::vector<NodePtr>& conditions,
                   std::vector<NodePtr>& inputs) const {
    const Signature& rows = fields_.inputs[static_cast<size_t>(source.inputs[0])]->signature();
    for (const int64_t place : source.inputs) {
      const Signature& own = fields_.inputs[static_cast<size_t>(place)]->signature();
      if (own.form != Form::kColumn || own.domain != rows.domain || !own.same_rows(rows))
        return false;
    }
    RowClone over([&](const NodePtr& node) -> NodePtr {
      if (!readers_.is_part(node)) return is_inside(node) ? nullptr : node;
      const auto part = static_cast<size_t>(node->fields().part);
      return fields_.inputs[static_cast<size_t>(source.columns[part])];
    });
    NodePtr mask;
    for (const NodePtr& condition : conditions) mask = both(mask, over.of(condition));
    const uint64_t domain = new_domain();
    std::unordered_map<const Node*, NodePtr> picked;
    for (const int64_t place : source.inputs) {
      NodePtr& input = inputs[static_cast<size_t>(place)];
      NodePtr& made = picked[input.get()];
      if (!made) {
        Signature signature = input->signature();
        signature.shape[0] = kUnknown;
        signature.domain = domain;
        made = picked_node(std::move(signature), input, mask, "mask, before " + table_->op());
        made->fields().tag = readers_.picks[0]->tag();
      }
      input = made;
    }
    return true;
  }

  // Makes of a pick one of the new table's rows.
  static void replace(const NodePtr& pick, RowClone& over, const NodePtr& mask) {
    Node::Fields& fields = pick->fields();
    const NodePtr rows = over.of(fields.inputs[0]);
    if (mask) {
      fields.inputs = {rows, mask};
      return;
    }
    fields.inputs = {rows};
    fields.picks = false;
    fields.renames = true;
    fields.passes = 0;
    fields.run = [](std::span<const Value> inputs) { return inputs[0]; };
  }

  NodePtr table_;
  Node::Fields& fields_;
  const Readers& readers_;
  Conditions conditions_;
  std::vector<NodePtr> stay_{};  // conditions that pick afterwards
};

}  // namespace

bool push_filter(std::span<const NodePtr> order, const NodeUsers& users,
                 const std::unordered_set<const Node*>& roots) {
  for (size_t i = order.size(); i-- > 0;) {
    const Node::Fields& fields = order[i]->fields();
    if (fields.kind != NodeKind::kTable || (!fields.filtered && !fields.remade)) continue;
    const Readers readers(order, i, users, roots);
    if (readers && Push(order[i], readers).run()) return true;
  }
  return false;
}

}  // namespace hr
