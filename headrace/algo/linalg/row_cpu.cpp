// SPDX-License-Identifier: Apache-2.0
// The shared loops over rows, at the SIMD level in use.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/row_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/row_simd.h"
//
#include "headrace/algo/linalg/row_kernels.h"

#if HWY_ONCE

namespace hr::cpu {

double dot(const double* a, const double* b, int64_t n) {
  return HR_SIMD(dot)(a, b, n);
}

void add_scaled(double* to, double scale, const double* from, int64_t n) {
  HR_SIMD(add_scaled)(to, scale, from, n);
}

void rotate_rows(double* upper, double* lower, double c, double s, int64_t n) {
  HR_SIMD(rotate_rows)(upper, lower, c, s, n);
}

}  // namespace hr::cpu

#endif
