// SPDX-License-Identifier: Apache-2.0
// Kernels of correlation. Sums run in 8 lanes, value i in lane i mod 8, and end in one tree; counts
// are multiples of 8.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Sums over rows of one pair of columns, taken from values less a shift each.
struct PairSums {
  double count = 0;  ///< rows where both are there
  double a = 0;
  double b = 0;
  double aa = 0;
  double bb = 0;
  double ab = 0;
};

/// Sums of products of `a` with each of 4 columns that begin `stride` values apart.
void sum_products_of_4(const double* a, const double* b, int64_t stride, int64_t count,
                       double* sums);
double sum_products(const double* a, const double* b, int64_t count);
double sum_values(const double* a, int64_t count);

/// Adds to `sums` those rows where neither is NaN.
void add_pair_sums(const double* a, double shift_a, const double* b, double shift_b, int64_t count,
                   PairSums& sums);

}  // namespace hr::cpu
