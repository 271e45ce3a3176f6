// SPDX-License-Identifier: Apache-2.0
// Pushes have points in lanes; pulls have neighbours in 8 lanes, whatever the registers hold.
#define HWY_TARGET_INCLUDE "headrace/graph/layout_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/graph/layout_kernels.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <int kDimensions, class V>
HWY_INLINE V square_of(const V* apart) {
  V square = hn::Mul(apart[0], apart[0]);
#pragma GCC unroll 3
  for (int k = 1; k < kDimensions; ++k) square = fused(apart[k], apart[k], square);
  return square;
}

template <int kDimensions>
void push(const float (*points)[PointTree::kLeaf], const PointMasses& masses,
          float (*out)[PointTree::kLeaf]) {
  using Tag = hn::CappedTag<float, PointTree::kLeaf>;
  constexpr Tag tag;
  constexpr size_t kLanes = hn::MaxLanes(tag), kPairs = kLanes == PointTree::kLeaf ? 1 : 2;
  for (size_t lane = 0; lane < PointTree::kLeaf; lane += kPairs * kLanes) {
    hn::Vec<Tag> own[kDimensions][kPairs], sum[kDimensions][kPairs];
#pragma GCC unroll 2
    for (size_t v = 0; v < kPairs; ++v)
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k) {
        own[k][v] = hn::LoadU(tag, points[k] + lane + v * kLanes);
        sum[k][v] = hn::Zero(tag);
      }
    for (int64_t i = 0; i < masses.count; ++i) {
      const auto mass = hn::Set(tag, masses.mass[i]);
#pragma GCC unroll 2
      for (size_t v = 0; v < kPairs; ++v) {
        hn::Vec<Tag> apart[kDimensions];
#pragma GCC unroll 3
        for (int k = 0; k < kDimensions; ++k)
          apart[k] = hn::Sub(own[k][v], hn::Set(tag, masses.at[k][i]));
        const auto weight =
            hn::Div(mass, hn::Max(square_of<kDimensions>(apart), hn::Set(tag, cpu::kLeastSquare)));
#pragma GCC unroll 3
        for (int k = 0; k < kDimensions; ++k) sum[k][v] = fused(weight, apart[k], sum[k][v]);
      }
    }
#pragma GCC unroll 2
    for (size_t v = 0; v < kPairs; ++v)
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k) hn::StoreU(sum[k][v], tag, out[k] + lane + v * kLanes);
  }
}

/// The pull on one vertex, each coordinate in 8 sums and one tree.
template <int kDimensions>
void pull(const cpu::LayoutPulls& pulls, int64_t vertex, float* out) {
  constexpr int64_t kSums = 8;
  using Tag = hn::CappedTag<float, kSums>;
  constexpr Tag tag;
  constexpr hn::RebindToSigned<Tag> numbers;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(tag));
  constexpr int64_t kVectors = kSums / kLanes;
  hn::Vec<Tag> own[kDimensions], sums[kDimensions][kVectors];
#pragma GCC unroll 3
  for (int k = 0; k < kDimensions; ++k) {
    own[k] = hn::Set(tag, pulls.from[k * pulls.rows + vertex]);
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) sums[k][v] = hn::Zero(tag);
  }
  const auto add = [&](const uint32_t* near, const float* given) HWY_ATTR {
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto places = hn::LoadU(numbers, reinterpret_cast<const int32_t*>(near) + v * kLanes);
      hn::Vec<Tag> apart[kDimensions];
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k)
        apart[k] = hn::Sub(hn::GatherIndex(tag, pulls.from + k * pulls.rows, places), own[k]);
      auto weight = hn::LoadU(tag, given + v * kLanes);
      if (pulls.pull != LayoutPull::kLinear) {
        const auto distance = hn::Sqrt(square_of<kDimensions>(apart));
        if (pulls.pull == LayoutPull::kSquare) {
          weight = hn::Mul(weight, distance);
        } else {
          float each[kSums];
          hn::StoreU(distance, tag, each);
          for (int64_t i = 0; i < kLanes; ++i)
            each[i] = each[i] > 0 ? std::log1p(each[i]) / each[i] : 1;
          weight = hn::Mul(weight, hn::LoadU(tag, each));
        }
      }
#pragma GCC unroll 3
      for (int k = 0; k < kDimensions; ++k) sums[k][v] = fused(weight, apart[k], sums[k][v]);
    }
  };
  int64_t e = pulls.offsets[vertex];
  const int64_t end = pulls.offsets[vertex + 1];
  for (; e + kSums <= end; e += kSums) add(pulls.targets + e, pulls.weights + e);
  if (e < end) {
    uint32_t near[kSums] = {};
    float given[kSums] = {};
    std::copy(pulls.targets + e, pulls.targets + end, near);
    std::copy(pulls.weights + e, pulls.weights + end, given);
    add(near, given);
  }
#pragma GCC unroll 3
  for (int k = 0; k < kDimensions; ++k) {
    float parts[kSums];
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[k][v], tag, parts + v * kLanes);
    out[k] = ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
             ((parts[1] + parts[5]) + (parts[3] + parts[7]));
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

void layout_push(int64_t dimensions, const float (*points)[PointTree::kLeaf],
                 const PointMasses& masses, float (*push)[PointTree::kLeaf]) {
  if (dimensions == 2)
    HR_SIMD(push<2>)(points, masses, push);
  else
    HR_SIMD(push<3>)(points, masses, push);
}

void layout_pull(const LayoutPulls& pulls, int64_t vertex, float* out) {
  if (pulls.dimensions == 2)
    HR_SIMD(pull<2>)(pulls, vertex, out);
  else
    HR_SIMD(pull<3>)(pulls, vertex, out);
}

}  // namespace hr::cpu

#endif
