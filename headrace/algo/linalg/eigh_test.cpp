// SPDX-License-Identifier: Apache-2.0
// Eigenvectors are orthonormal and give the matrix back.
#include "headrace/algo/linalg/eigh.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hr {
namespace {

double entry(const std::vector<double>& m, int64_t n, int64_t i, int64_t j) {
  return m[static_cast<size_t>(i * n + j)];
}

/// The largest ones found by themselves: the same values, and vectors that are orthonormal and turn
/// by their values alone.
void expect_largest(const std::vector<double>& matrix, int64_t n, const std::vector<double>& all) {
  double scale = 1e-300;
  for (const double value : matrix) scale = std::max(scale, std::fabs(value));
  const double bound = 1e-13 * static_cast<double>(n);
  for (const int64_t count : {int64_t{1}, (n + 1) / 2, n}) {
    std::vector<double> used = matrix;
    std::vector<double> values(static_cast<size_t>(n)), vectors(static_cast<size_t>(n * count));
    std::vector<double> scratch(static_cast<size_t>(8 * n));
    eigh_largest(used.data(), values.data(), vectors.data(), scratch.data(), n, count);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i] / scale, all[i] / scale, bound);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        double product = 0;
        for (int64_t k = 0; k < n; ++k)
          product += entry(vectors, n, i, k) * entry(vectors, n, j, k);
        ASSERT_NEAR(product, i == j ? 1 : 0, bound) << i << ", " << j << " of " << n;
      }
      for (int64_t row = 0; row < n; ++row) {
        double turned = 0;
        for (int64_t k = 0; k < n; ++k)
          turned += entry(matrix, n, row, k) / scale * entry(vectors, n, i, k);
        ASSERT_NEAR(turned, values[static_cast<size_t>(i)] / scale * entry(vectors, n, i, row),
                    bound);
      }
    }
  }
}

void expect_decomposed(const std::vector<double>& matrix, int64_t n, std::vector<double>* out) {
  std::vector<double> vectors = matrix;
  std::vector<double> values(static_cast<size_t>(n));
  std::vector<double> scratch(static_cast<size_t>(3 * n));
  eigh(vectors.data(), values.data(), scratch.data(), n);
  double scale = 1e-300;
  for (const double value : matrix) scale = std::max(scale, std::fabs(value));
  const double bound = 1e-13 * static_cast<double>(n);
  for (int64_t i = 0; i + 1 < n; ++i)
    EXPECT_GE(values[static_cast<size_t>(i)], values[static_cast<size_t>(i + 1)]);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double product = 0;
      double back = 0;
      for (int64_t k = 0; k < n; ++k) {
        product += entry(vectors, n, i, k) * entry(vectors, n, j, k);
        back += entry(vectors, n, k, i) * values[static_cast<size_t>(k)] * entry(vectors, n, k, j);
      }
      ASSERT_NEAR(product, i == j ? 1 : 0, bound);
      ASSERT_NEAR(back / scale, entry(matrix, n, i, j) / scale, bound);
    }
  expect_largest(matrix, n, values);
  *out = values;
}

/// Symmetric, entries without a pattern, `scale(i)` grading rows and columns.
template <class F>
std::vector<double> symmetric(int64_t n, F scale) {
  std::vector<double> matrix(static_cast<size_t>(n * n));
  uint64_t state = 3;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double value = (static_cast<double>(state >> 33) / 1e9 - 1) * scale(i) * scale(j);
      matrix[static_cast<size_t>(i * n + j)] = value;
      matrix[static_cast<size_t>(j * n + i)] = value;
    }
  return matrix;
}

TEST(Eigh, GivesTheMatrixBack) {
  std::vector<double> values;
  for (const int64_t n : {1, 2, 3, 4, 15, 64, 129}) {
    expect_decomposed(symmetric(n, [](int64_t) { return 1.0; }), n, &values);
    expect_decomposed(symmetric(n, [](int64_t i) { return std::pow(0.7, i); }), n, &values);
    expect_decomposed(symmetric(n, [](int64_t i) { return std::pow(1.4, i); }), n, &values);
  }
}

TEST(Eigh, TakesDiagonalZeroAndRepeatedValues) {
  std::vector<double> values;
  expect_decomposed(std::vector<double>(25, 0.0), 5, &values);
  std::vector<double> matrix(25, 0.0);
  for (size_t i = 0; i < 5; ++i) matrix[i * 6] = i == 3 ? 7 : 2;
  expect_decomposed(matrix, 5, &values);
  EXPECT_EQ(values, (std::vector<double>{7, 2, 2, 2, 2}));
  expect_decomposed(std::vector<double>(64, 1.5), 8, &values);  // rank one
  EXPECT_NEAR(values[0], 12, 1e-12);
  EXPECT_NEAR(values[7], 0, 1e-12);
}

TEST(Eigh, SeparatesPairsThatHardlyDiffer) {
  constexpr int64_t n = 21;  // Wilkinson's matrix, and two of it that do not touch
  for (const int64_t times : {1, 2}) {
    std::vector<double> matrix(static_cast<size_t>(n * n * times * times));
    for (int64_t i = 0; i < n * times; ++i) {
      const auto at = [&](int64_t j) -> double& {
        return matrix[static_cast<size_t>(i * n * times + j)];
      };
      at(i) = static_cast<double>(std::abs(i % n - n / 2));
      if (i % n > 0) at(i - 1) = 1;
      if (i % n + 1 < n) at(i + 1) = 1;
    }
    std::vector<double> values;
    expect_decomposed(matrix, n * times, &values);
  }
}

TEST(Eigh, KnowsASmallCase) {
  std::vector<double> values;
  expect_decomposed({2, 1, 1, 2}, 2, &values);
  EXPECT_NEAR(values[0], 3, 1e-15);
  EXPECT_NEAR(values[1], 1, 1e-15);
}

TEST(Eigh, TakesExtremeScales) {
  std::vector<double> values;
  expect_decomposed(symmetric(9, [](int64_t) { return 1e-140; }), 9, &values);
  expect_decomposed(symmetric(9, [](int64_t) { return 1e140; }), 9, &values);
}

TEST(Eigh, RefusesNan) {
  double matrix[4] = {1, 0, std::numeric_limits<double>::quiet_NaN(), 1};
  double values[2];
  double scratch[6];
  EXPECT_THROW(eigh(matrix, values, scratch, 2), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
