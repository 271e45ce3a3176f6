// SPDX-License-Identifier: Apache-2.0
// ricker has the shape of the wavelet; python/tests compares it with mpmath in units of last place.
#include "headrace/signal/ricker.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hr {
namespace {

using namespace testing;

TEST(Ricker, FollowsItsFormula) {
  for (const int64_t points : {0, 1, 2, 63, 64, 65, 5000})
    for (const double width : {0.5, 4.0, 37.25}) {
      const auto wavelet = values_of<double>(ricker(points, width));
      ASSERT_EQ(static_cast<int64_t>(wavelet.size()), points);
      const long double a = width;
      const long double height = 2 / (std::sqrt(3 * a) * std::pow(M_PIl, 0.25L));
      for (int64_t i = 0; i < points; ++i) {
        const long double x =
            static_cast<long double>(i) - static_cast<long double>(points - 1) / 2;
        const long double ratio = x / a;
        const long double expected =
            height * (1 - ratio) * (1 + ratio) * std::exp(-ratio * ratio / 2);
        EXPECT_NEAR(wavelet[static_cast<size_t>(i)], static_cast<double>(expected),
                    2.3e-16 * std::fabs(static_cast<double>(expected)) + 1e-320);
      }
    }
}

TEST(Ricker, IsSymmetricAndZeroAtItsWidth) {
  const auto wavelet = values_of<double>(ricker(101, 8));
  for (size_t i = 0; i < 101; ++i) EXPECT_EQ(wavelet[i], wavelet[100 - i]);
  EXPECT_EQ(wavelet[50 + 8], 0);
}

TEST(Ricker, TakesExtremeWidths) {
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_TRUE(std::isfinite(values_of<double>(ricker(3, least))[1]));
  EXPECT_EQ(values_of<double>(ricker(3, least))[0], 0);
  EXPECT_GT(values_of<double>(ricker(3, std::numeric_limits<double>::max()))[0], 0);
}

TEST(Ricker, RoundsToFloat32) {
  const auto narrow = values_of<float>(ricker(65, 5.5, TypeId::kFloat32));
  const auto wide = values_of<double>(ricker(65, 5.5));
  for (size_t i = 0; i < 65; ++i) EXPECT_EQ(narrow[i], static_cast<float>(wide[i]));
}

TEST(Ricker, IsTheSameForAnyThreadsAndLevel) {
  EXPECT_TRUE(same_for_any_threads([] { return ricker(30'001, 423.5); }));
  const SimdLevel best = simd_level();
  const Tensor wavelet = ricker(10'001, 123.5);
  set_simd_level(SimdLevel::kBase);
  EXPECT_TRUE(same_bits(wavelet, ricker(10'001, 123.5)));
  set_simd_level(best);
}

TEST(Ricker, RefusesWhatHasNoWavelet) {
  EXPECT_THROW(ricker(-1, 1), InvalidArgumentError);
  EXPECT_THROW(ricker(5, 0), InvalidArgumentError);
  EXPECT_THROW(ricker(5, -1), InvalidArgumentError);
  EXPECT_THROW(ricker(5, NAN), InvalidArgumentError);
  EXPECT_THROW(ricker(5, INFINITY), InvalidArgumentError);
  EXPECT_THROW(ricker(5, 1, TypeId::kInt32), TypeMismatchError);
  EXPECT_THROW(ricker(std::numeric_limits<int64_t>::max(), 1), Error);
}

}  // namespace
}  // namespace hr
