// SPDX-License-Identifier: Apache-2.0
// Time per value of the elementary functions, on blocks that stay in the L1 cache.
#include "headrace/algo/math/vmath.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace hr {
namespace {

constexpr int64_t kRows = 1024;

std::vector<double> ramp(double low, double high) {
  std::vector<double> x;
  for (int64_t i = 0; i < kRows; ++i)
    x.push_back(low + (high - low) * static_cast<double>(i) / kRows);
  return x;
}

void unary(benchmark::State& state, VectorFunction function, double low, double high) {
  const std::vector<double> x = ramp(low, high);
  std::vector<double> y(x.size());
  const UnaryFunction64 f = unary_function64(function);
  for (auto _ : state) {
    f(x.data(), y.data(), kRows);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK_CAPTURE(unary, sin, VectorFunction::kSin, -100, 100);
BENCHMARK_CAPTURE(unary, sin_large, VectorFunction::kSin, 1e12, 1e15);
BENCHMARK_CAPTURE(unary, cos, VectorFunction::kCos, -100, 100);
BENCHMARK_CAPTURE(unary, tan, VectorFunction::kTan, -100, 100);
BENCHMARK_CAPTURE(unary, tanh, VectorFunction::kTanh, -10, 10);
BENCHMARK_CAPTURE(unary, exp, VectorFunction::kExp, -100, 100);
BENCHMARK_CAPTURE(unary, exp2, VectorFunction::kExp2, -100, 100);
BENCHMARK_CAPTURE(unary, expm1, VectorFunction::kExpm1, -10, 100);
BENCHMARK_CAPTURE(unary, log, VectorFunction::kLog, 1e-3, 100);
BENCHMARK_CAPTURE(unary, log2, VectorFunction::kLog2, 1e-3, 100);
BENCHMARK_CAPTURE(unary, log10, VectorFunction::kLog10, 1e-3, 100);
BENCHMARK_CAPTURE(unary, log1p, VectorFunction::kLog1p, -0.9, 100);

void pow(benchmark::State& state) {
  const std::vector<double> x = ramp(0.1, 10), y = ramp(-20, 20);
  std::vector<double> z(x.size());
  for (auto _ : state) {
    vector_pow(x.data(), y.data(), z.data(), kRows);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK(pow);

void sin_cos(benchmark::State& state) {
  const std::vector<double> x = ramp(-100, 100);
  std::vector<double> s(x.size()), c(x.size());
  for (auto _ : state) {
    vector_sin_cos(x.data(), s.data(), c.data(), kRows);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}

BENCHMARK(sin_cos);

}  // namespace
}  // namespace hr
