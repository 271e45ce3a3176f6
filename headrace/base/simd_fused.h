// SPDX-License-Identifier: Apache-2.0
// The fused product and sum of the level in use: one rounding on every level.
// No #pragma once: read again for each level, after base/simd_targets.h.
#if defined(HEADRACE_BASE_SIMD_FUSED_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_BASE_SIMD_FUSED_H
#undef HEADRACE_BASE_SIMD_FUSED_H
#else
#define HEADRACE_BASE_SIMD_FUSED_H
#endif

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {

/// `a * b + sum`. Highway's own scalar target rounds twice.
template <class V>
HWY_INLINE V fused(V a, V b, V sum) {
#if HWY_TARGET == HWY_SCALAR
  sum.raw = std::fma(a.raw, b.raw, sum.raw);
  return sum;
#else
  return hwy::HWY_NAMESPACE::MulAdd(a, b, sum);
#endif
}

}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
