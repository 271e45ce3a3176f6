// SPDX-License-Identifier: Apache-2.0
// Machines by the conditions of the optimum, and sums of kernels against plain loops.
#include "headrace/learn/svm.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace hr {
namespace {

using testing::tensor_with_shape;

std::vector<double> noise(int64_t count, uint64_t state) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<double>(state >> 33) / 1073741824.0 - 1);
  }
  return values;
}

double plain(const Kernel& kernel, const double* a, const double* b, int64_t columns) {
  double product = 0, apart = 0;
  for (int64_t j = 0; j < columns; ++j) {
    product += a[j] * b[j];
    apart += (a[j] - b[j]) * (a[j] - b[j]);
  }
  switch (kernel.kind) {
    case KernelKind::kPolynomial:
      return std::pow(kernel.gamma * product + kernel.coef0, static_cast<double>(kernel.degree));
    case KernelKind::kRbf:
      return std::exp(-kernel.gamma * apart);
    case KernelKind::kSigmoid:
      return std::tanh(kernel.gamma * product + kernel.coef0);
    default:
      return product;
  }
}

constexpr KernelKind kKinds[] = {KernelKind::kLinear, KernelKind::kPolynomial, KernelKind::kRbf,
                                 KernelKind::kSigmoid};

using SvmTest = testing::SimdAndThreadsTest;

TEST_F(SvmTest, SumsOfKernelsAtAnyLevelAndThreads) {
  for (const KernelKind kind : kKinds)
    for (const int64_t columns : {1, 5, 300})
      for (const int64_t terms : {1, 47, 130})
        for (const int64_t rows : {1, 513}) {
          const std::vector<double> s = noise(terms * columns, 1), x = noise(rows * columns, 2);
          const std::vector<double> w = noise(2 * terms, 3);
          const Kernel kernel{kind, 0.3, 0.5, 3};
          Tensor first;
          for (const SimdLevel level : {SimdLevel::kBase, level_})
            for (const int count : {1, 4}) {
              set_simd_level(level);
              set_threads(count);
              const Tensor made = kernel_sums(tensor_with_shape(s, {terms, columns}),
                                              tensor_with_shape(w, {2, terms}),
                                              tensor_with_shape(x, {rows, columns}), kernel);
              if (first.num_elements() == 0) first = made;
              ASSERT_EQ(std::memcmp(made.data(), first.data(), static_cast<size_t>(rows) * 16), 0);
            }
          for (int64_t i = 0; i < rows; i += 101)
            for (int64_t o = 0; o < 2; ++o) {
              double sum = 0, size = 0;
              for (int64_t t = 0; t < terms; ++t) {
                const double term =
                    w[static_cast<size_t>(o * terms + t)] *
                    plain(kernel, s.data() + t * columns, x.data() + i * columns, columns);
                sum += term;
                size += std::fabs(term);
              }
              EXPECT_NEAR(first.as<double>()[i * 2 + o], sum, 1e-12 * (size + 1));
            }
        }
}

/// More variables than a working set: all conditions of the optimum hold within the tolerance, with
/// equal bits for any cache, level and threads.
TEST_F(SvmTest, TheOptimumOfManyRows) {
  constexpr int64_t kRows = 2500, kColumns = 3;
  const std::vector<double> x = noise(kRows * kColumns, 4), hidden = noise(kRows, 5);
  std::vector<double> signs(kRows), high(kRows, 2.0);
  std::vector<int64_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  for (size_t i = 0; i < kRows; ++i)
    signs[i] = x[3 * i] * x[3 * i + 1] + 0.3 * hidden[i] > 0 ? 1 : -1;
  const Kernel kernel{KernelKind::kRbf, 1.0, 0, 3};
  Tensor first;
  double offset = 0;
  for (const SimdLevel level : {SimdLevel::kBase, level_})
    for (const int64_t bytes : {int64_t{0}, int64_t{400000}, int64_t{1} << 30}) {
      set_simd_level(level);
      set_threads(bytes == 0 ? 1 : 3);
      const SvmSolution found =
          svm_classes(tensor_with_shape(x, {kRows, kColumns}), tensor_with_shape(rows, {kRows}),
                      tensor_with_shape(signs, {kRows}), tensor_with_shape(high, {kRows}),
                      {kernel, 1e-3, -1, bytes});
      EXPECT_TRUE(found.converged);
      if (first.num_elements() == 0) first = found.coefficients, offset = found.offset;
      ASSERT_EQ(std::memcmp(found.coefficients.data(), first.data(), kRows * sizeof(double)), 0);
      ASSERT_EQ(found.offset, offset);
    }
  const auto* b = first.as<double>();
  double sum = 0, least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < kRows; ++i) {
    double gradient = -signs[static_cast<size_t>(i)];
    for (int64_t j = 0; j < kRows; ++j)
      if (b[j] != 0)
        gradient += b[j] * plain(kernel, &x[3 * static_cast<size_t>(i)],
                                 &x[3 * static_cast<size_t>(j)], kColumns);
    const double low = signs[static_cast<size_t>(i)] > 0 ? 0 : -2;
    ASSERT_TRUE(b[i] >= low && b[i] <= low + 2);
    if (b[i] < low + 2) least = std::min(least, gradient);
    if (b[i] > low) most = std::max(most, gradient);
    sum += b[i];
  }
  EXPECT_NEAR(sum, 0, 1e-9);
  EXPECT_LE(most - least, 1.1e-3);
}

TEST(Svm, StopsAtTheMostSteps) {
  const Tensor x = tensor_with_shape(noise(40, 6), {20, 2}),
               targets = tensor_with_shape(noise(20, 7), {20});
  std::vector<int64_t> rows(20);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const Tensor all = tensor_with_shape(rows, {20}),
               high = tensor_with_shape(std::vector<double>(20, 1.0), {20});
  SvmOptions options{{KernelKind::kLinear}, 1e-3, 3, 0};
  const SvmSolution found = svm_numbers(x, all, targets, high, 0.01, options);
  EXPECT_EQ(found.steps, 3);
  EXPECT_FALSE(found.converged);
  rows[3] = 20;
  EXPECT_THROW(svm_numbers(x, tensor_with_shape(rows, {20}), targets, high, 0.01, options),
               InvalidArgumentError);
  options.kernel.kind = KernelKind::kPrecomputed;
  EXPECT_THROW(svm_numbers(x, all, targets, high, 0.01, options), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
