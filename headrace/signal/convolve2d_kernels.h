// SPDX-License-Identifier: Apache-2.0
// Kernel of convolve2d. Inputs are checked and not empty.
#pragma once
#include "headrace/signal/convolve2d.h"

#include <vector>

namespace hr {

/// out[i][j] = sum over p, q of kernel[p][q] x[i + first_row - p][j + first_column - q].
struct Convolve2dJob {
  int64_t rows;
  int64_t columns;
  int64_t first_row;
  int64_t first_column;
  MatrixBoundary boundary;
  double fill;
};

}  // namespace hr

namespace hr::cpu {

void convolve2d(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, Buffer& out);

/// x[row][first + k] for k < count, beyond the edges what the boundary says. T: float or double.
template <class T>
void fetch_row(const Convolve2dJob& job, const Tensor& x, int64_t row, int64_t first, int64_t count,
               T* out);

/// Sums of products, in row-major order of the taps.
template <class T>
class DirectTiles {
 public:
  DirectTiles(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, T* out);

  /// Results [top, bottom) x [left, right), on this thread.
  void run(int64_t top, int64_t left, int64_t bottom, int64_t right) const;

 private:
  const Convolve2dJob& job_;
  const Tensor& x_;
  T* out_;
  int64_t tap_rows_;
  int64_t tap_columns_;
  std::vector<T> taps_;  // rotated by 180 degrees
};

/// Products of a result that take as long as its transforms, for each element of a tile.
inline constexpr double kProductsOfTransform = 130;

/// Whether transforms take less time than sums.
bool convolves_by_fft(const Convolve2dJob& job, const Tensor& kernel);

/// Within 1e-14 (1e-5 for float) of the largest value of a tile times the sum of the taps' sizes;
/// exact for whole numbers, as sums are, and where not all inputs of a tile are finite.
template <class T>
void convolve2d_by_fft(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, T* out);

}  // namespace hr::cpu
namespace hr::cuda {
void convolve2d(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, Buffer& out);
}  // namespace hr::cuda
