// SPDX-License-Identifier: Apache-2.0
// What it costs to start a job: with workers that spin, and with workers that sleep.
#include "headrace/exec/workers.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace hr {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds from the call until each of the threads has begun a task.
double seconds_to_wake_all(int count) {
  std::atomic<int> begun{0};
  std::vector<Clock::time_point> at(static_cast<size_t>(count));
  const auto begin = Clock::now();
  parallel_for(count, [&](int64_t i) {
    at[static_cast<size_t>(i)] = Clock::now();
    ++begun;
    const auto patience = Clock::now() + std::chrono::milliseconds(5);  // of fewer processors
    while (begun < count && Clock::now() < patience) {
    }
  });
  return std::chrono::duration<double>(std::ranges::max(at) - begin).count();
}

void wake(benchmark::State& state, std::chrono::microseconds pause) {
  const int before = threads(), count = static_cast<int>(state.range(0));
  set_threads(count);
  seconds_to_wake_all(count);  // starts the threads
  for (auto _ : state) {
    std::this_thread::sleep_for(pause);
    state.SetIterationTime(seconds_to_wake_all(count));
  }
  set_threads(before);
}

void WakeSleeping(benchmark::State& state) {
  wake(state, std::chrono::microseconds(2000));
}
BENCHMARK(WakeSleeping)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->UseManualTime();

void WakeSpinning(benchmark::State& state) {
  wake(state, std::chrono::microseconds(0));
}
BENCHMARK(WakeSpinning)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->UseManualTime();

// A section of next to no work: what it costs the caller.
void EmptySection(benchmark::State& state) {
  const int before = threads();
  set_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) parallel_for(64, [](int64_t i) { benchmark::DoNotOptimize(i); });
  set_threads(before);
}
BENCHMARK(EmptySection)->Arg(1)->Arg(2)->Arg(4)->Arg(16);

}  // namespace
}  // namespace hr
