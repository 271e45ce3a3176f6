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

/// Open addressing, less than three quarters full. A slot holds the upper half of a hash and the
/// first row that has it there; rows of one hash are compared.
struct RowTable {
  using Slot = unsigned long long;
  static constexpr Slot kFree = ~Slot{0};
  static constexpr uint32_t kNone = ~uint32_t{0};

  Slot* slots;
  uint64_t mask;

  __device__ static uint32_t row_of(Slot slot) { return static_cast<uint32_t>(slot); }

  /// The slot of a row's key, taken if it has none. Which one it is may depend on the order of
  /// threads, but its row ends as the first of all.
  template <class Rows>
  __device__ uint32_t put(const Rows& rows, int64_t row) const {
    const uint64_t hash = rows.hash(row);
    const Slot own = hash >> 32 << 32 | static_cast<uint32_t>(row);
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
      Slot found = *static_cast<volatile Slot*>(slots + at);
      if (found == kFree) {
        found = atomicCAS(slots + at, kFree, own);
        if (found == kFree) return static_cast<uint32_t>(at);
      }
      if (found >> 32 != own >> 32 || !Rows::equal(rows, row_of(found), rows, row)) continue;
      if (found > own) atomicMin(slots + at, own);
      return static_cast<uint32_t>(at);
    }
  }

  /// The first row of `there`, whose rows were put, with the key of a row of `rows`; or kNone.
  template <class Rows>
  __device__ uint32_t find(const Rows& there, const Rows& rows, int64_t row) const {
    const uint64_t hash = rows.hash(row);
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot found = slots[at];
      if (found == kFree) return kNone;
      if (found >> 32 == hash >> 32 && Rows::equal(there, row_of(found), rows, row))
        return row_of(found);
    }
  }
};

namespace rows {

constexpr int kThreads = 256;

template <class Rows>
__global__ void __launch_bounds__(kThreads)
    put_kernel(const __grid_constant__ Rows rows, int64_t count, RowTable table,
               uint32_t* __restrict__ slots) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < count) slots[row] = rows.is_there(row) ? table.put(rows, row) : RowTable::kNone;
}

/// Marks the row of each slot that is taken.
static __global__ void mark_kernel(const RowTable::Slot* __restrict__ slots, int64_t count,
                                   unsigned* __restrict__ marks) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count || slots[i] == RowTable::kFree) return;
  const uint32_t row = RowTable::row_of(slots[i]);
  atomicOr(&marks[row / 32], 1u << row % 32);
}

static __global__ void count_kernel(const unsigned* __restrict__ marks, int64_t words,
                                    unsigned* __restrict__ counts) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i <= words) counts[i] = i < words ? __popc(marks[i]) : 0;
}

/// Turns the slot of each row into its number, a null's into 0; a bit for each row tells which have
/// one.
static __global__ void codes_kernel(RowTable table, const unsigned* __restrict__ marks,
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
  const uint32_t row = is_there ? RowTable::row_of(table.slots[slot]) : 0;
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

/// A table of `count` rows, in `room`.
inline RowTable table_of_rows(DeviceCall& call, int64_t count, Buffer& room) {
  const uint64_t slots = std::bit_ceil(static_cast<uint64_t>(count + count / 2 + 2));
  room = call.scratch(static_cast<int64_t>(8 * slots));
  call.fill(call.writes(room), 0xFF, static_cast<int64_t>(8 * slots));
  return {call.writes_as<RowTable::Slot>(room), slots - 1};
}

/// Numbers of the rows by the first appearance of what they hold, of which `nulls` are not there
/// (-1: unknown). Waits for how many numbers there are.
template <class Rows>
RowCodes encode_rows(DeviceCall& call, const Rows& keys, int64_t count, int64_t nulls,
                     Place place) {
  using rows::kThreads;
  const bool can_miss = nulls != 0;
  Buffer room;
  const RowTable table = table_of_rows(call, count, room);
  const int64_t words = (count + 31) / 32;
  RowCodes made;
  const Buffer codes = allocate_result(4 * count, place);
  const Buffer valid = can_miss ? allocate_result(8 * ((count + 63) / 64), place) : Buffer();
  auto* const out = call.writes_as<uint32_t>(codes);
  rows::put_kernel<Rows>
      <<<blocks_of(count, kThreads), kThreads, 0, row_stream(call)>>>(keys, count, table, out);
  const Buffer marked = call.scratch(4 * words), counted = call.scratch(4 * (words + 1));
  auto* const marks = call.writes_as<unsigned>(marked);
  auto* const before = call.writes_as<unsigned>(counted);
  call.fill(reinterpret_cast<std::byte*>(marks), 0, 4 * words);
  const auto slots = static_cast<int64_t>(table.mask + 1);
  rows::mark_kernel<<<blocks_of(slots, kThreads), kThreads, 0, row_stream(call)>>>(table.slots,
                                                                                   slots, marks);
  rows::count_kernel<<<blocks_of(words + 1, kThreads), kThreads, 0, row_stream(call)>>>(
      marks, words, before);
  exclusive_sum(call, before, words + 1);
  rows::codes_kernel<<<blocks_of(count, kThreads), kThreads, 0, row_stream(call)>>>(
      table, marks, before, count, out, can_miss ? call.writes_as<unsigned>(valid) : nullptr);
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
