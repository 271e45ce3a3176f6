// SPDX-License-Identifier: Apache-2.0
// segments cuts, pads and normalises as its header says.
#include "headrace/signal/segments.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hr {
namespace {

using namespace testing;

const std::vector<double> kRamp{1, 2, 3, 4, 5, 6};

TEST(Windows, CutsAndPads) {
  const Tensor x = tensor_of(kRamp);
  const Tensor rows = segments(x, tensor_of<int64_t>({0, 3, 5}), tensor_of<int64_t>({2, 9, 1}), 4);
  EXPECT_EQ(rows.shape(), (Shape{3, 4}));
  EXPECT_TRUE(rows.is_contiguous());
  EXPECT_EQ(values_of<double>(rows), (std::vector<double>{1, 2, 0, 0, 4, 5, 6, 0, 6, 0, 0, 0}));
}

TEST(Windows, PadsBeyondBothEnds) {
  const Tensor x = tensor_of(kRamp);
  constexpr int64_t far = std::numeric_limits<int64_t>::max();
  const Tensor begins = tensor_of<int64_t>({-2, -4, -far - 1, 6, far, 5});
  EXPECT_EQ(values_of<double>(segments(x, begins, 4)),
            (std::vector<double>{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(values_of<double>(segments(tensor_of<double>({7}), tensor_of<int64_t>({-1}), 3)),
            (std::vector<double>{0, 7, 0}));
  EXPECT_EQ(values_of<double>(segments(tensor_of<double>({}), tensor_of<int64_t>({0, -1}), 2)),
            (std::vector<double>{0, 0, 0, 0}));
}

TEST(Windows, NormalizesItsSamplesAlone) {
  const Tensor x = tensor_of(kRamp);
  const Tensor begin = tensor_of<int64_t>({1});
  const Tensor length = tensor_of<int64_t>({3});
  const double unit = std::sqrt(1.5);
  EXPECT_EQ(values_of<double>(segments(x, begin, length, 4, Normalize::kMinMax)),
            (std::vector<double>{0, 0.5, 1, 0}));
  EXPECT_EQ(values_of<double>(segments(x, begin, length, 4, Normalize::kMax)),
            (std::vector<double>{0.5, 0.75, 1, 0}));
  const auto scores = values_of<double>(segments(x, begin, length, 4, Normalize::kZscore));
  EXPECT_NEAR(scores[0], -unit, 1e-15);
  EXPECT_EQ(scores[1], 0);
  EXPECT_NEAR(scores[2], unit, 1e-15);
  EXPECT_EQ(scores[3], 0);
  const auto edge = segments(x, tensor_of<int64_t>({-1}), length, 4, Normalize::kMinMax);
  EXPECT_EQ(values_of<double>(edge), (std::vector<double>{0, 0, 1, 0}));
}

TEST(Windows, MakesZerosOfConstantSegments) {
  const Tensor x = tensor_of(std::vector<double>(100, 0.1));
  for (const Normalize each : {Normalize::kZscore, Normalize::kMinMax})
    EXPECT_EQ(values_of<double>(segments(x, tensor_of<int64_t>({7}), 51, each)),
              std::vector<double>(51, 0));
  const Tensor zeros = tensor_of(std::vector<double>(5, 0));
  EXPECT_EQ(values_of<double>(segments(zeros, tensor_of<int64_t>({0}), 5, Normalize::kMax)),
            std::vector<double>(5, 0));
}

TEST(Windows, SpreadsNanInItsRowAlone) {
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)}) {
    const Tensor x = tensor_of<double>({1, bad, 3, 4});
    for (const Normalize each : {Normalize::kZscore, Normalize::kMinMax, Normalize::kMax}) {
      const auto rows = values_of<double>(
          segments(x, tensor_of<int64_t>({0, 2}), tensor_of<int64_t>({2}), 3, each));
      EXPECT_TRUE(std::isnan(rows[0]) && std::isnan(rows[1]));
      EXPECT_EQ(rows[2], 0);
      EXPECT_TRUE(std::isfinite(rows[3]) && std::isfinite(rows[4]));
    }
    const auto raw = values_of<double>(segments(x, tensor_of<int64_t>({0}), 3));
    EXPECT_EQ(raw[0], 1);
    EXPECT_EQ(raw[2], 3);
  }
}

template <class T>
std::vector<T> noise(int64_t count) {
  return random_values<T>(
      count, 5, [](uint64_t state) { return static_cast<double>(state >> 11) * 0x1p-53; });
}

TEST(Windows, TakesStridesOfEveryInput) {
  const std::vector<float> x = noise<float>(1000);
  const std::vector<int64_t> begins{-3, 0, 500, 990};
  const std::vector<int64_t> lengths{70, 31, 32, 33};
  for (const Normalize each :
       {Normalize::kNone, Normalize::kZscore, Normalize::kMinMax, Normalize::kMax}) {
    const Tensor plain = segments(tensor_of(x), tensor_of(begins), tensor_of(lengths), 65, each);
    const Tensor strided =
        segments(tensor_of(x, -2), tensor_of(begins, 3), tensor_of(lengths, -1), 65, each);
    EXPECT_EQ(plain.dtype(), Dtype(TypeId::kFloat32));
    EXPECT_TRUE(same_bits(plain, strided));
  }
}

TEST(Windows, IsTheSameForAnyThreads) {
  const Tensor x = tensor_of(noise<double>(3 * kMorselRows));
  std::vector<int64_t> begins;
  for (int64_t i = -100; i < 3 * kMorselRows; i += 97) begins.push_back(i);
  EXPECT_TRUE(same_for_any_threads(
      [&] { return segments(x, tensor_of(begins), 250, Normalize::kZscore); }));
}

TEST(Windows, TakesNoRowsAndNoWidth) {
  const Tensor x = tensor_of(kRamp);
  EXPECT_EQ(segments(x, tensor_of<int64_t>({}), 5).shape(), (Shape{0, 5}));
  EXPECT_EQ(segments(x, tensor_of<int64_t>({1, 2}), 0).shape(), (Shape{2, 0}));
}

TEST(Windows, RefusesWhatDoesNotFit) {
  const Tensor x = tensor_of(kRamp);
  const Tensor begins = tensor_of<int64_t>({1, 2});
  EXPECT_THROW(segments(x, begins, -1), InvalidArgumentError);
  EXPECT_THROW(segments(x, begins, tensor_of<int64_t>({1, 2, 3}), 4), InvalidArgumentError);
  EXPECT_THROW(segments(x, begins, tensor_of<int64_t>({1, -2}), 4), InvalidArgumentError);
  EXPECT_THROW(segments(x, begins, std::numeric_limits<int64_t>::max()), InvalidArgumentError);
  EXPECT_THROW(segments(begins, begins, 4), TypeMismatchError);
  EXPECT_THROW(segments(x, x, 4), TypeMismatchError);
}

TEST(Windows, IsTheSameForAnyLevel) {
  std::vector<float> values;
  for (int64_t i = 0; i < 5000; ++i) values.push_back(std::sin(static_cast<float>(i * i % 977)));
  const Tensor x = tensor_of(values);
  const Tensor begins = tensor_of<int64_t>({-5, 0, 17, 100, 4990});
  for (const Normalize normalize : {Normalize::kZscore, Normalize::kMinMax, Normalize::kMax}) {
    const SimdLevel best = simd_level();
    const Tensor rows = segments(x, begins, 777, normalize);
    set_simd_level(SimdLevel::kBase);
    EXPECT_TRUE(same_bits(rows, segments(x, begins, 777, normalize)));
    set_simd_level(best);
  }
}

TEST(Windows, ScalesFiniteValuesWithAnInfiniteSum) {
  const Tensor x = tensor_of<double>({1e308, -1e308, 1.5e308, 1e308});
  EXPECT_EQ(values_of<double>(segments(x, tensor_of<int64_t>({2}), 2, Normalize::kMax)),
            (std::vector<double>{1.0, 1e308 / 1.5e308}));
}

}  // namespace
}  // namespace hr
