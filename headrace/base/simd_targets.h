// SPDX-License-Identifier: Apache-2.0
// Makes the including file be read once for each SIMD level; base/simd.h shows the pattern.
// No #pragma once: Highway's own headers are read again for each level.
#include "headrace/base/simd.h"

#ifndef HWY_TARGET_INCLUDE
#error "define HWY_TARGET_INCLUDE to the path of the including file first"
#endif

// Levels: base, AVX2, AVX-512. GCC 12.2 breaks Highway's EMU128, so the base is its SCALAR target
// with every compiler. Assertions would need libhwy.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_BROKEN_EMU128 1
#define HWY_IS_DEBUG_BUILD 0
#endif

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// HR_SIMD(kernel) is the function `kernel` of the level in use, from namespace hr or deeper.
#ifndef HR_SIMD
#if HWY_TARGETS & HWY_AVX2
#define HR_SIMD_AVX2(...) (&::hr::N_AVX2::__VA_ARGS__)
#else
#define HR_SIMD_AVX2(...) (&::hr::HWY_STATIC_DISPATCH(__VA_ARGS__))
#endif
#if HWY_TARGETS & HWY_AVX3
#define HR_SIMD_AVX512(...) (&::hr::N_AVX3::__VA_ARGS__)
#else
#define HR_SIMD_AVX512(...) (&::hr::HWY_STATIC_DISPATCH(__VA_ARGS__))
#endif
#define HR_SIMD(...)                                                                      \
  (*::hr::choose_simd(&::hr::HWY_STATIC_DISPATCH(__VA_ARGS__), HR_SIMD_AVX2(__VA_ARGS__), \
                      HR_SIMD_AVX512(__VA_ARGS__)))
#endif
