// SPDX-License-Identifier: Apache-2.0
// What steps are thought to yield and to take.
#include "headrace/plan/guesses.h"

#include "headrace/exec/workers.h"
#include "headrace/plan/node_fields.h"
#include "headrace/plan/row_predicate.h"

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

// Operations of the chains that a step runs fused.
int64_t operations(const PlanStep& step) {
  int64_t count = 0;
  for (const NodePtr& node : step.outputs)
    count += std::max<int64_t>(node->fields().chain_length, 1);
  return count;
}

}  // namespace

int64_t Guesses::rows(const NodePtr& node) {
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

int64_t Guesses::guess(const Node::Fields& fields) {
  if (fields.inputs.empty() && !fields.guess) return kUnknown;
  if (fields.picks) return guess_passing(rows(fields.inputs[0]), 1);
  if (fields.first_rows >= 0) {
    const int64_t all = rows(fields.inputs[0]);
    return all == kUnknown ? fields.first_rows : std::min(all, fields.first_rows);
  }
  if (fields.kind == NodeKind::kPart || fields.kind == NodeKind::kOperator)
    return rows(fields.inputs[0]);
  std::vector<int64_t> each;
  for (const NodePtr& input : fields.inputs) each.push_back(rows(input));
  if (fields.guess) return fields.guess(each);
  return *std::max_element(each.begin(), each.end());
}

// Of a value that is there or not; kUnknown where nobody can say.
int64_t Guesses::bytes(const NodePtr& node) {
  if (node->is_ready()) return value_bytes(node->value());
  const Signature& signature = node->signature();
  int64_t elements = rows(node);
  for (size_t d = 1; d < signature.shape.size() && elements >= 0; ++d)
    elements = signature.shape[d] < 0 ? kUnknown : elements * signature.shape[d];
  if (elements < 0 || signature.form == Form::kTable) return kUnknown;
  const bool bits = signature.form == Form::kColumn && signature.dtype.is_bool();
  return bits ? (elements + 7) / 8 : elements * signature.dtype.size_bytes();
}

Explanation::Guess Guesses::of(const PlanStep& step) {
  Explanation::Guess result{.rows = kUnknown, .bytes = 0};
  for (const NodePtr& node : step.outputs) {
    if (node->signature().form == Form::kTable && step.outputs.size() > 1) continue;
    result.rows = std::max(result.rows, rows(node));
    const int64_t own = bytes(node);
    result.bytes = own < 0 || result.bytes < 0 ? kUnknown : result.bytes + own;
  }
  return result;
}

StepCost Guesses::cost(const PlanStep& step) {
  const Node::Fields& first = step.outputs[0]->fields();
  if (first.kind == NodeKind::kOperator && first.passes == 0) return {kStep, 0};  // a view
  const Explanation::Guess result = of(step);
  int64_t longest = std::max(result.rows, first.cost.source_rows), read = 0;
  for (const NodePtr& node : step.inputs) {
    const int64_t own = bytes(node);
    if (own < 0) return {};
    longest = std::max(longest, rows(node));
    read += own;
  }
  if (result.bytes < 0) return {};
  const auto count = static_cast<double>(longest);
  double each = first.cost.nanoseconds > 0 ? first.cost.nanoseconds : kSimple * step.passes;
  if (first.is_fusable()) each = kOperation * static_cast<double>(operations(step));
  if (first.cost.source_rows > 0)
    each *= static_cast<double>(std::max<size_t>(step.outputs.size() - 1, 1));
  const double time = count * each + kByte * static_cast<double>(read + result.bytes);
  return {kStep + static_cast<int64_t>(time / threads()),
          result.bytes + kBlocks * threads() + static_cast<int64_t>(first.cost.bytes * count)};
}

NodePtr with_cost(NodePtr node, Cost cost) {
  node->fields().cost = cost;
  return node;
}

std::vector<StepCost> predicted_costs(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  Guesses guesses;
  std::vector<StepCost> costs;
  for (const PlanStep& step : plan_steps(nodes)) costs.push_back(guesses.cost(step));
  return costs;
}

}  // namespace hr
