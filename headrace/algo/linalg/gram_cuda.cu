// SPDX-License-Identifier: Apache-2.0
// Sums and products of columns on a CUDA device. The tensor core for float64 adds the products of a
// step to a sum one after the other, by fma, as the CPU does: both have the same bits.
#include "headrace/algo/linalg/gram.h"
#include "headrace/algo/linalg/gram_kernels.h"
#include "headrace/algo/linalg/matmul.h"
#include "headrace/data/device_launch.h"

namespace hr::cuda {
namespace {

constexpr int64_t kDouble = sizeof(double);
constexpr int kSumThreads = 128;
constexpr int kAhead = 32;                          // rows that are read before they are summed
constexpr int kTile = 64;                           // columns; a warp has 32 x 32 products
constexpr int kThreads = 128;                       // four warps, one column to read for each
constexpr int kStage = 16;                          // rows in shared memory together
constexpr int kStride = kTile + 4;                  // of them, so that lanes do not share banks
constexpr int kCells = 4;                           // 8 x 8 products, a warp's along each side
constexpr int64_t kPartBytes = int64_t{256} << 20;  // of the products of parts at work together

/// Two matrices side by side.
template <class T>
struct Rows {
  Matrix<T> first;
  Matrix<double> second;

  __host__ __device__ int64_t columns() const { return first.columns + second.columns; }
};

/// One column of the two matrices, as float64.
template <class T>
struct ColumnOf {
  const T* first = nullptr;
  const double* second = nullptr;
  int64_t stride = 0;

  __device__ ColumnOf(const Rows<T>& x, int64_t column) {
    if (column < x.first.columns) {
      first = x.first.data + column * x.first.column_stride;
      stride = x.first.row_stride;
    } else if (column < x.columns()) {
      second = x.second.data + (column - x.first.columns) * x.second.column_stride;
      stride = x.second.row_stride;
    }
  }

  __device__ bool is_there() const { return first != nullptr || second != nullptr; }

  /// `count` rows from `row` on; of those from `end` on, the last one. All loads go out at once.
  template <int count>
  __device__ __forceinline__ void read(int64_t row, int64_t end, double (&values)[count]) const {
    if (first != nullptr) {
      T found[count];
#pragma unroll
      for (int k = 0; k < count; ++k) found[k] = first[min(row + k, end - 1) * stride];
#pragma unroll
      for (int k = 0; k < count; ++k) values[k] = static_cast<double>(found[k]);
    } else if (second != nullptr) {
#pragma unroll
      for (int k = 0; k < count; ++k) values[k] = second[min(row + k, end - 1) * stride];
    }
  }
};

/// Sums of the columns of part blockIdx.y.
template <class T>
__global__ void sums_kernel(Rows<T> x, const double* __restrict__ weights, int64_t part_rows,
                            double* __restrict__ sums) {
  const int64_t column = int64_t{blockIdx.x} * kSumThreads + threadIdx.x;
  if (column >= x.columns()) return;
  const ColumnOf<T> from(x, column);
  double sum = 0;
  const int64_t first = blockIdx.y * part_rows, end = min(first + part_rows, x.first.rows);
  for (int64_t row = first; row < end; row += kAhead) {
    double values[kAhead];
    from.read(row, end, values);
    const int rows = static_cast<int>(min(int64_t{kAhead}, end - row));
    if (weights == nullptr && rows == kAhead) {
#pragma unroll
      for (int k = 0; k < kAhead; ++k) sum += values[k];
    } else {
#pragma unroll
      for (int k = 0; k < kAhead; ++k)
        if (k < rows) sum += weights == nullptr ? values[k] : weights[row + k] * values[k];
    }
  }
  sums[blockIdx.y * x.columns() + column] = sum;
}

/// Parts in order to `out`, which has the sum of earlier ones unless these are the first.
__global__ void add_parts_kernel(const double* __restrict__ parts, int64_t count, int64_t size,
                                 bool first, double* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size) return;
  double sum = first ? parts[i] : out[i] + parts[i];
  for (int64_t part = 1; part < count; ++part) sum += parts[part * size + i];
  out[i] = sum;
}

/// c += a b of 8 x 4 and 4 x 8 elements, of which a lane has row lane / 4, column lane % 4 of `a`,
/// and of the transposed `b`; and of `c` row lane / 4, columns 2 (lane % 4) and the next.
__device__ __forceinline__ void multiply_add(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/// Products of a warp.
struct Cells {
  double at[kCells][kCells][2];

  __device__ __forceinline__ void fill(double value) {
#pragma unroll
    for (int i = 0; i < kCells; ++i)
#pragma unroll
      for (int j = 0; j < kCells; ++j) at[i][j][0] = at[i][j][1] = value;
  }

  __device__ __forceinline__ void add(const Cells& other) {
#pragma unroll
    for (int i = 0; i < kCells; ++i)
#pragma unroll
      for (int j = 0; j < kCells; ++j) {
        at[i][j][0] += other.at[i][j][0];
        at[i][j][1] += other.at[i][j][1];
      }
  }
};

/// Rows of the columns of two tiles.
struct Stage {
  double left[kStage][kStride];
  double right[kStage][kStride];

  /// Adds the products of a warp, of columns i0 and j0 of the tiles on.
  __device__ __forceinline__ void multiply(int i0, int j0, int lane, Cells& cells) const {
#pragma unroll
    for (int k = 0; k < kStage; k += 4) {
      double a[kCells];
      double b[kCells];
#pragma unroll
      for (int t = 0; t < kCells; ++t) {
        a[t] = left[k + lane % 4][i0 + 8 * t + lane / 4];
        b[t] = right[k + lane % 4][j0 + 8 * t + lane / 4];
      }
#pragma unroll
      for (int i = 0; i < kCells; ++i)
#pragma unroll
        for (int j = 0; j < kCells; ++j) multiply_add(cells.at[i][j], a[i], b[j]);
    }
  }
};

/// Products of the columns of two tiles, the lower triangle, in part first_part + blockIdx.y.
template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    products_kernel(Rows<T> x, const double* __restrict__ shift, const double* __restrict__ weights,
                    int64_t part_rows, int64_t first_part, double* __restrict__ products) {
  __shared__ Stage stage;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  int row_tile = 0;
  int column_tile = static_cast<int>(blockIdx.x);
  while (column_tile > row_tile) column_tile -= ++row_tile;
  const int64_t first_row = (first_part + blockIdx.y) * part_rows;
  const int64_t last_row = min(first_row + part_rows, x.first.rows);
  const bool reads_left = thread < kTile;
  const int own = thread % kTile;
  const int64_t column = int64_t{kTile} * (reads_left ? row_tile : column_tile) + own;
  const ColumnOf<T> from(x, column);
  const bool inside = from.is_there();
  const double less = shift != nullptr && inside ? shift[column] : 0;
  const auto read = [&](int64_t row, double (&values)[kStage]) {
    from.read(row, last_row, values);
#pragma unroll
    for (int k = 0; k < kStage; ++k)
      values[k] = row + k < last_row && inside ? values[k] - less : 0.0;
    if (weights == nullptr || reads_left) return;
#pragma unroll
    for (int k = 0; k < kStage; ++k) values[k] = weights[min(row + k, last_row - 1)] * values[k];
  };
  const int i0 = thread / 64 * 32, j0 = thread / 32 % 2 * 32;
  const bool wanted = row_tile > column_tile || i0 >= j0;
  Cells sums;
  Cells block;
  sums.fill(-0.0);  // what changes no first block
  block.fill(0);
  double values[kStage] = {};
  read(first_row, values);
  for (int64_t row = first_row; row < last_row; row += kStage) {
    __syncthreads();
    double (&to)[kStage][kStride] = reads_left ? stage.left : stage.right;
#pragma unroll
    for (int k = 0; k < kStage; ++k) to[k][own] = values[k];
    __syncthreads();
    if (row + kStage < last_row) read(row + kStage, values);
    if (!wanted) continue;
    stage.multiply(i0, j0, lane, block);
    if ((row + kStage - first_row) % kSumBlock != 0 && row + kStage < last_row) continue;
    sums.add(block);
    block.fill(0);
  }
  if (!wanted) return;
  double* const out = products + blockIdx.y * x.columns() * x.columns();
#pragma unroll
  for (int i = 0; i < kCells; ++i)
#pragma unroll
    for (int j = 0; j < kCells; ++j)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int64_t to_row = int64_t{kTile} * row_tile + i0 + 8 * i + lane / 4;
        const int64_t to_column = int64_t{kTile} * column_tile + j0 + 8 * j + lane % 4 * 2 + k;
        if (to_row < x.columns() && to_column < x.columns())
          out[to_row * x.columns() + to_column] = sums.at[i][j][k];
      }
}

/// Calls f(Rows<T>, weights) of the matrices, whose reads the call knows.
template <class F>
void visit(DeviceCall& call, const std::vector<Tensor>& parts, const Tensor* weights, const F& f) {
  for (const Tensor& part : parts) call.reads(part.buffer());
  if (weights != nullptr) call.reads(weights->buffer());
  Matrix<double> second{nullptr, parts[0].shape()[0], 0, 0, 0};
  if (parts.size() == 2) second = matrix_of<double>(parts[1]);
  visit_floating(parts[0].dtype(), [&]<class T>(std::type_identity<T>) {
    f(Rows<T>{matrix_of<T>(parts[0]), second},
      weights == nullptr ? nullptr : weights->as<double>());
  });
}

}  // namespace

void column_sums(const std::vector<Tensor>& parts, const Tensor* weights, double* sums) {
  DeviceCall call("column_sums", parts[0].place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const int64_t rows = parts[0].shape()[0], part_rows = gram_part_rows(rows);
  const int64_t count = (rows + part_rows - 1) / part_rows;
  visit(call, parts, weights, [&]<class T>(const Rows<T>& x, const double* weight) {
    const int64_t columns = x.columns();
    const Buffer made = call.scratch((count + 1) * columns * kDouble);
    auto* const out = call.writes_as<double>(made);
    const dim3 blocks(blocks_of(columns, kSumThreads), static_cast<unsigned>(count));
    sums_kernel<T><<<blocks, kSumThreads, 0, stream>>>(x, weight, part_rows, out + columns);
    add_parts_kernel<<<blocks_of(columns, kThreads), kThreads, 0, stream>>>(out + columns, count,
                                                                            columns, true, out);
    call.finish(cudaGetLastError());
    call.fetch(sums, made.data(), columns * kDouble);
  });
}

void gram(const std::vector<Tensor>& parts, const double* shift, const Tensor* weights,
          double* products) {
  DeviceCall call("gram", parts[0].place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const int64_t rows = parts[0].shape()[0], part_rows = gram_part_rows(rows);
  const int64_t count = (rows + part_rows - 1) / part_rows;
  visit(call, parts, weights, [&]<class T>(const Rows<T>& x, const double* weight) {
    const int64_t columns = x.columns(), square = columns * columns;
    const Buffer shifts = shift == nullptr ? Buffer() : call.table(shift, columns * kDouble);
    const auto* const less = shift == nullptr ? nullptr : shifts.as<double>();
    const int64_t together = std::clamp<int64_t>(kPartBytes / (square * kDouble), 1, count);
    const Buffer made = call.scratch((together + 1) * square * kDouble);
    auto* const out = call.writes_as<double>(made);
    // The tiles above the diagonal are never read; what lies there is added up nonetheless.
    call.fill(call.writes(made), 0, (together + 1) * square * kDouble);
    const unsigned tiles = blocks_of(columns, kTile);
    for (int64_t first = 0; first < count; first += together) {
      const int64_t some = std::min(together, count - first);
      const dim3 blocks(tiles * (tiles + 1) / 2, static_cast<unsigned>(some));
      products_kernel<T>
          <<<blocks, kThreads, 0, stream>>>(x, less, weight, part_rows, first, out + square);
      add_parts_kernel<<<blocks_of(square, kThreads), kThreads, 0, stream>>>(
          out + square, some, square, first == 0, out);
    }
    call.finish(cudaGetLastError());
    call.fetch(products, made.data(), square * kDouble);
  });
}

}  // namespace hr::cuda
