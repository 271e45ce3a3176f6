// SPDX-License-Identifier: Apache-2.0
// Joins on a CUDA device. A block of threads has a tile of rows, each thread several that wait for
// memory at once; what rows give is written where running counts say, so always in their order.
#include "headrace/algo/select/exclusive_scan_kernels.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/data/device_launch.h"
#include "headrace/relational/join/join_slots_kernels.h"

#include <cub/device/device_scan.cuh>

namespace hr::cuda {

namespace {

using Wide = unsigned long long;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kAtOnce = 4;  // rows of a thread under way together
constexpr int kRounds = static_cast<int>(kSlotTile) / kThreads;
constexpr int kTileWords = static_cast<int>(kSlotTile) / 32;
constexpr int kMostBlocks = 2048;  // of what is reduced
constexpr int kOutputs = 2048;     // of a block that expands
constexpr int kNoSlot = -1;

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

unsigned tiles_of(int64_t rows) {
  return blocks_of(rows, kSlotTile);
}

__device__ int64_t tile_row(int round) {
  return int64_t{blockIdx.x} * kSlotTile + round * kThreads + threadIdx.x;
}

/// Puts a number into a place that is free.
struct Exchange {
  __device__ uint64_t operator()(uint64_t* place, uint64_t free, uint64_t number) const {
    return atomicCAS(reinterpret_cast<Wide*>(place), free, number);
  }
};

/// Slots of some rows of a thread, from a round of the tile on.
struct RowSlots {
  int64_t slots[kAtOnce];

  __device__ RowSlots(const SlotKeys& keys, int64_t rows, const SlotMap& map, int round) {
    uint64_t numbers[kAtOnce];
    bool known[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t row = tile_row(round + k);
      known[k] = row < rows && keys.read(row, numbers[k]);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) slots[k] = known[k] ? map.find(numbers[k]) : kNoSlot;
  }
};

/// Counts what a block picks of its tile.
class Picks {
 public:
  __device__ explicit Picks(int* sum) : sum_(sum) {
    if (threadIdx.x == 0) *sum_ = 0;
    __syncthreads();
  }

  __device__ void add(PickedTiles picked, int round, bool is_picked) {
    const unsigned word = __ballot_sync(~0u, is_picked);
    count_ += __popc(word);
    if (threadIdx.x % 32 == 0) picked.bits[tile_row(round) / 32] = word;
  }

  __device__ void finish(PickedTiles picked) {
    if (threadIdx.x % 32 == 0) atomicAdd(sum_, count_);
    __syncthreads();
    if (threadIdx.x == 0) picked.tiles[blockIdx.x] = *sum_;
  }

 private:
  int* sum_;
  int count_ = 0;
};

/// Column blockIdx.y of the keys.
__global__ void ranges_kernel(const __grid_constant__ SlotKeys keys, int64_t rows, Wide* least,
                              Wide* greatest) {
  const SlotKey& key = keys.keys[blockIdx.y];
  Wide low = ~Wide{0}, high = 0;
  const int64_t step = int64_t{gridDim.x} * kThreads;
#pragma unroll 4
  for (int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows; row += step) {
    if (!key.is_valid(row)) continue;
    const Wide word = key.word(row);
    low = min(low, word);
    high = max(high, word);
  }
  for (int half = 16; half > 0; half /= 2) {
    low = min(low, __shfl_xor_sync(~0u, low, half));
    high = max(high, __shfl_xor_sync(~0u, high, half));
  }
  if (threadIdx.x % 32 != 0 || low > high) return;
  atomicMin(&least[blockIdx.y], low);
  atomicMax(&greatest[blockIdx.y], high);
}

__global__ void put_rows_kernel(const __grid_constant__ SlotKeys keys, int64_t rows, SlotMap map,
                                uint32_t* row_of, int64_t* has_twice) {
  if (*static_cast<volatile int64_t*>(has_twice) != 0) return;
  bool is_twice = false;
  for (int round = 0; round < kRounds; round += kAtOnce) {
    uint64_t numbers[kAtOnce];
    bool known[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t row = tile_row(round + k);
      known[k] = row < rows && keys.read(row, numbers[k]);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (!known[k]) continue;
      const uint64_t slot = map.take(numbers[k], Exchange{});
      is_twice |= atomicExch(&row_of[slot], static_cast<uint32_t>(tile_row(round + k))) != kNoRow;
    }
  }
  if (is_twice) *has_twice = 1;
}

__global__ void put_marks_kernel(const __grid_constant__ SlotKeys keys, int64_t rows, SlotMap map,
                                 uint8_t* marks) {
  for (int round = 0; round < kRounds; round += kAtOnce) {
    uint64_t numbers[kAtOnce];
    bool known[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t row = tile_row(round + k);
      known[k] = row < rows && keys.read(row, numbers[k]);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (known[k]) marks[map.take(numbers[k], Exchange{})] = 1;
  }
}

__global__ void probe_rows_kernel(const __grid_constant__ SlotKeys keys, int64_t rows, SlotMap map,
                                  const uint32_t* __restrict__ row_of, const int64_t* has_twice,
                                  uint32_t* __restrict__ matches, PickedTiles picked,
                                  uint8_t* marks) {
  __shared__ int sum;
  if (*has_twice != 0) {  // another way finds the matches
    if (threadIdx.x == 0) picked.tiles[blockIdx.x] = 0;
    return;
  }
  Picks picks(&sum);
  for (int round = 0; round < kRounds; round += kAtOnce) {
    const RowSlots at(keys, rows, map, round);
    uint32_t found[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) found[k] = at.slots[k] < 0 ? kNoRow : row_of[at.slots[k]];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t row = tile_row(round + k);
      if (row < rows) __stcs(&matches[row], found[k]);
      if (marks && found[k] != kNoRow) marks[at.slots[k]] = 1;
      picks.add(picked, round + k, found[k] != kNoRow);
    }
  }
  picks.finish(picked);
}

__global__ void probe_marks_kernel(const __grid_constant__ SlotKeys keys, int64_t rows, SlotMap map,
                                   const uint8_t* __restrict__ marks, bool marked,
                                   PickedTiles picked) {
  __shared__ int sum;
  Picks picks(&sum);
  for (int round = 0; round < kRounds; round += kAtOnce) {
    const RowSlots at(keys, rows, map, round);
    bool found[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) found[k] = at.slots[k] >= 0 && marks[at.slots[k]] != 0;
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      picks.add(picked, round + k, tile_row(round + k) < rows && found[k] == marked);
  }
  picks.finish(picked);
}

/// Of each row picked: what stands for it at its place.
template <class Write>
__device__ void compact(PickedTiles picked, const Write& write) {
  __shared__ int before[kTileWords];
  __shared__ int warps[kTileWords / 32];
  const unsigned thread = threadIdx.x;
  const unsigned lane = thread % 32;
  const uint32_t* const bits = picked.bits + int64_t{blockIdx.x} * kTileWords;
  int sum = 0;
  int own = 0;
  if (thread < kTileWords) {
    own = sum = __popc(bits[thread]);
    for (unsigned step = 1; step < 32; step *= 2) {
      const int left = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += left;
    }
    if (lane == 31) warps[thread / 32] = sum;
  }
  __syncthreads();
  if (thread < kTileWords) {
    for (unsigned warp = 0; warp < thread / 32; ++warp) sum += warps[warp];
    before[thread] = sum - own;
  }
  __syncthreads();
  const int64_t base = picked.tiles[blockIdx.x];
#pragma unroll 4
  for (unsigned at = thread / 32; at < kTileWords; at += kWarps) {
    const uint32_t word = bits[at];
    if (word >> lane & 1)
      write(base + before[at] + __popc(word & ((1u << lane) - 1)),
            int64_t{blockIdx.x} * kSlotTile + at * 32 + lane);
  }
}

__global__ void compact_matches_kernel(PickedTiles picked, const uint32_t* __restrict__ matches,
                                       uint32_t* __restrict__ left, uint32_t* __restrict__ right) {
  compact(picked, [&](int64_t at, int64_t row) {
    left[at] = static_cast<uint32_t>(row);
    if (right) right[at] = matches[row];
  });
}

__global__ void compact_unmatched_kernel(PickedTiles picked, uint32_t* __restrict__ left,
                                         uint32_t* __restrict__ right) {
  compact(picked, [&](int64_t at, int64_t row) {
    left[at] = kNoRow;
    right[at] = static_cast<uint32_t>(row);
  });
}

__global__ void pair_all_kernel(int64_t rows, const uint32_t* __restrict__ matches,
                                uint32_t* __restrict__ left, uint32_t* __restrict__ right) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  left[row] = static_cast<uint32_t>(row);
  right[row] = matches[row];
}

__global__ void slots_kernel(const __grid_constant__ SlotKeys keys, int64_t rows, SlotMap map,
                             uint32_t* __restrict__ slots, uint32_t* __restrict__ numbers) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  uint64_t number = 0;
  keys.read(row, number);
  slots[row] = static_cast<uint32_t>(map.take(number, Exchange{}));
  numbers[row] = static_cast<uint32_t>(row);
}

__global__ void bounds_kernel(const uint32_t* __restrict__ slots, int64_t rows, uint2* bounds) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows) return;
  const uint32_t slot = slots[i];
  if (i == 0 || slots[i - 1] != slot) bounds[slot].x = static_cast<unsigned>(i);
  if (i == rows - 1 || slots[i + 1] != slot) bounds[slot].y = static_cast<unsigned>(i) + 1;
}

__global__ void probe_bounds_kernel(const __grid_constant__ SlotKeys keys, int64_t rows,
                                    SlotMap map, const uint2* __restrict__ bounds,
                                    bool keeps_unmatched, uint32_t* __restrict__ begins,
                                    uint32_t* __restrict__ made, Wide* total, uint8_t* marks) {
  __shared__ Wide sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  Wide own = 0;
  for (int round = 0; round < kRounds; round += kAtOnce) {
    const RowSlots at(keys, rows, map, round);
    uint2 found[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      found[k] = at.slots[k] < 0 ? make_uint2(0, 0) : bounds[at.slots[k]];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t row = tile_row(round + k);
      if (row >= rows) continue;
      const uint32_t count = found[k].y - found[k].x;
      const uint32_t makes = count == 0 && keeps_unmatched ? 1 : count;
      begins[row] = count == 0 ? kNoRow : found[k].x;
      made[row] = makes;
      own += makes;
      if (marks && count > 0) marks[at.slots[k]] = 1;
    }
  }
  for (int half = 16; half > 0; half /= 2) own += __shfl_xor_sync(~0u, own, half);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

/// The last place in [first, last] of a number that is at most `output`; the first one is.
__device__ int64_t last_up_to(const uint32_t* offsets, int64_t first, int64_t last,
                              uint32_t output) {
  while (first < last) {
    const int64_t middle = (first + last + 1) / 2;
    if (offsets[middle] <= output)
      first = middle;
    else
      last = middle - 1;
  }
  return first;
}

/// A block has some pairs of the result, however many rows they come from.
__global__ void expand_kernel(int64_t rows, const uint32_t* __restrict__ begins,
                              const uint32_t* __restrict__ offsets,
                              const uint32_t* __restrict__ rows_by_slot, int64_t total,
                              uint32_t* __restrict__ left, uint32_t* __restrict__ right) {
  __shared__ int64_t ends[2];
  __shared__ uint32_t near[kOutputs];
  const int64_t begin = int64_t{blockIdx.x} * kOutputs;
  const int64_t end = min(begin + kOutputs, total);
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
    ends[threadIdx.x / 32] =
        last_up_to(offsets, 0, rows - 1, static_cast<uint32_t>(threadIdx.x == 0 ? begin : end - 1));
  __syncthreads();
  const int64_t first = ends[0];
  const int64_t count = ends[1] - first + 1;
  const bool is_near = count <= kOutputs;
  for (int64_t i = threadIdx.x; is_near && i < count; i += kThreads) near[i] = offsets[first + i];
  __syncthreads();
  const uint32_t* const known = is_near ? near : offsets + first;
  for (int64_t output = begin + threadIdx.x; output < end; output += kThreads) {
    const int64_t at = last_up_to(known, 0, count - 1, static_cast<uint32_t>(output));
    const uint32_t from = begins[first + at];
    left[output] = static_cast<uint32_t>(first + at);
    right[output] =
        from == kNoRow ? kNoRow : rows_by_slot[from + (static_cast<uint32_t>(output) - known[at])];
  }
}

}  // namespace

void slot_key_ranges(const DeviceCall& call, const SlotKeys& keys, int64_t rows, Wide* least,
                     Wide* greatest) {
  const dim3 blocks(std::min<unsigned>(blocks_of(rows, 4 * kThreads), kMostBlocks),
                    static_cast<unsigned>(keys.count));
  ranges_kernel<<<blocks, kThreads, 0, stream_of(call)>>>(keys, rows, least, greatest);
}

void put_rows(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
              uint32_t* row_of, int64_t* has_twice) {
  put_rows_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(keys, rows, map, row_of,
                                                                    has_twice);
}

void put_marks(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
               uint8_t* marks) {
  put_marks_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(keys, rows, map, marks);
}

void probe_rows(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
                const uint32_t* row_of, const int64_t* has_twice, uint32_t* matches,
                PickedTiles picked, uint8_t* marks) {
  probe_rows_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(
      keys, rows, map, row_of, has_twice, matches, picked, marks);
}

void probe_marks(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
                 const uint8_t* marks, bool marked, PickedTiles picked) {
  probe_marks_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(keys, rows, map, marks,
                                                                       marked, picked);
}

void scan_tiles(const DeviceCall& call, PickedTiles picked, int64_t rows) {
  const int64_t tiles = tiles_of(rows);
  exclusive_scan(call, picked.tiles, tiles, picked.tiles + tiles, false);
}

void compact_matches(const DeviceCall& call, PickedTiles picked, int64_t rows,
                     const uint32_t* matches, uint32_t* left, uint32_t* right) {
  compact_matches_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(picked, matches, left,
                                                                           right);
}

void compact_unmatched(const DeviceCall& call, PickedTiles picked, int64_t rows, uint32_t* left,
                       uint32_t* right) {
  compact_unmatched_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(picked, left, right);
}

void pair_all(const DeviceCall& call, int64_t rows, const uint32_t* matches, uint32_t* left,
              uint32_t* right) {
  pair_all_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(rows, matches, left,
                                                                               right);
}

const uint32_t* sort_by_slots(DeviceCall& call, const SlotKeys& keys, int64_t rows,
                              const SlotMap& map, uint32_t* const (&slots)[2],
                              uint32_t* const (&rows_by_slot)[2], uint32_t* bounds) {
  const unsigned blocks = blocks_of(rows, kThreads);
  slots_kernel<<<blocks, kThreads, 0, stream_of(call)>>>(keys, rows, map, slots[0],
                                                         rows_by_slot[0]);
  const int at =
      sort_pairs(call, slots, rows_by_slot, rows, std::max(bits_of_number(map.slots - 1), 1));
  bounds_kernel<<<blocks, kThreads, 0, stream_of(call)>>>(slots[at], rows,
                                                          reinterpret_cast<uint2*>(bounds));
  return rows_by_slot[at];
}

void probe_bounds(const DeviceCall& call, const SlotKeys& keys, int64_t rows, const SlotMap& map,
                  const uint32_t* bounds, bool keeps_unmatched, uint32_t* begins, uint32_t* made,
                  int64_t* total, uint8_t* marks) {
  probe_bounds_kernel<<<tiles_of(rows), kThreads, 0, stream_of(call)>>>(
      keys, rows, map, reinterpret_cast<const uint2*>(bounds), keeps_unmatched, begins, made,
      reinterpret_cast<Wide*>(total), marks);
}

void expand_matches(DeviceCall& call, int64_t rows, const uint32_t* begins, uint32_t* made,
                    const uint32_t* rows_by_slot, int64_t total, uint32_t* left, uint32_t* right) {
  if (total == 0) return;
  size_t bytes = 0;
  check_cuda("merge",
             cub::DeviceScan::ExclusiveSum(nullptr, bytes, made, made, rows, stream_of(call)));
  const Buffer room = call.scratch(static_cast<int64_t>(bytes));
  check_cuda("merge", cub::DeviceScan::ExclusiveSum(call.writes(room), bytes, made, made, rows,
                                                    stream_of(call)));
  expand_kernel<<<blocks_of(total, kOutputs), kThreads, 0, stream_of(call)>>>(
      rows, begins, made, rows_by_slot, total, left, right);
}

void finish(DeviceCall& call) {
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
