// SPDX-License-Identifier: Apache-2.0
// Elimination in a panel whose rows are a vector or two.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/lu_cpu.cpp"
#include "headrace/algo/linalg/lu_kernels.h"
#include "headrace/base/simd_targets.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<double, cpu::kLuColumns>;

constexpr int64_t kColumns = cpu::kLuColumns;
constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
constexpr int64_t kVectors = kColumns / kLanes;

/// Takes the multiple of `pivot` that clears column `k` from the rows below it, and keeps the
/// factors there. The row with the largest value in the column after it.
int64_t eliminate(double* panel, int64_t rows, int64_t k) {
  double pivot[kColumns] = {};  // without the columns before, which stay
  std::copy(panel + k * kColumns + k, panel + (k + 1) * kColumns, pivot + k);
  const double divisor = pivot[k];
  hn::Vec<Tag> pivots[kVectors];
  hn::Mask<Tag> behind[kVectors];
  for (int64_t v = 0; v < kVectors; ++v) {
    pivots[v] = hn::LoadU(Tag(), pivot + v * kLanes);
    const auto column = hn::Iota(Tag(), static_cast<double>(v * kLanes));
    behind[v] = hn::Gt(column, hn::Set(Tag(), static_cast<double>(k)));
  }
  const int64_t next = std::min(k + 1, kColumns - 1);
  int64_t largest = k + 1;
  double most = -1;
  for (int64_t i = k + 1; i < rows; ++i) {
    double* const row = panel + i * kColumns;
    const double factor = row[k] / divisor;
    const auto factors = hn::Set(Tag(), factor);
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto x = hn::LoadU(Tag(), row + v * kLanes);
      const auto left = hn::Sub(x, hn::Mul(factors, pivots[v]));
      hn::StoreU(hn::IfThenElse(behind[v], left, x), Tag(), row + v * kLanes);
    }
    row[k] = factor;
    const double size = std::fabs(row[next]);
    if (size > most || (i == k + 1 && size != size)) {
      most = size;
      largest = i;
    }
  }
  return largest;
}

int64_t largest_in(const double* panel, int64_t rows, int64_t k) {
  int64_t largest = k;
  for (int64_t i = k + 1; i < rows; ++i)
    if (std::fabs(panel[i * kColumns + k]) > std::fabs(panel[largest * kColumns + k])) largest = i;
  return largest;
}

int64_t factor_panel(double* panel, int64_t rows, int64_t columns, int64_t* pivots) {
  int64_t singular = -1;
  int64_t pivot = largest_in(panel, rows, 0);
  for (int64_t k = 0; k < columns; ++k) {
    pivots[k] = pivot;
    if (pivot != k)
      std::swap_ranges(panel + k * kColumns, panel + (k + 1) * kColumns, panel + pivot * kColumns);
    if (panel[k * kColumns + k] != 0) {
      pivot = eliminate(panel, rows, k);
    } else {
      if (singular < 0) singular = k;
      pivot = k + 1 < columns ? largest_in(panel, rows, k + 1) : 0;
    }
  }
  return singular;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

int64_t factor_panel(double* panel, int64_t rows, int64_t columns, int64_t* pivots) {
  return HR_SIMD(factor_panel)(panel, rows, columns, pivots);
}

}  // namespace hr::cpu
#endif
