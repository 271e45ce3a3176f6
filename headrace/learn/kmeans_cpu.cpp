// SPDX-License-Identifier: Apache-2.0
// Filters centres in float32 with points in lanes, and decides in float64 what that leaves open.
#define HWY_TARGET_INCLUDE "headrace/learn/kmeans_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/learn/kmeans_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#ifndef HEADRACE_LEARN_KMEANS_NEAREST
#define HEADRACE_LEARN_KMEANS_NEAREST
namespace hr {

/// The two smallest of what a filter found for points, and which centre the smallest is of.
struct NearestTwo {
  float* best;
  float* second;
  int32_t* label;
};

}  // namespace hr
#endif

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

int64_t point_lanes() {
  return 2 * static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<float>()));
}

/// A group of `kCount` centres, the first being `first`, against a panel of points.
template <int kCount>
void compare_group(const float* points, const float* group, const float* norms, int64_t dimensions,
                   int32_t first, const NearestTwo& to) {
  const hn::ScalableTag<float> tag;
  const hn::RebindToSigned<decltype(tag)> numbers;
  const auto lanes = hn::MaxLanes(tag);
  hn::Vec<decltype(tag)> sums[kCount][2];
#pragma GCC unroll 6
  for (int i = 0; i < kCount; ++i) sums[i][0] = sums[i][1] = hn::Set(tag, norms[i]);
  for (int64_t j = 0; j < dimensions; ++j) {
    const auto low = hn::LoadU(tag, points), high = hn::LoadU(tag, points + lanes);
#pragma GCC unroll 6
    for (int i = 0; i < kCount; ++i) {
      const auto center = hn::Set(tag, group[i]);
      sums[i][0] = fused(center, low, sums[i][0]);
      sums[i][1] = fused(center, high, sums[i][1]);
    }
    points += 2 * lanes;
    group += kCount;
  }
#pragma GCC unroll 2
  for (size_t v = 0; v < 2; ++v) {
    auto best = hn::LoadU(tag, to.best + v * lanes);
    auto second = hn::LoadU(tag, to.second + v * lanes);
    auto label = hn::LoadU(numbers, to.label + v * lanes);
#pragma GCC unroll 6
    for (int i = 0; i < kCount; ++i) {
      const auto nearer = hn::Lt(sums[i][v], best);
      second = hn::Min(second, hn::Max(best, sums[i][v]));
      best = hn::IfThenElse(nearer, sums[i][v], best);
      label = hn::IfThenElse(hn::RebindMask(numbers, nearer), hn::Set(numbers, first + i), label);
    }
    hn::StoreU(best, tag, to.best + v * lanes);
    hn::StoreU(second, tag, to.second + v * lanes);
    hn::StoreU(label, numbers, to.label + v * lanes);
  }
}

/// Moves points to the origin and the unit of the centres, and takes their squared lengths.
void move_points(float* points, int64_t num_panels, int64_t dimensions, const float* shift,
                 const float* scale, float* norms) {
  const hn::ScalableTag<float> tag;
  const auto lanes = hn::MaxLanes(tag);
  for (int64_t p = 0; p < num_panels; ++p, norms += 2 * lanes) {
    auto low = hn::Zero(tag), high = hn::Zero(tag);
    for (int64_t j = 0; j < dimensions; ++j, points += 2 * lanes) {
      const auto less = hn::Set(tag, shift[j]), times = hn::Set(tag, scale[j]);
      const auto x = hn::Mul(hn::Sub(hn::LoadU(tag, points), less), times);
      const auto y = hn::Mul(hn::Sub(hn::LoadU(tag, points + lanes), less), times);
      hn::StoreU(x, tag, points);
      hn::StoreU(y, tag, points + lanes);
      low = fused(x, x, low);
      high = fused(y, y, high);
    }
    hn::StoreU(low, tag, norms);
    hn::StoreU(high, tag, norms + lanes);
  }
}

void compare_centers(const float* points, int64_t num_panels, const cpu::CenterPanels& centers,
                     const NearestTwo& to) {
  constexpr decltype(&compare_group<1>) kCompare[] = {compare_group<1>, compare_group<2>,
                                                      compare_group<3>, compare_group<4>,
                                                      compare_group<5>, compare_group<6>};
  const int64_t d = centers.dimensions, width = point_lanes();
  std::fill_n(to.best, num_panels * width, std::numeric_limits<float>::max());
  std::fill_n(to.second, num_panels * width, std::numeric_limits<float>::max());
  std::fill_n(to.label, num_panels * width, 0);
  for (int64_t first = 0; first < centers.count; first += centers.group)
    for (int64_t p = 0; p < num_panels; ++p)
      kCompare[centers.group - 1](
          points + p * d * width, centers.panels.data() + first * d, centers.norms.data() + first,
          d, static_cast<int32_t>(first),
          {to.best + p * width, to.second + p * width, to.label + p * width});
}

template <class T>
void add_rows(const T* x, int64_t columns, int64_t row_stride, int64_t stride,
              const double* weights, const int32_t* labels, int64_t begin, int64_t end,
              double* sums, double* totals) {
  for (int64_t i = begin; i < end; ++i) {
    const T* row = x + i * row_stride;
    double* sum = sums + labels[i] * columns;
    const double weight = weights == nullptr ? 1 : weights[i];
    totals[labels[i]] += weight;
    if (stride == 1)
      for (int64_t j = 0; j < columns; ++j) sum[j] += static_cast<double>(row[j]) * weight;
    else
      for (int64_t j = 0; j < columns; ++j) sum[j] += static_cast<double>(row[j * stride]) * weight;
  }
}

template <class T>
void own_distances(const T* x, int64_t columns, int64_t row_stride, int64_t stride,
                   const double* centers, const int32_t* labels, int64_t begin, int64_t end,
                   double* out) {
  for (int64_t i = begin; i < end; ++i) {
    const T* row = x + i * row_stride;
    const double* center = centers + labels[i] * columns;
    double sums[8] = {};
    int64_t j = 0;
    if (stride == 1)
      for (; j + 8 <= columns; j += 8)
        for (int64_t lane = 0; lane < 8; ++lane) {
          const double apart = static_cast<double>(row[j + lane]) - center[j + lane];
          sums[lane] += apart * apart;
        }
    for (; j < columns; ++j) {
      const double apart = static_cast<double>(row[j * stride]) - center[j];
      sums[j % 8] += apart * apart;
    }
    for (int64_t half = 4; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    out[i - begin] = sums[0];
  }
}

void squared_distances(const double* point, const double* columns, int64_t dimensions,
                       int64_t count, double* out) {
  std::fill_n(out, count, 0.0);
  for (int64_t j = 0; j < dimensions; ++j)
    for (int64_t c = 0; c < count; ++c) {
      const double apart = point[j] - columns[j * count + c];
      out[c] += apart * apart;
    }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

CenterPanels::CenterPanels(const double* centers, int64_t num_centers, int64_t num_dimensions,
                           bool single)
    : count(num_centers), dimensions(num_dimensions) {
  shift.assign(static_cast<size_t>(dimensions), 0.0);
  columns.resize(static_cast<size_t>(dimensions * count));
  for (int64_t c = 0; c < count; ++c)
    for (int64_t j = 0; j < dimensions; ++j) {
      shift[static_cast<size_t>(j)] += centers[c * dimensions + j] / static_cast<double>(count);
      columns[static_cast<size_t>(j * count + c)] = centers[c * dimensions + j];
    }
  if (single)
    for (double& origin : shift) origin = static_cast<double>(static_cast<float>(origin));
  double largest = 0;
  for (int64_t c = 0; c < count; ++c)
    for (int64_t j = 0; j < dimensions; ++j)
      largest =
          std::max(largest, std::fabs(centers[c * dimensions + j] - shift[static_cast<size_t>(j)]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double unit = largest > 0 && std::isfinite(largest)
                          ? std::ldexp(1.0, std::clamp(-exponent, -1000, 1000))
                          : 1.0;
  scale.assign(shift.size(), unit);
  in_floats = single && unit >= 0x1p-120 && unit <= 0x1p120;
  const int64_t groups = (count + kCenterGroup - 1) / kCenterGroup;
  group = (count + groups - 1) / groups;
  panels.assign(static_cast<size_t>(groups * group * dimensions), 0.0F);
  norms.assign(static_cast<size_t>(groups * group), std::numeric_limits<float>::max());
  most = 0;
  for (int64_t c = 0; c < count; ++c) {
    float* to = panels.data() + c / group * group * dimensions + c % group;
    double norm = 0;
    for (int64_t j = 0; j < dimensions; ++j) {
      const double value = (centers[c * dimensions + j] - shift[static_cast<size_t>(j)]) * unit;
      norm += value * value;
      to[j * group] = static_cast<float>(-2 * value);
    }
    norms[static_cast<size_t>(c)] = static_cast<float>(norm);
    most = std::max(most, static_cast<float>(norm));
  }
}

void assign_rows(const Tensor& x, const CenterPanels& centers, int64_t begin, int64_t end,
                 int32_t* labels) {
  constexpr int64_t kTile = 256;
  const int64_t d = centers.dimensions, width = HR_SIMD(point_lanes)();
  const RowTiles tiles(x);
  std::vector<float> points(static_cast<size_t>(kTile * d));
  std::vector<float> rows(centers.in_floats ? 0 : points.size());
  std::vector<float> shift(static_cast<size_t>(d), 0.0F), scale(shift.size(), 1.0F);
  if (centers.in_floats) {
    std::ranges::copy(centers.shift, shift.begin());
    std::ranges::copy(centers.scale, scale.begin());
  }
  std::vector<double> point(shift.size()), apart(static_cast<size_t>(centers.count));
  float best[kTile], second[kTile], norm[kTile];
  int32_t label[kTile];
  // Each of two sums is off by at most 2 (d + 3) 2^-24 of this; the last term is for underflow.
  const float relative = 4.04F * static_cast<float>(d + 3) * 0x1p-24F;
  const float least = static_cast<float>(d + 3) * 0x1p-120F;
  for (int64_t first = begin; first < end; first += kTile) {
    const int64_t count = std::min(kTile, end - first);
    const int64_t num_panels = (count + width - 1) / width;
    if (!centers.in_floats)
      tiles.read(first, count, TileForm::kRows, centers.shift.data(), centers.scale.data(),
                 rows.data());
    pack(centers.in_floats ? AnyMatrix(x).block(first, 0, count, d)
                           : AnyMatrix(MatrixView<const float>{rows.data(), count, d, d}),
         width, points.data());
    HR_SIMD(move_points)(points.data(), num_panels, d, shift.data(), scale.data(), norm);
    HR_SIMD(compare_centers)
    (points.data(), num_panels, centers, NearestTwo{best, second, label});
    std::copy_n(label, count, labels + first);
    for (int64_t i = 0; i < count; ++i)
      if (!(second[i] - best[i] > relative * (norm[i] + centers.most) + least)) {
        tiles.read(first + i, 1, TileForm::kRows, nullptr, nullptr, point.data());
        squared_distances(point.data(), centers.columns.data(), d, centers.count, apart.data());
        labels[first + i] =
            static_cast<int32_t>(std::min_element(apart.begin(), apart.end()) - apart.begin());
      }
  }
}

void squared_distances(const double* point, const double* columns, int64_t dimensions,
                       int64_t count, double* out) {
  HR_SIMD(squared_distances)(point, columns, dimensions, count, out);
}

void add_rows(const Tensor& x, const double* weights, const int32_t* labels, int64_t begin,
              int64_t end, double* sums, double* totals) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    HR_SIMD(add_rows<T>)
    (x.as<T>(), x.shape()[1], x.strides()[0], x.strides()[1], weights, labels, begin, end, sums,
     totals);
  });
}

void own_distances(const Tensor& x, const double* centers, const int32_t* labels, int64_t begin,
                   int64_t end, double* out) {
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    HR_SIMD(own_distances<T>)
    (x.as<T>(), x.shape()[1], x.strides()[0], x.strides()[1], centers, labels, begin, end, out);
  });
}

}  // namespace hr::cpu

#endif
