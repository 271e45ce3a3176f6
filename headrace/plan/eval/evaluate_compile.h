// SPDX-License-Identifier: Apache-2.0
// A program made ready for the evaluator: kernels, registers, and what is computed once.
#pragma once
#include "headrace/plan/eval/evaluate_input.h"
#include "headrace/plan/eval/evaluate_kernels.h"

#include <vector>

namespace hr {

/// One call of a kernel on every block.
struct EvaluateStep {
  Op op;
  cpu::Kernel kernel = nullptr;
  int operands[3] = {-1, -1, -1};
  int out;
  int second_out = -1;  // cosine of a fused sine and cosine
  Dtype dtype;          // of the operands
};

struct CompiledProgram {
  std::vector<EvaluateStep> steps;
  std::vector<int> register_of;  // by value; -1: a pointer into an input, an output or nowhere
  std::vector<int> output_of;    // by value: the output it is written into directly, or -1
  std::vector<int> once;         // values that are the same in every block
  int num_registers = 0;
};

/// The place of a value, an input or an output in a vector.
inline size_t at(int64_t number) {
  return static_cast<size_t>(number);
}

inline bool is_leaf(const Program::Node& node) {
  return node.op == Op::kInput || node.op == Op::kConstant;
}

/// By value: whether the outputs need it.
std::vector<bool> needed_values(const Program& program);

/// Chooses kernels, fuses sine with cosine, and gives each value a register for as long as a later
/// step or an output reads it. A value whose only home is one output is written there directly.
CompiledProgram compile(const Program& program, const std::vector<EvaluateInput>& inputs);

}  // namespace hr
