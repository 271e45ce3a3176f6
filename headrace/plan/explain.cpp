// SPDX-License-Identifier: Apache-2.0
// The plan as text.
#include "headrace/plan/node_fields.h"
#include "headrace/plan/planner.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

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

class Writer {
 public:
  Explanation write(std::span<const NodePtr> roots) {
    const std::vector<PlanStep> steps = plan_steps(roots);
    int64_t most = 0;
    for (const PlanStep& step : steps)
      if (step.passes > 0) most = std::max(most, step.rows);
    Explanation result;
    result.steps = static_cast<int64_t>(steps.size());
    std::string body;
    for (size_t i = 0; i < steps.size(); ++i) {
      const PlanStep& step = steps[i];
      if (step.rows == most) result.full_passes += step.passes;
      body += step_text(static_cast<int64_t>(i) + 1, step);
      for (const NodePtr& node : step.outputs) names_[node.get()] = "#" + std::to_string(i + 1);
    }
    for (const NodePtr& root : roots)
      if (root->is_ready())
        body += "  ready: " + root->op() + " " + form_text(root->signature()) + "\n";
    result.text = "plan: " + std::to_string(result.steps) + " steps, " +
                  std::to_string(result.full_passes) + " full-size passes over " +
                  with_commas(most) + " rows\n" + body;
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
      for (size_t i = 0; i < step.outputs.size(); ++i)
        text += (i ? "; " : "") + chain_text(step.outputs[i], 0);
    } else {
      text += first.op();
      if (!first.detail().empty()) text += " [" + first.detail() + "]";
      for (size_t i = 0; i < step.inputs.size(); ++i)
        text += (i ? ", " : " of ") + name(step.inputs[i]);
    }
    text += " -> ";
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (step.outputs[i]->kind() != NodeKind::kTable || step.outputs.size() == 1)
        text += form_text(step.outputs[i]->signature()) + (i + 1 < step.outputs.size() ? ", " : "");
    text += " | passes " + std::to_string(step.passes);
    const TagInfo info = tag_info(first.tag());
    if (!info.line.empty()) text += " | " + info.line;
    return text + "\n";
  }

  std::string name(const NodePtr& node) {
    if (const auto it = names_.find(node.get()); it != names_.end()) return it->second;
    if (!node->detail().empty()) return node->detail();
    return node->op();
  }

  std::string chain_text(const NodePtr& node, int depth) {
    const auto& fields = const_cast<Node&>(*node).fields();
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
};

}  // namespace

Explanation explain(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  return Writer().write(nodes);
}

}  // namespace hr
