// SPDX-License-Identifier: Apache-2.0
// What an event costs, and what a small buffer costs with the trace on and off.
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/log_file.h"
#include "headrace/memory/log/tag_bytes.h"
#include "headrace/memory/log/trace.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <vector>

namespace hr {

namespace {

void memory_event(benchmark::State& state) {
  int byte = 0;
  for (auto _ : state) log_memory_event(MemoryAction::kAllocate, &byte, 64, 0);
}
BENCHMARK(memory_event)->Threads(1)->Threads(2);

// Of an event's cost, what the sums by tag and the look at the peak take.
void tag_sum(benchmark::State& state) {
  for (auto _ : state) {
    count_tag_bytes(1, 64);
    count_tag_bytes(1, -64);
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(tag_sum)->Threads(1)->Threads(2);

// Work under a tag: what each operator pays once.
void tag_scope(benchmark::State& state) {
  const Tag tag = intern_tag("bench", "bench.py:1");
  for (auto _ : state) {
    const ScopedTag scope(tag);
    benchmark::DoNotOptimize(current_tag());
  }
}
BENCHMARK(tag_scope);

// The budget's part of an allocation and a free, with open scopes of statistics.
void charge(benchmark::State& state) {
  std::vector<std::unique_ptr<StatisticsScope>> scopes;
  for (int64_t i = 0; i < state.range(0); ++i)
    scopes.push_back(std::make_unique<StatisticsScope>());
  for (auto _ : state) {
    benchmark::DoNotOptimize(try_charge(64));
    discharge(64);
  }
}
BENCHMARK(charge)->ArgName("scopes")->Arg(0)->Arg(1)->Arg(3);

// The same events while a file follows the log.
void memory_event_in_a_file(benchmark::State& state) {
  MemoryLogFile log("/dev/null", next_memory_event());
  int byte = 0;
  for (auto _ : state) log_memory_event(MemoryAction::kAllocate, &byte, 64, 0);
}
BENCHMARK(memory_event_in_a_file);

void small_buffer(benchmark::State& state) {
  const bool before = memory_trace();
  set_memory_trace(state.range(0) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(Buffer::allocate(1024).data());
  set_memory_trace(before);
}
BENCHMARK(small_buffer)->ArgName("trace")->Arg(0)->Arg(1);

void large_buffer(benchmark::State& state) {
  std::memset(Buffer::allocate(state.range(0)).mutable_data(), 1,
              static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Buffer::allocate(state.range(0)).data());
}
BENCHMARK(large_buffer)->Arg(80'000'000)->Arg(8'000'000);

}  // namespace

}  // namespace hr
