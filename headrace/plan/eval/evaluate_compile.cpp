// SPDX-License-Identifier: Apache-2.0
// Choosing kernels and registers for a program.
#include "headrace/plan/eval/evaluate_compile.h"

#include "headrace/base/error.h"

#include <algorithm>

namespace hr {

namespace {

using Node = Program::Node;
using OutputKind = Program::OutputKind;

}  // namespace

std::vector<bool> needed_values(const Program& program) {
  std::vector<bool> needed(program.nodes().size());
  for (const Program::Output& output : program.outputs()) needed[at(output.value)] = true;
  for (size_t v = program.nodes().size(); v-- > 0;)
    if (needed[v])
      for (const int operand : program.nodes()[v].operands)
        if (operand >= 0) needed[at(operand)] = true;
  return needed;
}

namespace {

/// For each value, the float64 cosine of it that the outputs need, or -1.
std::vector<int> find_cosines(const Program& program, const std::vector<bool>& needed) {
  std::vector<int> cosine_of(program.nodes().size(), -1);
  for (size_t v = 0; v < program.nodes().size(); ++v)
    if (const Node& node = program.nodes()[v];
        needed[v] && node.op == Op::kCos && node.dtype.id() == TypeId::kFloat64)
      cosine_of[at(node.operands[0])] = static_cast<int>(v);
  return cosine_of;
}

/// Joins two steps where the second is the only reader of the first and there is a kernel for both.
/// `once`, by value: the same in every row.
void join_pairs(const Program& program, const std::vector<bool>& once,
                std::vector<EvaluateStep>& steps) {
  std::vector<int> readers(program.nodes().size());
  for (const EvaluateStep& step : steps)
    for (const int operand : step.operands)
      if (operand >= 0) ++readers[at(operand)];
  for (const Program::Output& output : program.outputs()) ++readers[at(output.value)];
  std::vector<int> made_by(program.nodes().size(), -1);
  std::vector<bool> joined(steps.size());
  const auto is_binary = [](const EvaluateStep& step) {
    return step.operands[1] >= 0 && step.operands[2] < 0;
  };
  const auto join = [&](EvaluateStep& step, bool swapped) {
    const int inner = step.operands[swapped];
    const int maker = made_by[at(inner)];
    if (maker < 0 || readers[at(inner)] != 1 || !is_binary(steps[at(maker)])) return false;
    const EvaluateStep& first = steps[at(maker)];
    int a = first.operands[0], b = first.operands[1];
    const int c = step.operands[!swapped];
    if (first.op == Op::kMultiply && once[at(a)]) std::swap(a, b);
    const unsigned bits =
        (once[at(a)] ? 1u : 0u) + (once[at(b)] ? 2u : 0u) + (once[at(c)] ? 4u : 0u);
    const cpu::Kernel kernel = cpu::pair_kernel(first.op, step.op, swapped, step.dtype, bits);
    if (!kernel) return false;
    joined[at(maker)] = true;
    step.kernel = kernel;
    step.operands[0] = a;
    step.operands[1] = b;
    step.operands[2] = c;
    return true;
  };
  for (size_t s = 0; s < steps.size(); ++s) {
    if (is_binary(steps[s]) && !join(steps[s], false)) join(steps[s], true);
    made_by[at(steps[s].out)] = static_cast<int>(s);
  }
  std::vector<EvaluateStep> left;
  for (size_t s = 0; s < steps.size(); ++s)
    if (!joined[s]) left.push_back(steps[s]);
  steps = std::move(left);
}

/// For each value, the output that its steps can write directly, or -1.
std::vector<int> find_direct_outputs(const Program& program) {
  const std::vector<Node>& nodes = program.nodes();
  std::vector<int> output_of(nodes.size(), -1);
  for (size_t o = 0; o < program.outputs().size(); ++o) {
    const Program::Output& output = program.outputs()[o];
    const Node& node = nodes[at(output.value)];
    const bool plain = output.kind == OutputKind::kTensor ||
                       (output.kind == OutputKind::kColumn && !node.dtype.is_bool());
    if (plain && !is_leaf(node) && !node.nullable && output_of[at(output.value)] < 0)
      output_of[at(output.value)] = static_cast<int>(o);
  }
  return output_of;
}

/// The values that are the same in every row.
std::vector<bool> find_once(const std::vector<Node>& nodes,
                            const std::vector<EvaluateInput>& inputs) {
  std::vector<bool> once(nodes.size());
  for (size_t v = 0; v < nodes.size(); ++v)
    once[v] =
        nodes[v].op == Op::kConstant ||
        (nodes[v].op == Op::kInput && inputs[at(nodes[v].input)].source == InputSource::kOnce);
  return once;
}

/// The step that makes value v, with its kernel.
EvaluateStep step_of(const std::vector<Node>& nodes, size_t v, const std::vector<bool>& once) {
  const Node& node = nodes[v];
  EvaluateStep step;
  step.op = node.op;
  step.out = static_cast<int>(v);
  std::copy(node.operands, node.operands + 3, step.operands);
  const int first = node.op == Op::kWhere ? 1 : 0;  // of the operands that the kernel is chosen by
  step.dtype = nodes[at(node.operands[first])].dtype;
  if (node.op == Op::kIsNull || node.op == Op::kFillNull) return step;  // needs no kernel
  const auto is_once = [&](int operand) { return operand >= 0 && once[at(operand)]; };
  const int a = node.operands[first], b = node.operands[first + 1];
  if (node.op == Op::kCast)
    step.kernel = cpu::cast_kernel(step.dtype, node.dtype);
  else
    step.kernel = cpu::find_kernel(node.op, step.dtype,
                                   is_once(b)             ? cpu::Once::kRight
                                   : is_once(a) && b >= 0 ? cpu::Once::kLeft
                                                          : cpu::Once::kNone);
  if (!step.kernel)
    throw_error<InternalError>("evaluate", "an operation has no kernel",
                               {{"op", op_row(node.op).name}, {"dtype", step.dtype.name()}});
  return step;
}

/// The steps that make the needed values, each once, in order.
std::vector<EvaluateStep> choose_steps(const Program& program, const std::vector<bool>& needed,
                                       const std::vector<bool>& once) {
  const std::vector<Node>& nodes = program.nodes();
  const std::vector<int> cosine_of = find_cosines(program, needed);
  std::vector<EvaluateStep> steps;
  std::vector<bool> done(nodes.size());
  for (size_t v = 0; v < nodes.size(); ++v) {
    const Node& node = nodes[v];
    if (!needed[v] || is_leaf(node) || done[v]) continue;
    EvaluateStep& step = steps.emplace_back(step_of(nodes, v, once));
    if (node.op == Op::kSin && node.dtype.id() == TypeId::kFloat64)
      if (const int cosine = cosine_of[at(node.operands[0])]; cosine > static_cast<int>(v)) {
        step.second_out = cosine;
        done[at(cosine)] = true;
      }
  }
  join_pairs(program, once, steps);
  return steps;
}

/// For each value, the last step that reads it; for outputs, which are read at the end, the number
/// of steps.
std::vector<int> find_last_readers(const Program& program, const std::vector<EvaluateStep>& steps) {
  std::vector<int> last(program.nodes().size(), -1);
  const int end = static_cast<int>(steps.size());
  for (int s = 0; s < end; ++s)
    for (const int operand : steps[at(s)].operands)
      if (operand >= 0) last[at(operand)] = s;
  for (const Program::Output& output : program.outputs()) last[at(output.value)] = end;
  return last;
}

/// Gives each value that is no direct output a register, free again behind its last reader.
void assign_registers(const Program& program, const std::vector<EvaluateInput>& inputs,
                      const std::vector<bool>& needed, const std::vector<bool>& once,
                      CompiledProgram& compiled) {
  const std::vector<Node>& nodes = program.nodes();
  const std::vector<int> last = find_last_readers(program, compiled.steps);
  std::vector<int> free_registers;
  const auto take = [&](int value) {
    if (compiled.output_of[at(value)] >= 0) return;
    if (free_registers.empty()) free_registers.push_back(compiled.num_registers++);
    compiled.register_of[at(value)] = free_registers.back();
    free_registers.pop_back();
  };
  for (size_t v = 0; v < nodes.size(); ++v) {
    if (!needed[v] || !is_leaf(nodes[v])) continue;
    if (once[v]) {
      compiled.once.push_back(static_cast<int>(v));
      continue;
    }
    const InputSource source = inputs[at(nodes[v].input)].source;
    if (source != InputSource::kPointer) take(static_cast<int>(v));
  }
  for (size_t s = 0; s < compiled.steps.size(); ++s) {
    const EvaluateStep& step = compiled.steps[s];
    take(step.out);
    if (step.second_out >= 0) take(step.second_out);
    for (int k = 0; k < 3; ++k) {
      const int operand = step.operands[k];
      const bool repeated =
          std::find(step.operands, step.operands + k, operand) != step.operands + k;
      if (operand < 0 || repeated || last[at(operand)] != static_cast<int>(s)) continue;
      if (const int r = compiled.register_of[at(operand)]; r >= 0) free_registers.push_back(r);
    }
  }
}

}  // namespace

CompiledProgram compile(const Program& program, const std::vector<EvaluateInput>& inputs) {
  const std::vector<bool> needed = needed_values(program);
  const std::vector<bool> once = find_once(program.nodes(), inputs);
  CompiledProgram compiled;
  compiled.register_of.assign(program.nodes().size(), -1);
  compiled.output_of = find_direct_outputs(program);
  compiled.steps = choose_steps(program, needed, once);
  assign_registers(program, inputs, needed, once, compiled);
  return compiled;
}

}  // namespace hr
