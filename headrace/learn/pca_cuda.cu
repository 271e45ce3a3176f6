// SPDX-License-Identifier: Apache-2.0
// Sums, products and projections on a CUDA device, each sum in the CPU's order: the same bits.
#include "headrace/algo/linalg/gram.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/learn/pca_kernels.h"

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kPanelRows = 256;  // of the CPU: their products are summed before they join the rest
constexpr int kStageRows = 32;   // of a panel, in shared memory together
constexpr int kTile = 48;        // columns
constexpr int kOwn = 3;          // products of a thread: 3 x 3
constexpr int kLoads = kStageRows * 2 * kTile / kThreads;
constexpr int kAhead = 32;  // rows that are read before they are summed
constexpr int kLanes = 16;  // of a row's sums

/// A matrix on a device, of any strides.
template <class T>
struct Matrix {
  const T* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  __device__ double operator()(int64_t row, int64_t column) const {
    return static_cast<double>(data[row * row_stride + column * column_stride]);
  }
};

template <class T>
Matrix<T> matrix_of(const Tensor& x) {
  return {x.as<T>(), x.shape()[0], x.shape()[1], x.strides()[0], x.strides()[1]};
}

/// Sums of the columns of part blockIdx.y.
template <class T>
__global__ void sums_kernel(Matrix<T> x, int64_t part_rows, int64_t padded,
                            double* __restrict__ sums) {
  const int64_t column = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (column >= padded) return;
  double sum = 0;
  if (column < x.columns) {
    int64_t row = blockIdx.y * part_rows;
    const int64_t end = min(row + part_rows, x.rows);
    for (; row + kAhead <= end; row += kAhead) {
      double values[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) values[k] = x(row + k, column);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) sum += values[k];
    }
    for (; row < end; ++row) sum += x(row, column);
  }
  sums[blockIdx.y * padded + column] = sum;
}

/// Parts in order, to the first.
__global__ void add_parts_kernel(double* parts, int64_t count, int64_t size) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size) return;
  double sum = parts[i];
  for (int64_t part = 1; part < count; ++part) sum += parts[part * size + i];
  parts[i] = sum;
}

/// Rows of the columns of two tiles, in shared memory.
struct TilePair {
  double left[kStageRows][kTile];
  double right[kStageRows][kTile];

  /// What a thread has read of them.
  __device__ __forceinline__ void put(const double (&values)[kLoads]) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int i = k * kThreads + static_cast<int>(threadIdx.x);
      const int at = i % (2 * kTile);
      if (at < kTile)
        left[i / (2 * kTile)][at] = values[k];
      else
        right[i / (2 * kTile)][at - kTile] = values[k];
    }
  }

  /// Adds the products of a row that a thread has, of columns i0 + 16 k and j0 + 16 k.
  __device__ __forceinline__ void add_row(int row, int i0, int j0,
                                          double (&sums)[kOwn][kOwn]) const {
    double a[kOwn];
    double b[kOwn];
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      a[k] = left[row][i0 + 16 * k];
      b[k] = right[row][j0 + 16 * k];
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) sums[i][j] = fma(a[i], b[j], sums[i][j]);
  }
};

/// Products of the columns of two tiles, the lower triangle, in part blockIdx.y.
template <class T>
__global__ void __launch_bounds__(kThreads)
    products_kernel(Matrix<T> x, const double* __restrict__ mean, int64_t part_rows,
                    double* __restrict__ products) {
  __shared__ TilePair tiles;
  const int thread = static_cast<int>(threadIdx.x);
  int row_tile = 0;
  int column_tile = static_cast<int>(blockIdx.x);
  while (column_tile > row_tile) column_tile -= ++row_tile;
  const int64_t first_row = blockIdx.y * part_rows;
  const int64_t last_row = min(first_row + part_rows, x.rows);
  const auto read = [&](int64_t stage, double (&values)[kLoads]) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const int i = k * kThreads + thread;
      const int64_t row = stage + i / (2 * kTile);
      const int at = i % (2 * kTile);
      const int64_t column = at < kTile ? row_tile * kTile + at : column_tile * kTile + at - kTile;
      values[k] = row < last_row && column < x.columns ? x(row, column) - mean[column] : 0.0;
    }
  };
  const int i0 = thread / 16;
  const int j0 = thread % 16;
  double sums[kOwn][kOwn];
  double panel[kOwn][kOwn] = {};
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int j = 0; j < kOwn; ++j) sums[i][j] = -0.0;  // what changes no first panel
  double values[kLoads];
  read(first_row, values);
  for (int64_t stage = first_row; stage < last_row; stage += kStageRows) {
    __syncthreads();
    tiles.put(values);
    __syncthreads();
    if (stage + kStageRows < last_row) read(stage + kStageRows, values);
    const auto rows = static_cast<int>(min(int64_t{kStageRows}, last_row - stage));
    if (rows == kStageRows) {
#pragma unroll 8
      for (int row = 0; row < kStageRows; ++row) tiles.add_row(row, i0, j0, panel);
    } else {
#pragma unroll 1
      for (int row = 0; row < rows; ++row) tiles.add_row(row, i0, j0, panel);
    }
    const int64_t read_rows = stage + kStageRows - first_row;
    if (read_rows % kPanelRows != 0 && first_row + read_rows < last_row) continue;
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) {
        sums[i][j] += panel[i][j];
        panel[i][j] = 0;
      }
  }
  double* const out = products + blockIdx.y * x.columns * x.columns;
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      const int64_t row = row_tile * kTile + i0 + 16 * i;
      const int64_t column = column_tile * kTile + j0 + 16 * j;
      if (row < x.columns && column < x.columns) out[row * x.columns + column] = sums[i][j];
    }
}

/// The sum of product(j) over j: lane j mod 16 in order, then one tree; lane 0 of the 16 has it,
/// and gives it to all.
template <class F>
__device__ double dot(int64_t count, int lane, const F& product) {
  double sum = 0;
  for (int64_t j = lane; j < count; j += kLanes) sum += product(j);
  for (int half = kLanes / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, kLanes);
  return __shfl_sync(~0u, sum, 0, kLanes);
}

/// The components of a model, rows of as many values as `mean` has.
template <class M>
struct Model {
  const M* mean;
  const M* components;
  int64_t count;
};

/// A row to 16 lanes: its coordinates in `latent`, or its error.
template <class T, class M>
__global__ void project_kernel(Matrix<T> x, Model<M> model, T* latent, double* error) {
  extern __shared__ double shared[];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t features = x.columns;
  const int groups = static_cast<int>(blockDim.x) / kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  double* const rest = shared + group * features;
  const int64_t row = int64_t{blockIdx.x} * groups + group;
  const bool inside = row < x.rows;
  for (int64_t j = lane; j < features; j += kLanes)
    rest[j] = x(inside ? row : 0, j) - static_cast<double>(model.mean[j]);
  const auto coordinate = [&](int64_t c) {
    return dot(features, lane, [&](int64_t j) {
      return rest[j] * static_cast<double>(model.components[c * features + j]);
    });
  };
  if (latent != nullptr) {
    for (int64_t c = 0; c < model.count; ++c) {
      const double value = coordinate(c);
      if (inside && lane == 0) latent[row * model.count + c] = static_cast<T>(value);
    }
    return;
  }
  // All coordinates are of the row as it was: they wait behind the rows.
  double* const coordinates = shared + groups * features + group * model.count;
  for (int64_t c = 0; c < model.count; ++c) {
    const double value = coordinate(c);
    if (lane == 0) coordinates[c] = value;
  }
  __syncwarp();
  for (int64_t c = 0; c < model.count; ++c)
    for (int64_t j = lane; j < features; j += kLanes)
      rest[j] += -coordinates[c] * static_cast<double>(model.components[c * features + j]);
  const double squares = dot(features, lane, [&](int64_t j) { return rest[j] * rest[j]; });
  if (inside && lane == 0) error[row] = squares / static_cast<double>(features);
}

template <class T, class M>
__global__ void inverse_kernel(Matrix<T> latent, Model<M> model, int64_t features, T* rows) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= latent.rows * features) return;
  const int64_t row = i / features;
  const int64_t j = i - row * features;
  double sum = static_cast<double>(model.mean[j]);
  for (int64_t c = 0; c < model.count; ++c)
    sum += latent(row, c) * static_cast<double>(model.components[c * features + j]);
  rows[i] = static_cast<T>(sum);
}

int64_t parts_of(const Tensor& x) {
  return blocks_of(x.shape()[0], gram_part_rows(x.shape()[0]));
}

void add_parts(DeviceCall& call, const Buffer& parts, int64_t count, int64_t size, double* host) {
  add_parts_kernel<<<blocks_of(size, kThreads), kThreads, 0,
                     static_cast<cudaStream_t>(call.stream())>>>(call.writes_as<double>(parts),
                                                                 count, size);
  call.finish(cudaGetLastError());
  call.fetch(host, parts.data(), size * static_cast<int64_t>(sizeof(double)));
}

/// Calls f(Matrix<T>, Model<M>) for the dtypes of both.
template <class F>
void visit(const Tensor& x, const Tensor& mean, const Tensor& components, const F& f) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    visit_floating(mean.dtype(), [&]<class M>(std::type_identity<M>) {
      f(matrix_of<T>(x), Model<M>{mean.as<M>(), components.as<M>(), components.shape()[0]});
    });
  });
}

void project(const Tensor& x, const Tensor& mean, const Tensor& components, Buffer* latent,
             Buffer* error) {
  const char* const op = latent != nullptr ? "pca_transform" : "pca_reconstruction_error";
  const int64_t features = x.shape()[1];
  const int64_t values = features + (error != nullptr ? components.shape()[0] : 0);
  // As many rows as 48 KiB of shared memory take: two at least, or none.
  const auto groups = static_cast<int>(std::min<int64_t>(2 * kMostProjected / values, 16)) / 2 * 2;
  if (groups == 0)
    throw_error<UnsupportedError>(op, "too many features for the CUDA kernel",
                                  {{"features", features}}, "move the values first: x.to('cpu')");
  DeviceCall call(op, x.place());
  for (const Tensor* input : {&x, &mean, &components}) call.reads(input->buffer());
  visit(x, mean, components, [&]<class T, class M>(const Matrix<T>& rows, const Model<M>& model) {
    T* const out = latent != nullptr ? call.writes_as<T>(*latent) : nullptr;
    double* const errors = error != nullptr ? call.writes_as<double>(*error) : nullptr;
    project_kernel<<<blocks_of(rows.rows, groups), static_cast<unsigned>(groups * kLanes),
                     static_cast<size_t>(groups * values) * sizeof(double),
                     static_cast<cudaStream_t>(call.stream())>>>(rows, model, out, errors);
  });
  call.finish(cudaGetLastError());
}

}  // namespace

void pca_sums(const Tensor& x, double* sums, int64_t padded) {
  DeviceCall call("pca_fit", x.place());
  call.reads(x.buffer());
  const int64_t count = parts_of(x);
  const Buffer parts = call.scratch(count * padded * static_cast<int64_t>(sizeof(double)));
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const dim3 blocks(blocks_of(padded, kThreads), static_cast<unsigned>(count));
    sums_kernel<T><<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
        matrix_of<T>(x), gram_part_rows(x.shape()[0]), padded, call.writes_as<double>(parts));
  });
  add_parts(call, parts, count, padded, sums);
}

void pca_products(const Tensor& x, const double* mean, double* products) {
  DeviceCall call("pca_fit", x.place());
  call.reads(x.buffer());
  const int64_t count = parts_of(x);
  const int64_t features = x.shape()[1], square = features * features;
  const Buffer means = call.table(mean, features * static_cast<int64_t>(sizeof(double)));
  const Buffer parts = call.scratch(count * square * static_cast<int64_t>(sizeof(double)));
  const unsigned tiles = blocks_of(features, kTile);
  // The tiles above the diagonal are never read; what lies there is added up nonetheless.
  call.fill(call.writes(parts), 0, count * square * static_cast<int64_t>(sizeof(double)));
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const dim3 blocks(tiles * (tiles + 1) / 2, static_cast<unsigned>(count));
    products_kernel<T><<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream())>>>(
        matrix_of<T>(x), means.as<double>(), gram_part_rows(x.shape()[0]),
        call.writes_as<double>(parts));
  });
  add_parts(call, parts, count, square, products);
}

void pca_transform(const Tensor& x, const Tensor& mean, const Tensor& components, Buffer& latent) {
  project(x, mean, components, &latent, nullptr);
}

void pca_reconstruction_error(const Tensor& x, const Tensor& mean, const Tensor& components,
                              Buffer& error) {
  project(x, mean, components, nullptr, &error);
}

void pca_inverse_transform(const Tensor& latent, const Tensor& mean, const Tensor& components,
                           Buffer& rows) {
  DeviceCall call("pca_inverse_transform", latent.place());
  for (const Tensor* input : {&latent, &mean, &components}) call.reads(input->buffer());
  const int64_t features = mean.num_elements();
  visit(latent, mean, components,
        [&]<class T, class M>(const Matrix<T>& coordinates, const Model<M>& model) {
          inverse_kernel<<<blocks_of(coordinates.rows * features, kThreads), kThreads, 0,
                           static_cast<cudaStream_t>(call.stream())>>>(coordinates, model, features,
                                                                       call.writes_as<T>(rows));
        });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
