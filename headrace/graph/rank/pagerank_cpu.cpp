// SPDX-License-Identifier: Apache-2.0
// What rows pull: 8 gathered values at a time, a short row without a branch on its length.
#define HWY_TARGET_INCLUDE "headrace/graph/rank/pagerank_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/graph/rank/pagerank_kernels.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kSums = 8;

#if HWY_TARGET == HWY_SCALAR
template <bool kWeighted>
double pull_row(const cpu::Pull& pull, int64_t begin, int64_t end) {
  double sums[kSums] = {};
  for (int64_t i = begin; i < end; ++i) {
    const double value = pull.given[pull.places[i]];
    sums[(i - begin) % kSums] += kWeighted ? value * pull.weights[i] : value;
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}
#else
constexpr hn::CappedTag<double, kSums> kTag;
constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(kTag));
constexpr int64_t kVectors = kSums / kLanes;

using Vector = hn::Vec<decltype(kTag)>;

template <class Places>
HR_INLINE Vector gathered(const cpu::Pull& pull, Places places) {
  const hn::RebindToUnsigned<decltype(kTag)> wide;
  const hn::RebindToSigned<decltype(kTag)> with_sign;
  return hn::GatherIndex(kTag, pull.given, hn::BitCast(with_sign, hn::PromoteTo(wide, places)));
}

/// The values of entries i and on.
template <bool kWeighted>
HR_INLINE Vector values(const cpu::Pull& pull, int64_t i) {
  const hn::Rebind<uint32_t, decltype(kTag)> narrow;
  const Vector found = gathered(pull, hn::LoadU(narrow, pull.places + i));
  if constexpr (kWeighted) return hn::Mul(found, hn::LoadU(kTag, pull.weights + i));
  return found;
}

/// `count` of them, then zeros.
template <bool kWeighted>
HR_INLINE Vector values(const cpu::Pull& pull, int64_t i, int64_t count) {
  const hn::Rebind<uint32_t, decltype(kTag)> narrow;
  const auto lanes = static_cast<size_t>(count);
  const auto is_there = hn::FirstN(kTag, lanes);
  const auto places = hn::MaskedLoad(hn::FirstN(narrow, lanes), narrow, pull.places + i);
  const Vector found = gathered(pull, places);
  if constexpr (kWeighted)
    return hn::Mul(hn::IfThenElseZero(is_there, found),
                   hn::MaskedLoad(is_there, kTag, pull.weights + i));
  return hn::IfThenElseZero(is_there, found);
}

// Entries ahead whose values are on their way.
constexpr int64_t kAhead = 64;

HR_INLINE void prefetch(const cpu::Pull& pull, int64_t i) {
  if (i + kAhead + kSums > pull.readable) return;
  for (int64_t k = 0; k < kSums; ++k) __builtin_prefetch(&pull.given[pull.places[i + kAhead + k]]);
}

template <bool kWeighted>
HR_INLINE double pull_row(const cpu::Pull& pull, int64_t begin, int64_t end) {
  Vector sums[kVectors];
  for (Vector& each : sums) each = hn::Zero(kTag);
  int64_t i = begin;
  for (; i + kSums <= end; i += kSums) {
    prefetch(pull, i);
    for (int64_t k = 0; k < kVectors; ++k)
      sums[k] = hn::Add(sums[k], values<kWeighted>(pull, i + k * kLanes));
  }
  prefetch(pull, i);
  for (int64_t k = 0; k < kVectors; ++k) {
    const int64_t left = std::clamp<int64_t>(end - i - k * kLanes, 0, kLanes);
    sums[k] = hn::Add(sums[k], values<kWeighted>(pull, i + k * kLanes, left));
  }
  double four[4];
  if constexpr (kVectors == 1) {
    const hn::Half<decltype(kTag)> half;
    hn::StoreU(hn::Add(hn::LowerHalf(half, sums[0]), hn::UpperHalf(half, sums[0])), half, four);
  } else {
    hn::StoreU(hn::Add(sums[0], sums[kVectors - 1]), kTag, four);
  }
  return (four[0] + four[1]) + (four[2] + four[3]);
}
#endif

template <bool kWeighted>
void pull_all(const cpu::Pull& pull, int64_t first, int64_t last, double* sums) {
  int64_t begin = pull.offsets[first];
  for (int64_t v = first; v < last; ++v) {
    const int64_t end = pull.offsets[v + 1];
    sums[v - first] = pull_row<kWeighted>(pull, begin, end);
    begin = end;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void pull_rows(const Pull& pull, int64_t first, int64_t last, double* sums) {
  if (pull.weights)
    HR_SIMD(pull_all<true>)(pull, first, last, sums);
  else
    HR_SIMD(pull_all<false>)(pull, first, last, sums);
}

}  // namespace hr::cpu
#endif
