// SPDX-License-Identifier: Apache-2.0
// Products per second of matmul: squares, distances, Gram matrices, a vector.
#include "headrace/algo/linalg/matmul.h"
#include "headrace/base/simd.h"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace hr {
namespace {

template <class T>
void product(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1), depth = state.range(2);
  const auto ones = [](int64_t m, int64_t n) {
    Buffer buffer = Buffer::allocate(m * n * static_cast<int64_t>(sizeof(T)));
    std::fill_n(buffer.mutable_as<T>(), m * n, T{1});
    return Tensor(dtype_of<T>(), {m, n}, std::move(buffer));
  };
  const Tensor a = ones(rows, depth), b = ones(depth, columns);
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b, dtype_of<T>()));
  state.counters["flop/s"] = benchmark::Counter(2.0 * static_cast<double>(rows * columns * depth),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->Args({384, 384, 384})->Args({1024, 1024, 1024})->Args({1024, 1024, 64});
  bench->Args({64, 64, 16384})->Args({16384, 20, 16})->Args({4096, 1, 4096})->UseRealTime();
}

BENCHMARK(product<float>)->Apply(shapes);
BENCHMARK(product<double>)->Apply(shapes);

}  // namespace
}  // namespace hr
