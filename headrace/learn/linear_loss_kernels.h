// SPDX-License-Identifier: Apache-2.0
// Kernels of linear models: points in lanes against the coefficients of each output.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/learn/linear_loss.h"

#include <algorithm>
#include <cstdint>

namespace hr::cpu {

/// Points side by side in a panel.
inline constexpr int64_t kPointPanel = 16;

/// The most points of a tile.
inline constexpr int64_t kMostPoints = 256;

/// Points in panels, value (j, lane) of a panel at `j * kPointPanel + lane`, less `shift[j]` (null:
/// none) and zeros for points that are not there. `x` holds float or double; `room` has as many
/// elements as `out`.
void read_points(const AnyMatrix& x, const double* shift, float* room, double* out);

/// Coefficients of `outputs` outputs, [outputs, features + 1], the last being the constant.
struct LinearCoefficients {
  const double* at;
  int64_t outputs;
  int64_t features;
};

/// The sum over the features, in order by fma from the constant on, of each output and point:
/// `out[k * count + i]`; `count` is a multiple of kPointPanel.
void point_scores(const double* points, int64_t count, const LinearCoefficients& coefficients,
                  double* out);

/// Adds the sums over points of `residuals`, [outputs, count], times the values of the points to
/// `out`, [outputs, features + 1]: in 8 lanes and one tree.
void add_point_gradients(const double* points, int64_t count, const double* residuals,
                         int64_t outputs, int64_t features, double* out);

/// Adds weighted sums of the values and of their squares, in 8 lanes and one tree.
void add_point_moments(const double* points, int64_t count, const double* weights, int64_t features,
                       double* sums, double* squares);

/// The weighted loss of points, and in place of their `scores`, [outputs, count], its derivatives;
/// the sums of these are added to the last element of each of the rows of `gradient` (of
/// `row` elements). `targets` are those of the loss.
double point_residuals(const LinearProblem& problem, const double* targets, const double* weights,
                       int64_t count, double* scores, double* gradient, int64_t row);

/// The most rows whose scores are shared at once.
inline constexpr int64_t kShareRows = 256;

/// A view of scores in memory.
template <class T>
struct ClassScores {
  const T* data;
  int64_t classes;
  int64_t row_stride;
  int64_t column_stride;

  T operator()(int64_t i, int64_t k) const { return data[i * row_stride + k * column_stride]; }
};

/// What `log_shares` makes of the scores of rows [begin, begin + count), or with `two` of the one
/// of each: [count, classes].
template <class T>
void share_scores(const ClassScores<T>& scores, bool two, int64_t begin, int64_t count, T* out);

}  // namespace hr::cpu

namespace hr::cuda {

/// Rows on a device, and how they are cut: parts of `part_rows`, tiles of `tile`. `targets` and
/// `weights` (or null) have `step` numbers for each row of `x`, of which the first counts; `shift`
/// is on the host, or null.
struct LinearRows {
  const Tensor* x;
  const Tensor* targets;
  const Tensor* weights;
  const double* shift;
  int64_t step;
  int64_t part_rows;
  int64_t tile;
};

/// The gradient at `coefficients`, which are on the host, [outputs, features + 1], the loss, and if
/// `moments` are asked for weighted sums of the columns, of their squares, and of the weights, to
/// the host.
void evaluate_linear(const LinearRows& rows, const LinearProblem& problem,
                     const double* coefficients, bool moments, double* sums);

inline constexpr int64_t kLinearLanes = 8;  ///< of sums over points

/// What a block of threads has in shared memory: a tile of points, some columns at a time.
struct LinearRoom {
  int64_t columns = 0;  ///< at a time; 0: not even one fits
  int64_t bytes = 0;
};

/// The room of a tile of points, of elements of `size` bytes, in `shared` bytes: scores, losses and
/// weights of each point, the columns of the points (padded by one) and the lanes of their sums.
inline LinearRoom linear_room(int64_t shared, int64_t tile, int64_t features, int64_t outputs,
                              int64_t size) {
  constexpr int64_t kDouble = sizeof(double);
  constexpr int64_t kMost = 72 << 10;  // so that blocks share a processor
  const int64_t scores = (outputs + 2) * tile * kDouble;
  const int64_t column = tile * size + kLinearLanes * kDouble;
  const int64_t left = std::min(shared - scores, kMost) - tile * size;
  const int64_t columns = std::min(features, std::max<int64_t>(left, 0) / column);
  return {columns, scores + tile * size + columns * column};
}

/// Whether a tile of points with this many outputs fits a block of the device at `place`.
bool linear_fits(Place place, int64_t tile, int64_t outputs);

}  // namespace hr::cuda
