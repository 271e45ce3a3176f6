// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: equal rows found by a hash table, and numbered by their first rows.
#pragma once
#include "headrace/algo/sort/row_codes_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hr::cuda {

/// Open addressing, less than three quarters full. A slot holds the upper bits of a hash and the
/// first row that has it there; rows that share them are compared.
struct RowTable {
  using Slot = uint32_t;
  static constexpr Slot kFree = ~Slot{0};  // no row has these bits
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kFull = kNone - 1;

  Slot* slots = nullptr;
  uint64_t mask = 0;
  int bits_of_row = 0;

  __device__ uint32_t row_of(Slot slot) const { return slot & ((1u << bits_of_row) - 1); }

  __device__ Slot slot_of(uint64_t hash, int64_t row) const {
    return static_cast<Slot>(hash >> 32) >> bits_of_row << bits_of_row | static_cast<uint32_t>(row);
  }

  /// The slot of a row's key, taken if it has none. Which one it is may depend on the order of
  /// threads, but its row ends as the first of all. kFull: none of the `most` that follow the hash.
  template <class Rows>
  __device__ uint32_t put(const Rows& rows, int64_t row, uint64_t most,
                          bool* is_new = nullptr) const {
    const uint64_t hash = rows.hash(row);
    const Slot own = slot_of(hash, row);
    for (uint64_t step = 0; step < most; ++step) {
      const uint64_t at = (hash + step) & mask;
      Slot found = *static_cast<volatile Slot*>(slots + at);
      if (found == kFree) {
        found = atomicCAS(slots + at, kFree, own);
        if (found == kFree) {
          if (is_new) *is_new = true;
          return static_cast<uint32_t>(at);
        }
      }
      if (found >> bits_of_row != own >> bits_of_row ||
          !Rows::equal(rows, row_of(found), rows, row))
        continue;
      if (found > own) atomicMin(slots + at, own);
      return static_cast<uint32_t>(at);
    }
    return kFull;
  }

  /// The first row of `there`, whose rows were put, with the key of a row of `rows`; or kNone.
  template <class Rows>
  __device__ uint32_t find(const Rows& there, const Rows& rows, int64_t row) const {
    const uint64_t hash = rows.hash(row);
    const Slot own = slot_of(hash, 0);
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot found = slots[at];
      if (found == kFree) return kNone;
      if (found >> bits_of_row == own >> bits_of_row &&
          Rows::equal(there, row_of(found), rows, row))
        return row_of(found);
    }
  }
};

/// A small table, which stays in the cache, and one that all rows fit into: taken if the small one
/// is full, which only the device knows.
struct RowTables {
  RowTable few;
  RowTable all;
  unsigned* is_full;  // null: there is no small one

  __device__ bool needs_all() const { return !is_full || *is_full != 0; }
  __device__ RowTable own() const { return needs_all() ? all : few; }
};

namespace rows {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 8;
constexpr uint64_t kFewSlots = uint64_t{1} << 17;
constexpr uint64_t kMostSteps = 64;  // in the small table, which is full where a key needs more
constexpr int64_t kSample = 1 << 14;
constexpr int kMostOfSample = kSample / 8 * 7;  // distinct ones: about 60,000 of all rows

/// Puts a sample of the rows, of which `distinct` counts those that are new.
template <class Rows>
__global__ void __launch_bounds__(kThreads)
    sample_kernel(const __grid_constant__ Rows rows, int64_t step, RowTables tables,
                  int* distinct) {
  const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * step;
  bool is_new = false;
  if (rows.is_there(row)) tables.few.put(rows, row, kMostSteps, &is_new);
  const unsigned news = __ballot_sync(~0u, is_new);
  if (threadIdx.x % 32 == 0) atomicAdd(distinct, __popc(news));
}

template <class Rows>
__global__ void __launch_bounds__(kThreads)
    put_few_kernel(const __grid_constant__ Rows rows, int64_t count, RowTables tables,
                   const int* __restrict__ distinct, uint32_t* __restrict__ slots) {
  if (*distinct > kMostOfSample) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *tables.is_full = 1;
    return;
  }
  const int64_t step = int64_t{gridDim.x} * kThreads;
  const volatile unsigned* const is_full = tables.is_full;
  for (int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x; row < count && *is_full == 0;
       row += step) {
    const uint32_t slot =
        rows.is_there(row) ? tables.few.put(rows, row, kMostSteps) : RowTable::kNone;
    if (slot == RowTable::kFull) *tables.is_full = 1;
    slots[row] = slot;
  }
}

/// Frees the slots of the table of all rows, if it is needed.
static __global__ void free_kernel(RowTables tables) {
  if (!tables.needs_all()) return;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  constexpr RowTable::Slot kFree = RowTable::kFree;
  const auto fours = static_cast<int64_t>((tables.all.mask + 1) / 4);
  auto* const slots = reinterpret_cast<uint4*>(tables.all.slots);
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < fours; i += step)
    slots[i] = {kFree, kFree, kFree, kFree};
}

template <class Rows>
__global__ void __launch_bounds__(kThreads)
    put_kernel(const __grid_constant__ Rows rows, int64_t count, RowTables tables,
               uint32_t* __restrict__ slots) {
  if (!tables.needs_all()) return;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x; row < count; row += step)
    slots[row] =
        rows.is_there(row) ? tables.all.put(rows, row, tables.all.mask + 1) : RowTable::kNone;
}

/// Marks the row of each slot that is taken.
static __global__ void mark_kernel(RowTables tables, unsigned* __restrict__ marks) {
  const RowTable table = tables.own();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
       i <= static_cast<int64_t>(table.mask); i += step) {
    if (table.slots[i] == RowTable::kFree) continue;
    const uint32_t row = table.row_of(table.slots[i]);
    atomicOr(&marks[row / 32], 1u << row % 32);
  }
}

static __global__ void count_kernel(const unsigned* __restrict__ marks, int64_t words,
                                    unsigned* __restrict__ counts) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i <= words) counts[i] = i < words ? __popc(marks[i]) : 0;
}

/// Turns the slot of each row into its number, a null's into 0; a bit for each row tells which have
/// one.
static __global__ void codes_kernel(RowTables tables, const unsigned* __restrict__ marks,
                                    const unsigned* __restrict__ before, int64_t count,
                                    uint32_t* __restrict__ slots, unsigned* __restrict__ valid) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const uint32_t slot = i < count ? slots[i] : RowTable::kNone;
  const bool is_there = slot != RowTable::kNone;
  if (valid) {
    const unsigned word = __ballot_sync(~0u, is_there);
    if (threadIdx.x % 32 == 0 && i < count) valid[i / 32] = word;
  }
  if (i >= count) return;
  const RowTable table = tables.own();
  const uint32_t row = is_there ? table.row_of(table.slots[slot]) : 0;
  slots[i] = is_there ? before[row / 32] + __popc(marks[row / 32] & ((1u << row % 32) - 1)) : 0;
}

static __global__ void first_rows_kernel(const unsigned* __restrict__ marks,
                                         const unsigned* __restrict__ before, int64_t words,
                                         uint32_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= words) return;
  uint32_t at = before[i];
  for (unsigned left = marks[i]; left != 0; left &= left - 1)
    out[at++] = static_cast<uint32_t>(32 * i + __ffs(left) - 1);
}

}  // namespace rows

inline cudaStream_t row_stream(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

/// Blocks of kernels whose threads take rows or slots in turn.
inline unsigned row_blocks(int64_t count, Place place) {
  return blocks_in_turn(count, rows::kThreads, place.index, rows::kBlocksAProcessor);
}

/// The same, as many as run together: none begins late and alone.
template <class Kernel>
unsigned blocks_at_once(Kernel kernel, int64_t count, Place place) {
  int blocks = 0;
  check_cuda(kRowsOp,
             cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, rows::kThreads, 0));
  return blocks_in_turn(count, rows::kThreads, place.index, std::max(blocks, 1));
}

/// Puts `count` rows into a table in `room` and writes the slot of each.
template <class Rows>
RowTables put_rows(DeviceCall& call, const Rows& keys, int64_t count, Place place, Buffer& room,
                   uint32_t* slots) {
  using rows::kFewSlots;
  using rows::kThreads;
  constexpr int64_t kWidth = sizeof(RowTable::Slot);
  const uint64_t all = std::bit_ceil(static_cast<uint64_t>(count + count / 2 + 4));
  const uint64_t few = all >= 8 * kFewSlots ? kFewSlots : 0;
  const int bits_of_row = std::bit_width(static_cast<uint64_t>(count));
  room = call.scratch(kWidth * static_cast<int64_t>(all + few + 2));
  auto* const first = call.writes_as<RowTable::Slot>(room);
  RowTables tables{{first + all, few - 1, bits_of_row}, {first, all - 1, bits_of_row}, nullptr};
  if (few > 0) {
    tables.is_full = first + all + few;
    call.fill(reinterpret_cast<std::byte*>(tables.few.slots), 0xFF,
              kWidth * static_cast<int64_t>(few));
    auto* const distinct = reinterpret_cast<int*>(tables.is_full + 1);
    call.fill(reinterpret_cast<std::byte*>(tables.is_full), 0, 2 * kWidth);
    constexpr auto kSampleBlocks = static_cast<unsigned>(rows::kSample / kThreads);
    rows::sample_kernel<Rows><<<kSampleBlocks, kThreads, 0, row_stream(call)>>>(
        keys, count / rows::kSample, tables, distinct);
    rows::put_few_kernel<Rows><<<blocks_at_once(rows::put_few_kernel<Rows>, count, place), kThreads,
                                 0, row_stream(call)>>>(keys, count, tables, distinct, slots);
  }
  rows::free_kernel<<<row_blocks(static_cast<int64_t>(all) / 4, place), kThreads, 0,
                      row_stream(call)>>>(tables);
  rows::put_kernel<Rows>
      <<<blocks_at_once(rows::put_kernel<Rows>, count, place), kThreads, 0, row_stream(call)>>>(
          keys, count, tables, slots);
  return tables;
}

/// Numbers of the rows by the first appearance of what they hold, of which `nulls` are not there
/// (-1: unknown). Waits for how many numbers there are.
template <class Rows>
RowCodes encode_rows(DeviceCall& call, const Rows& keys, int64_t count, int64_t nulls,
                     Place place) {
  using rows::kThreads;
  const bool can_miss = nulls != 0;
  const int64_t words = (count + 31) / 32;
  RowCodes made;
  const Buffer codes = allocate_result(4 * count, place);
  const Buffer valid = can_miss ? allocate_result(8 * ((count + 63) / 64), place) : Buffer();
  auto* const out = call.writes_as<uint32_t>(codes);
  Buffer room;
  const RowTables tables = put_rows(call, keys, count, place, room, out);
  const Buffer marked = call.scratch(4 * words), counted = call.scratch(4 * (words + 1));
  auto* const marks = call.writes_as<unsigned>(marked);
  auto* const before = call.writes_as<unsigned>(counted);
  call.fill(reinterpret_cast<std::byte*>(marks), 0, 4 * words);
  rows::mark_kernel<<<row_blocks(count, place), kThreads, 0, row_stream(call)>>>(tables, marks);
  rows::count_kernel<<<blocks_of(words + 1, kThreads), kThreads, 0, row_stream(call)>>>(
      marks, words, before);
  exclusive_sum(call, before, words + 1);
  rows::codes_kernel<<<blocks_of(count, kThreads), kThreads, 0, row_stream(call)>>>(
      tables, marks, before, count, out, can_miss ? call.writes_as<unsigned>(valid) : nullptr);
  unsigned distinct = 0;
  call.fetch(&distinct, before + words, 4);
  const Buffer first = allocate_result(std::max<int64_t>(4 * int64_t{distinct}, 4), place);
  rows::first_rows_kernel<<<blocks_of(words, kThreads), kThreads, 0, row_stream(call)>>>(
      marks, before, words, call.writes_as<uint32_t>(first));
  made.codes = Column(TypeId::kInt32, count, codes, valid, nulls);
  made.first_rows = Tensor(TypeId::kUInt32, {distinct}, first);
  return made;
}

}  // namespace hr::cuda
