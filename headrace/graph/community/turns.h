// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: the vertices of a round, drawn into sub-rounds and shared out by the
// lengths of their rows.
#pragma once
#include "headrace/graph/community/group_choice.h"
#include "headrace/graph/community/round_draw.h"

namespace hr::cuda {

inline constexpr int kBins =
    4;  // rows for a warp, a block, one that may need more room, several blocks
inline constexpr int64_t kRegions = 264;  // blocks of hubs at once

/// Blocks that have a thread for each item.
inline unsigned row_blocks(int64_t items) {
  return blocks_of(items, kRowThreads);
}

/// How many rows are hubs, and how many giants; the slots of these.
static __global__ void hubs_kernel(WeightedEntries rows, int64_t vertices, uint64_t* slots,
                                   Wide* found) {
  const int64_t v = own_item();
  const int64_t degree = v < vertices ? rows.degree(v) : 0;
  if (v <= vertices) slots[v] = degree > kHubEntries ? uint64_t{1} << spill_bits(degree) : 0;
  add_of_warp(found, degree > kBlockEntries && degree <= kHubEntries ? 1 : 0);
  add_of_warp(found + 1, degree > kHubEntries ? 1 : 0);
}

/// The list that a vertex is in: of its sub-round, by the length of its row; -1 for none.
template <class Wants>
__device__ int list_of(const WeightedEntries& rows, RandomKey key, int64_t v, const Wants& wants) {
  const int64_t degree = rows.degree(v);
  if (degree == 0 || !wants(static_cast<uint32_t>(v))) return -1;
  const int part = sub_round_of(round_draw(key, static_cast<uint32_t>(v)));
  return part * kBins + (degree <= kWarpEntries    ? 0
                         : degree <= kBlockEntries ? 1
                         : degree <= kHubEntries   ? 2
                                                   : 3);
}

inline constexpr int kLists = kSubRounds * kBins;

template <class Wants>
__global__ void count_lists_kernel(WeightedEntries rows, RandomKey key, int64_t vertices,
                                   Wants wants, unsigned* counts) {
  __shared__ unsigned own[kLists];
  if (threadIdx.x < kLists) own[threadIdx.x] = 0;
  __syncthreads();
  const int64_t v = own_item();
  const int list = v < vertices ? list_of(rows, key, v, wants) : -1;
  if (list >= 0) atomicAdd(&own[list], 1u);
  __syncthreads();
  if (threadIdx.x < kLists && own[threadIdx.x] != 0)
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

/// Counts become where lists begin, twice: the second are where the next vertex goes.
static __global__ void begin_lists_kernel(unsigned* begins, unsigned* next) {
  unsigned sum = 0;
  for (int list = 0; list <= kLists; ++list) {
    const unsigned count = list < kLists ? begins[list] : 0;
    begins[list] = sum;
    next[list] = sum;
    sum += count;
  }
}

template <class Wants>
__global__ void fill_lists_kernel(WeightedEntries rows, RandomKey key, int64_t vertices,
                                  Wants wants, unsigned* next, uint32_t* out) {
  __shared__ unsigned own[kLists];
  if (threadIdx.x < kLists) own[threadIdx.x] = 0;
  __syncthreads();
  const int64_t v = own_item();
  const int list = v < vertices ? list_of(rows, key, v, wants) : -1;
  const unsigned place = list >= 0 ? atomicAdd(&own[list], 1u) : 0;
  __syncthreads();
  if (threadIdx.x < kLists && own[threadIdx.x] != 0)
    own[threadIdx.x] = atomicAdd(&next[threadIdx.x], own[threadIdx.x]);
  __syncthreads();
  if (list >= 0) out[own[list] + place] = static_cast<uint32_t>(v);
}

struct Everyone {
  __device__ bool operator()(uint32_t) const { return true; }
};

/// The vertices of a round, by sub-round and length of row, and what they choose.
class Turns {
 public:
  Turns(DeviceCall& call, const WeightedRows& rows)
      : call_(call),
        rows_(rows),
        vertices_(rows.vertices),
        list_(call, vertices_),
        chosen_(call, vertices_),
        begins_(call, kLists + 1),
        next_(call, kLists + 1) {
    const Room<Wide> counts(call, 2);
    counts.fill(call, 0);
    giant_begins_ = Room<uint64_t>(call, vertices_ + 1);
    hubs_kernel<<<row_blocks(vertices_ + 1), kRowThreads, 0, stream_of(call)>>>(
        rows_, vertices_, giant_begins_.data, counts.data);
    Wide found[2];
    call.fetch(found, counts.data, sizeof found);
    regions_ = std::min(kRegions, static_cast<int64_t>(found[0]));
    spill_ = tables(regions_ << spill_bits(kHubEntries), spill_keys_, spill_sums_);
    const auto giants = static_cast<int64_t>(found[1]);
    if (giants == 0) return;
    exclusive_sums(call, giant_begins_.data, vertices_ + 1);
    const auto slots = static_cast<int64_t>(fetched(call, giant_begins_.data + vertices_));
    giant_best_ = Room<Best>(call, giants * kWeighBlocks);
    giant_weights_ = Room<Wide>(call, giants * kWeighBlocks);
    giants_ = {tables(slots, giant_keys_, giant_sums_), giant_begins_.data, giant_best_.data,
               giant_weights_.data};
  }

  template <class Wants>
  void draw(RandomKey key, const Wants& wants) {
    begins_.fill(call_, 0);
    count_lists_kernel<<<row_blocks(vertices_), kRowThreads, 0, stream_of(call_)>>>(
        rows_, key, vertices_, wants, begins_.data);
    begin_lists_kernel<<<1, 1, 0, stream_of(call_)>>>(begins_.data, next_.data);
    fill_lists_kernel<<<row_blocks(vertices_), kRowThreads, 0, stream_of(call_)>>>(
        rows_, key, vertices_, wants, next_.data, list_.data);
    call_.fetch(host_begins_, begins_.data, sizeof host_begins_);
  }

  int64_t count(int part) const {
    return host_begins_[(part + 1) * kBins] - host_begins_[part * kBins];
  }

  const uint32_t* list(int part) const { return list_.data + host_begins_[part * kBins]; }

  uint32_t* chosen(int part) const { return chosen_.data + host_begins_[part * kBins]; }

  /// Calls f(bin, list, chosen, count) for rows of about one length.
  template <class F>
  void each_bin(int part, F&& f) const {
    for (int bin = 0; bin < kBins; ++bin) {
      const unsigned begin = host_begins_[part * kBins + bin];
      const int64_t count = host_begins_[part * kBins + bin + 1] - begin;
      if (count > 0) f(bin, list_.data + begin, chosen_.data + begin, count);
    }
  }

  template <class Task>
  void decide_all(int part, const Task& task) const {
    if (rows_.wide)
      decide_all_of<true>(part, task);
    else
      decide_all_of<false>(part, task);
  }

 private:
  GroupTable tables(int64_t slots, Room<uint32_t>& keys, Room<Wide>& sums) const {
    keys = Room<uint32_t>(call_, slots);
    sums = Room<Wide>(call_, slots);
    keys.fill(call_, 0xFF);
    sums.fill(call_, 0);
    return {keys.data, sums.data};
  }

  template <bool kWide, class Task>
  void decide_giants(const Task& task, const uint32_t* list, uint32_t* chosen,
                     int64_t count) const {
    const cudaStream_t stream = stream_of(call_);
    const auto giants = static_cast<unsigned>(count);
    giant_adds_kernel<kWide>
        <<<dim3(giants, kGiantBlocks), kGiantThreads, 0, stream>>>(rows_, task, list, giants_);
    giant_weighs_kernel<<<dim3(giants, kWeighBlocks), kRowThreads, 0, stream>>>(rows_, task, list,
                                                                                giants_);
    giant_chooses_kernel<<<row_blocks(count), kRowThreads, 0, stream>>>(task, list, count, giants_,
                                                                        chosen);
  }

  template <bool kWide, class Task>
  void decide_all_of(int part, const Task& task) const {
    const cudaStream_t stream = stream_of(call_);
    each_bin(part, [&](int bin, const uint32_t* list, uint32_t* chosen, int64_t count) {
      if (bin == 0)
        warp_decides_kernel<kWide>
            <<<row_blocks(32 * count), kRowThreads, 0, stream>>>(rows_, task, list, count, chosen);
      else if (bin == 1)
        block_decides_kernel<kWide>
            <<<static_cast<unsigned>(count), kBlockThreads, 0, stream>>>(rows_, task, list, chosen);
      else if (bin == 3)
        decide_giants<kWide>(task, list, chosen, count);
      else
        hub_decides_kernel<kWide>
            <<<static_cast<unsigned>(std::min(count, regions_)), kHubThreads, 0, stream>>>(
                rows_, task, list, count, spill_, chosen);
    });
  }

  DeviceCall& call_;
  WeightedEntries rows_;
  int64_t vertices_;
  Room<uint32_t> list_;
  Room<uint32_t> chosen_;
  Room<unsigned> begins_;
  Room<unsigned> next_;
  unsigned host_begins_[kLists + 1] = {};
  int64_t regions_ = 0;
  Room<uint32_t> spill_keys_{};
  Room<Wide> spill_sums_{};
  GroupTable spill_{};
  Room<uint64_t> giant_begins_{};
  Room<uint32_t> giant_keys_{};
  Room<Wide> giant_sums_{};
  Room<Best> giant_best_{};
  Room<Wide> giant_weights_{};
  Giants giants_{};
};

/// Calls f(entry, target) for the entries of listed vertices that chose; `kLanes` threads each, a
/// long row several blocks.
template <int kLanes, class F>
__device__ void each_entry(const WeightedEntries& rows, const uint32_t* list,
                           const uint32_t* chosen, int64_t count, F&& f) {
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
  if (i >= count || (chosen && chosen[i] == kStays)) return;
  const uint32_t v = list[i];
  const uint32_t group = chosen ? chosen[i] : kStays;
  const int64_t step = int64_t{kLanes} * gridDim.y;
  const int64_t first = static_cast<int64_t>(blockIdx.y) * kLanes + threadIdx.x % kLanes;
  f(v, group, rows.offsets[v] + first, rows.offsets[v + 1], step);
}

inline constexpr unsigned kHubBlocks = 16;

/// Launches a kernel of `each_entry` as the rows' lengths ask for.
template <class Warp, class Block>
void launch_entries(int bin, int64_t count, Warp&& warp, Block&& block) {
  if (bin == 0)
    warp(dim3(row_blocks(32 * count)));
  else
    block(dim3(static_cast<unsigned>(count), bin == 1 ? 1 : kHubBlocks));
}

}  // namespace hr::cuda
