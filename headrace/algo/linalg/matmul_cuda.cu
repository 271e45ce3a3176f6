// SPDX-License-Identifier: Apache-2.0
// The product of two matrices on a CUDA device, each sum in the CPU's order: the same bits.
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/data/device_launch.h"

#include <algorithm>
#include <type_traits>

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

/// What a thread adds up of a tile: elements 16 apart, by one fma after the other.
template <class T>
struct Lanes {
  T sums[kOwn][kOwn];
  T block[kOwn][kOwn];
  int i0 = static_cast<int>(threadIdx.x) / 16;
  int j0 = static_cast<int>(threadIdx.x) % 16;

  __device__ explicit Lanes(T first) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        sums[i][j] = first;
        block[i][j] = 0;
      }
  }

  __device__ void add(const T (&left)[kStage][kTile + 4], const T (&right)[kStage][kTile + 4]) {
#pragma unroll
    for (int k = 0; k < kStage; ++k) {
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
        for (int j = 0; j < kOwn; ++j)
          if constexpr (std::is_floating_point_v<T>)
            block[i][j] = fma(own_left[i], own_right[j], block[i][j]);
          else
            block[i][j] += own_left[i] * own_right[j];
    }
  }

  __device__ void end_block() {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        sums[i][j] += block[i][j];
        block[i][j] = 0;
      }
  }

  template <class Put>
  __device__ void each(const Put& put) const {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) put(i0 + 16 * i, j0 + 16 * j, sums[i][j]);
  }
};

/// The same of float64 by tensor cores, whose 8 x 8 x 4 product is that chain of fma: a warp has
/// 32 x 16 elements.
template <>
struct Lanes<double> {
  static constexpr int kDown = 4;
  static constexpr int kAcross = 2;
  double sums[kDown][kAcross][2];
  double block[kDown][kAcross][2];
  int group = static_cast<int>(threadIdx.x) % 32 / 4;
  int place = static_cast<int>(threadIdx.x) % 4;
  int i0 = static_cast<int>(threadIdx.x) / 128 * 32;
  int j0 = static_cast<int>(threadIdx.x) / 32 % 4 * 16;

  __device__ explicit Lanes(double first) {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          sums[i][j][e] = first;
          block[i][j][e] = 0;
        }
  }

  __device__ void add(const double (&left)[kStage][kTile + 4],
                      const double (&right)[kStage][kTile + 4]) {
#pragma unroll
    for (int k = 0; k < kStage; k += 4) {
      double own_left[kDown];
      double own_right[kAcross];
#pragma unroll
      for (int i = 0; i < kDown; ++i) own_left[i] = left[k + place][i0 + 8 * i + group];
#pragma unroll
      for (int j = 0; j < kAcross; ++j) own_right[j] = right[k + place][j0 + 8 * j + group];
#pragma unroll
      for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
              : "+d"(block[i][j][0]), "+d"(block[i][j][1])
              : "d"(own_left[i]), "d"(own_right[j]));
    }
  }

  __device__ void end_block() {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          sums[i][j][e] += block[i][j][e];
          block[i][j][e] = 0;
        }
  }

  template <class Put>
  __device__ void each(const Put& put) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          put(i0 + 8 * i + group, j0 + 8 * j + 2 * place + e, sums[i][j][e]);
  }
};

template <class T, class A, class B>
__global__ void __launch_bounds__(kThreads)
    product_kernel(ViewAs<T, A> a, ViewAs<T, B> b, const int64_t* __restrict__ begins,
                   int64_t count, int64_t first, bool by_depth, T* __restrict__ out) {
  int64_t depth_begin = 0, depth = a.columns;
  if (by_depth) {  // one block of each sum
    depth_begin = (first + blockIdx.z) * kSumBlock;
    depth = min(depth, depth_begin + kSumBlock);
    out += blockIdx.z * a.rows * b.columns;
  } else if (begins) {
    const int64_t place = first + blockIdx.z;
    a.data += begins[place];
    b.data += begins[count + place];
    out += place * a.rows * b.columns;
  }
  __shared__ T left[kStage][kTile + 4];
  __shared__ T right[kStage][kTile + 4];
  const int64_t row = int64_t{blockIdx.x} * kTile, column = int64_t{blockIdx.y} * kTile;
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
  // -0.0 changes no first block. Behind the end zeros are added to blocks, which begin at 0.0.
  Lanes<T> lanes(static_cast<T>(a.columns > 0 ? -0.0 : 0.0));
  read(depth_begin);
  for (int64_t k0 = depth_begin; k0 < depth; k0 += kStage) {
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kLoads; ++t) {
      const Place to_left(t, deep_left), to_right(t, deep_right);
      left[to_left.deep][to_left.along] = next_left[t];
      right[to_right.deep][to_right.along] = next_right[t];
    }
    __syncthreads();
    if (k0 + kStage < depth) read(k0 + kStage);
    lanes.add(left, right);
    if ((k0 + kStage) % kSumBlock == 0 || k0 + kStage >= depth) lanes.end_block();
  }
  lanes.each([&](int i, int j, T sum) {
    if (row + i < a.rows && column + j < b.columns) out[(row + i) * b.columns + column + j] = sum;
  });
}

/// The sums of blocks in order, to what is there unless they are the first.
template <class T>
__global__ void add_blocks_kernel(const T* __restrict__ blocks, int64_t count, int64_t size,
                                  bool are_first, T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size) return;
  T sum = are_first ? static_cast<T>(-0.0) : out[i];
#pragma unroll 8
  for (int64_t block = 0; block < count; ++block) sum += blocks[block * size + i];
  out[i] = sum;
}

template <class T, class From>
ViewAs<T, From> view_as(const Tensor& x) {
  const size_t row = x.shape().size() - 2;
  return {x.as<From>(), x.shape()[row], x.shape()[row + 1], x.strides()[row], x.strides()[row + 1]};
}

}  // namespace

void matmul(const Tensor& a, const Tensor& b, const std::vector<int64_t>& begins, Dtype dtype,
            Buffer& out) {
  constexpr int64_t kMostAtOnce = 32'768;
  DeviceCall call("matmul", a.place());
  call.reads(a.buffer());
  call.reads(b.buffer());
  const auto count = static_cast<int64_t>(begins.size() / 2);
  Buffer table;
  if (count > 1) table = call.table(begins.data(), 8 * 2 * count);
  const auto* const at = count > 1 ? call.writes_as<int64_t>(table) : nullptr;
  const size_t row = a.shape().size() - 2;
  const int64_t rows = a.shape()[row], columns = b.shape().back();
  const int64_t tiles = ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
  const auto multiply = [&]<class T, class A, class B>(std::type_identity<T>, std::type_identity<A>,
                                                       std::type_identity<B>) {
    const auto stream = static_cast<cudaStream_t>(call.stream());
    // Few sums, and long ones: their blocks side by side.
    constexpr int64_t kFewTiles = 64, kMostBytes = int64_t{1} << 28;
    const int64_t depth_blocks = (a.shape()[row + 1] + kSumBlock - 1) / kSumBlock;
    const int64_t size = rows * columns;
    if (count == 1 && tiles < kFewTiles && depth_blocks >= 8) {
      const int64_t bytes = size * static_cast<int64_t>(sizeof(T));
      const int64_t at_once =
          std::clamp<int64_t>(kMostBytes / bytes, 1, std::min(depth_blocks, kMostAtOnce));
      const Buffer room = call.scratch(at_once * bytes);
      for (int64_t first = 0; first < depth_blocks; first += at_once) {
        const int64_t now = std::min(at_once, depth_blocks - first);
        const dim3 blocks(blocks_of(rows, kTile), blocks_of(columns, kTile),
                          static_cast<unsigned>(now));
        product_kernel<T, A, B><<<blocks, kThreads, 0, stream>>>(
            view_as<T, A>(a), view_as<T, B>(b), nullptr, 1, first, true, call.writes_as<T>(room));
        add_blocks_kernel<T><<<blocks_of(size, kThreads), kThreads, 0, stream>>>(
            call.writes_as<T>(room), now, size, first == 0, call.writes_as<T>(out));
      }
      return;
    }
    for (int64_t first = 0; first < count; first += kMostAtOnce) {
      const dim3 blocks(blocks_of(a.shape()[row], kTile), blocks_of(b.shape().back(), kTile),
                        static_cast<unsigned>(std::min(kMostAtOnce, count - first)));
      product_kernel<T, A, B><<<blocks, kThreads, 0, stream>>>(
          view_as<T, A>(a), view_as<T, B>(b), at, count, first, false, call.writes_as<T>(out));
    }
  };
  if (dtype == TypeId::kInt64) {
    constexpr std::type_identity<uint64_t> wide;
    multiply(wide, wide, wide);
  } else {
    visit_floating(dtype, [&]<class T>(std::type_identity<T> to) {
      visit_floating(a.dtype(), [&]<class A>(std::type_identity<A> left) {
        visit_floating(b.dtype(),
                       [&]<class B>(std::type_identity<B> right) { multiply(to, left, right); });
      });
    });
  }
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
