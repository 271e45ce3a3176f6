// SPDX-License-Identifier: Apache-2.0
// Loops over rows that factorizations share. No element depends on the vector width.
// No #pragma once: read again for each level, after base/simd_targets.h.
#if defined(HEADRACE_ALGO_LINALG_ROW_SIMD_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_ALGO_LINALG_ROW_SIMD_H
#undef HEADRACE_ALGO_LINALG_ROW_SIMD_H
#else
#define HEADRACE_ALGO_LINALG_ROW_SIMD_H
#endif

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {

/// Sum of products in 16 virtual lanes and one tree.
inline double dot(const double* a, const double* b, int64_t n) {
  double sums[16] = {};
  int64_t j = 0;
  for (; j + 16 <= n; j += 16)
    for (int lane = 0; lane < 16; ++lane) sums[lane] += a[j + lane] * b[j + lane];
  for (int lane = 0; j < n; ++j, ++lane) sums[lane] += a[j] * b[j];
  for (int half = 8; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

inline void add_scaled(double* __restrict to, double scale, const double* __restrict from,
                       int64_t n) {
  for (int64_t j = 0; j < n; ++j) to[j] += scale * from[j];
}

/// Turns two rows by the angle of cosine `c` and sine `s`.
inline void rotate_rows(double* __restrict upper, double* __restrict lower, double c, double s,
                        int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const double u = upper[j];
    const double l = lower[j];
    upper[j] = c * u + s * l;
    lower[j] = c * l - s * u;
  }
}

}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
