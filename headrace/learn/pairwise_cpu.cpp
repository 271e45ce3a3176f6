// SPDX-License-Identifier: Apache-2.0
// Distances of a point to many; loops that the compiler turns into vectors.
#define HWY_TARGET_INCLUDE "headrace/learn/pairwise_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/learn/pairwise_kernels.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

template <class F>
void fold_columns(const double* point, const double* columns, int64_t dimensions, int64_t count,
                  double* out, F fold) {
  std::fill_n(out, count, 0.0);
  for (int64_t j = 0; j < dimensions; ++j)
    for (int64_t c = 0; c < count; ++c) out[c] = fold(out[c], point[j], columns[j * count + c]);
}

void point_distances(Metric metric, const double* point, const double* columns, int64_t dimensions,
                     int64_t count, double* out) {
  const auto fold = [&](auto each) { fold_columns(point, columns, dimensions, count, out, each); };
  switch (metric) {
    case Metric::kEuclidean:
    case Metric::kSquaredEuclidean:
      return fold([](double sum, double a, double b) { return sum + (a - b) * (a - b); });
    case Metric::kManhattan:
      return fold([](double sum, double a, double b) { return sum + std::fabs(a - b); });
    case Metric::kChebyshev:
      return fold([](double most, double a, double b) { return std::max(most, std::fabs(a - b)); });
    case Metric::kCosine:
      return fold([](double sum, double a, double b) { return sum + a * b; });
  }
}

double sum_in_lanes(const double* values, const double* weights, int64_t count) {
  constexpr int64_t kLanes = 8;
  double sums[kLanes] = {};
  int64_t i = 0;
  if (weights == nullptr)
    for (; i + kLanes <= count; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) sums[l] += values[i + l];
  else
    for (; i + kLanes <= count; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) sums[l] += values[i + l] * weights[i + l];
  for (int64_t l = 0; i < count; ++i, ++l)
    sums[l] += weights == nullptr ? values[i] : values[i] * weights[i];
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l) sums[l] += sums[l + half];
  return sums[0];
}

void square_roots(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = std::sqrt(values[i]);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void point_distances(Metric metric, const double* point, const double* columns, int64_t dimensions,
                     int64_t count, double* out) {
  HR_SIMD(point_distances)(metric, point, columns, dimensions, count, out);
}

double sum_in_lanes(const double* values, const double* weights, int64_t count) {
  return HR_SIMD(sum_in_lanes)(values, weights, count);
}

void square_roots(double* values, int64_t count) {
  HR_SIMD(square_roots)(values, count);
}

}  // namespace hr::cpu

#endif
