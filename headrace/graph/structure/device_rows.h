// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files of graphs: rows as kernels read them, and the ways to share them out. What
// they count and find must not depend on who comes first.
#pragma once
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/data/device_launch.h"
#include "headrace/graph/structure/csr_kernels.h"

#include <cstdint>

namespace hr::cuda {

inline constexpr int kRowThreads = 256;
inline constexpr unsigned kAllLanes = ~0u;

inline cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

struct Rows {
  const int64_t* offsets;
  const uint32_t* targets;
  const uint32_t* edges;
  int64_t vertices;
  int64_t entries;

  __device__ int64_t begin(int64_t v) const { return offsets[v]; }

  __device__ int64_t degree(int64_t v) const { return offsets[v + 1] - offsets[v]; }
};

inline Rows rows_of(DeviceCall& call, const Csr& csr) {
  call.reads(csr.offsets);
  call.reads(csr.targets);
  call.reads(csr.edges);
  return {csr.offsets.as<int64_t>(), csr.targets ? csr.targets.as<uint32_t>() : nullptr,
          csr.edges ? csr.edges.as<uint32_t>() : nullptr, csr.vertices,
          csr.targets.size_bytes() / 4};
}

template <class T>
const T* read_as(DeviceCall& call, const Buffer& buffer) {
  call.reads(buffer);
  return buffer ? buffer.as<T>() : nullptr;
}

/// Room of `count` elements for kernels of one call. What outlives it must be its `writes` too.
template <class T>
struct Room {
  Buffer buffer{};
  T* data = nullptr;

  Room() = default;
  Room(const DeviceCall& call, int64_t count)
      : buffer(call.scratch(count * static_cast<int64_t>(sizeof(T)))),
        data(buffer ? reinterpret_cast<T*>(const_cast<std::byte*>(buffer.data())) : nullptr) {}

  void fill(const DeviceCall& call, unsigned char byte) const {
    call.fill(reinterpret_cast<std::byte*>(data), byte, buffer.size_bytes());
  }
};

/// The item of this thread, one each.
__device__ inline int64_t own_item() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// The vertex whose row has an entry: the last one that begins at or before it.
__device__ inline int64_t row_of(const Rows& rows, int64_t entry) {
  return partition_point(int64_t{1}, rows.vertices,
                         [&](int64_t row) { return rows.offsets[row] <= entry; }) -
         1;
}

/// The first of ascending words, above whose lowest `bits` are rows, that is not of a row before.
__device__ inline int64_t first_word_of(const uint64_t* words, int64_t count, int bits,
                                        int64_t row) {
  return partition_point(int64_t{0}, count, [&](int64_t place) {
    return static_cast<int64_t>(words[place] >> bits) < row;
  });
}

/// Threads that share a row: all of a block, those of a warp, 8, or one.
struct Team {
  int lane;
  int lanes;

  /// Partial sums in the order of the lanes' numbers, by halves; lane 0 has it.
  __device__ double sum(double own) const {
    if (lanes == 1) return own;
    const unsigned together = lanes == 8 ? 0xFFu << (threadIdx.x & 24) : kAllLanes;
    for (int half = min(lanes, 32) / 2; half > 0; half /= 2)
      own += __shfl_down_sync(together, own, half, min(lanes, 32));
    return lanes <= 32 ? own : sum_of_warps(own);
  }

  /// The sum of what the first threads of a block's warps have; thread 0 has it.
  __device__ static double sum_of_warps(double own) {
    __shared__ double parts[kRowThreads / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
    __syncthreads();
    own = 0;
    if (threadIdx.x == 0)
      for (const double part : parts) own += part;
    return own;
  }
};

/// Ranks of OrderedRows: a block of threads for each up to `hubs`, a warp up to `wide`, 8 threads
/// up to `narrow`, and a thread up to `rows`.
struct Bins {
  int64_t hubs;
  int64_t wide;
  int64_t narrow;
  int64_t rows;

  Bins(const OrderedRows& ordered, int64_t all)
      : Bins(ordered.hubs, ordered.wide, ordered.narrow, all) {}

  Bins(int64_t to_hubs, int64_t to_wide, int64_t to_narrow, int64_t all)
      : hubs(to_hubs), wide(to_wide), narrow(to_narrow), rows(all) {}

  /// Blocks for `count` rows of `lanes` threads each.
  __host__ __device__ static int64_t blocks_for(int64_t count, int lanes) {
    return (count * lanes + kRowThreads - 1) / kRowThreads;
  }

  unsigned blocks() const {
    return static_cast<unsigned>(std::max<int64_t>(1, hubs + blocks_for(wide - hubs, 32) +
                                                          blocks_for(narrow - wide, 8) +
                                                          blocks_for(rows - narrow, 1)));
  }

  /// Calls `body(row, team)` for the row of this thread, if it has one. All threads of a team do.
  template <class Body>
  __device__ void own_row(Body&& body) const {
    int64_t block = blockIdx.x;
    if (block < hubs) return body(block, Team{static_cast<int>(threadIdx.x), kRowThreads});
    block -= hubs;
    int64_t first = hubs;
    const int64_t ends[] = {wide, narrow, rows};
    for (int bin = 0; bin < 3; ++bin) {
      const int lanes = bin == 0 ? 32 : bin == 1 ? 8 : 1;
      const int64_t blocks = blocks_for(ends[bin] - first, lanes);
      if (block < blocks) {
        const int64_t row = first + (block * kRowThreads + threadIdx.x) / lanes;
        if (row < ends[bin]) body(row, Team{static_cast<int>(threadIdx.x) % lanes, lanes});
        return;
      }
      block -= blocks;
      first = ends[bin];
    }
  }
};

/// Rows of queued vertices laid end to end: `begins` says where each one's begin, [count + 1].
struct Spread {
  Rows rows;
  const uint32_t* queue;
  const uint64_t* begins;
  unsigned count;
};

inline constexpr int kSpreadEntries = 2048;  // of a block

/// Calls `body(vertex, entry)` for the entries of the queued vertices.
template <class Body>
__global__ void spread_kernel(Spread spread, Body body) {
  __shared__ uint32_t shared_begins[kSpreadEntries + 1];
  __shared__ unsigned first;
  __shared__ unsigned last;
  const uint64_t total = spread.begins[spread.count];
  const uint64_t begin = uint64_t{blockIdx.x} * kSpreadEntries;
  const uint64_t end = min(begin + kSpreadEntries, total);
  if (begin >= end) return;
  const auto holder = [&](uint64_t at) {  // whose row has it
    return partition_point(1u, static_cast<unsigned>(spread.count),
                           [&](unsigned i) { return spread.begins[i] <= at; }) -
           1;
  };
  if (threadIdx.x == 0) first = holder(begin);
  if (threadIdx.x == 32) last = holder(end - 1);
  __syncthreads();
  const unsigned held = last - first + 1;
  const bool fits = held <= kSpreadEntries + 1;  // unless many have none
  for (unsigned i = threadIdx.x; fits && i < held; i += kRowThreads) {
    const uint64_t at = spread.begins[first + i];
    shared_begins[i] = at <= begin ? 0u : static_cast<uint32_t>(at - begin);
  }
  __syncthreads();
  const auto here = static_cast<uint32_t>(end - begin);
  for (uint32_t at = threadIdx.x; at < here; at += kRowThreads) {
    const unsigned place = first +
                           partition_point(1u, held,
                                           [&](unsigned i) {
                                             return fits ? shared_begins[i] <= at
                                                         : spread.begins[first + i] <= begin + at;
                                           }) -
                           1;
    const uint32_t vertex = spread.queue[place];
    body(vertex,
         spread.rows.begin(vertex) + static_cast<int64_t>(begin + at - spread.begins[place]));
  }
}

/// Where the rows of queued vertices begin when they are laid end to end.
void lay_out(DeviceCall& call, const Rows& rows, const uint32_t* queue, int64_t count,
             uint64_t* begins);

/// The entries of queued vertices, shared out evenly.
class Expansion {
 public:
  Expansion(DeviceCall& call, const Rows& rows)
      : call_(call), rows_(rows), begins_(call, rows.vertices + 1) {}

  /// `entries`: those of all of them together.
  template <class Body>
  void run(const uint32_t* queue, int64_t count, int64_t entries, const Body& body) {
    if (count == 0 || entries == 0) return;
    lay_out(call_, rows_, queue, count, begins_.data);
    spread_kernel<<<blocks_of(entries, kSpreadEntries), kRowThreads, 0, stream_of(call_)>>>(
        Spread{rows_, queue, begins_.data, static_cast<unsigned>(count)}, body);
  }

 private:
  DeviceCall& call_;
  Rows rows_;
  Room<uint64_t> begins_;
};

/// A place for each thread of the warp that calls it, behind those that `count` has.
__device__ inline unsigned next_place(unsigned* count) {
  const unsigned lanes = __activemask();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int leader = __ffs(static_cast<int>(lanes)) - 1;
  unsigned place = 0;
  if (lane == leader) place = atomicAdd(count, static_cast<unsigned>(__popc(lanes)));
  return __shfl_sync(lanes, place, leader) +
         static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)));
}

/// Adds to a count that all threads of the grid share; every thread of the warp calls it.
__device__ inline void add_of_warp(unsigned long long* to, unsigned long long own) {
  for (int half = 16; half > 0; half /= 2) own += __shfl_down_sync(kAllLanes, own, half);
  if (threadIdx.x % 32 == 0 && own != 0) atomicAdd(to, own);
}

}  // namespace hr::cuda
