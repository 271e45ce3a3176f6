// SPDX-License-Identifier: Apache-2.0
// Eigenvectors are orthonormal and give the matrix back.
#include "headrace/learn/symmetric_eigen.h"

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

void expect_decomposed(const std::vector<double>& matrix, int64_t n, std::vector<double>* out) {
  std::vector<double> vectors = matrix;
  std::vector<double> values(static_cast<size_t>(n));
  std::vector<double> scratch(static_cast<size_t>(2 * n));
  symmetric_eigen(vectors.data(), values.data(), scratch.data(), n);
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

TEST(SymmetricEigen, GivesTheMatrixBack) {
  std::vector<double> values;
  for (const int64_t n : {1, 2, 3, 4, 15, 64, 129}) {
    expect_decomposed(symmetric(n, [](int64_t) { return 1.0; }), n, &values);
    expect_decomposed(symmetric(n, [](int64_t i) { return std::pow(0.7, i); }), n, &values);
    expect_decomposed(symmetric(n, [](int64_t i) { return std::pow(1.4, i); }), n, &values);
  }
}

TEST(SymmetricEigen, TakesDiagonalZeroAndRepeatedValues) {
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

TEST(SymmetricEigen, KnowsASmallCase) {
  std::vector<double> values;
  expect_decomposed({2, 1, 1, 2}, 2, &values);
  EXPECT_NEAR(values[0], 3, 1e-15);
  EXPECT_NEAR(values[1], 1, 1e-15);
}

TEST(SymmetricEigen, TakesExtremeScales) {
  std::vector<double> values;
  expect_decomposed(symmetric(9, [](int64_t) { return 1e-140; }), 9, &values);
  expect_decomposed(symmetric(9, [](int64_t) { return 1e140; }), 9, &values);
}

TEST(SymmetricEigen, RefusesNan) {
  double matrix[4] = {1, 0, std::numeric_limits<double>::quiet_NaN(), 1};
  double values[2];
  double scratch[4];
  EXPECT_THROW(symmetric_eigen(matrix, values, scratch, 2), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
