// SPDX-License-Identifier: Apache-2.0
// Counts of values in bins on a CUDA device: blocks count in shared memory and add up what they
// have. Counts are integers, so their order of adding is free.
#include "headrace/algo/reduce/histogram_kernels.h"
#include "headrace/algo/reduce/histogram_math.h"
#include "headrace/data/device_launch.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
/// Counters that a block has in shared memory. Lanes with equal values use different ones, as far
/// as there is room for several of each.
constexpr int64_t kCounters = 12'288;

using Count = unsigned long long;

/// Calls `slot_of(i)` for all elements: 0 is outside, k + 1 is bin k.
template <class SlotOf>
__device__ void count_slots(int64_t size, int64_t slots, int copies, Count* counts,
                            const SlotOf& slot_of) {
  extern __shared__ unsigned own[];
  const bool shared = copies > 0;
  const int lane = static_cast<int>(threadIdx.x) & (copies - 1);
  if (shared) {
    for (int64_t i = threadIdx.x; i < slots * copies; i += kThreads) own[i] = 0;
    __syncthreads();
  }
  const int64_t step = int64_t{gridDim.x} * kThreads;
#pragma unroll 4
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < size; i += step) {
    const int64_t slot = slot_of(i);
    if (shared)
      atomicAdd(own + slot * copies + lane, 1u);
    else if (slot > 0)
      atomicAdd(counts + slot - 1, Count{1});
  }
  if (!shared) return;
  __syncthreads();
  for (int64_t slot = threadIdx.x + 1; slot < slots; slot += kThreads) {
    Count sum = 0;
    for (int copy = 0; copy < copies; ++copy) sum += own[slot * copies + copy];
    if (sum != 0) atomicAdd(counts + slot - 1, sum);
  }
}

template <class Types>
__global__ void uniform_kernel(View<typename Types::T> x, UniformBins bins,
                               const BinBorders<typename Types::E>* __restrict__ borders,
                               int copies, Count* counts) {
  const RoughSlots<Types> slot(bins);
  count_slots(x.size, bins.bins + 1, copies, counts, [&](int64_t i) -> int64_t {
    const auto value = static_cast<typename Types::E>(x[i]);
    return exact_slot(value, slot(value), borders);
  });
}

template <class T, class C>
__global__ void between_kernel(View<T> x, const C* __restrict__ edges, int64_t bins, int copies,
                               Count* counts) {
  const C last = edges[bins];
  count_slots(x.size, bins + 1, copies, counts, [&](int64_t i) -> int64_t {
    const C value = static_cast<C>(x[i]);
    return value <= last ? edges_not_above(value, edges, 0, bins) : 0;
  });
}

template <class T>
__device__ void take(FoundExtremes<T>& all, const FoundExtremes<T>& one) {
  all.low = one.low < all.low ? one.low : all.low;
  all.high = one.high > all.high ? one.high : all.high;
  all.has_nan |= one.has_nan;
}

template <class T>
__global__ void extremes_kernel(View<T> x, FoundExtremes<T>* out) {
  __shared__ FoundExtremes<T> found[kThreads];
  FoundExtremes<T> mine{x[0], x[0], false};
  const int64_t step = int64_t{gridDim.x} * kThreads;
#pragma unroll 4
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < x.size; i += step) {
    const T value = x[i];
    take(mine, FoundExtremes<T>{value, value, value != value});
  }
  found[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) take(found[threadIdx.x], found[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = found[0];
}

/// Counters of each slot in shared memory: a power of two, 0 when there is no room for one.
int copies_of(int64_t slots) {
  int copies = slots <= kCounters ? 1 : 0;
  while (copies > 0 && copies < 32 && 2 * copies * slots <= kCounters) copies *= 2;
  return copies;
}

struct Counting {
  DeviceCall call;
  int64_t slots;
  int copies;
  Count* counts;
  unsigned blocks;

  Counting(const Tensor& x, int64_t bins, const Buffer& counts_buffer)
      : call("histogram", x.place()),
        slots(bins + 1),
        copies(copies_of(slots)),
        counts(call.writes_as<Count>(counts_buffer)),
        blocks(blocks_in_turn(x.num_elements(), kThreads * 16, x.place().index, 4)) {
    call.reads(x.buffer());
    call.fill(reinterpret_cast<std::byte*>(counts), 0, bins * 8);
  }

  size_t shared_bytes() const { return static_cast<size_t>(slots * copies) * sizeof(unsigned); }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call.stream()); }
};

template <class D, class T, class E>
void count_uniform_as(const Tensor& x, const UniformBins& bins, const E* edges, Buffer& counts) {
  std::vector<BinBorders<E>> borders(static_cast<size_t>(bins.bins) + 1);
  const E none = std::numeric_limits<E>::quiet_NaN();
  borders[0] = {none, none};
  for (int64_t bin = 0; bin < bins.bins; ++bin)
    borders[static_cast<size_t>(bin) + 1] = {bin > 0 ? edges[bin] : none,
                                             bin < bins.bins - 1 ? edges[bin + 1] : none};
  Counting count(x, bins.bins, counts);
  const Buffer there = count.call.table(
      borders.data(), static_cast<int64_t>(borders.size() * sizeof(BinBorders<E>)));
  uniform_kernel<CountTypes<T, E, D>>
      <<<count.blocks, kThreads, count.shared_bytes(), count.stream()>>>(
          view_of<T>(x), bins, there.as<BinBorders<E>>(), count.copies, count.counts);
  count.call.finish(cudaGetLastError());
}

template <class T, class C>
void count_between_as(const Tensor& x, const Tensor& edges, Buffer& counts) {
  const int64_t bins = edges.num_elements() - 1;
  std::vector<C> converted(static_cast<size_t>(bins) + 1);
  visit_real(edges.dtype(), [&]<class E>(std::type_identity<E>) {
    const int64_t stride = edges.is_contiguous() ? 1 : edges.strides()[0];
    for (int64_t i = 0; i <= bins; ++i)
      converted[static_cast<size_t>(i)] = static_cast<C>(edges.as<E>()[i * stride]);
  });
  Counting count(x, bins, counts);
  const Buffer there =
      count.call.table(converted.data(), static_cast<int64_t>(converted.size() * sizeof(C)));
  between_kernel<T, C><<<count.blocks, kThreads, count.shared_bytes(), count.stream()>>>(
      view_of<T>(x), there.as<C>(), bins, count.copies, count.counts);
  count.call.finish(cudaGetLastError());
}

}  // namespace

Extremes extremes(const Tensor& x) {
  return visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    DeviceCall call("histogram", x.place());
    call.reads(x.buffer());
    const unsigned blocks = blocks_in_turn(x.num_elements(), kThreads * 8, x.place().index, 8);
    const auto bytes = static_cast<int64_t>(blocks * sizeof(FoundExtremes<T>));
    const Buffer parts = call.scratch(bytes);
    extremes_kernel<T><<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
        view_of<T>(x), reinterpret_cast<FoundExtremes<T>*>(call.writes(parts)));
    call.finish(cudaGetLastError());
    std::vector<FoundExtremes<T>> found(blocks);
    call.fetch(found.data(), parts.data(), bytes);
    return join_extremes(found);
  });
}

void count_uniform(const Tensor& x, const UniformBins& bins, const Tensor& edges, Buffer& counts) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    using E = std::conditional_t<std::is_same_v<T, float>, float, double>;
    if (bins.divide_in_float)
      count_uniform_as<E, T>(x, bins, edges.as<E>(), counts);
    else
      count_uniform_as<double, T>(x, bins, edges.as<E>(), counts);
  });
}

void count_between(const Tensor& x, const Tensor& edges, Buffer& counts) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const bool whole = x.dtype().is_integer() && edges.dtype().is_integer();
    const bool wide = x.dtype() == TypeId::kUInt64 || edges.dtype() == TypeId::kUInt64;
    if (whole && !wide) return count_between_as<T, int64_t>(x, edges, counts);
    if (whole && x.dtype().is_unsigned() && edges.dtype().is_unsigned())
      return count_between_as<T, uint64_t>(x, edges, counts);
    return count_between_as<T, double>(x, edges, counts);
  });
}

}  // namespace hr::cuda
