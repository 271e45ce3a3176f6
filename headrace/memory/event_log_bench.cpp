// SPDX-License-Identifier: Apache-2.0
// What an event costs, and what a small buffer costs with the trace on and off.
#include "headrace/memory/buffer.h"
#include "headrace/memory/event_log.h"
#include "headrace/memory/trace.h"

#include <benchmark/benchmark.h>

#include <cstring>

namespace hr {

namespace {

void memory_event(benchmark::State& state) {
  int byte = 0;
  for (auto _ : state) log_memory_event(MemoryAction::kAllocate, &byte, 64, 0);
}
BENCHMARK(memory_event)->Threads(1)->Threads(2);

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
