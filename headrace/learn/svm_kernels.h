// SPDX-License-Identifier: Apache-2.0
// Loops of support vector machines: values of kernels, sums of their rows, steps in a working set.
#pragma once
#include "headrace/learn/svm.h"

#include <cstdint>

namespace hr::cpu {

/// The sum of squares in the order of matmul, so that a row is at distance 0 from itself.
double squared_length(const double* row, int64_t columns);

/// Turns products of one row with `columns` others into values of the kernel. Norms are squared
/// lengths.
void kernel_values(const Kernel& kernel, double norm, const double* norms, int64_t columns,
                   double* products);

void round_values(const double* values, int64_t count, float* out);

/// sums[c] += scales[0] rows[0][c] + scales[1] rows[1][c] + ..., added in this order. T is float or
/// double.
template <class T>
void add_scaled_rows(const T* const* rows, const double* scales, int64_t count, int64_t columns,
                     double* sums);

inline constexpr int64_t kWorkingLanes = 16;

/// Variables of a working set; their number is a multiple of kWorkingLanes, closed ones at the end.
struct WorkingSet {
  int64_t size;
  const float* kernel;    ///< [size, size], symmetric to the bit
  const float* diagonal;  ///< of it
  double* gradient;
  double* value;
  const double* low;  ///< bounds of the values
  const double* high;
  double* up;    ///< 0 where the value may rise, else infinity
  double* down;  ///< 0 where it may fall, else minus infinity
};

/// At most `most` steps of pairs that minimise v K v / 2 + c v at an unchanged sum, until the
/// gradients of values that may fall exceed those of values that may rise by no more than
/// `tolerance`. Returns the steps; fewer than `most` when done, or when no pair moves.
int64_t minimize(const WorkingSet& set, double tolerance, int64_t most);

}  // namespace hr::cpu
