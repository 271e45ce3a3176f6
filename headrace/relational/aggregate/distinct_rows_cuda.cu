// SPDX-License-Identifier: Apache-2.0
// The first row of each key on a CUDA device: of few keys in a table by key, else by a stable sort,
// after which equal keys are side by side and the first of them is the first row.
#include "headrace/algo/select/nonzero_kernels.h"
#include "headrace/algo/sort/device_sort_keys_kernels.h"
#include "headrace/algo/sort/radix_sort_kernels.h"
#include "headrace/algo/sort/string_codes.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/relational/aggregate/distinct_rows_kernels.h"

#include <limits>
#include <type_traits>
#include <utility>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 8;
constexpr int kTableBits = 20;     // 4 MiB of rows, which stay in the cache
constexpr int kOwnTableBits = 12;  // 16 KiB in a block's own memory
constexpr unsigned kNoRow = ~0u;

__device__ void mark(unsigned* marks, unsigned row) {
  atomicOr(&marks[row / 32], 1u << row % 32);
}

/// The least row of each key. Rows come in order, so most see a lesser one there.
template <class Key>
__global__ void table_kernel(const Key* __restrict__ words, int64_t count, unsigned* first) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    unsigned* const own = &first[words[i]];
    const auto row = static_cast<unsigned>(i);
    if (*static_cast<volatile unsigned*>(own) > row) atomicMin(own, row);
  }
}

/// The same for few keys, whose places all threads would ask for: blocks have tables of their own.
__global__ void __launch_bounds__(kThreads)
    own_table_kernel(const uint32_t* __restrict__ words, int64_t count, int slots,
                     unsigned* __restrict__ first) {
  constexpr int kAhead = 8;  // loads of a thread under way together
  __shared__ unsigned own[1 << kOwnTableBits];
  for (int slot = threadIdx.x; slot < slots; slot += kThreads) own[slot] = kNoRow;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * kThreads * kAhead;
  for (int64_t begin = int64_t{blockIdx.x} * kThreads * kAhead + threadIdx.x; begin < count;
       begin += step) {
    uint32_t ahead[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int64_t i = begin + k * kThreads;
      ahead[k] = words[i < count ? i : begin];
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int64_t i = begin + k * kThreads;
      const auto row = static_cast<unsigned>(i < count ? i : begin);
      unsigned* const place = &own[ahead[k]];
      if (*static_cast<volatile unsigned*>(place) > row) atomicMin(place, row);
    }
  }
  __syncthreads();
  for (int slot = threadIdx.x; slot < slots; slot += kThreads)
    if (own[slot] != kNoRow) atomicMin(&first[slot], own[slot]);
}

__global__ void mark_table_kernel(const unsigned* __restrict__ first, int64_t count,
                                  unsigned* __restrict__ marks) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count && first[i] != kNoRow) mark(marks, first[i]);
}

__global__ void numbers_kernel(int64_t count, unsigned* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = static_cast<unsigned>(i);
}

/// Marks rows whose word differs from that of the row before in the order.
template <class Key>
__global__ void mark_heads_kernel(const Key* __restrict__ words, const unsigned* __restrict__ order,
                                  int64_t count, unsigned* __restrict__ marks) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count && (i == 0 || words[i] != words[i - 1])) mark(marks, order[i]);
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

void mark_by_table(DeviceCall& call, const DeviceSortKeys& keys, Place place, int64_t rows,
                   unsigned* marks) {
  const Buffer room = call.scratch(4 * rows);
  auto* const words = call.writes_as<uint32_t>(room);
  keys.write(0, nullptr, words);
  const int64_t slots = int64_t{1} << keys.bits(0);
  const Buffer table = call.scratch(4 * slots);
  auto* const first = call.writes_as<unsigned>(table);
  call.fill(call.writes(table), 0xFF, 4 * slots);
  const unsigned blocks = blocks_in_turn(rows, kThreads, place.index, kBlocksAProcessor);
  if (keys.bits(0) <= kOwnTableBits)
    own_table_kernel<<<blocks, kThreads, 0, stream_of(call)>>>(words, rows, static_cast<int>(slots),
                                                               first);
  else
    table_kernel<<<blocks, kThreads, 0, stream_of(call)>>>(words, rows, first);
  mark_table_kernel<<<blocks_of(slots, kThreads), kThreads, 0, stream_of(call)>>>(first, slots,
                                                                                  marks);
}

void mark_by_sort(DeviceCall& call, const DeviceSortKeys& keys, int64_t rows, unsigned* marks) {
  const Buffer numbers[2] = {call.scratch(4 * rows), call.scratch(4 * rows)};
  const Buffer room[2] = {call.scratch(8 * rows), call.scratch(8 * rows)};
  uint32_t* order[2] = {call.writes_as<uint32_t>(numbers[0]), call.writes_as<uint32_t>(numbers[1])};
  numbers_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(rows, order[0]);
  const auto pass = [&]<class Key>(std::type_identity<Key>, int word, bool sorts) {
    Key* const words[2] = {call.writes_as<Key>(room[0]), call.writes_as<Key>(room[1])};
    const bool is_last = word + 1 == keys.num_words();
    keys.write(word, is_last && sorts ? nullptr : order[0], words[0]);
    int at = 0;
    if (sorts) {
      uint32_t* const places[2] = {order[0], order[1]};
      const int bits = keys.bits(word);
      const int lead = keys.leading_bits(word);
      if constexpr (sizeof(Key) == 8)
        at = lead < bits ? radix_sort_leading(call, words, places, rows, bits, lead)
                         : radix_sort(call, words, places, rows, 0, bits);
      else
        at = radix_sort(call, words, places, rows, 0, bits);
      if (at == 1) std::swap(order[0], order[1]);
      if (keys.num_words() > 1) return;
    }
    mark_heads_kernel<Key><<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
        words[at], order[0], rows, marks);
  };
  const auto by_width = [&](int word, bool sorts) {
    if (keys.bits(word) > 32)
      pass(std::type_identity<uint64_t>{}, word, sorts);
    else
      pass(std::type_identity<uint32_t>{}, word, sorts);
  };
  for (int word = keys.num_words(); word-- > 0;) by_width(word, true);
  // A row begins a key where any of its words differs.
  if (keys.num_words() > 1)
    for (int word = 0; word < keys.num_words(); ++word) by_width(word, false);
}

}  // namespace

namespace {

__global__ void widen_kernel(const uint32_t* __restrict__ rows, int64_t count,
                             int64_t* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = rows[i];
}

Tensor widened(const Tensor& rows) {
  const int64_t count = rows.num_elements();
  const Buffer out = allocate_result(8 * count, rows.place());
  DeviceCall call("drop_duplicates", rows.place());
  call.reads(rows.buffer());
  if (count > 0)
    widen_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream_of(call)>>>(
        rows.as<uint32_t>(), count, call.writes_as<int64_t>(out));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {count}, out);
}

/// Strings and categories as numbers.
Column numbers_of(const Column& key) {
  if (key.dtype().is_string()) return hr::encode_strings(key, false).codes;
  if (!key.dtype().is_category()) return key;
  return Column(TypeId::kInt32, key.num_rows(), key.values_buffer(), key.validity_buffer(),
                key.null_count(), key.offset());
}

}  // namespace

Tensor distinct_rows(const std::vector<Column>& given) {
  if (given.size() == 1 && given[0].dtype().is_string() && given[0].null_count() == 0)
    return widened(hr::encode_strings(given[0], false).first_rows);
  std::vector<Column> keys;
  for (const Column& key : given) keys.push_back(numbers_of(key));
  const Place place = keys[0].place();
  const int64_t rows = keys[0].num_rows();
  if (rows > std::numeric_limits<unsigned>::max())
    throw_error<UnsupportedError>("drop_duplicates", "too many rows for the CUDA kernel",
                                  {{"rows", rows}}, "move the values first: x.to('cpu')");
  const int64_t bytes = round_up(bitmap_bytes(rows), 8);
  const Buffer bits = allocate_result(bytes, place);
  {
    DeviceCall call("drop_duplicates", place);
    call.fill(call.writes(bits), 0, bytes);
    auto* const marks = call.writes_as<unsigned>(bits);
    const std::vector<SortOrder> orders(keys.size());
    const DeviceSortKeys packed(call, place, keys, orders, MissingKeys::kNullAndNan);
    if (packed.num_words() == 0)
      call.fill(call.writes(bits), 1, 1);  // all rows are equal
    else if (packed.num_words() == 1 && packed.bits(0) <= kTableBits)
      mark_by_table(call, packed, place, rows, marks);
    else
      mark_by_sort(call, packed, rows, marks);
    call.finish(cudaGetLastError());
  }
  return nonzero(Column(TypeId::kBool, rows, bits));
}

}  // namespace hr::cuda
