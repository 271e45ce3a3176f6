// SPDX-License-Identifier: Apache-2.0
// What steps are thought to yield and to take.
#include "headrace/plan/execute/estimates.h"

#include "headrace/exec/workers.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/optimize/scan_predicate.h"

#include <algorithm>
#include <mutex>

namespace hr {

namespace {

constexpr int kDeepest = 1000;  // bounds the recursion

// docs/design/plan.md, "What a step takes", has the measurements behind these.
constexpr double kByte = 0.03;        // ns to read or write one, past the caches
constexpr double kOperation = 0.1;    // ns of one operation of a fused pass on a row
constexpr double kSimple = 1;         // ns of a pass of an operator that says nothing of itself
constexpr int64_t kStep = 5'000;      // ns of any step
constexpr int64_t kBlocks = 1 << 16;  // bytes that a worker needs for its blocks
constexpr double kSerial = 1.0 / 16;  // of the work, which one thread does (G. Amdahl, 1967)

double in_parallel(double nanoseconds) {
  return nanoseconds * (kSerial + (1 - kSerial) / threads());
}

// Operations of the chains that a step runs fused.
int64_t operations(const PlanStep& step) {
  int64_t count = 0;
  for (const NodePtr& node : step.outputs)
    count += std::max<int64_t>(node->fields().chain_length, 1);
  return count;
}

class OwnInputs : public InputEstimates {
 public:
  OwnInputs(Estimates& estimates, const std::vector<NodePtr>& nodes, const RowPass* pass = nullptr)
      : estimates_(estimates), nodes_(nodes), pass_(pass) {}

  int64_t size() const override { return static_cast<int64_t>(nodes_.size()); }

  int64_t rows(int64_t place) const override { return estimates_.rows(at(place)); }

  Dtype dtype(int64_t place) const override { return at(place)->signature().dtype; }

  int64_t unmade_bytes(int64_t place) const override {
    const bool unmade = pass_ && pass_->inside.contains(at(place).get());
    return unmade ? std::max<int64_t>(estimates_.bytes(at(place)), 0) : 0;
  }

  std::optional<NdvEstimate> keys(std::span<const int64_t> places) const override {
    std::vector<NodePtr> nodes;
    for (const int64_t place : places) nodes.push_back(at(place));
    return estimates_.keys(nodes);
  }

 private:
  const NodePtr& at(int64_t place) const { return nodes_[static_cast<size_t>(place)]; }

  Estimates& estimates_;
  const std::vector<NodePtr>& nodes_;
  const RowPass* pass_;
};

// What a column's values are made of, one by one: the same rows, some of them, or in another order.
NodePtr made_of(const Node::Fields& fields) {
  if (fields.inputs.empty()) return nullptr;
  if (fields.kind() == NodeKind::kPart) {
    const Node::Fields& table = fields.inputs[0]->fields();
    for (const RowSource& source : table.table().sources) {
      const int64_t place = source.columns[static_cast<size_t>(fields.part())];
      if (place >= 0 && !table.inputs.empty()) return table.inputs[static_cast<size_t>(place)];
    }
    return nullptr;
  }
  const RowLineage lineage = fields.lineage();
  if (lineage != RowLineage::kRowwise) {
    const bool some = lineage != RowLineage::kOwn && lineage != RowLineage::kConcatenated;
    return some ? fields.inputs[0] : nullptr;
  }
  NodePtr only;
  for (const NodePtr& input : fields.inputs) {
    if (input->signature().rows() == 1 || input->signature().shape.empty()) continue;
    if (only && only != input) return nullptr;
    only = input;
  }
  return only;
}

// The values that are there behind a column; null where they are not.
NodePtr ready_behind(NodePtr node) {
  for (int depth = 0; node && !node->is_ready() && depth < kDeepest; ++depth)
    node = made_of(node->fields());
  if (!node || !node->is_ready() || !place_of(node->value()).is_host()) return nullptr;
  const auto* column = std::get_if<Column>(&node->value());
  return column ? node : nullptr;
}

}  // namespace

int64_t Estimates::rows(const NodePtr& node) {
  const Signature& signature = node->signature();
  if (signature.rows() != kUnknown) return signature.rows();
  if (const auto it = known_.find(node.get()); it != known_.end()) return it->second;
  known_.emplace(node.get(), kUnknown);
  if (depth_ > kDeepest) return kUnknown;
  ++depth_;
  const int64_t guessed = guess(node->fields());
  --depth_;
  known_[node.get()] = guessed;
  return guessed;
}

int64_t Estimates::guess(const Node::Fields& fields) {
  if (fields.kind() == NodeKind::kTable)
    return fields.table().guess_rows(OwnInputs(*this, fields.inputs));
  if (fields.inputs.empty()) return kUnknown;
  switch (fields.lineage()) {
    case RowLineage::kFiltered:
      return guess_passing(rows(fields.inputs[0]), 1);
    case RowLineage::kFirst: {
      const int64_t all = rows(fields.inputs[0]), first = fields.op->first_rows();
      return all == kUnknown ? first : std::min(all, first);
    }
    case RowLineage::kTaken:
      return rows(fields.inputs[1]);
    default:
      break;
  }
  if (!fields.is_fusable()) return rows(fields.inputs[0]);
  int64_t most = kUnknown;
  for (const NodePtr& input : fields.inputs) most = std::max(most, rows(input));
  return most;
}

std::optional<NdvEstimate> Estimates::sampled(const std::vector<NodePtr>& columns) {
  std::vector<const Node*> key;
  std::vector<Column> values;
  for (const NodePtr& node : columns) {
    if (!node) return {};
    key.push_back(node.get());
    values.push_back(std::get<Column>(node->value()));
    if (values.back().num_rows() != values[0].num_rows()) return {};
  }
  const auto [it, is_new] = samples_.try_emplace(std::move(key));
  if (is_new) it->second = estimate_ndv(values);
  return it->second;
}

std::optional<NdvEstimate> Estimates::keys(const std::vector<NodePtr>& nodes) {
  const int64_t own = rows(nodes[0]);
  if (own == kUnknown || !may_sample_) return {};
  std::vector<NodePtr> behind;
  for (const NodePtr& node : nodes) behind.push_back(ready_behind(node));
  const auto of_own_rows = [&](NdvEstimate guess, const NodePtr& from) {
    guess.distinct = distinct_in_sample(guess.distinct, static_cast<double>(rows(from)),
                                        static_cast<double>(own));
    return guess;
  };
  if (const std::optional<NdvEstimate> all = sampled(behind)) return of_own_rows(*all, behind[0]);
  NdvEstimate together{.distinct = 1, .domain = 1};
  for (const NodePtr& node : behind) {
    const std::optional<NdvEstimate> one = sampled({node});
    if (!one) return {};
    together.distinct *= of_own_rows(*one, node).distinct;
    together.domain *= one->domain;
    together.has_texts |= one->has_texts;
    together.text_bytes += one->text_bytes;
  }
  together.distinct = std::min(together.distinct, static_cast<double>(own));
  return together;
}

int64_t Estimates::bytes(const NodePtr& node) {
  if (node->is_ready()) return value_bytes(node->value());
  const Signature& signature = node->signature();
  int64_t elements = rows(node);
  for (size_t d = 1; d < signature.shape.size() && elements >= 0; ++d)
    elements = signature.shape[d] < 0 ? kUnknown : elements * signature.shape[d];
  if (elements < 0 || signature.form == Form::kTable) return kUnknown;
  const bool bits = signature.form == Form::kColumn && signature.dtype.is_bool();
  return bits ? (elements + 7) / 8 : elements * signature.dtype.size_bytes();
}

int64_t Estimates::bytes_in_hand(const NodePtr& node) {
  const int64_t all = std::max<int64_t>(bytes(node), 0), count = rows(node);
  const int64_t some = threads() * morsel_rows();
  return count <= some ? all : all / (count / some);
}

Explanation::Guess Estimates::of(const PlanStep& step) {
  Explanation::Guess result{.rows = kUnknown, .bytes = 0};
  for (const NodePtr& node : step.outputs) {
    if (node->signature().form == Form::kTable && step.outputs.size() > 1) continue;
    result.rows = std::max(result.rows, rows(node));
    const int64_t own = bytes(node);
    result.bytes = own < 0 || result.bytes < 0 ? kUnknown : result.bytes + own;
  }
  return result;
}

StepCost Estimates::cost(const PlanStep& step) {
  const Node::Fields& first = step.outputs[0]->fields();
  const bool is_view = first.kind() == NodeKind::kOperator && first.op->passes() == 0;
  if (is_view) return {kStep, 0};
  const Explanation::Guess result = of(step);
  const OwnInputs inputs(*this, first.inputs, step.rows.get());
  const Cost cost = first.op->cost(inputs);
  int64_t longest = std::max(result.rows, cost.source_rows), read = 0;
  for (const NodePtr& node : step.inputs) {
    const int64_t own = bytes(node);
    if (own < 0) return {};
    longest = std::max(longest, rows(node));
    read += own;
  }
  if (result.bytes < 0) return {};
  if (first.lineage() == RowLineage::kTaken) {  // reads no other rows than those that it writes
    longest = result.rows;
    read = 2 * result.bytes;
  }
  const auto moved = kByte * static_cast<double>(read + result.bytes);
  if (const auto work = first.op->work(inputs, result.rows, wanted_columns(step))) {
    const double held = static_cast<double>(result.bytes) + work->bytes;
    return {kStep + static_cast<int64_t>(in_parallel(work->nanoseconds + moved) +
                                         work->serial_nanoseconds),
            kBlocks * threads() + static_cast<int64_t>(std::max(held, 0.0))};
  }
  const auto count = static_cast<double>(longest);
  double each = cost.nanoseconds > 0 ? cost.nanoseconds : kSimple * step.passes;
  if (first.is_fusable()) each = kOperation * static_cast<double>(operations(step));
  if (cost.source_rows > 0)
    each *= static_cast<double>(std::max<size_t>(step.outputs.size() - 1, 1));
  const double time = count * each + moved;
  return {kStep + static_cast<int64_t>(in_parallel(time)),
          result.bytes + kBlocks * threads() + static_cast<int64_t>(cost.bytes * count)};
}

std::vector<StepCost> predicted_costs(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  Estimates estimates(true);
  std::vector<StepCost> costs;
  for (const PlanStep& step : plan_steps(nodes)) costs.push_back(estimates.cost(step));
  return costs;
}

KeyEstimate estimate_keys(const std::vector<NodePtr>& columns) {
  if (columns.empty()) return {};
  const std::lock_guard lock(plan_mutex());
  Estimates estimates(true);
  return {.rows = estimates.rows(columns[0]), .keys = estimates.keys(columns)};
}

}  // namespace hr
