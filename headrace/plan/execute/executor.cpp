// SPDX-License-Identifier: Apache-2.0
// The executor: runs the planner's steps and puts the values into their nodes.
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/data/device.h"
#include "headrace/exec/device_profile.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/spill/spill.h"
#include "headrace/plan/execute/fused_pass.h"
#include "headrace/plan/execute/physical_plan.h"
#include "headrace/plan/execute/places.h"
#include "headrace/plan/execute/profile.h"
#include "headrace/plan/execute/sharding.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/provenance.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/graph/update_operator.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace hr {

namespace {

/// Which steps read which memory, so that under a budget what is needed last leaves first.
class UsePlan {
 public:
  explicit UsePlan(const std::vector<PlanStep>& steps)
      : first_(reserve_steps(static_cast<int64_t>(steps.size()) + 1)) {
    std::vector<const Node*> ready;
    for (size_t i = 0; i < steps.size(); ++i)
      for (const NodePtr& input : steps[i].inputs) {
        std::vector<int64_t>& uses = steps_of_[input.get()];
        if (uses.empty() && input->is_ready()) ready.push_back(input.get());
        uses.push_back(first_ + static_cast<int64_t>(i));
      }
    for (const Node* node : ready) tell(*node);
  }

  /// Before a step runs; `steps.size()` when none is left.
  void begin(size_t step) const { begin_step(first_ + static_cast<int64_t>(step)); }

  /// Once the node has its value, unless that flows on as rows of others.
  void tell(const Node& node) {
    const auto found = steps_of_.find(&node);
    if (found == steps_of_.end() || !node.is_ready()) return;
    for_each_buffer(node.value(),
                    [&](const Buffer& buffer) { expect_uses(buffer, found->second); });
  }

 private:
  int64_t first_;
  std::unordered_map<const Node*, std::vector<int64_t>> steps_of_{};
};

// The device of a step that reads rows which are kept on the host, as that has no room for them;
// the host: none, or what it reads is not only there.
Place kept_place(const PlanStep& step) {
  const Place place = place_of(step);
  if (place.is_host()) return host;
  bool reads_kept = false;
  for (const NodePtr& input : step.inputs) {
    if (!input->is_ready() || input->signature().is_scalar()) continue;
    if (!place_of(input).is_host()) return host;
    reads_kept |= is_kept_for(place, input);
  }
  return reads_kept ? place : host;
}

// Makes a table in slices at its device, of inputs on the host; nothing where there is no such way.
PlaceWork slices_of(const PlanStep& step, const std::vector<bool>& wanted) {
  const Node::Fields& fields = step.outputs[0]->fields();
  const auto* const way = dynamic_cast<const RunsInSlices*>(fields.op.get());
  if (!way || fields.place.is_host()) return {};
  return [&fields, &wanted, way](std::span<const Value> here) -> std::vector<Value> {
    std::optional<Table> table = made_in_slices(fields.place, [&](int64_t slice_bytes) {
      return way->execute_in_slices(wanted, here, fields.of_table->state.get(), fields.place,
                                    slice_bytes);
    });
    if (!table) return {};
    return {*std::move(table)};
  };
}

Table table_of(const PlanStep& step, const std::vector<bool>& wanted) {
  const Node& node = *step.outputs[0];
  const Node::Fields& fields = step.outputs[0]->fields();
  std::unordered_set<const Node*> read;
  for (const NodePtr& input : step.inputs) read.insert(input.get());
  std::vector<Value> inputs(fields.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (read.contains(fields.inputs[i].get())) inputs[i] = fields.inputs[i]->value();
  TableState* const state = fields.of_table->state.get();
  const PlaceWork work = [&](std::span<const Value> where) -> std::vector<Value> {
    return {fields.table().execute(wanted, where, state)};
  };
  const Place kept = kept_place(step);
  const PlaceWork in_slices = slices_of(step, wanted);
  std::vector<Value> made = kept.is_host() ? dispatch_or_slice(node.op(), limits_of(*fields.op),
                                                               std::move(inputs), work, in_slices)
                                           : run_on_kept(node.op(), kept, inputs, work, in_slices);
  if (state) state->has_run = true;
  return std::get<Table>(std::move(made[0]));
}

// Makes a node ready with a value, or a column of it, that another node has, which may be kept on
// the host.
void finish_as(Node& node, const Node& from, Value value) {
  const ScopedKept as_there(from.fields().kept);
  node.finish(std::move(value));
}

// Takes the value that a plan inside an earlier step made (a concat reads its parts one by one);
// false where there is none.
bool settle(Node& node) {
  if (node.is_ready()) return true;
  const NodePtr origin = node.fields().origin.lock();
  if (!origin || !settle(*origin)) return false;
  finish_as(node, *origin, origin->value());
  return true;
}

// Whether what the table was to compute itself ran inside an earlier step (a concat reads its parts
// one by one): then it is no longer known of what it was picked.
bool inside_ran(const PlanStep& step) {
  std::unordered_set<const Node*> seen;
  std::vector<NodePtr> stack = step.outputs[0]->fields().inputs;
  while (!stack.empty()) {
    const NodePtr node = std::move(stack.back());
    stack.pop_back();
    if (!step.rows->inside.contains(node.get()) || !seen.insert(node.get()).second) continue;
    if (settle(*node)) return true;
    const std::vector<NodePtr>& inputs = node->fields().inputs;
    stack.insert(stack.end(), inputs.begin(), inputs.end());
  }
  return false;
}

// The table with inputs that are made first.
Table table_of_made(const PlanStep& step, const std::vector<bool>& wanted) {
  PlanStep made;
  made.outputs = {step.outputs[0]};
  for (const NodePtr& input : step.outputs[0]->fields().inputs)
    if (step.rows->inside.contains(input.get())) made.inputs.push_back(input);
  execute_nested(made.inputs);
  made.inputs.insert(made.inputs.end(), step.inputs.begin(), step.inputs.end());
  return table_of(made, wanted);
}

/// The inputs of a table as columns, or rows of others.
class LateInputs {
 public:
  LateColumn of(const NodePtr& node) {
    if (node->is_ready()) return {std::get<Column>(node->value()), nullptr};
    const Node::Fields& fields = node->fields();
    if (fields.lineage() == RowLineage::kSame) return of(fields.inputs[0]);
    if (fields.lineage() != RowLineage::kFiltered) return *fields.late;
    const Value& mask = fields.inputs[1]->value();
    const auto [found, is_new] = by_mask_.try_emplace(fields.inputs[1].get());
    if (is_new && !mask_of(mask).is_all()) found->second = std::make_shared<RowSelection>(mask);
    return {std::get<Column>(fields.inputs[0]->value()), found->second};
  }

 private:
  std::unordered_map<const Node*, std::shared_ptr<RowSelection>> by_mask_{};  // null: all rows
};

// The columns in order of `wanted`; those that flow on stay rows of others.
std::vector<LateColumn> late_table_of(const PlanStep& step, const std::vector<bool>& wanted) {
  const Node::Fields& fields = step.outputs[0]->fields();
  std::unordered_set<const Node*> read;
  for (const NodePtr& input : step.inputs) read.insert(input.get());
  LateInputs late;
  std::vector<LateColumn> inputs(fields.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const Node* input = fields.inputs[i].get();
        read.contains(input) || step.late.contains(input))
      inputs[i] = late.of(fields.inputs[i]);
  std::vector<LateColumn> made =
      fields.table().execute_late(wanted, inputs, fields.of_table->state.get());
  if (fields.of_table->state) fields.of_table->state->has_run = true;
  return made;
}

void run_late_table(const PlanStep& step) {
  const std::vector<bool> wanted = wanted_columns(step);
  std::vector<LateColumn> made = late_table_of(step, wanted);
  const Node::Fields& fields = step.outputs[0]->fields();
  std::vector<LateColumn> columns(wanted.size());
  for (size_t i = 0, next = 0; i < wanted.size(); ++i)
    if (wanted[i]) columns[i] = std::move(made[next++]);
  if (step.whole_table) {
    std::vector<Column> all;
    for (LateColumn& column : columns) all.push_back((column = {column.made(), nullptr}).column);
    step.outputs[0]->finish(Table(fields.table().names, std::move(all)));
  }
  for (size_t i = 1; i < step.outputs.size(); ++i) {
    Node& output = *step.outputs[i];
    LateColumn& column = columns[static_cast<size_t>(output.fields().part())];
    if (step.late.contains(&output))
      output.fields().late = column;
    else
      output.finish(column.made());
  }
}

void run_table(const PlanStep& step) {
  if (!step.late.empty()) return run_late_table(step);
  const std::vector<bool> wanted = wanted_columns(step);
  Table table = !step.rows ? table_of(step, wanted)
                : inside_ran(step) || !kept_place(step).is_host()
                    ? table_of_made(step, wanted)
                    : run_row_pass(step, wanted, slices_of(step, wanted));
  std::vector<int64_t> place(wanted.size(), -1);
  for (size_t i = 0, next = 0; i < wanted.size(); ++i)
    if (wanted[i]) place[i] = static_cast<int64_t>(next++);
  for (size_t i = 1; i < step.outputs.size(); ++i)
    step.outputs[i]->finish(
        table.column(place[static_cast<size_t>(step.outputs[i]->fields().part())]));
  if (step.whole_table) step.outputs[0]->finish(std::move(table));
}

std::vector<Value> values_of(std::span<const NodePtr> nodes) {
  std::vector<Value> values;
  for (const NodePtr& node : nodes) values.push_back(node->value());
  return values;
}

// The updated array, where nothing else refers to its memory.
std::optional<Value> updated_in_place(const Operator& op, const PlanStep& step) {
  const auto* const update = dynamic_cast<const UpdateOperator*>(&op);
  if (!update) return {};
  SoleArray array(step.outputs[0], step.inputs);
  if (!array) return {};
  update->update(array.shape(), array.buffer(), values_of(std::span(step.inputs).subspan(1)));
  return array.release();
}

void run_operator(const PlanStep& step) {
  Node& node = *step.outputs[0];
  const Node::Fields& fields = node.fields();
  if (std::string how = fields.op->describe(step.inputs); how != fields.op->arguments())
    node.fields().label = std::move(how);
  const Operator& op = *fields.op;
  const Place kept = kept_place(step);
  if (op.passes() == 0 && !step.inputs.empty()) {
    set_kept(!kept.is_host());  // a view
    return node.finish(op.execute(values_of(step.inputs)));
  }
  if (kept.is_host()) {
    std::optional<Value> updated = updated_in_place(op, step);
    return node.finish(updated ? *std::move(updated)
                               : execute_at_place(op, values_of(step.inputs)));
  }
  const auto made = [&](std::span<const Value>) -> std::vector<Value> {
    std::optional<Value> updated = updated_in_place(op, step);
    return {updated ? *std::move(updated) : op.execute(values_of(step.inputs))};
  };
  node.finish(std::move(run_on_kept(node.op(), kept, {}, made, {})[0]));
}

/// Throws in place of an error that may show values which the policy keeps inside.
void hide_denied_values(const PlanStep& step) {
  for (const auto* nodes : {&step.inputs, &step.outputs})
    for (const NodePtr& node : *nodes)
      if (const std::vector<Mark> found = denied_tags_of(*node); !found.empty())
        throw_error<InvalidArgumentError>(
            step.outputs[0]->op(), "failed on values that the policy denies",
            {{"tag", found[0].source->words}, {"column", found[0].name()}},
            "allow the tag with hr.policy to see the error");
}

void run_step(const PlanStep& step) {
  Node& first = *step.outputs[0];
  const ScopedTag tag(first.tag());
  const ScopedKept no_kept(false);
  try {
    if (first.kind() == NodeKind::kTable) {
      run_table(step);
    } else if (first.fields().is_fusable()) {
      const Place kept = kept_place(step);
      const auto run = [&](std::span<const Value>) { return run_fused_pass(step); };
      std::vector<Value> values =
          kept.is_host() ? run_fused_pass(step) : run_on_kept("evaluate", kept, {}, run, {});
      for (size_t i = 0; i < values.size(); ++i) step.outputs[i]->finish(std::move(values[i]));
    } else if (first.kind() == NodeKind::kPart) {
      // Its table ran before for another reader.
      const Node& table = *step.inputs[0];
      finish_as(first, table, std::get<Table>(table.value()).column(first.fields().part()));
    } else {
      run_operator(step);
    }
  } catch (Error& error) {
    const bool has_values =
        !dynamic_cast<const OutOfMemoryError*>(&error) && !dynamic_cast<const Interrupted*>(&error);
    if (has_values) hide_denied_values(step);
    const TagInfo info = tag_info(first.tag());
    if (!info.line.empty()) error.add_note("  made by " + info.op + " at " + info.line);
    throw;
  }
}

// Which step that was measured made a node.
using StepsOfNodes = std::unordered_map<const Node*, int64_t>;

void tell(StepClock& clock, const PlanStep& step, StepsOfNodes& made_by) {
  if (!clock.is_on()) return;
  int64_t bytes = 0, rows = 0;
  std::set<int64_t> after;
  for (const NodePtr& input : step.inputs)
    if (const auto found = made_by.find(input.get()); found != made_by.end())
      after.insert(found->second);
  for (const NodePtr& output : step.outputs) made_by[output.get()] = clock.id();
  for (const NodePtr& output : step.outputs) {
    if (const auto& late = output->fields().late) rows = std::max(rows, late->num_rows());
    if (!output->is_ready()) continue;  // a table of which only columns were wanted
    bytes += value_bytes(output->value());
    rows = std::max(rows, output->signature().rows());
  }
  clock.stop(step.outputs[0]->op(), step.outputs[0]->tag(), rows, bytes,
             {after.begin(), after.end()});
}

int64_t rows_read_by(const PlanStep& step) {
  int64_t rows = 0;
  for (const NodePtr& input : step.inputs)
    if (input->is_ready()) rows = std::max(rows, input->signature().rows());
  return rows;
}

// Drops the outputs that ran inside an earlier step (a concat reads its parts one by one); false
// when nothing is left to run.
bool drop_what_ran(PlanStep& step) {
  for (const NodePtr& output : step.outputs) settle(*output);
  const bool is_table = step.outputs[0]->kind() == NodeKind::kTable;
  if (is_table && step.outputs[0]->is_ready())
    for (const NodePtr& output : step.outputs)
      if (!output->is_ready())
        finish_as(*output, *step.outputs[0],
                  std::get<Table>(step.outputs[0]->value()).column(output->fields().part()));
  const bool whole = step.whole_table && !step.outputs[0]->is_ready();
  std::erase_if(step.outputs, [&](const NodePtr& output) {
    return output->is_ready() && !(is_table && output == step.outputs[0]);
  });
  return whole || step.outputs.size() > (is_table ? 1 : 0);
}

void finish_same(const PlanStep& step) {
  for (const auto& [node, from] : step.same)
    if (!node->is_ready()) finish_as(*node, *from, from->value());
}

// Steps of nodes that one operator each, or one chain of element-wise ones each, makes of values
// that are there, or of reductions of those. No pass has anything to change in them, so the plan is
// not copied: lines on small frames are such plans, and those that do the same with each of
// thousands of columns.
class UnplannedSteps {
 public:
  /// False where the nodes have to be planned.
  bool add(const NodePtr& node) {
    if (node->is_ready() || !seen_.insert(node.get()).second) return true;
    const Node::Fields& fields = node->fields();
    if (fields.is_fusable()) return add_chain(node) != kPlanned;
    if (fields.lineage() == RowLineage::kSame && !add_relabelled(fields.inputs[0])) return false;
    const bool is_column = fields.kind() == NodeKind::kPart && !fields.inputs[0]->is_ready();
    const NodePtr& maker = is_column ? fields.inputs[0] : node;
    if (is_planned(fields) || is_planned(maker->fields())) return false;
    const auto [at, is_new_step] = by_maker_.try_emplace(maker.get(), steps_.size());
    if (is_new_step) {
      if (!is_new(*maker)) return false;
      steps_.emplace_back().outputs.push_back(maker);
    }
    PlanStep& step = steps_[at->second];
    if (is_column)
      step.outputs.push_back(node);
    else if (fields.kind() == NodeKind::kTable)
      step.whole_table = true;
    return true;
  }

  /// The steps, if what all of them read is there, or chains make it: one, the mask of a filter,
  /// and reductions.
  std::optional<std::vector<PlanStep>> take() {
    NodePtr mask;
    for (PlanStep& step : steps_) {
      const Node::Fields& fields = step.outputs[0]->fields();
      const bool is_table = fields.kind() == NodeKind::kTable;
      step.inputs = is_table && !step.whole_table ? inputs_of_columns(step.outputs) : fields.inputs;
      for (const NodePtr& input : step.inputs) {
        if (input->is_ready()) continue;
        if (is_table) return {};
        if (fields.lineage() == RowLineage::kSame && by_maker_.contains(input.get())) continue;
        if (input->kind() == NodeKind::kElementwise && mask != input && std::exchange(mask, input))
          return {};
        if (!input->fields().is_fusable() || add_chain(input) == kPlanned) return {};
      }
    }
    std::vector<PlanStep> all;
    for (Level& level : levels_) std::ranges::move(level.passes, std::back_inserter(all));
    std::ranges::move(steps_, std::back_inserter(all));
    return all;
  }

 private:
  static constexpr size_t kPlanned = SIZE_MAX;
  static constexpr size_t kMostReads = 32;  // of a chain: for longer ones a plan costs little

  /// Passes over the same rows, which share nothing and read what those of lower levels make.
  struct Level {
    std::vector<PlanStep> passes{};
    std::unordered_set<const Node*> reads{};  // of the last pass
  };

  static bool is_planned(const Node::Fields& fields) {
    return fields.plan != 0 || fields.optimized;
  }

  // Equal nodes are merged by a plan.
  bool is_new(const Node& node) { return structures_.insert(node.fields().structure).second; }

  // What rows get other numbers: not what has them already, as that could go on for ever.
  bool add_relabelled(const NodePtr& node) {
    if (node->is_ready()) return true;
    const Node::Fields& fields = node->fields();
    return fields.kind() == NodeKind::kOperator && fields.lineage() != RowLineage::kSame &&
           add(node);
  }

  // The level of the pass that makes it. Under a memory limit a plan says how much is made at once.
  size_t add_chain(const NodePtr& node) {
    if (const auto found = level_of_.find(node.get()); found != level_of_.end())
      return found->second;
    if (is_planned(node->fields()) || !is_new(*node)) return kPlanned;
    std::vector<NodePtr> reads;
    std::vector<const Node*> visited, stack{node.get()};
    size_t place = 0;
    while (!stack.empty()) {
      const Node::Fields& fields = stack.back()->fields();
      stack.pop_back();
      for (const NodePtr& input : fields.inputs) {
        if (std::ranges::find(visited, input.get()) != visited.end()) continue;
        if (visited.size() == kMostReads) return kPlanned;
        visited.push_back(input.get());
        if (input->is_ready()) {
          reads.push_back(input);
        } else if (may_be_in_pass_of(node, input)) {
          if (is_planned(input->fields()) || !is_new(*input)) return kPlanned;
          stack.push_back(input.get());
        } else {
          const bool is_reduction = input->kind() == NodeKind::kReduction;
          const size_t before = is_reduction ? add_chain(input) : kPlanned;
          if (before == kPlanned) return kPlanned;
          place = std::max(place, before + 1);
          reads.push_back(input);
        }
      }
    }
    if (!levels_.empty() && memory_limit() != INT64_MAX) return kPlanned;
    levels_.resize(std::max(levels_.size(), place + 1));
    Level& level = levels_[place];
    if (!level.passes.empty() && !are_in_one_pass(level.passes[0].outputs[0], node))
      return kPlanned;
    if (level.passes.empty() || level.passes.back().outputs.size() == kMostOutputs) {
      level.passes.emplace_back();
      level.reads.clear();
    }
    PlanStep& step = level.passes.back();
    step.outputs.push_back(node);
    for (const NodePtr& read : reads)
      if (level.reads.insert(read.get()).second) step.inputs.push_back(read);
    level_of_.emplace(node.get(), place);
    return place;
  }

  std::vector<Level> levels_{};
  std::unordered_map<const Node*, size_t> level_of_{};
  std::vector<PlanStep> steps_{};  // operators, after all passes
  std::unordered_map<const Node*, size_t> by_maker_{};
  std::unordered_set<const Node*> seen_{};
  std::unordered_set<uint64_t> structures_{};
};

std::vector<PlanStep> steps_to_run(std::span<const NodePtr> nodes, KeptShards* kept = nullptr) {
  UnplannedSteps unplanned;
  if (std::ranges::all_of(nodes, [&](const NodePtr& node) { return unplanned.add(node); }))
    if (auto steps = unplanned.take();
        steps && !may_have_places(*steps) && !may_read_shards(*steps))
      return std::move(*steps);
  LogicalPlan plan(nodes);
  optimize(plan);
  shard(plan, kept);
  choose_places(plan);
  plan.keep_rewritten();
  return plan_steps(plan);
}

}  // namespace

namespace {

// Devices that steps run at.
std::vector<Place> devices_of(const std::vector<PlanStep>& steps) {
  std::vector<Place> devices;
  for (const PlanStep& step : steps)
    if (const Place place = place_of(step);
        !place.is_host() && std::ranges::find(devices, place) == devices.end())
      devices.push_back(place);
  return devices;
}

// Steps by how many are before them: one device's last work does not come before work that another
// one waits for.
void order_by_depth(std::vector<PlanStep>& steps) {
  std::unordered_map<const Node*, int64_t> depth_of;
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < steps.size(); ++i) {
    int64_t depth = 0;
    for (const NodePtr& input : steps[i].inputs)
      if (const auto found = depth_of.find(input.get()); found != depth_of.end())
        depth = std::max(depth, found->second + 1);
    for (const NodePtr& output : steps[i].outputs) {
      int64_t& known = depth_of[output.get()];  // of a table that runs again: behind the first run
      depth = known = std::max(known, depth);
    }
    for (const auto& [node, from] : steps[i].same) depth_of[node.get()] = depth;
    order.emplace_back(depth, i);
  }
  std::ranges::sort(order);
  std::vector<PlanStep> sorted;
  for (const auto& [depth, i] : order) sorted.push_back(std::move(steps[i]));
  steps = std::move(sorted);
}

/// Which steps run at the same time: those of several devices, each device's in their order.
class Waves {
 public:
  Waves(const std::vector<PlanStep>& steps, std::vector<Place> devices)
      : steps_(steps), done_(steps.size()), devices_(std::move(devices)) {
    if (devices_.size() < 2) return;
    for (const PlanStep& step : steps) {
      for (const NodePtr& output : step.outputs) made_.insert(output.get());
      for (const auto& [node, from] : step.same) made_.insert(node.get());
    }
  }

  /// The next ones, in order; none when all are done.
  std::vector<size_t> next() {
    std::vector<size_t> wave;
    std::vector<Place> seen;
    while (first_ < done_.size() && done_[first_]) ++first_;
    const size_t end = std::min(first_ + kMostAhead, done_.size());
    for (size_t i = first_; i < end && seen.size() <= devices_.size(); ++i) {
      if (done_[i]) continue;
      const Place place = place_of(steps_[i]);
      if (i == first_) {
        wave.push_back(i);
        if (devices_.size() < 2 || place.is_host()) break;
        seen.push_back(place);
        continue;
      }
      if (std::ranges::find(seen, place) != seen.end()) continue;
      seen.push_back(place);  // what is behind a step that has to wait waits too
      if (!place.is_host() && has_inputs(i)) wave.push_back(i);
    }
    for (const size_t step : wave) done_[step] = true;
    return wave;
  }

 private:
  static constexpr size_t kMostAhead = 1024;  // bounds the time

  bool has_inputs(size_t step) const {
    return std::ranges::all_of(steps_[step].inputs, [&](const NodePtr& input) {
      return input->is_ready() || !made_.contains(input.get());
    });
  }

  const std::vector<PlanStep>& steps_;
  std::vector<bool> done_;
  size_t first_ = 0;
  std::vector<Place> devices_;
  std::unordered_set<const Node*> made_{};  // by a step
};

void run(std::vector<PlanStep> steps) {
  std::vector<Place> devices = devices_of(steps);
  if (devices.size() > 1) order_by_depth(steps);
  UsePlan uses(steps);
  StepsOfNodes made_by;
  const auto run_one = [&](size_t i) {
    const NvtxRange range(steps[i].outputs[0]->op());
    StepClock clock;
    if (drop_what_ran(steps[i])) {
      run_step(steps[i]);
      tell(clock, steps[i], made_by);
    }
  };
  Waves waves(steps, std::move(devices));
  for (std::vector<size_t> wave = waves.next(); !wave.empty(); wave = waves.next()) {
    int64_t most_rows = 0;
    for (const size_t i : wave) most_rows = std::max(most_rows, rows_read_by(steps[i]));
    const ScopedRunningRows rows(most_rows);
    uses.begin(wave[0]);
    if (wave.size() == 1 || StepClock().is_on())
      for (const size_t i : wave) run_one(i);
    else
      parallel_for(static_cast<int64_t>(wave.size()),
                   [&](int64_t k) { run_one(wave[static_cast<size_t>(k)]); });
    for (const size_t i : wave) {
      finish_same(steps[i]);
      for (const NodePtr& output : steps[i].outputs) uses.tell(*output);
      steps[i] = {};  // releases what is not held elsewhere, before the next step allocates
    }
  }
  uses.begin(steps.size());
}

}  // namespace

// One plan runs at a time; it uses all workers. A forked child begins with a free mutex: a fork
// cannot wait for the plan of another thread, which may need the GIL to go on.
std::recursive_mutex& plan_mutex() {
  return fresh_after_fork<std::recursive_mutex>();
}

void force(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  run(steps_to_run(nodes));
}

void force_shards(std::span<const NodePtr> nodes) {
  const std::lock_guard lock(plan_mutex());
  KeptShards kept;
  run(steps_to_run(nodes, &kept));
  for (auto& [node, shards] : kept) make_of_shards(node, std::move(shards));
}

void execute_nested(std::span<const NodePtr> nodes) {
  for (PlanStep& step : steps_to_run(nodes)) {
    if (drop_what_ran(step)) run_step(step);
    finish_same(step);
    step = {};
  }
  for (const NodePtr& node : nodes) settle(*node);
}

const Value& execute_nested(const NodePtr& node) {
  execute_nested(std::span(&node, 1));
  return node->value();
}

}  // namespace hr
