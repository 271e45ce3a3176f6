// SPDX-License-Identifier: Apache-2.0
// Speed of the CSV reader and writer on text in memory and in the page cache.
#include "headrace/io/csv.h"
#include "headrace/io/csv_write.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <random>

namespace hr {
namespace {

constexpr int64_t kRows = int64_t{1} << 21;

Source numbers(const char* format) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::string text;
  char cell[120];
  for (int64_t i = 0; i < kRows; ++i)
    text.append(cell,
                static_cast<size_t>(std::snprintf(cell, sizeof cell, format, normal(random))));
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(text.size()));
  std::memcpy(buffer.mutable_data(), text.data(), text.size());
  return Source::bytes(std::move(buffer));
}

void read(benchmark::State& state, const Source& source, const CsvOptions& options) {
  const int64_t bytes = source.open("bench", Compression::kNone)->known_size();
  for (auto _ : state) benchmark::DoNotOptimize(read_csv(source, options));
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetBytesProcessed(state.iterations() * bytes);
}

void read_scientific18(benchmark::State& state) {
  read(state, numbers("%.18e\n"), {});
}

void read_scientific18_float32(benchmark::State& state) {
  read(state, numbers("%.18e\n"), {.dtype = TypeId::kFloat32});
}

void read_short_decimals(benchmark::State& state) {
  read(state, numbers("%.5f\n"), {});
}

void read_shortest(benchmark::State& state) {
  read(state, numbers("%.17g\n"), {});
}

void read_strings(benchmark::State& state) {
  read(state, numbers("text %.5f\n"), {});
}

void read_quoted(benchmark::State& state) {
  read(state, numbers("\"%.5f, x\"\n"), {});
}

void read_exponents(benchmark::State& state) {
  read(state, numbers("%.6e\n"), {});
}

void read_integers(benchmark::State& state) {
  read(state, numbers("%.0f1\n"), {});
}

// Two numbers and two strings, one of them too long for its view.
void read_mixed(benchmark::State& state) {
  read(state, numbers("%1$.3f,%1$.0f,id%1$.4f,text of %1$.6f\n"), {.names = {"a", "b", "c", "d"}});
}

BENCHMARK(read_scientific18)->Unit(benchmark::kMillisecond);
BENCHMARK(read_scientific18_float32)->Unit(benchmark::kMillisecond);
BENCHMARK(read_short_decimals)->Unit(benchmark::kMillisecond);
BENCHMARK(read_shortest)->Unit(benchmark::kMillisecond);
BENCHMARK(read_strings)->Unit(benchmark::kMillisecond);
BENCHMARK(read_quoted)->Unit(benchmark::kMillisecond);
BENCHMARK(read_exponents)->Unit(benchmark::kMillisecond);
BENCHMARK(read_integers)->Unit(benchmark::kMillisecond);
BENCHMARK(read_mixed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hr
