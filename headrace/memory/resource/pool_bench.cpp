// SPDX-License-Identifier: Apache-2.0
// What an operation of the pool costs, compared with what it replaces.
#include "headrace/memory/adaptors/recording_adaptors.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/resource/pool.h"

#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <vector>

namespace hr {

namespace {

// 40 to 80 live blocks, sizes of 256 B to 2 MiB drawn before the clock runs: of equal probability
// for each size, or for each doubling. An item is one allocate or one deallocate.
class RandomOperations {
 public:
  explicit RandomOperations(unsigned seed, bool by_doubling) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(256, 2 << 20);
    std::uniform_real_distribution<double> exponent(8, 21);
    for (size_t& size : sizes_)
      size = static_cast<size_t>(by_doubling ? std::exp2(exponent(random)) : uniform(random));
    for (uint32_t& draw : draws_) draw = static_cast<uint32_t>(random());
  }

  template <class Allocate, class Deallocate>
  void run(benchmark::State& state, Allocate&& allocate, Deallocate&& deallocate) {
    size_t live = 0;
    size_t at = 0;
    bool grows = true;
    const auto once = [&] {
      at = (at + 1) % sizes_.size();
      if (live == 80) grows = false;
      if (live <= 40) grows = true;
      // On the way up two of three operations allocate, on the way down one.
      if (draws_[at] % 3 < (grows ? 2u : 1u)) {
        if (live == 80) return;
        blocks_[live++] = {allocate(sizes_[at]), sizes_[at]};
      } else if (live > 0) {
        const size_t i = (draws_[at] >> 8) % live;
        deallocate(blocks_[i].pointer, blocks_[i].bytes);
        blocks_[i] = blocks_[--live];
      }
    };
    for (int i = 0; i < 200'000; ++i) once();
    for (auto _ : state) once();
    while (live-- > 0) deallocate(blocks_[live].pointer, blocks_[live].bytes);
  }

 private:
  struct Block {
    void* pointer;
    size_t bytes;
  };

  std::array<size_t, 4096> sizes_;
  std::array<uint32_t, 4096> draws_;
  std::array<Block, 81> blocks_;
};

void random_malloc(benchmark::State& state) {
  RandomOperations(static_cast<unsigned>(state.thread_index()), state.range(0) != 0)
      .run(state, [](size_t n) { return std::malloc(n); }, [](void* p, size_t) { std::free(p); });
}

void random_pool(benchmark::State& state) {
  PoolResource& pool = default_pool();
  RandomOperations(static_cast<unsigned>(state.thread_index()), state.range(0) != 0)
      .run(
          state, [&](size_t n) { return pool.allocate(Stream{}, n, 64); },
          [&](void* p, size_t n) { pool.deallocate(Stream{}, p, n, 64); });
}

void random_statistics_over_pool(benchmark::State& state) {
  static const AnyResource resource(std::make_shared<StatisticsAdaptor>(current_resource()));
  RandomOperations(static_cast<unsigned>(state.thread_index()), state.range(0) != 0)
      .run(
          state, [&](size_t n) { return resource.allocate(Stream{}, n, 64); },
          [&](void* p, size_t n) { resource.deallocate(Stream{}, p, n, 64); });
}

// With budget, statistics, list of holders, tag and event log.
void random_buffer(benchmark::State& state) {
  RandomOperations(static_cast<unsigned>(state.thread_index()), state.range(0) != 0)
      .run(
          state, [&](size_t n) { return new Buffer(Buffer::allocate(static_cast<int64_t>(n))); },
          [&](void* p, size_t) { delete static_cast<Buffer*>(p); });
}

// by_doubling
BENCHMARK(random_malloc)->Arg(0)->Arg(1)->Threads(1)->Threads(2);
BENCHMARK(random_pool)->Arg(0)->Arg(1)->Threads(1)->Threads(2);
BENCHMARK(random_statistics_over_pool)->Arg(0)->Arg(1)->Threads(1)->Threads(2);
BENCHMARK(random_buffer)->Arg(0)->Arg(1)->Threads(1)->Threads(2);

int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// One page of each block is touched, since an untouched block costs nothing.
template <class Allocate, class Deallocate>
void one_size(benchmark::State& state, Allocate&& allocate, Deallocate&& deallocate) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const auto once = [&] {
    void* const block = allocate(bytes);
    *static_cast<volatile char*>(block) = 1;
    deallocate(block, bytes);
  };
  once();
  const int64_t before = page_faults();
  for (auto _ : state) once();
  state.counters["faults"] = static_cast<double>(page_faults() - before);
}

void same_size_mmap(benchmark::State& state) {
  one_size(
      state,
      [](size_t n) {
        return mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      },
      [](void* p, size_t n) { munmap(p, n); });
}

void same_size_pool(benchmark::State& state) {
  PoolResource& pool = default_pool();
  one_size(
      state, [&](size_t n) { return pool.allocate(Stream{}, n, 64); },
      [&](void* p, size_t n) { pool.deallocate(Stream{}, p, n, 64); });
}

BENCHMARK(same_size_mmap)->Arg(1 << 20)->Iterations(100'000);
BENCHMARK(same_size_pool)->Arg(1 << 20)->Iterations(1'000'000);
BENCHMARK(same_size_pool)->Arg(8 << 20)->Arg(80 << 20);

}  // namespace

}  // namespace hr
