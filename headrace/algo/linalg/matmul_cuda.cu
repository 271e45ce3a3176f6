// SPDX-License-Identifier: Apache-2.0
// The product of two matrices on a CUDA device, each sum in the CPU's order: the same bits.
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 64;   // rows and columns of the result
constexpr int kStage = 16;  // of the inner dimension, in shared memory together
constexpr int kOwn = 4;     // products of a thread: 4 x 4
constexpr int kLoads = kTile * kStage / kThreads;

/// A matrix whose elements are read as T, zeros outside of it.
template <class T, class From>
struct ViewAs {
  const From* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  __device__ T operator()(int64_t row, int64_t column) const {
    return row < rows && column < columns
               ? static_cast<T>(data[row * row_stride + column * column_stride])
               : T{0};
  }
};

/// Where a thread reads a tile of one side: along the tile, and along the sums. Neighbours read
/// what lies side by side, if anything does.
struct Place {
  int along;
  int deep;

  __device__ __forceinline__ Place(int load, bool deep_first) {
    const int at = load * kThreads + static_cast<int>(threadIdx.x);
    along = deep_first ? at / kStage : at % kTile;
    deep = deep_first ? at % kStage : at / kTile;
  }
};

template <class T, class A, class B>
__global__ void __launch_bounds__(kThreads)
    product_kernel(ViewAs<T, A> a, ViewAs<T, B> b, T* __restrict__ out) {
  __shared__ T left[kStage][kTile + 4];
  __shared__ T right[kStage][kTile + 4];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t row = int64_t{blockIdx.x} * kTile, column = int64_t{blockIdx.y} * kTile;
  const int i0 = thread / 16, j0 = thread % 16;
  const bool deep_left = a.column_stride == 1, deep_right = b.column_stride != 1;
  T next_left[kLoads];
  T next_right[kLoads];
  const auto read = [&](int64_t k0) {
#pragma unroll
    for (int t = 0; t < kLoads; ++t) {
      const Place from_left(t, deep_left), from_right(t, deep_right);
      next_left[t] = a(row + from_left.along, k0 + from_left.deep);
      next_right[t] = b(k0 + from_right.deep, column + from_right.along);
    }
  };
  T sums[kOwn][kOwn];
  T block[kOwn][kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      sums[i][j] = T{-0.0};  // what changes no first block
      block[i][j] = 0;
    }
  const int64_t depth = a.columns;
  read(0);
  for (int64_t k0 = 0; k0 < depth; k0 += kStage) {
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kLoads; ++t) {
      const Place to_left(t, deep_left), to_right(t, deep_right);
      left[to_left.deep][to_left.along] = next_left[t];
      right[to_right.deep][to_right.along] = next_right[t];
    }
    __syncthreads();
    if (k0 + kStage < depth) read(k0 + kStage);
    const int deep = static_cast<int>(min(int64_t{kStage}, depth - k0));
    for (int k = 0; k < deep; ++k) {
      T own_left[kOwn];
      T own_right[kOwn];
#pragma unroll
      for (int t = 0; t < kOwn; ++t) {
        own_left[t] = left[k][i0 + 16 * t];
        own_right[t] = right[k][j0 + 16 * t];
      }
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kOwn; ++j) block[i][j] = fma(own_left[i], own_right[j], block[i][j]);
    }
    if ((k0 + kStage) % kSumBlock != 0 && k0 + kStage < depth) continue;
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        sums[i][j] += block[i][j];
        block[i][j] = 0;
      }
  }
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      const int64_t to_row = row + i0 + 16 * i, to_column = column + j0 + 16 * j;
      if (to_row < a.rows && to_column < b.columns)
        out[to_row * b.columns + to_column] = sums[i][j];
    }
}

template <class T, class From>
ViewAs<T, From> view_as(const Tensor& x) {
  return {x.as<From>(), x.shape()[0], x.shape()[1], x.strides()[0], x.strides()[1]};
}

}  // namespace

void matmul(const Tensor& a, const Tensor& b, Dtype dtype, Buffer& out) {
  DeviceCall call("matmul", a.place());
  call.reads(a.buffer());
  call.reads(b.buffer());
  const dim3 blocks(blocks_of(a.shape()[0], kTile), blocks_of(b.shape()[1], kTile));
  visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    visit_floating(a.dtype(), [&]<class A>(std::type_identity<A>) {
      visit_floating(b.dtype(), [&]<class B>(std::type_identity<B>) {
        product_kernel<T, A, B><<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
            view_as<T, A>(a), view_as<T, B>(b), call.writes_as<T>(out));
      });
    });
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
