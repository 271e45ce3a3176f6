// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements on a CUDA device.
#include "headrace/algo/scan/diff_kernels.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kItems = 8;  // of a thread, all asked for before the first is used

template <class T>
__device__ T subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // wraps
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return a - b;
  }
}

template <class T>
__global__ void diff_kernel(View<T> x, T* __restrict__ out) {
  const int64_t count = x.size - 1;
  const int64_t first = int64_t{blockIdx.x} * (kThreads * kItems) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int64_t i = first + k * kThreads;
    if (i < count) out[i] = subtract(x[i + 1], x[i]);
  }
}

template <class T>
__global__ void rows_kernel(const T* __restrict__ values, const uint8_t* __restrict__ valid,
                            int64_t offset, int64_t rows, int64_t periods, T* __restrict__ out,
                            unsigned* __restrict__ bits) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t other = row - periods;
  const auto is_there = [&](int64_t i) {
    if (i < 0 || i >= rows) return false;
    return !valid || (valid[(offset + i) >> 3] >> ((offset + i) & 7) & 1) != 0;
  };
  const bool both = is_there(row) && is_there(other);
  if (row < rows) out[row] = both ? subtract(values[offset + row], values[offset + other]) : T{0};
  const unsigned word = __ballot_sync(~0u, both);
  if (threadIdx.x % 32 == 0 && row < rows) bits[row / 32] = word;
}

}  // namespace

Column diff(const Column& x, int64_t periods) {
  const int64_t rows = x.num_rows();
  const bool nulls = x.null_count() != 0;
  const int64_t by = std::clamp(periods, -rows, rows);  // no sum of rows wraps
  DeviceCall call("diff", x.place());
  call.reads(x.values_buffer());
  if (nulls) call.reads(x.validity_buffer());
  const Buffer out = allocate_result(rows * x.dtype().size_bytes(), x.place());
  const Buffer bits = allocate_result(8 * ((rows + 63) / 64), x.place());
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    rows_kernel<T>
        <<<blocks_of(rows, kThreads), kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            x.values_buffer().as<T>(), nulls ? x.validity() : nullptr, x.offset(), rows, by,
            call.writes_as<T>(out), call.writes_as<unsigned>(bits));
  });
  call.finish(cudaGetLastError());
  return x.with_rows(rows, out, bits, -1);
}

void diff(const Tensor& x, Buffer& out) {
  DeviceCall call("diff", x.place());
  call.reads(x.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const unsigned blocks = blocks_of(x.num_elements() - 1, kThreads * kItems);
    diff_kernel<T><<<blocks, kThreads, 0, stream>>>(view_of<T>(x), call.writes_as<T>(out));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
