// SPDX-License-Identifier: Apache-2.0
// Bytes and rows per second of fused chains over 2^26 rows (512 MB of float64), compared with the
// same loops written by hand: the floor.
#include "headrace/exec/workers.h"
#include "headrace/plan/eval/evaluate.h"

#include <benchmark/benchmark.h>

#include <initializer_list>

namespace hr {
namespace {

constexpr int64_t kRows = int64_t{1} << 26;

template <class T>
Tensor make_ramp(double step) {
  Buffer buffer = Buffer::allocate(kRows * static_cast<int64_t>(sizeof(T)));
  T* x = buffer.mutable_as<T>();
  for (int64_t i = 0; i < kRows; ++i) x[i] = static_cast<T>(static_cast<double>(i) * step);
  return Tensor(dtype_of<T>(), {kRows}, std::move(buffer));
}

const Tensor& ramp() {
  static const Tensor tensor = make_ramp<double>(1e-5);
  return tensor;
}

int apply(Program& program, Op op, std::initializer_list<int> operands) {
  return program.apply(op, std::span<const int>(operands.begin(), operands.size()));
}

void set_counters(benchmark::State& state, int64_t bytes_of_row) {
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetBytesProcessed(state.iterations() * kRows * bytes_of_row);
}

void run(benchmark::State& state, const Program& program, int64_t bytes_of_row = 8,
         const Tensor& x = ramp()) {
  const Value inputs[] = {x};
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(program, inputs, kRows));
  set_counters(state, bytes_of_row);
}

/// The same by hand: `loop(begin, end)` on all workers.
template <class F>
void run_by_hand(benchmark::State& state, int64_t bytes_of_row, F&& loop) {
  for (auto _ : state)
    parallel_morsels(kRows, [&](const Morsel& morsel) { loop(morsel.begin, morsel.end); });
  set_counters(state, bytes_of_row);
}

int weak(Program& program, double value) {
  return program.constant(Scalar::weak(value));
}

// (x * 1.5 + 2) * x - 3
void chain_of_four(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int line =
      apply(program, Op::kAdd,
            {apply(program, Op::kMultiply, {x, weak(program, 1.5)}), weak(program, 2)});
  program.add_tensor(
      apply(program, Op::kSubtract, {apply(program, Op::kMultiply, {line, x}), weak(program, 3)}));
  run(state, program, 16);
}

void chain_of_four_by_hand(benchmark::State& state) {
  const double* x = ramp().as<double>();
  for (auto _ : state) {
    Buffer out = Buffer::allocate(kRows * 8);
    double* z = out.mutable_as<double>();
    parallel_morsels(kRows, [&](const Morsel& morsel) {
      for (int64_t i = morsel.begin; i < morsel.end; ++i) z[i] = (x[i] * 1.5 + 2) * x[i] - 3;
    });
  }
  set_counters(state, 16);
}

// ((x > 100) & (x < 500)).sum()
void count_in_range(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int inside = apply(program, Op::kLogicalAnd,
                           {apply(program, Op::kGreater, {x, weak(program, 100)}),
                            apply(program, Op::kLess, {x, weak(program, 500)})});
  program.add_reduction(inside, Aggregate::kSum);
  run(state, program);
}

void count_in_range_by_hand(benchmark::State& state) {
  const double* x = ramp().as<double>();
  run_by_hand(state, 8, [&](int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i)
      count += static_cast<int64_t>(x[i] > 100) & static_cast<int64_t>(x[i] < 500);
    benchmark::DoNotOptimize(count);
  });
}

void count_greater(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  program.add_reduction(apply(program, Op::kGreater, {x, weak(program, 100)}), Aggregate::kSum);
  run(state, program);
}

// (float64(x) * 0.5) of int32, and where(x > 100, x, 0)
void cast_and_multiply(benchmark::State& state) {
  static const Tensor integers = make_ramp<int32_t>(1);
  Program program;
  const int x = program.cast(program.input(0, TypeId::kInt32, false), TypeId::kFloat64);
  program.add_tensor(apply(program, Op::kMultiply, {x, weak(program, 0.5)}));
  run(state, program, 12, integers);
}

void select_positive(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int above = apply(program, Op::kGreater, {x, weak(program, 100)});
  program.add_tensor(apply(program, Op::kWhere, {above, x, program.constant(Scalar(0.0))}));
  run(state, program, 16);
}

BENCHMARK(chain_of_four)->UseRealTime();
BENCHMARK(chain_of_four_by_hand)->UseRealTime();
BENCHMARK(count_in_range)->UseRealTime();
BENCHMARK(count_in_range_by_hand)->UseRealTime();
BENCHMARK(count_greater)->UseRealTime();
BENCHMARK(cast_and_multiply)->UseRealTime();
BENCHMARK(select_positive)->UseRealTime();

// (sin(x)**2 + cos(x)**2 == 1).sum()
void trigonometric_identity(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  const int s = apply(program, Op::kSquare, {apply(program, Op::kSin, {x})});
  const int c = apply(program, Op::kSquare, {apply(program, Op::kCos, {x})});
  const int one = program.constant(Scalar::weak(1.0));
  program.add_reduction(apply(program, Op::kEqual, {apply(program, Op::kAdd, {s, c}), one}),
                        Aggregate::kSum);
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

void reduction(benchmark::State& state, Aggregate kind) {
  for (auto _ : state) benchmark::DoNotOptimize(reduce(ramp(), kind));
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK_CAPTURE(reduction, sum, Aggregate::kSum)->UseRealTime();
BENCHMARK_CAPTURE(reduction, min, Aggregate::kMin)->UseRealTime();
BENCHMARK_CAPTURE(reduction, argmin, Aggregate::kArgmin)->UseRealTime();
BENCHMARK_CAPTURE(reduction, std, Aggregate::kStd)->UseRealTime();

void mask_of_comparison(benchmark::State& state) {
  Program program;
  const int x = program.input(0, TypeId::kFloat64, false);
  program.add_column(apply(program, Op::kLess, {x, program.constant(Scalar(80.0))}));
  run(state, program);
}

BENCHMARK(mask_of_comparison)->UseRealTime();

}  // namespace
}  // namespace hr
