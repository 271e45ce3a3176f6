// SPDX-License-Identifier: Apache-2.0
#define HWY_TARGET_INCLUDE "headrace/exchange/string_views_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/exchange/string_views_kernels.h"
#include "headrace/exchange/string_views_math.h"

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// As `is_short_ascii`, of a vector of views at a time; how many views were tested before the first
// vector with another one.
int64_t test_vectors(const StringView* views, int64_t count) {
  static_assert(sizeof(StringView) == 16);
  const hn::ScalableTag<int8_t> d;
  // The place of each byte among those of the text. The first byte of the size passes for text; the
  // others must be zero, as bytes behind the text must.
  alignas(16) static constexpr int8_t kPlaces[16] = {-128, 127, 127, 127, 0, 1, 2,  3,
                                                     4,    5,   6,   7,   8, 9, 10, 11};
  alignas(16) static constexpr int8_t kMost[16] = {12,  127, 127, 127, 127, 127, 127, 127,
                                                   127, 127, 127, 127, 127, 127, 127, 127};
  alignas(16) static constexpr int8_t kFirst[16] = {};
  const auto places = hn::LoadDup128(d, kPlaces), most = hn::LoadDup128(d, kMost),
             first = hn::LoadDup128(d, kFirst);
  const auto step = static_cast<int64_t>(hn::Lanes(d)) / 16;
  int64_t done = 0;
  for (; done + step <= count; done += step) {
    const auto bytes = hn::LoadU(d, reinterpret_cast<const int8_t*>(views + done));
    const auto sizes = hn::TableLookupBytes(bytes, first);
    const auto is_text = hn::Lt(places, sizes);
    const auto behind = hn::IfThenZeroElse(is_text, bytes);
    const auto outside = hn::Or(hn::Lt(bytes, hn::Zero(d)), hn::Gt(bytes, most));
    if (!hn::AllFalse(d, hn::Or(outside, hn::Ne(behind, hn::Zero(d))))) break;
  }
  return done;
}

#endif

bool all_short_ascii(const StringView* views, int64_t count) {
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  done = test_vectors(views, count);
#endif
  bool all = true;
  for (; done < count; ++done) all &= is_short_ascii(views[done]);
  return all;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

bool all_short_ascii(const StringView* views, int64_t count) {
  return HR_SIMD(all_short_ascii)(views, count);
}

}  // namespace hr::cpu
#endif
