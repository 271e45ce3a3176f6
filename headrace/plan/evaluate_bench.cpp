// SPDX-License-Identifier: Apache-2.0
// Rows per second of fused chains over 2^24 rows, with and without a full-size result.
#include "headrace/plan/evaluate.h"

#include <benchmark/benchmark.h>

#include <initializer_list>

namespace hr {
namespace {

constexpr int64_t kRows = int64_t{1} << 24;

const Tensor& ramp() {
  static const Tensor tensor = [] {
    Buffer buffer = Buffer::allocate(kRows * 8);
    double* x = buffer.mutable_as<double>();
    for (int64_t i = 0; i < kRows; ++i) x[i] = static_cast<double>(i) * 1e-5;
    return Tensor(TypeId::kFloat64, {kRows}, std::move(buffer));
  }();
  return tensor;
}

int apply(Program& program, Op op, std::initializer_list<int> operands) {
  return program.apply(op, std::span<const int>(operands.begin(), operands.size()));
}

void run(benchmark::State& state, const Program& program) {
  const Value inputs[] = {ramp()};
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(program, inputs, kRows));
  state.SetItemsProcessed(state.iterations() * kRows);
}

// (sin(x)**2 + cos(x)**2 == 1).sum()
void trigonometric_identity(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int s = apply(program, Op::kSquare, {apply(program, Op::kSin, {x})});
  const int c = apply(program, Op::kSquare, {apply(program, Op::kCos, {x})});
  const int one = program.constant(Scalar::weak(1.0));
  program.add_reduction(apply(program, Op::kEqual, {apply(program, Op::kAdd, {s, c}), one}),
                        Reduction::kSum);
  run(state, program);
}

BENCHMARK(trigonometric_identity)->UseRealTime();

void unary_op(benchmark::State& state, Op op) {
  Program program;
  program.add_tensor(apply(program, op, {program.input(0, TypeId::kFloat64, false)}));
  run(state, program);
}

BENCHMARK_CAPTURE(unary_op, square, Op::kSquare)->UseRealTime();
BENCHMARK_CAPTURE(unary_op, sin, Op::kSin)->UseRealTime();
BENCHMARK_CAPTURE(unary_op, floor, Op::kFloor)->UseRealTime();
BENCHMARK_CAPTURE(unary_op, isnan, Op::kIsNan)->UseRealTime();

// (x - mean) / scale
void standardize(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int shifted = apply(program, Op::kSubtract, {x, program.constant(Scalar(80.0))});
  program.add_tensor(apply(program, Op::kDivide, {shifted, program.constant(Scalar(3.0))}));
  run(state, program);
}

BENCHMARK(standardize)->UseRealTime();

void reduction(benchmark::State& state, Reduction kind) {
  for (auto _ : state) benchmark::DoNotOptimize(reduce(ramp(), kind));
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK_CAPTURE(reduction, sum, Reduction::kSum)->UseRealTime();
BENCHMARK_CAPTURE(reduction, min, Reduction::kMin)->UseRealTime();
BENCHMARK_CAPTURE(reduction, argmin, Reduction::kArgmin)->UseRealTime();
BENCHMARK_CAPTURE(reduction, std, Reduction::kStd)->UseRealTime();

void mask_of_comparison(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  program.add_column(apply(program, Op::kLess, {x, program.constant(Scalar(80.0))}));
  run(state, program);
}

BENCHMARK(mask_of_comparison)->UseRealTime();

}  // namespace
}  // namespace hr
