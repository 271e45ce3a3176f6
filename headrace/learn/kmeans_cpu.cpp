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
  float* norm;  ///< squared lengths of the points
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

/// `kCount` centres of a group, the first being `first`, against a panel of points.
template <int kCount>
HWY_INLINE void compare_group(const float* points, const float* group, const float* norms,
                              int64_t dimensions, int32_t first, const NearestTwo& to) {
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
    group += cpu::kCenterGroup;
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

void compare_centers(const float* points, int64_t num_panels, const cpu::CenterPanels& centers,
                     const NearestTwo& to) {
  const hn::ScalableTag<float> tag;
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  const int64_t d = centers.dimensions, width = 2 * lanes;
  for (int64_t p = 0; p < num_panels; ++p)
    for (int64_t v = 0; v < 2; ++v) {
      auto norm = hn::Zero(tag);
      const float* point = points + p * d * width + v * lanes;
      for (int64_t j = 0; j < d; ++j, point += width) {
        const auto x = hn::LoadU(tag, point);
        norm = fused(x, x, norm);
      }
      hn::StoreU(norm, tag, to.norm + p * width + v * lanes);
    }
  std::fill_n(to.best, num_panels * width, std::numeric_limits<float>::max());
  std::fill_n(to.second, num_panels * width, std::numeric_limits<float>::max());
  std::fill_n(to.label, num_panels * width, 0);
  for (int64_t first = 0; first < centers.count; first += cpu::kCenterGroup) {
    const float* group = centers.panels.data() + first * d;
    const float* norms = centers.norms.data() + first;
    const int64_t count = centers.count - first;
    for (int64_t p = 0; p < num_panels; ++p) {
      const NearestTwo part{to.best + p * width, to.second + p * width, to.norm + p * width,
                            to.label + p * width};
      const float* panel = points + p * d * width;
      const auto number = static_cast<int32_t>(first);
      if (count <= 2)
        compare_group<2>(panel, group, norms, d, number, part);
      else if (count <= 4)
        compare_group<4>(panel, group, norms, d, number, part);
      else
        compare_group<6>(panel, group, norms, d, number, part);
    }
  }
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
  const int64_t groups = (count + kCenterGroup - 1) / kCenterGroup;
  panels.assign(static_cast<size_t>(groups * kCenterGroup * dimensions), 0.0F);
  norms.assign(static_cast<size_t>(groups * kCenterGroup), std::numeric_limits<float>::max());
  most = 0;
  for (int64_t c = 0; c < count; ++c) {
    float* to = panels.data() + c / kCenterGroup * kCenterGroup * dimensions + c % kCenterGroup;
    double norm = 0;
    for (int64_t j = 0; j < dimensions; ++j) {
      const double value = (centers[c * dimensions + j] - shift[static_cast<size_t>(j)]) * unit;
      norm += value * value;
      to[j * kCenterGroup] = static_cast<float>(-2 * value);
    }
    norms[static_cast<size_t>(c)] = static_cast<float>(norm);
    most = std::max(most, static_cast<float>(norm));
  }
}

void assign_rows(const RowTiles& x, const CenterPanels& centers, int64_t begin, int64_t end,
                 int32_t* labels) {
  constexpr int64_t kTile = 256;
  const int64_t d = centers.dimensions, width = HR_SIMD(point_lanes)();
  std::vector<float> rows(static_cast<size_t>(kTile * d));
  std::vector<float> points(static_cast<size_t>(kTile * d));
  std::vector<double> point(static_cast<size_t>(d)), apart(static_cast<size_t>(centers.count));
  float best[kTile], second[kTile], norm[kTile];
  int32_t label[kTile];
  // Each of two sums is off by at most 2 (d + 3) 2^-24 of this; the last term is for underflow.
  const float relative = 4.04F * static_cast<float>(d + 3) * 0x1p-24F;
  const float least = static_cast<float>(d + 3) * 0x1p-120F;
  for (int64_t first = begin; first < end; first += kTile) {
    const int64_t count = std::min(kTile, end - first);
    x.read(first, count, TileForm::kRows, centers.shift.data(), centers.scale.data(), rows.data());
    pack(AnyMatrix(MatrixView<const float>{rows.data(), count, d, d}), width, points.data());
    HR_SIMD(compare_centers)
    (points.data(), (count + width - 1) / width, centers, NearestTwo{best, second, norm, label});
    for (int64_t i = 0; i < count; ++i) {
      if (!(second[i] - best[i] > relative * (norm[i] + centers.most) + least)) {
        x.read(first + i, 1, TileForm::kRows, nullptr, nullptr, point.data());
        squared_distances(point.data(), centers.columns.data(), d, centers.count, apart.data());
        label[i] =
            static_cast<int32_t>(std::min_element(apart.begin(), apart.end()) - apart.begin());
      }
      labels[first + i] = label[i];
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
