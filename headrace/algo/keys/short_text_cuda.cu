// SPDX-License-Identifier: Apache-2.0
// Short strings as numbers that order as they do, on a CUDA device.
#include "headrace/algo/keys/short_text_kernels.h"
#include "headrace/data/device_strings.h"

#include <algorithm>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 8;
constexpr std::string_view kOp = "groupby";

using Bits = unsigned long long;

/// The first 8 bytes of text, the first one highest.
__device__ uint64_t text_of(const uint32_t* view) {
  return uint64_t{__byte_perm(view[1], 0, 0x0123)} << 32 | __byte_perm(view[2], 0, 0x0123);
}

__device__ uint64_t number_of(const uint32_t* view, int bytes, int size_bits) {
  const uint64_t text = bytes == 0 ? 0 : text_of(view) >> (64 - 8 * bytes);
  return text << size_bits | (size_bits == 0 ? 0 : view[0]);
}

struct Range {
  Bits low;
  Bits high;
  Bits shortest;
  Bits longest;
};

__device__ void widen(Range& range, Bits low, Bits high, Bits shortest, Bits longest) {
  range.low = min(range.low, low);
  range.high = max(range.high, high);
  range.shortest = min(range.shortest, shortest);
  range.longest = max(range.longest, longest);
}

__global__ void range_kernel(const __grid_constant__ DeviceStrings strings, int64_t count,
                             Range start, Range* range) {
  Range own = start;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x; row < count; row += step) {
    if (!strings.is_valid(row)) continue;
    const uint32_t* const view = strings.view(row);
    const Bits number = number_of(view, cpu::kShortText, 3), size = view[0];
    widen(own, number, number, size, size);
    if (size > cpu::kShortText) break;  // one is enough to tell
  }
  for (int half = 16; half > 0; half /= 2)
    widen(own, __shfl_xor_sync(~0u, own.low, half), __shfl_xor_sync(~0u, own.high, half),
          __shfl_xor_sync(~0u, own.shortest, half), __shfl_xor_sync(~0u, own.longest, half));
  if (threadIdx.x % 32 != 0) return;
  const volatile Range& found = *range;  // most warps do not widen it
  if (own.low < found.low) atomicMin(&range->low, own.low);
  if (own.high > found.high) atomicMax(&range->high, own.high);
  if (own.shortest < found.shortest) atomicMin(&range->shortest, own.shortest);
  if (own.longest > found.longest) atomicMax(&range->longest, own.longest);
}

__global__ void numbers_kernel(const __grid_constant__ DeviceStrings strings, int64_t count,
                               int bytes, int size_bits, uint64_t least, int32_t* __restrict__ out,
                               unsigned* __restrict__ valid) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool is_there = row < count && strings.is_valid(row);
  if (valid) {
    const unsigned word = __ballot_sync(~0u, is_there);
    if (threadIdx.x % 32 == 0 && row < count) valid[row / 32] = word;
  }
  if (row < count)
    out[row] =
        is_there ? static_cast<int32_t>(number_of(strings.view(row), bytes, size_bits) - least) : 0;
}

__global__ void texts_kernel(const int32_t* __restrict__ numbers, int64_t count, int bytes,
                             int size_bits, uint64_t least, uint32_t* __restrict__ views) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= count) return;
  const uint64_t code = static_cast<uint32_t>(numbers[row]) + least;
  const uint64_t number = code >> size_bits;
  const uint64_t text = bytes == 0 ? 0 : number << (64 - 8 * bytes);
  uint32_t* const view = views + 4 * row;
  view[0] = size_bits == 0 ? static_cast<uint32_t>(bytes)
                           : static_cast<uint32_t>(code & ((uint64_t{1} << size_bits) - 1));
  view[1] = __byte_perm(static_cast<uint32_t>(text >> 32), 0, 0x0123);
  view[2] = __byte_perm(static_cast<uint32_t>(text), 0, 0x0123);
  view[3] = 0;
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

}  // namespace

cpu::TextRange text_range(const Column& strings) {
  const Place place = strings.place();
  const int64_t rows = strings.num_rows();
  DeviceCall call(kOp, place);
  std::vector<Buffer> tables;
  const DeviceStrings own = strings_of(call, strings, tables);
  cpu::TextRange all;
  const Range start{all.low, all.high, all.shortest, all.longest};
  const Buffer room = call.table(&start, sizeof start);
  range_kernel<<<blocks_in_turn(rows, kThreads, place.index, kBlocksAProcessor), kThreads, 0,
                 stream_of(call)>>>(own, rows, start, call.writes_as<Range>(room));
  Range found{};
  call.fetch(&found, room.data(), sizeof found);
  call.finish(cudaGetLastError());
  return {found.low, found.high, found.shortest, found.longest};
}

Column text_numbers(const Column& strings, int bytes, int size_bits, uint64_t least) {
  const Place place = strings.place();
  const int64_t rows = strings.num_rows();
  const bool nullable = strings.null_count() > 0;
  DeviceCall call(kOp, place);
  std::vector<Buffer> tables;
  const DeviceStrings own = strings_of(call, strings, tables);
  const Buffer numbers = allocate_result(4 * rows, place);
  const Buffer valid = nullable ? allocate_result(8 * ((rows + 63) / 64), place) : Buffer();
  numbers_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
      own, rows, bytes, size_bits, least, call.writes_as<int32_t>(numbers),
      nullable ? call.writes_as<unsigned>(valid) : nullptr);
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt32, rows, numbers, valid, strings.null_count());
}

Column texts_of_numbers(const Column& numbers, int bytes, int size_bits, uint64_t least) {
  const int64_t rows = numbers.num_rows();
  if (rows == 0) return Column::strings(0, numbers.values_buffer(), {});
  DeviceCall call(kOp, numbers.place());
  call.reads(numbers.values_buffer());
  const Buffer views = allocate_result(16 * rows, numbers.place());
  texts_kernel<<<blocks_of(rows, kThreads), kThreads, 0, stream_of(call)>>>(
      numbers.values_buffer().as<int32_t>() + numbers.offset(), rows, bytes, size_bits, least,
      call.writes_as<uint32_t>(views));
  call.finish(cudaGetLastError());
  return Column::strings(rows, views, {}, numbers.validity_buffer(), numbers.null_count());
}

}  // namespace hr::cuda
