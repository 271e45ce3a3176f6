// SPDX-License-Identifier: Apache-2.0
// PCA finds planted directions, gives rows back and has the same bits on any number of threads.
#include "headrace/learn/pca.h"

#include "headrace/base/error.h"
#include "headrace/base/simd.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace hr {
namespace {

using testing::matrix_of;

/// Rows on a few waves with falling weight, plus an offset.
template <class T>
std::vector<T> waves(int64_t rows, int64_t columns) {
  std::vector<T> values;
  uint64_t state = 5;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 33) / 1073741824.0 - 1;
  };
  for (int64_t i = 0; i < rows; ++i) {
    const double weights[3] = {5 * next(), 2 * next(), 0.5 * next()};
    for (int64_t j = 0; j < columns; ++j) {
      double value = 3;
      for (int k = 0; k < 3; ++k)
        value += weights[k] * std::cos((k + 1) * 3.14159265358979 * (j + 0.5) / columns);
      values.push_back(static_cast<T>(value));
    }
  }
  return values;
}

TEST(Pca, KnowsASmallCase) {
  const Tensor x = matrix_of<double>({0, 0, 1, 1, 2, 2, 3, 3}, 2);
  const Pca model = pca_fit(x, 2);
  EXPECT_DOUBLE_EQ(model.mean.as<double>()[0], 1.5);
  EXPECT_NEAR(model.components.as<double>()[0], std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(model.components.as<double>()[1], std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(model.explained_variance.as<double>()[0], 10.0 / 3, 1e-14);
  EXPECT_NEAR(model.explained_variance.as<double>()[1], 0, 1e-15);
  EXPECT_EQ(model.noise_variance, 0);
  EXPECT_NEAR(pca_transform(model, x).as<double>()[0], -1.5 * std::sqrt(2.0), 1e-14);
}

TEST(Pca, GivesRowsOfLowRankBack) {
  for (const int64_t columns : {3, 15, 16, 17, 64, 65}) {
    const Tensor x = matrix_of(waves<double>(9'000, columns), columns);
    const Pca model = pca_fit(x, 3);
    const Tensor latent = pca_transform(model, x);
    ASSERT_EQ(latent.shape(), (Shape{9'000, 3}));
    const Tensor back = pca_inverse_transform(model, latent);
    const Tensor error = pca_reconstruction_error(model, x);
    for (int64_t i = 0; i < 9'000; ++i) {
      ASSERT_NEAR(back.as<double>()[i * columns], x.as<double>()[i * columns], 1e-12);
      ASSERT_LT(error.as<double>()[i], 1e-24);
    }
    EXPECT_NEAR(model.total_variance,
                model.explained_variance.as<double>()[0] +
                    model.explained_variance.as<double>()[1] +
                    model.explained_variance.as<double>()[2],
                1e-9);
  }
}

TEST(Pca, ScoresWhatTheModelHasNotSeen) {
  std::vector<double> values = waves<double>(2'000, 32);
  const Pca model = pca_fit(matrix_of(values, 32), 3);
  values[100 * 32 + 7] += 4;
  const Tensor error = pca_reconstruction_error(model, matrix_of(values, 32));
  EXPECT_GT(error.as<double>()[100], 0.3);
  EXPECT_LT(error.as<double>()[101], 1e-20);
}

TEST(Pca, LargestLoadingIsPositive) {
  const Pca model = pca_fit(matrix_of(waves<float>(500, 20), 20), 5);
  for (int64_t c = 0; c < 5; ++c) {
    float largest = 0;
    for (int64_t j = 0; j < 20; ++j) {
      const float loading = model.components.as<float>()[c * 20 + j];
      if (std::fabs(loading) > std::fabs(largest)) largest = loading;
    }
    EXPECT_GT(largest, 0);
  }
}

TEST(Pca, TakesAnyStrides) {
  const std::vector<float> values = waves<float>(300, 24);
  const Tensor x = matrix_of(values, 24);
  std::vector<float> turned(values.size());
  for (size_t i = 0; i < 300; ++i)
    for (size_t j = 0; j < 24; ++j) turned[j * 300 + i] = values[i * 24 + j];
  const Tensor other(TypeId::kFloat32, {300, 24}, {1, 300}, matrix_of(turned, 300).buffer(), 0);
  const Pca a = pca_fit(x, 4);
  const Pca b = pca_fit(other, 4);
  EXPECT_EQ(std::memcmp(a.components.data(), b.components.data(), 4 * 24 * 4), 0);
  EXPECT_EQ(std::memcmp(pca_transform(a, x).data(), pca_transform(a, other).data(), 300 * 4 * 4),
            0);
}

TEST(Pca, SameBitsForAnyThreadsAndSimdLevel) {
  const Tensor x = matrix_of(waves<float>(40'000, 40), 40);
  const int before = threads();
  const SimdLevel level = simd_level();
  set_threads(1);
  const Pca one = pca_fit(x, 6);
  const Tensor latent = pca_transform(one, x);
  const Tensor error = pca_reconstruction_error(one, x);
  const Tensor back = pca_inverse_transform(one, latent);
  for (const int count : {2, 4})
    for (const SimdLevel other : {SimdLevel::kBase, best_simd_level()}) {
      set_threads(count);
      set_simd_level(other);
      const Pca many = pca_fit(x, 6);
      EXPECT_EQ(std::memcmp(one.components.data(), many.components.data(), 6 * 40 * 4), 0);
      EXPECT_EQ(std::memcmp(one.explained_variance.data(), many.explained_variance.data(), 6 * 4),
                0);
      EXPECT_EQ(std::memcmp(latent.data(), pca_transform(many, x).data(), 40'000 * 6 * 4), 0);
      EXPECT_EQ(std::memcmp(error.data(), pca_reconstruction_error(many, x).data(), 40'000 * 8), 0);
      EXPECT_EQ(
          std::memcmp(back.data(), pca_inverse_transform(many, latent).data(), 40'000 * 40 * 4), 0);
    }
  set_threads(before);
  set_simd_level(level);
}

TEST(Pca, TakesNoRowsAndOneRowAfterTheFit) {
  const Tensor x = matrix_of(waves<double>(50, 4), 4);
  const Pca model = pca_fit(x, 2);
  EXPECT_EQ(pca_transform(model, matrix_of<double>({}, 4)).shape(), (Shape{0, 2}));
  EXPECT_EQ(pca_reconstruction_error(model, matrix_of<double>({}, 4)).num_elements(), 0);
  EXPECT_EQ(pca_transform(model, matrix_of<double>({1, 2, 3, 4}, 4)).num_elements(), 2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(
      std::isnan(pca_transform(model, matrix_of<double>({1, nan, 3, 4}, 4)).as<double>()[1]));
}

TEST(Pca, RefusesWhatItCannotFit) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor good = matrix_of<double>({1, 2, 3, 4, 5, 7}, 2);
  EXPECT_THROW(pca_fit(good, 0), InvalidArgumentError);
  EXPECT_THROW(pca_fit(good, 3), InvalidArgumentError);
  EXPECT_THROW(pca_fit(matrix_of<double>({1, 2}, 2), 1), InvalidArgumentError);
  EXPECT_THROW(pca_fit(matrix_of<double>({1, nan, 3, 4}, 2), 1), InvalidArgumentError);
  EXPECT_THROW(pca_fit(matrix_of<int32_t>({1, 2, 3, 4}, 2), 1), TypeMismatchError);
  EXPECT_THROW(pca_fit(Tensor(TypeId::kFloat64, {6}, good.buffer()), 1), TypeMismatchError);
  const Pca model = pca_fit(good, 1);
  EXPECT_THROW(pca_transform(model, matrix_of<double>({1, 2, 3}, 3)), InvalidArgumentError);
  EXPECT_THROW(pca_inverse_transform(model, good), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
