// SPDX-License-Identifier: Apache-2.0
// A round of coordinate descent against its formula, one row after another.
#include "headrace/learn/nmf.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace hr {
namespace {

using testing::matrix_of;

TEST(Nmf, SweepFollowsItsFormula) {
  constexpr int64_t kRows = 2055, kComponents = 3;
  const std::vector<double> hessian = {4, 1, 0, 1, 3, 0, 0, 0, 0};  // the last one stays
  std::vector<double> w, target;
  for (int64_t i = 0; i < kRows * kComponents; ++i) {
    w.push_back(static_cast<double>(i % 4));
    target.push_back(static_cast<double>(i % 11) - 3);
  }
  const NmfSweep made = nmf_sweep(matrix_of(w, kComponents), matrix_of(hessian, kComponents),
                                  matrix_of(target, kComponents));
  double violation = 0;
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t t = 0; t < kComponents; ++t) {
      double* row = w.data() + i * kComponents;
      double slope = -target[i * kComponents + t];
      for (int64_t r = 0; r < kComponents; ++r) slope += hessian[t * kComponents + r] * row[r];
      violation += std::abs(row[t] == 0 ? std::min(slope, 0.0) : slope);
      const double square = hessian[t * kComponents + t];
      if (square != 0) row[t] = std::max(row[t] - slope / square, 0.0);
    }
  EXPECT_EQ(std::memcmp(made.w.as<double>(), w.data(), w.size() * sizeof(double)), 0);
  EXPECT_NEAR(made.violation, violation, 1e-9 * violation);
}

TEST(Nmf, RefusesWhatDoesNotFit) {
  const Tensor w = matrix_of<double>({1, 2, 3, 4}, 2);
  EXPECT_THROW(nmf_sweep(w, matrix_of<double>({1, 2}, 2), w), InvalidArgumentError);
  EXPECT_THROW(nmf_sweep(w, w, matrix_of<double>({1, 2}, 2)), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
