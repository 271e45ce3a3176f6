// SPDX-License-Identifier: Apache-2.0
// A thread has a column of a part, its rows in order as on the CPU: the same bits.
#include "headrace/algo/linalg/column_statistics.h"
#include "headrace/algo/linalg/column_statistics_kernels.h"
#include "headrace/data/device_launch.h"

#include <limits>

namespace hr::cuda {
namespace {

constexpr int64_t kDouble = sizeof(double);
constexpr int kThreads = 128;
constexpr int kAhead = 16;  // rows that are read before they are summed

/// `take(value)` for the values of a column of a part.
template <class T, class F>
__device__ void for_values(const Matrix<T>& x, int64_t column, int64_t part, int64_t part_rows,
                           const F& take) {
  int64_t row = part * part_rows;
  const int64_t end = min(row + part_rows, x.rows);
  for (; row + kAhead <= end; row += kAhead) {
    double values[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) values[k] = x(row + k, column);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) take(values[k]);
  }
  for (; row < end; ++row) take(x(row, column));
}

template <class T>
__global__ void statistics_kernel(Matrix<T> x, int64_t part_rows, int64_t parts, double* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= parts * x.columns) return;
  const int64_t part = i / x.columns, column = i % x.columns;
  double count = 0;
  double sum = 0;
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  for_values(x, column, part, part_rows, [&](double value) {
    const bool known = value == value;
    count += known ? 1.0 : 0.0;
    sum += known ? value : 0.0;
    least = value < least ? value : least;
    greatest = value > greatest ? value : greatest;
  });
  double* const own = out + part * 4 * x.columns + column;
  own[0] = count;
  own[x.columns] = sum;
  own[2 * x.columns] = least;
  own[3 * x.columns] = greatest;
}

template <class T>
__global__ void squares_kernel(Matrix<T> x, const double* means, int64_t part_rows, int64_t parts,
                               double* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= parts * x.columns) return;
  const int64_t part = i / x.columns, column = i % x.columns;
  const double mean = means[column];
  double sum = 0;
  for_values(x, column, part, part_rows, [&](double value) {
    const double apart = value - mean;
    sum += value == value ? apart * apart : 0.0;
  });
  out[part * x.columns + column] = sum;
}

/// Queues `launch(x, part_rows, parts, out)`, which makes `each` numbers a part, and fetches them.
template <class F>
void run(DeviceCall& call, const Tensor& x, int64_t each, double* out, const F& launch) {
  call.reads(x.buffer());
  const int64_t part_rows = statistics_part_rows(x.shape()[0]);
  const int64_t parts = (x.shape()[0] + part_rows - 1) / part_rows;
  const Buffer made = call.scratch(parts * each * kDouble);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    launch(matrix_of<T>(x), part_rows, parts, call.writes_as<double>(made));
  });
  call.finish(cudaGetLastError());
  call.fetch(out, made.data(), parts * each * kDouble);
}

}  // namespace

void column_statistics(const Tensor& x, double* out) {
  DeviceCall call("column_statistics", x.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  run(call, x, 4 * x.shape()[1], out,
      [&]<class T>(const Matrix<T>& rows, int64_t part_rows, int64_t parts, double* made) {
        statistics_kernel<T><<<blocks_of(parts * rows.columns, kThreads), kThreads, 0, stream>>>(
            rows, part_rows, parts, made);
      });
}

void column_squares(const Tensor& x, const double* means, double* out) {
  DeviceCall call("column_statistics", x.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const Buffer table = call.table(means, x.shape()[1] * kDouble);
  run(call, x, x.shape()[1], out,
      [&]<class T>(const Matrix<T>& rows, int64_t part_rows, int64_t parts, double* made) {
        squares_kernel<T><<<blocks_of(parts * rows.columns, kThreads), kThreads, 0, stream>>>(
            rows, table.as<double>(), part_rows, parts, made);
      });
}

}  // namespace hr::cuda
