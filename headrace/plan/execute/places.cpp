// SPDX-License-Identifier: Apache-2.0
// Where the steps of a plan run.
#include "headrace/plan/execute/places.h"

#include "headrace/exec/workers.h"
#include "headrace/memory/device/cuda_driver.h"
#include "headrace/plan/execute/estimates.h"
#include "headrace/plan/execute/least_cut.h"
#include "headrace/plan/graph/device_copies.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kFewRows = 100'000;  // below, no kernel is worth its launch
constexpr size_t kMostNodes = 1000;    // bounds the time
// docs/design/cuda.md, "A least cut", has the measurements behind these.
constexpr int64_t kLaunch = 5'000;          // ns of an operation in a fused kernel
constexpr int64_t kKernels = 150'000;       // ns of a pass of an operator: its launches, and a wait
constexpr double kDeviceByte = 0.0005;      // ns to read or write one
constexpr int64_t kThreads = 400;           // of the host that a device is as fast as
constexpr int64_t kMove = 40'000;           // ns of any move
constexpr int64_t kFirstBytes = 8'000'000;  // which one thread copies
constexpr double kFirstByte = 0.08;         // ns
constexpr double kMovedByte = 0.025;        // ns of those after them

bool has_many_rows(const NodePtr& node) {
  const Signature& signature = node->signature();
  return node->is_ready() && !signature.is_scalar() && signature.rows() >= kFewRows;
}

// Whether samples of keys take little of the time.
bool reads_many(const LogicalPlan& plan) {
  constexpr int64_t kManyRows = 1'000'000;
  return std::ranges::any_of(plan.nodes().order(), [](const NodePtr& node) {
    return std::ranges::any_of(node->fields().inputs, [](const NodePtr& input) {
      return input->signature().shape.size() > 0 && input->signature().rows() >= kManyRows;
    });
  });
}

bool is_view(const Node::Fields& fields) {
  return fields.kind() == NodeKind::kPart ||
         (fields.kind() == NodeKind::kOperator && fields.op->passes() == 0);
}

bool may_be_there(const NodePtr& node) {
  return may_be_at(node->signature().dtype, cuda_place());
}

bool has_plain_values(const NodePtr& node) {
  const Dtype dtype = node->signature().dtype;
  return !dtype.is_string() && !dtype.is_category();
}

bool is_live(const NodePtr& node) {
  return node->fields().live;
}

// Whether an operator has one for columns of these dtypes. What else may speak against it, only a
// run tells.
bool has_kernel(const Operator& op, const std::vector<NodePtr>& inputs) {
  if (!op.supports(cuda_place())) return false;
  std::vector<Value> values;
  for (const NodePtr& input : inputs) {
    const Signature& signature = input->signature();
    if (signature.form != Form::kColumn) return true;
    values.push_back(input->is_ready() ? std::get<Column>(input->value()).slice(0, 0)
                                       : Column(signature.dtype, 0, Buffer()));
  }
  return op.why_unsupported(values).empty();
}

class PlanPlaces {
 public:
  PlanPlaces(LogicalPlan& plan, Place device)
      : plan_(plan), device_(device), estimates_(reads_many(plan)) {}

  void run() {
    if (!has_choice()) return;
    join_views();
    const std::vector<bool> found = cut();
    std::vector<bool> is_there(order().size());
    for (size_t i = 0; i < is_there.size(); ++i) is_there[i] = found[group_[i]];
    if (std::ranges::find(is_there, true) == is_there.end()) return;
    move(is_there);
    plan_.refresh();
  }

 private:
  const std::vector<NodePtr>& order() const { return plan_.nodes().order(); }

  // Whether all data lie on the host, and there are many.
  bool has_choice() const {
    if (order().empty() || order().size() > kMostNodes) return false;
    bool has_many = false;
    for (const NodePtr& node : order()) {
      if (!node->fields().place.is_host()) return false;
      for (const NodePtr& input : node->fields().inputs) {
        if (input->is_ready() && !place_of(input).is_host()) return false;
        has_many |= has_many_rows(input);
      }
    }
    return has_many;
  }

  // A view lies where its memory is, and the columns of a table where that runs.
  void join_views() {
    group_.resize(order().size() + 1);  // the last one: what is on the host for sure
    std::iota(group_.begin(), group_.end(), size_t{0});
    for (size_t i = 0; i < order().size(); ++i) {
      const Node::Fields& fields = order()[i]->fields();
      if (!is_view(fields) || fields.inputs.empty()) continue;
      const size_t of = plan_.nodes().place(fields.inputs[0].get());
      group_[i] = of < order().size() ? group_[of] : order().size();
    }
  }

  std::vector<bool> cut() {
    LeastCut costs(group_.size());
    const size_t at_host = order().size();
    costs.add_cost(at_host, 0, LeastCut::kNever);
    std::unordered_map<const Node*, std::vector<size_t>> readers_of_ready;
    std::vector<NodePtr> ready;
    for (size_t i = 0; i < order().size(); ++i) {
      const NodePtr& node = order()[i];
      const auto [here, there] = costs_of(node);
      costs.add_cost(group_[i], here, there);
      plan_.nodes().for_each_input(*node, [&](const NodePtr& input) {
        if (!input->is_ready() || input->signature().is_scalar() || group_[i] == at_host) return;
        const auto [found, is_new] = readers_of_ready.try_emplace(input.get());
        if (is_new) ready.push_back(input);
        found->second.push_back(group_[i]);
      });
      if (node->signature().is_scalar() || node->kind() == NodeKind::kTable) continue;
      std::vector<size_t> readers;
      for (const Node* user : plan_.nodes().users(node.get()))
        if (const size_t own = group_[plan_.nodes().place(user)]; own != group_[i])
          readers.push_back(own);
      const bool is_root = plan_.nodes().is_root(node.get());
      if (is_root || !readers.empty())
        costs.add_value(group_[i], readers, is_root, cost_of_move(node));
    }
    for (const NodePtr& node : ready)
      costs.add_value(at_host, readers_of_ready[node.get()], false, cost_of_move(node));
    return costs.solve();
  }

  int64_t cost_of_move(const NodePtr& node) {
    if (node->is_ready() && has_copy_at(node, device_)) return 0;
    const int64_t bytes = std::max<int64_t>(estimates_.bytes(node), 0);
    const int64_t first = std::min(bytes, kFirstBytes);
    return kMove + static_cast<int64_t>(kFirstByte * static_cast<double>(first) +
                                        kMovedByte * static_cast<double>(bytes - first));
  }

  // ns on the host and on the device.
  std::pair<int64_t, int64_t> costs_of(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    constexpr std::pair<int64_t, int64_t> never{0, LeastCut::kNever};
    const bool has_run =
        fields.of_table && fields.of_table->state && fields.of_table->state->has_run;
    if (fields.inputs.empty() || has_run || std::ranges::any_of(fields.inputs, is_live))
      return never;
    if (is_view(fields)) return {0, 0};
    const bool is_fused = fields.is_fusable();
    if (is_fused && !std::ranges::all_of(fields.inputs, has_plain_values)) return never;
    if (std::ranges::all_of(fields.inputs,
                            [](const NodePtr& each) { return each->signature().is_scalar(); }))
      return never;
    PlanStep step;
    step.outputs = {node};
    step.inputs = plan_.nodes().inputs(*node);
    step.passes = fields.op->passes();
    if (fields.kind() == NodeKind::kTable) {
      step.whole_table = plan_.nodes().is_root(node.get());
      for (const Node* user : plan_.nodes().users(node.get()))
        if (user->kind() == NodeKind::kPart)
          step.outputs.push_back(order()[plan_.nodes().place(user)]);
        else
          step.whole_table = true;
    }
    if (!std::ranges::all_of(step.inputs, may_be_there) ||
        !std::ranges::all_of(step.outputs, may_be_there) ||
        !(is_fused || has_kernel(*fields.op, step.inputs)))
      return never;
    const StepCost cost = estimates_.cost(step);
    if (cost.nanoseconds == kUnknown) return never;
    int64_t bytes = std::max<int64_t>(estimates_.of(step).bytes, 0);
    for (const NodePtr& input : step.inputs) bytes += std::max<int64_t>(estimates_.bytes(input), 0);
    const auto moved = static_cast<int64_t>(kDeviceByte * static_cast<double>(bytes));
    const int64_t work = is_fused ? 0 : cost.nanoseconds * threads() / kThreads;
    // The host waits for what has no dimension.
    const int64_t fixed =
        is_fused && !node->signature().is_scalar() ? kLaunch : kKernels * std::max(step.passes, 1);
    return {cost.nanoseconds, fixed + std::max(moved, work)};
  }

  // ---- moves ----

  // A node that runs there is a new one; the plan's own brings its value back, for those that read
  // it here.
  void move(const std::vector<bool>& is_there) {
    for (size_t i = 0; i < is_there.size(); ++i) {
      if (!is_there[i]) continue;
      Node::Fields& own = order()[i]->fields();
      own.is_rewritten = false;                   // a later plan chooses again
      if (order()[i]->signature().is_scalar()) {  // its value is on the host
        read_there(own.inputs);
        continue;
      }
      auto fields = std::make_unique<Node::Fields>(own);
      fields->origin.reset();
      fields->place = device_;
      if (fields->of_table) {
        fields->of_table = std::make_shared<TableFields>(*fields->of_table);
        fields->of_table->state = fields->table().new_state();
        fields->of_table->was_filtered = false;
      }
      read_there(fields->inputs);
      const auto made = std::make_shared<Node>(std::move(fields));
      there_.emplace(order()[i].get(), made);
      own.op = to_place(made, host)->fields().op;
      own.of_table = nullptr;
      own.inputs = {made};
    }
  }

  void read_there(std::vector<NodePtr>& inputs) {
    for (NodePtr& input : inputs) {
      const bool is_read = input->is_ready() || plan_.nodes().place(input.get()) < order().size();
      if (input->signature().is_scalar() || !is_read) continue;
      NodePtr& there = there_[input.get()];
      if (!there)
        there = input->is_ready() ? shared_copy(input, device_) : to_place(input, device_);
      input = there;
    }
  }

  LogicalPlan& plan_;
  Place device_;
  Estimates estimates_;
  std::vector<size_t> group_{};  // by place in order: the first node that is always at its side
  std::unordered_map<const Node*, NodePtr> there_{};  // what has the value of a node on the device
};

}  // namespace

void choose_places(LogicalPlan& plan) {
  if (const Place device = auto_place(); !device.is_host()) PlanPlaces(plan, device).run();
}

bool may_have_places(std::span<const PlanStep> steps) {
  return !auto_place().is_host() && std::ranges::any_of(steps, [](const PlanStep& step) {
    return std::ranges::any_of(step.inputs, has_many_rows);
  });
}

}  // namespace hr
