// SPDX-License-Identifier: Apache-2.0
// The SIMD pattern compiles each level apart, and the level in use is the one that runs.
#define HWY_TARGET_INCLUDE "headrace/base/simd_test.cpp"
#include "headrace/base/error.h"
#include "headrace/base/simd_targets.h"

#include <gtest/gtest.h>

#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

int64_t vector_bytes() {
  return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<uint8_t>()));
}

int64_t sum(const int64_t* x, int64_t n) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += x[i];
  return total;
}
}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr {
namespace {

TEST(Simd, RunsTheLevelInUse) {
  const SimdLevel before = simd_level();
  const int64_t x[] = {1, 2, 3, 4, 5};
  int64_t width = 0;
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best_simd_level()) {
      EXPECT_THROW(set_simd_level(level), InvalidArgumentError);
      continue;
    }
    set_simd_level(level);
    EXPECT_EQ(simd_level(), level);
    EXPECT_EQ(HR_SIMD(sum)(x, 5), 15);
    EXPECT_GT(HR_SIMD(vector_bytes)(), width);
    width = HR_SIMD(vector_bytes)();
  }
  set_simd_level(before);
}

TEST(Simd, NamesAreWhatTheEnvironmentTakes) {
  EXPECT_EQ(simd_level_name(SimdLevel::kBase), "base");
  EXPECT_EQ(simd_level_name(SimdLevel::kAvx2), "avx2");
  EXPECT_EQ(simd_level_name(SimdLevel::kAvx512), "avx512");
}

}  // namespace
}  // namespace hr
#endif
