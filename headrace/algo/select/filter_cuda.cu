// SPDX-License-Identifier: Apache-2.0
// Rows picked on a CUDA device: a thread a word of the result.
#include "headrace/algo/select/filter_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

/// Row numbers of either width; of int64 ones -1 stands for no row.
struct Positions {
  const int64_t* wide;
  const unsigned* narrow;

  __device__ int64_t operator[](int64_t i) const { return wide ? wide[i] : narrow[i]; }
};

Positions positions_of(const Tensor& positions) {
  if (positions.dtype().id() == TypeId::kUInt32)
    return {nullptr, reinterpret_cast<const unsigned*>(positions.as<uint32_t>())};
  return {positions.as<int64_t>(), nullptr};
}

template <class T>
__global__ void take_kernel(const T* __restrict__ in, Positions positions, int64_t words,
                            int64_t words_a_row, T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= words) return;
  const int64_t row = words_a_row == 1 ? i : i / words_a_row;
  const int64_t from = positions[row];
  out[i] = from < 0 ? T{} : in[from * words_a_row + (i - row * words_a_row)];
}

// A lane a row; the lanes of a warp are one word of the result.
__global__ void take_bits_kernel(const uint8_t* __restrict__ bits, int64_t begin,
                                 Positions positions, int64_t rows, unsigned* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t from = i < rows ? positions[i] : -1;
  const int64_t at = begin + from;
  const bool bit = from >= 0 && (!bits || (bits[at >> 3] >> (at & 7) & 1));
  const unsigned word = __ballot_sync(~0u, bit);
  if (threadIdx.x % 32 == 0 && i < rows) out[i / 32] = word;
}

// Bits of a bitmap from bit `begin` on; of an empty one, whether there is a row.
Buffer take_bits(std::string_view op, const Buffer& bitmap, int64_t begin,
                 const Tensor& positions) {
  const int64_t rows = positions.num_elements();
  Buffer out = allocate_result(round_up(bitmap_bytes(rows), 4), positions.place());
  if (rows == 0) return out;
  DeviceCall call(op, positions.place());
  call.reads(bitmap);
  call.reads(positions.buffer());
  take_bits_kernel<<<blocks_of(rows, kThreads), kThreads, 0,
                     static_cast<cudaStream_t>(call.stream())>>>(
      bitmap.as<uint8_t>(), begin, positions_of(positions), rows, call.writes_as<unsigned>(out));
  call.finish(cudaGetLastError());
  return out;
}

}  // namespace

Buffer take_rows(std::string_view op, const Buffer& rows, int64_t begin, int64_t width,
                 int64_t word, const Tensor& positions) {
  const int64_t bytes = checked_multiply(op, positions.num_elements(), width);
  Buffer out = allocate_result(bytes, positions.place());
  if (bytes == 0) return out;
  DeviceCall call(op, positions.place());
  call.reads(rows);
  call.reads(positions.buffer());
  const auto take = [&]<class T>(std::type_identity<T>) {
    const int64_t words = bytes / word;
    take_kernel<T>
        <<<blocks_of(words, kThreads), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            reinterpret_cast<const T*>(rows.data() + begin), positions_of(positions), words,
            width / word, call.writes_as<T>(out));
  };
  if (word == 1)
    take(std::type_identity<uint8_t>{});
  else if (word == 2)
    take(std::type_identity<uint16_t>{});
  else if (word == 4)
    take(std::type_identity<uint32_t>{});
  else
    take(std::type_identity<uint64_t>{});
  call.finish(cudaGetLastError());
  return out;
}

Column take_rows(std::string_view op, const Column& column, const Tensor& positions, bool or_none) {
  const int64_t width = column.dtype().size_bytes();
  const bool has_nulls = column.null_count() > 0;
  Buffer validity;
  if (has_nulls || or_none)
    validity =
        take_bits(op, has_nulls ? column.validity_buffer() : Buffer(), column.offset(), positions);
  Buffer values = column.dtype().is_bool()
                      ? take_bits(op, column.values_buffer(), column.offset(), positions)
                      : take_rows(op, column.values_buffer(), column.offset() * width, width,
                                  std::min<int64_t>(width, 8), positions);
  return column.with_rows(positions.num_elements(), std::move(values), std::move(validity),
                          has_nulls || or_none ? -1 : 0);
}

}  // namespace hr::cuda
