// SPDX-License-Identifier: Apache-2.0
// Panels as wide as a vector: a tile of the products is as many rows as a vector has lanes, and
// three vectors of columns, so that both sides are read from the same panels.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/gram_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/linalg/gram_kernels.h"
#include "headrace/algo/linalg/matmul.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<double>()));
constexpr int kTileVectors = 3;  // sums take 12 of 16 registers, or 24 of 32

constexpr int64_t kLine = 8;  // numbers
constexpr int64_t kStride = kSumBlock * kLanes + kLine;

int64_t panel_columns() {
  return kLanes;
}

int64_t panel_stride() {
  return kStride;
}

void pack_panels(const double* rows, int64_t count, int64_t columns, const double* weights,
                 int64_t first, double* panels) {
  const hn::ScalableTag<double> tag;
  const int64_t whole = columns / kLanes * kLanes;
  for (int64_t i = 0; i < count; ++i, rows += columns) {
    double* to = panels + (first + i) * kLanes;
    const double weight = weights == nullptr ? 1 : weights[i];
    const auto times = hn::Set(tag, weight);
    for (int64_t j = 0; j < whole; j += kLanes, to += kStride) {
      const auto values = hn::LoadU(tag, rows + j);
      hn::StoreU(weights == nullptr ? values : hn::Mul(times, values), tag, to);
    }
    if (whole == columns) continue;
    for (int64_t j = 0; j < kLanes; ++j)
      to[j] = whole + j >= columns ? 0.0
              : weights == nullptr ? rows[whole + j]
                                   : weight * rows[whole + j];
  }
}

/// What is fetched as tiles are multiplied: a little at each step.
struct Fetch {
  const std::byte* next;
  int64_t step;
};

/// The products of the first `kRows` columns of a panel with those of `kVectors` others.
template <int kRows, int kVectors>
HWY_INLINE void multiply_tile(const double* left, const double* right, int64_t depth, Fetch& fetch,
                              double* out) {
  const hn::ScalableTag<double> tag;
  hn::Vec<decltype(tag)> sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(tag);
  for (int64_t k = 0; k < depth; ++k, left += kLanes, right += kLanes) {
    __builtin_prefetch(fetch.next, 0, 2);
    fetch.next += fetch.step;
    hn::Vec<decltype(tag)> columns[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(tag, right + v * kStride);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const auto row = hn::Set(tag, left[i]);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) sums[i][v] = fused(row, columns[v], sums[i][v]);
    }
  }
#pragma GCC unroll 3
  for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      double* to = out + (v * kLanes + i) * kLanes;
      hn::StoreU(hn::Add(hn::LoadU(tag, to), sums[i][v]), tag, to);
    }
}

/// With no more rows than are needed, about.
template <int kVectors>
void multiply_rows(const double* left, const double* right, int64_t depth, int64_t rows,
                   Fetch& fetch, double* out) {
  if (rows == 1)
    multiply_tile<1, kVectors>(left, right, depth, fetch, out);
  else if (rows == 2 && kLanes > 2)
    multiply_tile<std::min(2, kLanes), kVectors>(left, right, depth, fetch, out);
  else if (rows <= 4 && kLanes > 4)
    multiply_tile<std::min(4, kLanes), kVectors>(left, right, depth, fetch, out);
  else
    multiply_tile<kLanes, kVectors>(left, right, depth, fetch, out);
}

void multiply_panels(const double* left, const double* right, int64_t depth, int64_t columns,
                     const cpu::Squares& part, const cpu::Ahead& ahead, double* products) {
  int64_t tiles = 0;
  for (int64_t q = part.column; q < part.last_column; q += kTileVectors)
    tiles += std::max<int64_t>(0, part.last_row - std::max(part.row, q));
  Fetch fetch{ahead.from, ahead.bytes / std::max<int64_t>(1, tiles * depth)};
  for (int64_t q = part.column; q < part.last_column; q += kTileVectors)
    for (int64_t p = std::max(part.row, q); p < part.last_row; ++p) {
      const int64_t vectors = std::min(part.last_column, p + 1) - q;
      const int64_t rows = std::min<int64_t>(kLanes, columns - p * kLanes);
      const double *upper = left + p * kStride, *lower = right + q * kStride;
      double* out = products + (p * (p + 1) / 2 + q) * kLanes * kLanes;
      if (vectors >= kTileVectors)
        multiply_rows<kTileVectors>(upper, lower, depth, rows, fetch, out);
      else if (vectors == 2)
        multiply_rows<2>(upper, lower, depth, rows, fetch, out);
      else
        multiply_rows<1>(upper, lower, depth, rows, fetch, out);
    }
}

/// Of `kVectors` vectors of columns, which stay in registers.
template <int kVectors>
HWY_INLINE void add_columns(const double* rows, int64_t count, int64_t columns,
                            const double* weights, double* sums) {
  const hn::ScalableTag<double> tag;
  hn::Vec<decltype(tag)> own[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) own[v] = hn::LoadU(tag, sums + v * kLanes);
  for (int64_t i = 0; i < count; ++i, rows += columns) {
    const auto weight = hn::Set(tag, weights == nullptr ? 1.0 : weights[i]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)  // times 1 changes no value
      own[v] = hn::Add(own[v], hn::Mul(weight, hn::LoadU(tag, rows + v * kLanes)));
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) hn::StoreU(own[v], tag, sums + v * kLanes);
}

void add_rows(const double* rows, int64_t count, int64_t columns, const double* weights,
              double* sums) {
  int64_t j = 0;
  for (; j + 4 * kLanes <= columns; j += 4 * kLanes)
    add_columns<4>(rows + j, count, columns, weights, sums + j);
  for (; j + kLanes <= columns; j += kLanes)
    add_columns<1>(rows + j, count, columns, weights, sums + j);
  for (; j < columns; ++j)
    for (int64_t i = 0; i < count; ++i)
      sums[j] += weights == nullptr ? rows[i * columns + j] : weights[i] * rows[i * columns + j];
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

int64_t panel_columns() {
  return HR_SIMD(panel_columns)();
}

int64_t panel_stride() {
  return HR_SIMD(panel_stride)();
}

void pack_panels(const double* rows, int64_t count, int64_t columns, const double* weights,
                 int64_t first, double* panels) {
  HR_SIMD(pack_panels)(rows, count, columns, weights, first, panels);
}

void multiply_panels(const double* left, const double* right, int64_t depth, int64_t columns,
                     const Squares& part, const Ahead& ahead, double* products) {
  HR_SIMD(multiply_panels)(left, right, depth, columns, part, ahead, products);
}

void add_rows(const double* rows, int64_t count, int64_t columns, const double* weights,
              double* sums) {
  HR_SIMD(add_rows)(rows, count, columns, weights, sums);
}

}  // namespace hr::cpu

#endif
