// SPDX-License-Identifier: Apache-2.0
// Rows picked on a CUDA device: a thread a word of the result.
#include "headrace/algo/compress_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void take_kernel(const T* __restrict__ in, const int64_t* __restrict__ positions,
                            int64_t words, int64_t words_a_row, T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= words) return;
  if (words_a_row == 1) {
    out[i] = in[positions[i]];
    return;
  }
  const int64_t row = i / words_a_row;
  out[i] = in[positions[row] * words_a_row + (i - row * words_a_row)];
}

}  // namespace

Buffer take_rows(const Buffer& rows, int64_t begin, int64_t width, int64_t word,
                 const Tensor& positions) {
  const int64_t bytes = checked_multiply("getitem", positions.num_elements(), width);
  Buffer out = allocate_result(bytes, rows.place());
  if (bytes == 0) return out;
  DeviceCall call("getitem", rows.place());
  call.reads(rows);
  call.reads(positions.buffer());
  const auto take = [&]<class T>(std::type_identity<T>) {
    const int64_t words = bytes / word;
    take_kernel<T>
        <<<blocks_of(words, kThreads), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            reinterpret_cast<const T*>(rows.data() + begin), positions.as<int64_t>(), words,
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

}  // namespace hr::cuda
