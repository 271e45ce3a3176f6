// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: vertices that choose a group. A warp, a block of threads or several add up
// the weights to the groups of its neighbours in tables in shared memory. Sums are whole and ties
// go to the least, so the order in which they come does not matter.
#pragma once
#include "headrace/graph/structure/weighted_rows_kernels.h"

#include <limits>

namespace hr::cuda {

using Wide = unsigned long long;

inline constexpr uint32_t kStays = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kWarpEntries = 64;
inline constexpr int64_t kBlockEntries = 1024;
inline constexpr int64_t kHubEntries = 8192;
inline constexpr int kBlockThreads = 256;
inline constexpr int kHubThreads = 1024;
inline constexpr int kHubSlots = 4096;
inline constexpr int kMostProbes = 16;  // of a hub's table, before what spills from it
inline constexpr int kGiantThreads = 512;
inline constexpr int kGiantEntries = 4096;  // of a block
inline constexpr unsigned kGiantBlocks = 64;
inline constexpr unsigned kWeighBlocks = 16;

/// Rows and their weights, of which none are 1 each; a vertex's loops do not count here.
struct WeightedEntries {
  const int64_t* offsets;
  const uint32_t* targets;
  const uint32_t* narrow;
  const uint64_t* wide;

  explicit WeightedEntries(const WeightedRows& rows)
      : offsets(rows.offsets.data),
        targets(rows.targets.data),
        narrow(rows.weights.data),
        wide(rows.wide.data) {}

  __device__ int64_t degree(int64_t v) const { return offsets[v + 1] - offsets[v]; }

  __device__ uint64_t weight(int64_t entry) const {
    return wide ? wide[entry] : narrow ? narrow[entry] : 1;
  }
};

template <int kLanes>
__device__ void wait_for_team() {
  if constexpr (kLanes == 32)
    __syncwarp();
  else
    __syncthreads();
}

/// Sums of weights by group, open addressing; 64 bits in two halves, each of which atomics add to.
template <int kSlots, bool kWide>
struct SumTable {
  uint32_t keys[kSlots];
  uint32_t low[kSlots];
  uint32_t high[kWide ? kSlots : 1];

  __device__ void clear(uint32_t slot) {
    keys[slot] = kStays;
    low[slot] = 0;
    if constexpr (kWide) high[slot] = 0;
  }

  __device__ uint64_t sum(uint32_t slot) const {
    if constexpr (kWide) return uint64_t{high[slot]} << 32 | low[slot];
    return low[slot];
  }

  /// Whether there was a slot for it; `bits` number the slots in use.
  __device__ bool add(uint32_t key, uint64_t weight, int bits, int probes) {
    uint32_t slot = (key * 0x9E3779B1u) >> (32 - bits);
    for (; probes > 0; --probes) {
      const uint32_t found = *static_cast<volatile uint32_t*>(&keys[slot]);
      const uint32_t held = found == kStays ? atomicCAS(&keys[slot], kStays, key) : found;
      if (held == kStays || held == key) {
        const auto own = static_cast<uint32_t>(weight);
        const uint32_t before = atomicAdd(&low[slot], own);
        if constexpr (kWide) {
          const uint32_t more = static_cast<uint32_t>(weight >> 32) + (before + own < before);
          if (more != 0) atomicAdd(&high[slot], more);
        }
        return true;
      }
      slot = (slot + 1) & ((1u << bits) - 1);
    }
    return false;
  }
};

/// A table in global memory, for what a hub's has no room for, or for what several blocks add.
struct GroupTable {
  uint32_t* keys;
  Wide* sums;

  __device__ void add(uint32_t key, uint64_t weight, int bits) const {
    uint32_t slot = (key * 0x85EBCA6Bu) >> (32 - bits);
    for (;; slot = (slot + 1) & ((1u << bits) - 1)) {
      const uint32_t found = *static_cast<volatile uint32_t*>(&keys[slot]);
      const uint32_t held = found == kStays ? atomicCAS(&keys[slot], kStays, key) : found;
      if (held != kStays && held != key) continue;
      atomicAdd(&sums[slot], static_cast<Wide>(weight));
      return;
    }
  }
};

/// Slots of such a table: 2^bits, for rows of up to 2^30 groups.
__host__ __device__ constexpr int spill_bits(int64_t entries) {
  int bits = 1;
  while (int64_t{1} << bits < entries + entries / 4 && bits < 31) ++bits;
  return bits;
}

struct Best {
  double gain = -std::numeric_limits<double>::infinity();
  uint32_t group = kStays;

  __device__ void take(double other_gain, uint32_t other) {
    if (!(other_gain > gain || (other_gain == gain && other < group))) return;
    gain = other_gain;
    group = other;
  }

  __device__ void take_of_warp() {
    for (int half = 16; half > 0; half /= 2) {
      const double other_gain = __shfl_xor_sync(kAllLanes, gain, half);
      const uint32_t other = __shfl_xor_sync(kAllLanes, group, half);
      take(other_gain, other);
    }
  }
};

/// What one team needs next to its table.
template <int kLanes>
struct Shared {
  Best best[kLanes / 32];
  Wide own_weight;
  int has_spilled;
};

template <int kLanes, int kSlots, bool kWide, class Task>
__device__ void decide(const WeightedEntries& rows, const Task& task, uint32_t v,
                       SumTable<kSlots, kWide>& table, Shared<kLanes>& shared,
                       const GroupTable* spill, uint32_t* chosen) {
  constexpr int kBatch = kLanes == 32 ? 1 : 4;  // loads under way
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  if (!task.wants(v)) {
    if (lane == 0) *chosen = kStays;
    return;
  }
  const typename Task::Vertex vertex = task.at(v);
  const int64_t begin = rows.offsets[v];
  const int64_t end = rows.offsets[v + 1];
  const int wanted = 64 - __clzll(2 * (end - begin) - 1);  // twice as many slots, a power of two
  const int bits = max(1, min(wanted, 31 - __clz(kSlots)));
  constexpr int kSpillBits = spill_bits(kHubEntries);
  for (uint32_t slot = lane; slot < 1u << bits; slot += kLanes) table.clear(slot);
  if (lane == 0) {
    shared.own_weight = 0;
    shared.has_spilled = 0;
  }
  wait_for_team<kLanes>();
  for (int64_t first = begin + lane; first < end; first += kLanes * kBatch) {
    uint32_t targets[kBatch];
    uint32_t keys[kBatch];
    for (int i = 0; i < kBatch; ++i)
      targets[i] = first + i * kLanes < end ? __ldg(rows.targets + first + i * kLanes) : v;
    for (int i = 0; i < kBatch; ++i)
      keys[i] = targets[i] == v ? kStays : task.key(vertex, targets[i]);
    for (int i = 0; i < kBatch; ++i) {
      if (keys[i] == kStays) continue;
      const uint64_t weight = rows.weight(first + i * kLanes);
      const int probes = spill ? kMostProbes : kSlots;
      if (table.add(keys[i], weight, bits, probes)) continue;
      spill->add(keys[i], weight, kSpillBits);
      shared.has_spilled = 1;
    }
  }
  wait_for_team<kLanes>();
  Best best;
  for (uint32_t slot = lane; slot < 1u << bits; slot += kLanes) {
    const uint32_t key = table.keys[slot];
    if (key == kStays) continue;
    if (key == vertex.own)
      shared.own_weight = table.sum(slot);
    else
      task.weigh(vertex, key, table.sum(slot), best);
  }
  if (shared.has_spilled)
    for (int64_t slot = lane; slot < int64_t{1} << kSpillBits; slot += kLanes) {
      const uint32_t key = *static_cast<volatile uint32_t*>(&spill->keys[slot]);
      if (key == kStays) continue;
      const Wide weight = *static_cast<volatile Wide*>(&spill->sums[slot]);
      if (key == vertex.own)
        shared.own_weight = weight;
      else
        task.weigh(vertex, key, weight, best);
      spill->keys[slot] = kStays;
      spill->sums[slot] = 0;
    }
  best.take_of_warp();
  if constexpr (kLanes > 32)
    if (lane % 32 == 0) shared.best[lane / 32] = best;
  wait_for_team<kLanes>();
  if (lane == 0) {
    if constexpr (kLanes > 32)
      for (const Best& other : shared.best) best.take(other.gain, other.group);
    *chosen = task.choice(vertex, shared.own_weight, best);
    task.taken(v);
  }
  wait_for_team<kLanes>();
}

template <bool kWide, class Task>
__global__ void warp_decides_kernel(WeightedEntries rows, Task task, const uint32_t* vertices,
                                    int64_t count, uint32_t* chosen) {
  __shared__ SumTable<2 * kWarpEntries, kWide> tables[kRowThreads / 32];
  __shared__ Shared<32> shared[kRowThreads / 32];
  const int64_t i = own_item() / 32;
  if (i >= count) return;
  const unsigned warp = threadIdx.x / 32;
  decide<32>(rows, task, vertices[i], tables[warp], shared[warp], nullptr, chosen + i);
}

template <bool kWide, class Task>
__global__ void block_decides_kernel(WeightedEntries rows, Task task, const uint32_t* vertices,
                                     uint32_t* chosen) {
  __shared__ SumTable<2 * kBlockEntries, kWide> table;
  __shared__ Shared<kBlockThreads> shared;
  decide<kBlockThreads>(rows, task, vertices[blockIdx.x], table, shared, nullptr,
                        chosen + blockIdx.x);
}

template <bool kWide, class Task>
__global__ void __launch_bounds__(kHubThreads)
    hub_decides_kernel(WeightedEntries rows, Task task, const uint32_t* vertices, int64_t count,
                       GroupTable spill, uint32_t* chosen) {
  __shared__ SumTable<kWide ? kHubSlots / 2 : kHubSlots, kWide> table;
  __shared__ Shared<kHubThreads> shared;
  constexpr int64_t kSlots = int64_t{1} << spill_bits(kHubEntries);
  const GroupTable own{spill.keys + blockIdx.x * kSlots, spill.sums + blockIdx.x * kSlots};
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x)
    decide<kHubThreads>(rows, task, vertices[i], table, shared, &own, chosen + i);
}

/// Tables of rows that several blocks add up: where each vertex's begins.
struct Giants {
  GroupTable tables;
  const uint64_t* begins;
  Best* best;  // of parts of tables, kWeighBlocks each
  Wide* own_weights;

  __device__ GroupTable table(uint32_t v) const {
    return {tables.keys + begins[v], tables.sums + begins[v]};
  }
};

template <bool kWide, class Task>
__global__ void __launch_bounds__(kGiantThreads)
    giant_adds_kernel(WeightedEntries rows, Task task, const uint32_t* vertices, Giants giants) {
  constexpr int kSlots = kWide ? kHubSlots / 2 : kHubSlots;
  constexpr int kBits = kWide ? 11 : 12;
  static_assert(kSlots == 1 << kBits);
  __shared__ SumTable<kSlots, kWide> table;
  const uint32_t v = vertices[blockIdx.x];
  const int64_t begin = rows.offsets[v];
  const int64_t end = rows.offsets[v + 1];
  int64_t first = begin + int64_t{blockIdx.y} * kGiantEntries;
  if (first >= end || !task.wants(v)) return;
  const typename Task::Vertex vertex = task.at(v);
  const GroupTable spill = giants.table(v);
  const int bits = spill_bits(end - begin);
  for (uint32_t slot = threadIdx.x; slot < kSlots; slot += kGiantThreads) table.clear(slot);
  __syncthreads();
  constexpr int kBatch = kGiantEntries / kGiantThreads;
  for (; first < end; first += int64_t{gridDim.y} * kGiantEntries) {
    uint32_t targets[kBatch];
    uint32_t keys[kBatch];
    const int64_t own = first + threadIdx.x;
    for (int i = 0; i < kBatch; ++i)
      targets[i] =
          own + i * kGiantThreads < end ? __ldg(rows.targets + own + i * kGiantThreads) : v;
    for (int i = 0; i < kBatch; ++i)
      keys[i] = targets[i] == v ? kStays : task.key(vertex, targets[i]);
    for (int i = 0; i < kBatch; ++i) {
      if (keys[i] == kStays) continue;
      const uint64_t weight = rows.weight(own + i * kGiantThreads);
      if (!table.add(keys[i], weight, kBits, kMostProbes)) spill.add(keys[i], weight, bits);
    }
  }
  __syncthreads();
  for (uint32_t slot = threadIdx.x; slot < kSlots; slot += kGiantThreads)
    if (table.keys[slot] != kStays) spill.add(table.keys[slot], table.sum(slot), bits);
}

/// The best of a part of a table, which it clears.
template <class Task>
__global__ void giant_weighs_kernel(WeightedEntries rows, Task task, const uint32_t* vertices,
                                    Giants giants) {
  __shared__ Best shared[kRowThreads / 32];
  __shared__ Wide own_weight;
  if (threadIdx.x == 0) own_weight = 0;
  __syncthreads();
  const uint32_t v = vertices[blockIdx.x];
  Best best;
  if (task.wants(v)) {
    const typename Task::Vertex vertex = task.at(v);
    const GroupTable table = giants.table(v);
    const int64_t slots = int64_t{1} << spill_bits(rows.degree(v));
    for (int64_t slot = int64_t{blockIdx.y} * kRowThreads + threadIdx.x; slot < slots;
         slot += int64_t{gridDim.y} * kRowThreads) {
      const uint32_t key = table.keys[slot];
      if (key == kStays) continue;
      const Wide weight = table.sums[slot];
      if (key == vertex.own)
        own_weight = weight;
      else
        task.weigh(vertex, key, weight, best);
      table.keys[slot] = kStays;
      table.sums[slot] = 0;
    }
  }
  best.take_of_warp();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const Best& other : shared) best.take(other.gain, other.group);
  const int64_t place = int64_t{blockIdx.x} * kWeighBlocks + blockIdx.y;
  giants.best[place] = best;
  giants.own_weights[place] = own_weight;
}

template <class Task>
__global__ void giant_chooses_kernel(Task task, const uint32_t* vertices, int64_t count,
                                     Giants giants, uint32_t* chosen) {
  const int64_t i = own_item();
  if (i >= count) return;
  const uint32_t v = vertices[i];
  chosen[i] = kStays;
  if (!task.wants(v)) return;
  Best best;
  Wide own_weight = 0;
  for (unsigned part = 0; part < kWeighBlocks; ++part) {
    const int64_t place = i * kWeighBlocks + part;
    best.take(giants.best[place].gain, giants.best[place].group);
    own_weight += giants.own_weights[place];
  }
  chosen[i] = task.choice(task.at(v), own_weight, best);
  task.taken(v);
}

}  // namespace hr::cuda
