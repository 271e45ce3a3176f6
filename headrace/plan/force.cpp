// SPDX-License-Identifier: Apache-2.0
// The executor: runs the planner's steps and puts the values into their nodes.
#include "headrace/base/error.h"
#include "headrace/plan/fused_pass.h"
#include "headrace/plan/node_fields.h"
#include "headrace/plan/planner.h"

#include <chrono>
#include <mutex>

namespace hr {

namespace {

void pin_value(std::vector<Pin>& pins, const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    pins.emplace_back(tensor->buffer());
  } else if (const auto* column = std::get_if<Column>(&value)) {
    pins.emplace_back(column->values_buffer());
    if (column->validity_buffer()) pins.emplace_back(column->validity_buffer());
    for (const Buffer& text : column->text_buffers()) pins.emplace_back(text);
  } else if (const auto* table = std::get_if<Table>(&value)) {
    for (const Column& each : table->columns()) pin_value(pins, each);
  }
}

void run_table(const PlanStep& step) {
  Node::Fields& fields = step.outputs[0]->fields();
  std::vector<bool> wanted(fields.names.size(), step.whole_table);
  for (size_t i = 1; i < step.outputs.size(); ++i)
    wanted[static_cast<size_t>(step.outputs[i]->fields().part)] = true;
  Table table = fields.run_table(wanted);
  std::vector<int64_t> place(wanted.size(), -1);
  for (size_t i = 0, next = 0; i < wanted.size(); ++i)
    if (wanted[i]) place[i] = static_cast<int64_t>(next++);
  for (size_t i = 1; i < step.outputs.size(); ++i)
    step.outputs[i]->finish(
        table.column(place[static_cast<size_t>(step.outputs[i]->fields().part)]));
  if (step.whole_table) step.outputs[0]->finish(std::move(table));
}

void run_step(const PlanStep& step) {
  Node& first = *step.outputs[0];
  const ScopedTag tag(first.tag());
  std::vector<Pin> pins;
  for (const NodePtr& input : step.inputs) pin_value(pins, input->value());
  try {
    if (first.kind() == NodeKind::kTable) {
      run_table(step);
    } else if (first.fields().is_fusable()) {
      std::vector<Value> values = run_fused_pass(step);
      for (size_t i = 0; i < values.size(); ++i) step.outputs[i]->finish(std::move(values[i]));
    } else if (first.kind() == NodeKind::kPart) {
      // Its table ran before for somebody else.
      step.outputs[0]->finish(std::get<Table>(step.inputs[0]->value()).column(first.fields().part));
    } else {
      std::vector<Value> inputs;
      for (const NodePtr& input : step.inputs) inputs.push_back(input->value());
      step.outputs[0]->finish(first.fields().run(inputs));
    }
  } catch (Error& error) {
    const TagInfo info = tag_info(first.tag());
    if (!info.line.empty()) error.add_note("  made by " + info.op + " at " + info.line);
    throw;
  }
}

}  // namespace

// One plan runs at a time; it uses all workers.
std::recursive_mutex& plan_mutex() {
  static auto* const leaked = new std::recursive_mutex;
  return *leaked;
}

void force(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  std::vector<PlanStep> steps = plan_steps(nodes);
  for (PlanStep& step : steps) {
    run_step(step);
    step = {};  // lets go of what nobody else holds, before the next step allocates
  }
}

}  // namespace hr
