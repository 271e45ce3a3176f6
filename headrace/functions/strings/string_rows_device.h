// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files of this folder: a thread a string.
#pragma once
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_strings.h"
#include "headrace/functions/strings/string_pieces_math.h"

#include <string_view>
#include <utility>
#include <vector>

namespace hr::cuda {

inline constexpr int kStringThreads = 256;

/// What all rows are compared with, on the device.
struct Pattern {
  const char* data;
  uint32_t size;

  __device__ operator std::string_view() const { return {data, size}; }
};

/// `tables` holds its bytes.
inline Pattern pattern_of(const DeviceCall& call, std::string_view text,
                          std::vector<Buffer>& tables) {
  if (text.empty()) return {nullptr, 0};
  tables.push_back(call.table(text.data(), static_cast<int64_t>(text.size())));
  return {tables.back().as<char>(), static_cast<uint32_t>(text.size())};
}

/// The lanes of a warp are one word of the result. `Rows`: `is_valid(row)` and `test(row)`.
template <class Rows>
__global__ void __launch_bounds__(kStringThreads)
    string_test_kernel(Rows in, int64_t rows, unsigned* __restrict__ out,
                       unsigned* __restrict__ validity) {
  const int64_t row = int64_t{blockIdx.x} * kStringThreads + threadIdx.x;
  const bool valid = row < rows && in.is_valid(row);
  const unsigned bits = __ballot_sync(~0u, valid && in.test(row));
  const unsigned there = __ballot_sync(~0u, valid);
  if (threadIdx.x % 32 != 0 || row >= rows) return;
  out[row / 32] = bits;
  if (validity) validity[row / 32] = there;
}

/// A bool of each row, null, and false beneath, where `is_valid` says no; `nulls`: their number,
/// -1: not known.
template <class Rows>
Column test_string_rows(DeviceCall& call, Place place, const Rows& in, int64_t rows,
                        int64_t nulls) {
  const int64_t bytes = round_up(bitmap_bytes(rows), 4);
  const Buffer bits = allocate_result(bytes, place);
  const Buffer validity = nulls == 0 ? Buffer() : allocate_result(bytes, place);
  if (rows > 0)
    string_test_kernel<<<blocks_of(rows, kStringThreads), kStringThreads, 0,
                         static_cast<cudaStream_t>(call.stream())>>>(
        in, rows, call.writes_as<unsigned>(bits),
        nulls == 0 ? nullptr : call.writes_as<unsigned>(validity));
  call.finish(cudaGetLastError());
  return Column(TypeId::kBool, rows, bits, validity, nulls);
}

/// `of(text)`, a piece of each text, as its view; of a null row an empty one.
template <class Of>
__global__ void __launch_bounds__(kStringThreads)
    string_piece_kernel(DeviceStrings in, int64_t rows, Of of, uint4* __restrict__ out,
                        unsigned* __restrict__ validity) {
  const int64_t row = int64_t{blockIdx.x} * kStringThreads + threadIdx.x;
  const bool valid = row < rows && in.is_valid(row);
  if (validity) {
    const unsigned there = __ballot_sync(~0u, valid);
    if (threadIdx.x % 32 == 0 && row < rows) validity[row / 32] = there;
  }
  if (row >= rows) return;
  union {
    StringView view;
    uint4 words;
  } made{};
  if (valid) {
    const std::string_view text = in[row];
    StringView whole{};
    const uint32_t* const words = in.view(row);
    whole.size = words[0];
    whole.indirect.buffer = words[2];
    whole.indirect.offset = words[3];
    made.view = view_of_part(whole, text, of(text));
  }
  out[row] = made.words;
}

/// A column over the same text.
template <class Of>
Column string_pieces(DeviceCall& call, const Column& column, const DeviceStrings& in,
                     const Of& of) {
  const int64_t rows = column.num_rows();
  const bool has_nulls = column.null_count() > 0;
  const Buffer views = allocate_result(16 * rows, column.place());
  const Buffer validity =
      has_nulls ? allocate_result(round_up(bitmap_bytes(rows), 4), column.place()) : Buffer();
  if (rows > 0)
    string_piece_kernel<<<blocks_of(rows, kStringThreads), kStringThreads, 0,
                          static_cast<cudaStream_t>(call.stream())>>>(
        in, rows, of, call.writes_as<uint4>(views),
        has_nulls ? call.writes_as<unsigned>(validity) : nullptr);
  call.finish(cudaGetLastError());
  return column.with_rows(rows, views, validity, column.null_count());
}

}  // namespace hr::cuda
