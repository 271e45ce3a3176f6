// SPDX-License-Identifier: Apache-2.0
// SIMD levels: which instruction set kernels use, chosen once at run time, forced down in tests.
//
// How to write a kernel that is compiled once for each level (the whole pattern):
//
//   // histogram_cpu.cpp
//   #define HWY_TARGET_INCLUDE "headrace/algo/reduce/histogram_cpu.cpp"  // this file, as one
//   includes it #include "headrace/base/simd_targets.h"                        // reads this file
//   once a level #include "headrace/algo/reduce/histogram_kernels.h"                   // ordinary
//   headers, #pragma once HWY_BEFORE_NAMESPACE(); namespace hr::HWY_NAMESPACE { namespace {
//   namespace hn = hwy::HWY_NAMESPACE; void count(const double* x, int64_t n) { ... } // Highway or
//   a plain loop }  // namespace }  // namespace hr::HWY_NAMESPACE HWY_AFTER_NAMESPACE(); #if
//   HWY_ONCE namespace hr::cpu { void histogram_count(const double* x, int64_t n) {
//   HR_SIMD(count)(x, n); } }  // namespace hr::cpu #endif
//
// A plain loop between BEFORE and AFTER is compiled with the level's instructions as well. The base
// level is Highway's HWY_SCALAR target on x86 (one lane, no shuffles, and its MulAdd is not fused;
// write `#if HWY_TARGET == HWY_SCALAR` and plain C++ there) and NEON on Arm. Use no lambdas that
// hold vectors (clang gives them no target), and nothing of Highway that needs libhwy
// (HWY_EXPORT, HWY_DYNAMIC_DISPATCH, HWY_ASSERT, SupportedTargets, AllocateAligned).
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <string_view>

namespace hr {

enum class SimdLevel : uint8_t { kBase, kAvx2, kAvx512 };

/// "base", "avx2" or "avx512".
HR_API std::string_view simd_level_name(SimdLevel level);

/// The best level that this machine and the operating system support.
HR_API SimdLevel best_simd_level();

/// The level in use: the best one, or a lower one that HEADRACE_SIMD names at the first call.
HR_API SimdLevel simd_level();

/// Forces a level, for tests; not while kernels run. Throws InvalidArgumentError for one that the
/// machine lacks.
HR_API void set_simd_level(SimdLevel level);

template <class F>
F* choose_simd(F* base, F* avx2, F* avx512) {
  const SimdLevel level = simd_level();
  return level == SimdLevel::kAvx512 ? avx512 : level == SimdLevel::kAvx2 ? avx2 : base;
}

}  // namespace hr
