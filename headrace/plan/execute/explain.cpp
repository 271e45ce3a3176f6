// SPDX-License-Identifier: Apache-2.0
// The plan as text.
#include "headrace/plan/execute/estimates.h"
#include "headrace/plan/execute/physical_plan.h"
#include "headrace/plan/graph/node_fields.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace hr {

namespace {

std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t i = static_cast<int64_t>(text.size()) - 3; i > 0; i -= 3)
    text.insert(static_cast<size_t>(i), ",");
  return text;
}

std::string form_text(const Signature& signature) {
  if (signature.form == Form::kTable) return "table";
  std::string text(signature.dtype.name());
  text += signature.form == Form::kColumn ? " column" : " array";
  text += " (";
  for (size_t i = 0; i < signature.shape.size(); ++i)
    text += (i ? ", " : "") +
            (signature.shape[i] < 0 ? std::string("?") : with_commas(signature.shape[i]));
  return text + ")";
}

// Elements of a value, or kUnknown.
int64_t elements(const Signature& signature) {
  int64_t count = 1;
  for (const int64_t size : signature.shape) {
    if (size == kUnknown) return kUnknown;
    count *= size;
  }
  return count;
}

// What counts as full size: the values of a source whose rows are not known yet, else those as
// large as the largest source.
class FullSize {
 public:
  explicit FullSize(std::span<const PlanStep> steps) {
    for (const PlanStep& step : steps) {
      for (const NodePtr& node : step.inputs)
        if (node->is_ready()) add(node->signature());
      if (step.inputs.empty())
        for (const NodePtr& node : step.outputs) add(node->signature());
    }
  }

  bool reads_or_writes(const PlanStep& step) const {
    const auto full = [this](const NodePtr& node) { return contains(node->signature()); };
    return std::any_of(step.inputs.begin(), step.inputs.end(), full) ||
           std::any_of(step.outputs.begin(), step.outputs.end(), full);
  }

  std::string text() const {
    return domains_.empty() ? with_commas(most_) + (most_ == 1 ? " element" : " elements")
                            : "all rows";
  }

 private:
  void add(const Signature& signature) {
    const int64_t count = elements(signature);
    if (count == kUnknown) domains_.insert(signature.domain);
    most_ = std::max(most_, count);
  }

  bool contains(const Signature& signature) const {
    const int64_t count = elements(signature);
    return count == kUnknown ? domains_.contains(signature.domain)
                             : domains_.empty() && count == most_;
  }

  std::unordered_set<uint64_t> domains_;
  int64_t most_ = 0;
};

// Arguments and choices of an operator that has some.
std::string detail_text(const Node& node) {
  const auto& fields = node.fields();
  if (!fields.op) return "";
  const std::string text = node.is_ready() ? fields.label : fields.op->describe(fields.inputs);
  return text.empty() ? "" : " [" + text + "]";
}

class Writer {
 public:
  Explanation write(std::span<const NodePtr> roots) {
    const std::vector<PlanStep> steps = plan_steps(roots);
    const FullSize full(steps);
    Explanation result;
    Estimates estimates(true);
    result.steps = static_cast<int64_t>(steps.size());
    std::string body;
    for (size_t i = 0; i < steps.size(); ++i) {
      const PlanStep& step = steps[i];
      if (full.reads_or_writes(step)) result.full_passes += step.passes;
      body += step_text(static_cast<int64_t>(i) + 1, step);
      result.estimates.push_back(estimates.of(step));
      for (const NodePtr& node : step.outputs) names_[node.get()] = "#" + std::to_string(i + 1);
    }
    for (const NodePtr& root : roots)
      if (root->is_ready())
        body += "  ready: " + root->op() + detail_text(*root) + " " + form_text(root->signature()) +
                "\n";
    result.text =
        "plan: " + std::to_string(result.steps) + (result.steps == 1 ? " step" : " steps");
    if (result.full_passes > 0)
      result.text += ", " + std::to_string(result.full_passes) + " full-size pass" +
                     (result.full_passes == 1 ? "" : "es") + " over " + full.text();
    result.text += "\n" + body;
    return result;
  }

 private:
  std::string step_text(int64_t number, const PlanStep& step) {
    std::string text = "  #" + std::to_string(number) + " ";
    const Node& first = *step.outputs[0];
    const bool fused =
        first.kind() == NodeKind::kElementwise || first.kind() == NodeKind::kReduction;
    if (fused) {
      text += "fused pass: ";
      rows_ = step.rows.get();
      for (size_t i = 0; i < step.outputs.size(); ++i)
        text += (i ? "; " : "") + chain_text(step.outputs[i], 0);
      if (rows_) text += ", where " + chain_text(rows_->mask, 1);
      rows_ = nullptr;
    } else {
      text += first.op();
      text += detail_text(first);
      for (size_t i = 0; i < step.inputs.size(); ++i)
        text += (i ? ", " : " of ") + name(step.inputs[i]);
      if (step.rows) text += rows_text(step);
      if (!step.late.empty()) text += ", " + std::to_string(step.late.size()) + " columns late";
    }
    text += " -> ";
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (step.outputs[i]->kind() != NodeKind::kTable || step.outputs.size() == 1)
        text += form_text(step.outputs[i]->signature()) + (i + 1 < step.outputs.size() ? ", " : "");
    if (const Place place = place_of(step); !place.is_host()) text += " | " + place.name();
    text += " | passes " + std::to_string(step.passes);
    const TagInfo info = tag_info(first.tag());
    if (!info.line.empty()) text += " | " + info.line;
    return text + "\n";
  }

  // What a table computes while it reads.
  std::string rows_text(const PlanStep& step) {
    rows_ = step.rows.get();
    std::string text;
    for (const int64_t place : rows_->values) {
      const NodePtr& node = step.outputs[0]->fields().inputs[static_cast<size_t>(place)];
      if (rows_->inside.contains(node.get()) && !is_picked(node))
        text += (text.empty() ? ", fused: " : "; ") + chain_text(node, 0);
    }
    if (rows_->mask) text += ", where " + name(rows_->mask);
    rows_ = nullptr;
    return text;
  }

  // Rows that a mask picks for a step that does so itself.
  bool is_picked(const NodePtr& node) const {
    return rows_ && rows_->inside.contains(node.get()) && node->kind() == NodeKind::kOperator;
  }

  std::string name(const NodePtr& node) {
    if (const auto it = names_.find(node.get()); it != names_.end()) return it->second;
    if (!node->detail().empty()) return node->detail();
    return node->op();
  }

  std::string chain_text(const NodePtr& node, int depth) {
    const auto& fields = node->fields();
    if (is_picked(node)) return chain_text(fields.inputs[0], depth);
    const bool inside =
        fields.is_fusable() && !node->is_ready() && (depth == 0 || !names_.contains(node.get()));
    if (!inside) return name(node);
    if (depth == 4) return "...";
    std::string text = node->op() + "(";
    for (size_t i = 0; i < fields.inputs.size(); ++i)
      text += (i ? ", " : "") + chain_text(fields.inputs[i], depth + 1);
    return text + ")";
  }

  std::unordered_map<const Node*, std::string> names_;
  const RowPass* rows_ = nullptr;  // of the step that is told
};

}  // namespace

Explanation explain(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  return Writer().write(nodes);
}

std::string explain_passes(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  LogicalPlan plan(nodes);
  std::string text, before;
  optimize(plan, [&](std::string_view pass, const LogicalPlan& now) {
    std::string after = now.text();
    text += std::string(pass) + (after == before ? ": no change\n" : ":\n" + after);
    before = std::move(after);
  });
  return text;
}

}  // namespace hr
