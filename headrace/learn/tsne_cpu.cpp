// SPDX-License-Identifier: Apache-2.0
// Repulsion has points in lanes; attraction has neighbours in 8 lanes, whatever the registers hold.
#define HWY_TARGET_INCLUDE "headrace/learn/tsne_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/algo/math/vmath.h"
#include "headrace/learn/tsne_kernels.h"

#include <algorithm>
#include <vector>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// One over 1 + the square of a distance over the degrees of freedom.
template <int kDimensions, class D>
HWY_INLINE hn::Vec<D> decay(D tag, const hn::Vec<D>* apart) {
  auto square = hn::Mul(apart[0], apart[0]);
#pragma GCC unroll 3
  for (int k = 1; k < kDimensions; ++k) square = fused(apart[k], apart[k], square);
  const auto one = hn::Set(tag, 1.0F);
  if constexpr (kDimensions == 3) return hn::Div(one, fused(square, hn::Set(tag, 0.5F), one));
  return hn::Div(one, hn::Add(one, square));
}

template <int kDimensions>
void repulsion(const float (*points)[PointTree::kLeaf], const PointMasses& masses,
               float (*push)[PointTree::kLeaf], float* similar) {
  using Tag = hn::CappedTag<float, PointTree::kLeaf>;
  constexpr Tag tag;
  constexpr size_t kLanes = hn::MaxLanes(tag), kPairs = kLanes == PointTree::kLeaf ? 1 : 2;
  for (size_t lane = 0; lane < PointTree::kLeaf; lane += kPairs * kLanes) {
    hn::Vec<Tag> own[kDimensions][kPairs], sum[kDimensions][kPairs], total[kPairs];
#pragma GCC unroll 2
    for (size_t v = 0; v < kPairs; ++v) {
      total[v] = hn::Zero(tag);
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k) {
        own[k][v] = hn::LoadU(tag, points[k] + lane + v * kLanes);
        sum[k][v] = hn::Zero(tag);
      }
    }
    for (int64_t i = 0; i < masses.count; ++i) {
      const auto mass = hn::Set(tag, masses.mass[i]);
#pragma GCC unroll 2
      for (size_t v = 0; v < kPairs; ++v) {
        hn::Vec<Tag> apart[kDimensions];
#pragma GCC unroll 3
        for (int k = 0; k < kDimensions; ++k)
          apart[k] = hn::Sub(own[k][v], hn::Set(tag, masses.at[k][i]));
        const auto near = decay<kDimensions>(tag, apart);
        auto weight = hn::Mul(mass, near);
        if constexpr (kDimensions == 3) weight = hn::Mul(weight, hn::Sqrt(near));
        total[v] = hn::Add(total[v], weight);
        weight = hn::Mul(weight, near);
#pragma GCC unroll 3
        for (int k = 0; k < kDimensions; ++k) sum[k][v] = fused(weight, apart[k], sum[k][v]);
      }
    }
#pragma GCC unroll 2
    for (size_t v = 0; v < kPairs; ++v) {
      hn::StoreU(total[v], tag, similar + lane + v * kLanes);
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k) hn::StoreU(sum[k][v], tag, push[k] + lane + v * kLanes);
    }
  }
}

/// The pull of the neighbours on one point, each coordinate in 8 sums and one tree.
template <int kDimensions>
HWY_INLINE void attraction(const cpu::TsneStep& step, int64_t point, float* pull) {
  constexpr int64_t kSums = 8;
  using Tag = hn::CappedTag<float, kSums>;
  constexpr Tag tag;
  constexpr hn::RebindToSigned<Tag> numbers;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(tag));
  constexpr int64_t kVectors = kSums / kLanes;
  const auto* indices = step.affinities->indices().as<int32_t>();
  const auto* values = step.affinities->data().as<float>();
  hn::Vec<Tag> own[kDimensions], sums[kDimensions][kVectors];
#pragma GCC unroll 3
  for (int k = 0; k < kDimensions; ++k) {
    own[k] = hn::Set(tag, step.from[k * step.rows + point]);
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) sums[k][v] = hn::Zero(tag);
  }
  const auto add = [&](const int32_t* near, const float* similar) HWY_ATTR {
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto places = hn::LoadU(numbers, near + v * kLanes);
      hn::Vec<Tag> apart[kDimensions];
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k)
        apart[k] = hn::Sub(own[k], hn::GatherIndex(tag, step.from + k * step.rows, places));
      const auto weight =
          hn::Mul(hn::LoadU(tag, similar + v * kLanes), decay<kDimensions>(tag, apart));
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k) sums[k][v] = fused(weight, apart[k], sums[k][v]);
    }
  };
  int64_t e = step.affinities->row_begin(point);
  const int64_t end = step.affinities->row_begin(point + 1);
  for (; e + kSums <= end; e += kSums) add(indices + e, values + e);
  if (e < end) {
    int32_t near[kSums] = {};
    float similar[kSums] = {};
    std::copy(indices + e, indices + end, near);
    std::copy(values + e, values + end, similar);
    add(near, similar);
  }
#pragma GCC unroll 3
  for (int k = 0; k < kDimensions; ++k) {
    float parts[kSums];
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[k][v], tag, parts + v * kLanes);
    pull[k] = ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
              ((parts[1] + parts[5]) + (parts[3] + parts[7]));
  }
}

template <int kDimensions>
double move(const cpu::TsneStep& step, int64_t begin, int64_t end) {
  double square = 0;
  for (int64_t i = begin; i < end; ++i) {
    float pull[kDimensions];
    attraction<kDimensions>(step, i, pull);
    for (int k = 0; k < kDimensions; ++k) {
      const int64_t at = k * step.rows + i;
      float slope = step.attraction * pull[k] - step.repulsion * step.push[at];
      const float gain = step.speed[at] * slope < 0 ? step.gain[at] + 0.2F : step.gain[at] * 0.8F;
      step.gain[at] = std::max(gain, 0.01F);
      slope *= step.gain[at];
      step.speed[at] = step.momentum * step.speed[at] - step.learning_rate * slope;
      step.to[at] = step.from[at] + step.speed[at];
      square += static_cast<double>(slope) * static_cast<double>(slope);
    }
  }
  return square;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void tsne_repulsion(int64_t dimensions, const float (*points)[PointTree::kLeaf],
                    const PointMasses& masses, float (*push)[PointTree::kLeaf], float* similar) {
  if (dimensions == 1)
    HR_SIMD(repulsion<1>)(points, masses, push, similar);
  else if (dimensions == 2)
    HR_SIMD(repulsion<2>)(points, masses, push, similar);
  else
    HR_SIMD(repulsion<3>)(points, masses, push, similar);
}

double tsne_move(const TsneStep& step, int64_t begin, int64_t end) {
  if (step.dimensions == 1) return HR_SIMD(move<1>)(step, begin, end);
  if (step.dimensions == 2) return HR_SIMD(move<2>)(step, begin, end);
  return HR_SIMD(move<3>)(step, begin, end);
}

double tsne_divergence(const TsneStep& step, int64_t begin, int64_t end) {
  const auto* indices = step.affinities->indices().as<int32_t>();
  const auto* values = step.affinities->data().as<float>();
  const double freedom = step.dimensions == 3 ? 2 : 1;
  double sum = 0;
  std::vector<double> given, apart;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t first = step.affinities->row_begin(i);
    const auto count = static_cast<size_t>(step.affinities->row_begin(i + 1) - first);
    given.assign(values + first, values + first + count);
    apart.assign(count, 0.0);
    for (size_t e = 0; e < count; ++e) {
      for (int64_t k = 0; k < step.dimensions; ++k) {
        const float* at = step.from + k * step.rows;
        const double difference = static_cast<double>(at[i]) -
                                  static_cast<double>(at[indices[first + static_cast<int64_t>(e)]]);
        apart[e] += difference * difference;
      }
      apart[e] /= freedom;
    }
    unary_function64(VectorFunction::kLog1p)(apart.data(), apart.data(),
                                             static_cast<int64_t>(count));
    unary_function64(VectorFunction::kLog)(given.data(), given.data(), static_cast<int64_t>(count));
    for (size_t e = 0; e < count; ++e)
      sum += static_cast<double>(values[first + static_cast<int64_t>(e)]) *
             (given[e] + (freedom + 1) / 2 * apart[e]);
  }
  return sum;
}

}  // namespace hr::cpu

#endif
