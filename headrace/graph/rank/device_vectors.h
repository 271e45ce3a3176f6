// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files of ranks: vectors of a float a vertex, and their sums in orders that their
// length alone fixes.
#pragma once
#include "headrace/graph/structure/device_rows.h"

namespace hr::cuda {

/// The sum of a block's threads, by halves of warps; thread 0 has it.
__device__ inline double sum_of_block(double own) {
  return Team{static_cast<int>(threadIdx.x), kRowThreads}.sum(own);
}

inline constexpr unsigned kSumBlocks = 512;

/// parts[block]: what the block's threads add up, each with a stride over the terms.
template <class Term>
__global__ void term_sums_kernel(Term term, int64_t count, double* parts) {
  double own = 0;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads) own += term(i);
  own = sum_of_block(own);
  if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

/// Of one block: the sum of parts, or its root.
template <bool kRoot>
__global__ void sum_parts_kernel(const double* parts, unsigned count, double* out) {
  double own = 0;
  for (unsigned i = threadIdx.x; i < count; i += kRowThreads) own += parts[i];
  own = sum_of_block(own);
  if (threadIdx.x == 0) *out = kRoot ? sqrt(own) : own;
}

template <class Work>
__global__ void each_item_kernel(Work work, int64_t count) {
  const int64_t i = own_item();
  if (i < count) work(i);
}

/// Runs `work(i)`, a functor of the device, for each item.
template <class Work>
void each_item(const DeviceCall& call, int64_t count, const Work& work) {
  each_item_kernel<<<blocks_of(count, kRowThreads), kRowThreads, 0, stream_of(call)>>>(work, count);
}

struct Fill {
  double value;
  double* out;

  __device__ void operator()(int64_t i) const { out[i] = value; }
};

/// out[v] = values[places[v]].
struct Take {
  const double* values;
  const uint32_t* places;
  double* out;

  __device__ void operator()(int64_t v) const { out[v] = values[places[v]]; }
};

/// Calls `made(v, sum)` for each row, the sum of `from` over its entries.
template <class Made>
__global__ void multiply_kernel(Rows rows, Bins bins, const double* weights, const double* from,
                                Made made) {
  bins.own_row([&](int64_t v, Team team) {
    double pulled = 0;
    const int64_t end = rows.begin(v + 1);
    for (int64_t entry = rows.begin(v) + team.lane; entry < end; entry += team.lanes) {
      const double value = __ldg(from + rows.targets[entry]);
      pulled += weights ? value * weights[entry] : value;
    }
    pulled = team.sum(pulled);
    if (team.lane == 0) made(v, pulled);
  });
}

/// For `multiply_kernel`: the sum as it is. What takes more reads would have one thread of a team
/// wait for them.
struct Plain {
  double* to;

  __device__ void operator()(int64_t v, double pulled) const { to[v] = pulled; }
};

}  // namespace hr::cuda
