// SPDX-License-Identifier: Apache-2.0
// Elimination on a CUDA device. The right sides are more columns of the matrix, so what is left is
// a triangle. One block of threads factors a panel in shared memory; the rest follows it.
#include "headrace/algo/linalg/lu_kernels.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device_launch.h"
#include "headrace/data/shared_memory.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int kPanel = 8;
constexpr int kPanelThreads = 1024;
constexpr int kThreads = 256;
constexpr int kBack = 32;  // rows that are solved together

struct System {
  double* data;  // rows of `pitch` numbers: the matrix, then the right sides
  int size;
  int columns;  // with the right sides
  int64_t pitch;
  int* pivots;
  int* singular;  // the first column without a pivot, or `size`

  __device__ double& at(int64_t row, int64_t column) const { return data[row * pitch + column]; }
};

struct Candidate {
  double size;
  int row;
};

/// Of equal ones the upper row's.
__device__ Candidate larger(Candidate a, Candidate b) {
  if (b.size > a.size || (b.size == a.size && b.row < a.row)) return b;
  return a;
}

/// Of all lanes, known to each of them.
__device__ Candidate largest_of_warp(Candidate own) {
  for (int half = 16; half > 0; half /= 2)
    own = larger(own, {__shfl_xor_sync(~0u, own.size, half), __shfl_xor_sync(~0u, own.row, half)});
  return own;
}

extern __shared__ __align__(16) unsigned char lu_shared[];

/// Columns [first, first + width) from row `first` on.
__global__ void __launch_bounds__(kPanelThreads) panel_kernel(System system, int first, int width) {
  double* const panel = reinterpret_cast<double*>(lu_shared);  // by column
  __shared__ Candidate of_warp[kPanelThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  const int rows = system.size - first;
  for (int i = thread; i < rows * width; i += kPanelThreads)
    panel[i % width * rows + i / width] = system.at(first + i / width, first + i % width);
  __syncthreads();
  Candidate own{-1, 0};
  for (int i = thread; i < rows; i += kPanelThreads) own = larger(own, {fabs(panel[i]), i});
  for (int k = 0; k < width; ++k) {
    double* const column = panel + k * rows;
    own = largest_of_warp(own);
    if (thread % 32 == 0) of_warp[thread / 32] = own;
    __syncthreads();
    Candidate pivot = largest_of_warp(of_warp[thread % 32]);
    if (pivot.size < 0) pivot = {0, k};  // NaN alone
    if (thread < width && pivot.row != k) {
      double* const swapped = panel + thread * rows;
      const double above = swapped[k];
      swapped[k] = swapped[pivot.row];
      swapped[pivot.row] = above;
    }
    __syncthreads();
    if (thread == 0) {
      system.pivots[first + k] = first + pivot.row;
      if (column[k] == 0) *system.singular = min(*system.singular, first + k);
    }
    const double divisor = column[k] == 0 ? 1.0 : column[k];
    // The next column's pivot is looked for on the way.
    own = {-1, 0};
    for (int i = k + 1 + thread; i < rows; i += kPanelThreads) {
      const double factor = column[i] / divisor;
      column[i] = factor;
#pragma unroll
      for (int j = 1; j < kPanel; ++j)
        if (j > k && j < width) {
          const double left = fma(-factor, panel[j * rows + k], panel[j * rows + i]);
          panel[j * rows + i] = left;
          if (j == k + 1) own = larger(own, {fabs(left), i});
        }
    }
    __syncthreads();
  }
  for (int i = thread; i < rows * width; i += kPanelThreads)
    system.at(first + i / width, first + i % width) = panel[i % width * rows + i / width];
}

/// A thread for each column behind a panel: its rows change places, and the upper ones are solved.
__global__ void upper_kernel(System system, int first, int width) {
  const int j = first + width + static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (j >= system.columns) return;
  double own[kPanel];
  for (int k = 0; k < width; ++k) {
    const int row = first + k, other = system.pivots[row];
    const double above = system.at(row, j);
    if (other != row) {
      system.at(row, j) = system.at(other, j);
      system.at(other, j) = above;
    }
  }
  for (int k = 0; k < width; ++k) {
    double value = system.at(first + k, j);
#pragma unroll
    for (int i = 0; i < kPanel; ++i)
      if (i < k) value = fma(-system.at(first + k, first + i), own[i], value);
#pragma unroll
    for (int i = 0; i < kPanel; ++i)
      if (i == k) own[i] = value;
    system.at(first + k, j) = value;
  }
}

/// What lies behind and below a panel, less the products of its parts.
__global__ void rest_kernel(System system, int first, int width) {
  constexpr int kRows = 8;  // of a thread
  const int j = first + width + static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (j >= system.columns) return;
  double upper[kPanel];
#pragma unroll
  for (int k = 0; k < kPanel; ++k) upper[k] = k < width ? system.at(first + k, j) : 0.0;
  const int begin = first + width + static_cast<int>(blockIdx.y) * kRows;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = begin + r;
    if (row >= system.size) return;
    double value = system.at(row, j);
#pragma unroll
    for (int k = 0; k < kPanel; ++k)
      if (k < width) value = fma(-system.at(row, first + k), upper[k], value);
    system.at(row, j) = value;
  }
}

/// Rows [first, first + count) of the right sides, all behind which are solved: one thread for each
/// side.
__global__ void back_kernel(System system, int first, int count) {
  const int j = system.size + static_cast<int>(blockIdx.x * kBack + threadIdx.x);
  __shared__ double triangle[kBack][kBack + 1];
  for (int i = static_cast<int>(threadIdx.x); i < count * count; i += kBack)
    triangle[i / count][i % count] = system.at(first + i / count, first + i % count);
  __syncthreads();
  if (j >= system.columns) return;
  double own[kBack];
#pragma unroll
  for (int k = kBack - 1; k >= 0; --k) {
    own[k] = 0;
    if (k >= count) continue;
    double value = system.at(first + k, j);
#pragma unroll
    for (int i = 0; i < kBack; ++i)
      if (i > k && i < count) value = fma(-triangle[k][i], own[i], value);
    own[k] = value / triangle[k][k];
    system.at(first + k, j) = own[k];
  }
}

/// Takes these rows out of those above: a warp for each row and side.
__global__ void above_kernel(System system, int first, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row =
      static_cast<int>(blockIdx.x) * (kThreads / 32) + static_cast<int>(threadIdx.x) / 32;
  const int j = system.size + static_cast<int>(blockIdx.y);
  if (row >= first) return;
  double sum = lane < count ? system.at(row, first + lane) * system.at(first + lane, j) : 0.0;
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half);
  if (lane == 0) system.at(row, j) -= sum;
}

}  // namespace

int64_t solve(const Tensor& a, const Tensor& b, const Buffer& out) {
  const auto size = static_cast<int>(a.shape()[0]), sides = static_cast<int>(b.shape()[1]);
  const int columns = size + sides;
  Buffer room = allocate_at(a.place(), int64_t{8} * size * columns);
  copy_strided("solve", a, room, 0, {columns, 1});
  copy_strided("solve", b, room, int64_t{8} * size, {columns, 1});
  int singular = size;
  {
    DeviceCall call("solve", a.place());
    const auto stream = static_cast<cudaStream_t>(call.stream());
    const Buffer pivots = call.scratch(4 * int64_t{size});
    const Buffer state = call.table(&singular, sizeof singular);
    const System system{
        call.writes_as<double>(room), size, columns, columns, call.writes_as<int>(pivots),
        call.writes_as<int>(state)};
    // A panel is narrower where the block has less memory: a part of it is the kernel's own.
    const int room_of_block = shared_bytes_of(a.place().index) - 1024;
    const int widest = std::clamp(room_of_block / (8 * size), 1, kPanel);
    cudaFuncSetAttribute(panel_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         8 * widest * size);
    for (int first = 0, width = 0; first < size; first += width) {
      width = std::min(widest, size - first);
      const int rest = columns - first - width;
      panel_kernel<<<1, kPanelThreads, 8 * width*(size - first), stream>>>(system, first, width);
      const unsigned across = blocks_of(rest, kThreads);
      upper_kernel<<<across, kThreads, 0, stream>>>(system, first, width);
      if (const int below = size - first - width; below > 0)
        rest_kernel<<<dim3(across, blocks_of(below, 8)), kThreads, 0, stream>>>(system, first,
                                                                                width);
    }
    for (int first = (size - 1) / kBack * kBack; first >= 0; first -= kBack) {
      const int count = std::min(kBack, size - first);
      back_kernel<<<blocks_of(sides, kBack), kBack, 0, stream>>>(system, first, count);
      if (first > 0)
        above_kernel<<<dim3(blocks_of(first, kThreads / 32), static_cast<unsigned>(sides)),
                       kThreads, 0, stream>>>(system, first, count);
    }
    call.finish(cudaGetLastError());
    call.fetch(&singular, state.data(), sizeof singular);
  }
  const Tensor made(TypeId::kFloat64, {size, sides}, {columns, 1}, room, int64_t{8} * size);
  Buffer to = out;
  copy_strided("solve", made, to, 0, {sides, 1});
  return singular < size ? singular : -1;
}

}  // namespace hr::cuda
