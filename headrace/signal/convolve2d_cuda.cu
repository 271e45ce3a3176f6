// SPDX-License-Identifier: Apache-2.0
// Convolution of matrices on a CUDA device, in the CPU's order of taps. A block of
// threads has a tile of outputs, and takes a part of the taps at a time.
#include "headrace/base/checked.h"
#include "headrace/data/device_launch.h"
#include "headrace/signal/convolve2d_kernels.h"
#include "headrace/signal/convolve2d_math.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int kOwn = 8;      // outputs of a thread, next to each other
constexpr int kAcross = 16;  // threads
constexpr int kDown = 16;
constexpr int kThreads = kAcross * kDown;
constexpr int kColumns = kOwn * kAcross;
constexpr int kMostTapRows = 32;  // of a part
constexpr int kMostTapColumns = 64;

/// Elements of a line of inputs, in words of kOwn.
constexpr int needed_for(int tap_columns) {
  return (kColumns + tap_columns - 1 + kOwn) / kOwn + 1;
}
constexpr int kMostValues = (kDown + kMostTapRows - 1) * kOwn * (needed_for(kMostTapColumns) + 3) +
                            kMostTapRows * kMostTapColumns;

template <class T>
struct Job {
  Convolve2dJob job;
  const T* x;
  int64_t rows;  // of x
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  const T* kernel;
  int64_t tap_rows;
  int64_t tap_columns;
  int64_t tap_row_stride;
  int64_t tap_column_stride;
  int part_rows;  // of the taps, taken together
  int part_columns;
  int pitch;  // a line of a tile is kOwn lines of these: column c is number c / kOwn of c % kOwn
  int64_t tiles_across;

  __device__ T at(int64_t row, int64_t column) const {
    const int64_t i = place_of(row, rows, job.boundary);
    const int64_t j = place_of(column, columns, job.boundary);
    return i < 0 || j < 0 ? static_cast<T>(job.fill) : x[i * row_stride + j * column_stride];
  }

  /// Turned by half.
  __device__ T tap(int64_t p, int64_t q) const {
    return kernel[(tap_rows - 1 - p) * tap_row_stride + (tap_columns - 1 - q) * tap_column_stride];
  }
};

extern __shared__ __align__(16) unsigned char convolve2d_shared[];

/// Adds the products of a line of taps.
template <class T>
__device__ void add_line(const T* __restrict__ line, int pitch, const T* __restrict__ taps,
                         int count, T (&sums)[kOwn]) {
  T window[kOwn];  // column q + k of the thread is in slot (q + k) % kOwn
#pragma unroll
  for (int k = 0; k < kOwn; ++k) window[k] = line[k * pitch];
  for (int q = 0; q < count; q += kOwn) {
    ++line;
#pragma unroll
    for (int u = 0; u < kOwn; ++u) {
      if (q + u >= count) break;
      const T tap = taps[q + u];
#pragma unroll
      for (int k = 0; k < kOwn; ++k) sums[k] += window[(u + k) % kOwn] * tap;
      window[u] = line[u * pitch];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    convolve2d_kernel(const __grid_constant__ Job<T> job, T* __restrict__ out) {
  T* const tile = reinterpret_cast<T*>(convolve2d_shared);
  const int line = kOwn * job.pitch;
  T* const taps = tile + (kDown + job.part_rows - 1) * line;
  const int thread = static_cast<int>(threadIdx.x);
  const int own_row = thread / kAcross, own_column = thread % kAcross;
  const int64_t i0 = blockIdx.x / job.tiles_across * kDown;
  const int64_t j0 = blockIdx.x % job.tiles_across * kColumns;
  const int64_t first_row = i0 + job.job.first_row - (job.tap_rows - 1);
  const int64_t first_column = j0 + job.job.first_column - (job.tap_columns - 1);
  T sums[kOwn] = {};
  for (int64_t p = 0; p < job.tap_rows; p += job.part_rows)
    for (int64_t q = 0; q < job.tap_columns; q += job.part_columns) {
      const auto rows = static_cast<int>(min(int64_t{job.part_rows}, job.tap_rows - p));
      const auto columns = static_cast<int>(min(int64_t{job.part_columns}, job.tap_columns - q));
      const int wide = kColumns + columns - 1;
      __syncthreads();
      for (int i = thread / 32; i < kDown + rows - 1; i += kThreads / 32)
        for (int j = thread % 32; j < wide; j += 32)
          tile[i * line + j % kOwn * job.pitch + j / kOwn] =
              job.at(first_row + p + i, first_column + q + j);
      for (int i = thread; i < rows * columns; i += kThreads)
        taps[i] = job.tap(p + i / columns, q + i % columns);
      __syncthreads();
      for (int r = 0; r < rows; ++r)
        add_line(tile + (own_row + r) * line + own_column, job.pitch, taps + r * columns, columns,
                 sums);
    }
  // Through shared memory, so that neighbours write neighbours.
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kOwn; ++k)
    tile[own_row * (kColumns + kAcross) + own_column * (kOwn + 1) + k] = sums[k];
  __syncthreads();
  for (int i = thread; i < kDown * kColumns; i += kThreads) {
    const int row = i / kColumns, column = i % kColumns;
    if (i0 + row < job.job.rows && j0 + column < job.job.columns)
      out[(i0 + row) * job.job.columns + j0 + column] =
          tile[row * (kColumns + kAcross) + column / kOwn * (kOwn + 1) + column % kOwn];
  }
}

}  // namespace

void convolve2d(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, Buffer& out) {
  DeviceCall call("convolve2d", x.place());
  call.reads(x.buffer());
  call.reads(kernel.buffer());
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t tap_rows = kernel.shape()[0], tap_columns = kernel.shape()[1];
    // Of wide kernels one line at a time, so that products stay in their order.
    const bool is_wide = tap_columns > kMostTapColumns;
    const auto rows = static_cast<int>(is_wide ? 1 : std::min<int64_t>(tap_rows, kMostTapRows));
    const auto columns = static_cast<int>(std::min<int64_t>(tap_columns, kMostTapColumns));
    const int needed = needed_for(columns);
    const int pitch = needed + (6 - needed % 4) % 4;  // two lines are apart by half of the banks
    const Job<T> made{job,
                      x.as<T>(),
                      x.shape()[0],
                      x.shape()[1],
                      x.strides()[0],
                      x.strides()[1],
                      kernel.as<T>(),
                      tap_rows,
                      tap_columns,
                      kernel.strides()[0],
                      kernel.strides()[1],
                      rows,
                      columns,
                      pitch,
                      divide_up(job.columns, kColumns)};
    const int bytes =
        ((kDown + rows - 1) * kOwn * pitch + rows * columns) * static_cast<int>(sizeof(T));
    // The most that any call asks for, since the attribute is shared by all threads.
    check_cuda("convolve2d", cudaFuncSetAttribute(convolve2d_kernel<T>,
                                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  kMostValues * static_cast<int>(sizeof(T))));
    convolve2d_kernel<T>
        <<<blocks_of(divide_up(job.rows, kDown) * made.tiles_across, 1), kThreads, bytes,
           static_cast<cudaStream_t>(call.stream())>>>(made, call.writes_as<T>(out));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
