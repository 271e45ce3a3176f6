// SPDX-License-Identifier: Apache-2.0
// Nanoseconds of a block of a GPU and its end by cudaMalloc, cudaMallocAsync and RMM's pool, of as
// many blocks at once as told: `device_blocks BYTES HELD`, one JSON object.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// The least of nine means over `rounds` rounds of `held` blocks.
template <class Allocate, class Free>
double nanoseconds(int rounds, size_t held, Allocate&& allocate, Free&& free) {
  std::vector<void*> blocks(held);
  double least = 1e18;
  for (int run = 0; run < 9; ++run) {
    const auto begin = Clock::now();
    for (int round = 0; round < rounds; ++round) {
      for (void*& block : blocks) block = allocate();
      for (void* const block : blocks) free(block);
    }
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    least = std::min(least, took.count() / rounds / static_cast<double>(held));
  }
  return least;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const size_t bytes = std::strtoull(words[1], nullptr, 10);
  const size_t held = std::strtoull(words[2], nullptr, 10);
  const int rounds = static_cast<int>(std::max<size_t>(1, 1000 / held));
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
  cudaMemPool_t pool = nullptr;
  unsigned long long keep = 1ull << 34;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  const double plain = nanoseconds(
      std::max(1, rounds / 20), held,
      [&] {
        void* block = nullptr;
        cudaMalloc(&block, bytes);
        return block;
      },
      [](void* block) { cudaFree(block); });
  const double ordered = nanoseconds(
      rounds, held,
      [&] {
        void* block = nullptr;
        cudaMallocAsync(&block, bytes, stream);
        return block;
      },
      [&](void* block) { cudaFreeAsync(block, stream); });
  rmm::mr::pool_memory_resource pooled(rmm::mr::cuda_memory_resource{}, size_t{1} << 32);
  const cuda::stream_ref order(stream);
  const double rmm = nanoseconds(
      rounds, held, [&] { return pooled.allocate(order, bytes, 256); },
      [&](void* block) { pooled.deallocate(order, block, bytes, 256); });
  std::printf("{\"cudaMalloc\": %.1f, \"cudaMallocAsync\": %.1f, \"rmm\": %.1f}\n", plain, ordered,
              rmm);
  return 0;
}
