// SPDX-License-Identifier: Apache-2.0
// Counts near points; a loop that the compiler turns into vectors.
#define HWY_TARGET_INCLUDE "headrace/learn/dense_grid_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/learn/dense_grid.h"

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <int kDimensions>
int64_t count_near(const double* const* columns, int64_t begin, int64_t end, const double* point,
                   double limit) {
  const hn::ScalableTag<double> tag;
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  const auto bound = hn::Set(tag, limit);
  int64_t count = 0, i = begin;
  for (; i + lanes <= end; i += lanes) {
    auto sum = hn::Zero(tag);
#pragma GCC unroll 3
    for (int j = 0; j < kDimensions; ++j) {
      const auto apart = hn::Sub(hn::LoadU(tag, columns[j] + i), hn::Set(tag, point[j]));
      sum = hn::Add(sum, hn::Mul(apart, apart));
    }
    count += static_cast<int64_t>(hn::CountTrue(tag, hn::Le(sum, bound)));
  }
  for (; i < end; ++i) {
    double sum = 0;
    for (int j = 0; j < kDimensions; ++j)
      sum += (columns[j][i] - point[j]) * (columns[j][i] - point[j]);
    count += sum <= limit ? 1 : 0;
  }
  return count;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

int64_t count_near(const PointColumns& points, int64_t begin, int64_t end, const double* point,
                   double limit) {
  const auto kernel = points.dimensions == 1   ? HR_SIMD(count_near<1>)
                      : points.dimensions == 2 ? HR_SIMD(count_near<2>)
                                               : HR_SIMD(count_near<3>);
  return kernel(points.columns, begin, end, point, limit);
}

}  // namespace hr::cpu

#endif
