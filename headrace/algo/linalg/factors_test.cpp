// SPDX-License-Identifier: Apache-2.0
// Factors give their matrices back, with the same bits for any number of threads and SIMD level.
#include "headrace/algo/linalg/cholesky.h"
#include "headrace/algo/linalg/eigh.h"
#include "headrace/algo/linalg/lu.h"
#include "headrace/algo/linalg/matmul.h"
#include "headrace/algo/linalg/qr.h"
#include "headrace/algo/linalg/svd.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <cmath>

namespace hr {
namespace {

class Factors : public testing::SimdAndThreadsTest {};

Tensor random_matrix(int64_t rows, int64_t columns, uint64_t seed = 1) {
  const auto value = [](uint64_t s) { return static_cast<double>(s >> 33) / 1073741824.0 - 1; };
  const Tensor flat =
      testing::tensor_of(testing::random_values<double>(rows * columns, seed, value));
  return Tensor(TypeId::kFloat64, {rows, columns}, flat.buffer());
}

Tensor turned(const Tensor& x) {
  return Tensor(x.dtype(), {x.shape()[1], x.shape()[0]}, {x.strides()[1], x.strides()[0]},
                x.buffer(), x.byte_offset());
}

Tensor product(const Tensor& a, const Tensor& b) {
  return matmul(a, b, TypeId::kFloat64);
}

void expect_near(const Tensor& a, const Tensor& b, double bound) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.shape()[0]; ++i)
    for (int64_t j = 0; j < a.shape()[1]; ++j)
      ASSERT_NEAR(a.as<double>()[i * a.strides()[0] + j * a.strides()[1]],
                  b.as<double>()[i * b.strides()[0] + j * b.strides()[1]], bound)
          << i << ", " << j;
}

Tensor identity(int64_t size) {
  std::vector<double> values(static_cast<size_t>(size * size), 0.0);
  for (int64_t i = 0; i < size; ++i) values[static_cast<size_t>(i * (size + 1))] = 1;
  return Tensor(TypeId::kFloat64, {size, size}, testing::tensor_of(values).buffer());
}

TEST_F(Factors, GiveTheMatrixBack) {
  for (const int64_t size : {1, 2, 31, 32, 33, 64, 65, 257}) {
    const Tensor tall = random_matrix(2 * size + 3, size), square = random_matrix(size, size, 2);
    const Tensor gram = product(turned(tall), tall);
    const Tensor lower = cholesky(gram);
    expect_near(product(lower, turned(lower)), gram, 1e-11);
    expect_near(product(gram, solve_cholesky(lower, square)), square, 1e-8);
    expect_near(product(gram, solve(gram, square)), square, 1e-8);
    expect_near(product(gram, inv(gram)), identity(size), 1e-8);
    for (const Tensor& x : {tall, turned(tall), square}) {
      const Qr factors = qr(x);
      expect_near(product(factors.q, factors.r), x, 1e-12);
      expect_near(product(turned(factors.q), factors.q), identity(factors.q.shape()[1]), 1e-12);
    }
    const Tensor basis = tall_q(tall);
    expect_near(product(turned(basis), basis), identity(size), 1e-13);
    expect_near(product(basis, product(turned(basis), tall)), tall, 1e-12);
  }
}

TEST_F(Factors, TallQOfDependentColumnsIsOrthogonal) {
  const Tensor a = random_matrix(100, 3);
  const Tensor low = product(a, random_matrix(3, 8));  // of rank 3
  const Tensor basis = tall_q(low);
  expect_near(product(turned(basis), basis), identity(8), 1e-13);
  EXPECT_THROW(tall_q(random_matrix(3, 8)), InvalidArgumentError);
}

TEST_F(Factors, SameBitsForAnyThreadsAndSimdLevel) {
  const Tensor a = random_matrix(150, 130), b = random_matrix(130, 7, 2);
  const Tensor gram = product(turned(a), a);
  const auto make = [&] {
    const Svd parts = svd(a);
    return std::vector<Tensor>{cholesky(gram),
                               solve(gram, b),
                               qr(a).q,
                               parts.u,
                               parts.s,
                               parts.vh,
                               tall_q(a),
                               det(gram),
                               eigh(gram).vectors,
                               svd(a, SvdVectors::kNone).s,
                               eigh(gram, false).values};
  };
  set_threads(1);
  const std::vector<Tensor> one = make();
  for (const int count : {2, 4})
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, best_simd_level()}) {
      set_threads(count);
      set_simd_level(std::min(level, best_simd_level()));
      const std::vector<Tensor> many = make();
      for (size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(testing::same_bits(one[i], many[i])) << "factor " << i;
    }
}

TEST_F(Factors, OfPermutationsAreExact) {
  for (const int64_t size : {1, 7, 8, 9, 16, 17, 40, 129}) {
    std::vector<double> values(static_cast<size_t>(size * size), 0.0);
    std::vector<int64_t> places(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) places[static_cast<size_t>(i)] = i;
    double sign = 1;
    for (int64_t i = 0; i + 1 < size; ++i) {
      const int64_t other = i + 5 * i * i % (size - i);
      if (other == i) continue;
      std::swap(places[static_cast<size_t>(i)], places[static_cast<size_t>(other)]);
      sign = -sign;
    }
    for (int64_t i = 0; i < size; ++i)
      values[static_cast<size_t>(i * size + places[static_cast<size_t>(i)])] = i % 2 == 0 ? 1 : -1;
    const Tensor a(TypeId::kFloat64, {size, size}, testing::tensor_of(values).buffer());
    EXPECT_EQ(testing::values_of<double>(det(a))[0], size / 2 % 2 == 0 ? sign : -sign) << size;
    EXPECT_EQ(testing::values_of<double>(product(a, inv(a))),
              testing::values_of<double>(identity(size)));
  }
}

TEST_F(Factors, NameTheColumnOfTheirPivot) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const InvalidArgumentError& error) {
      return error.what();
    }
    return {};
  };
  std::vector<double> values(9, 1.0);
  values[0] = 2;  // the last two rows are equal
  const Tensor singular(TypeId::kFloat64, {3, 3}, testing::tensor_of(values).buffer());
  EXPECT_NE(message([&] { inv(singular); }).find("column=2"), std::string::npos);
  EXPECT_NE(message([&] { cholesky(singular); }).find("column=2"), std::string::npos);
  EXPECT_EQ(det(singular).as<double>()[0], 0);
  EXPECT_EQ(slogdet(singular).sign.as<double>()[0], 0);
  EXPECT_THROW(inv(random_matrix(2, 3)), InvalidArgumentError);
  EXPECT_THROW(solve(random_matrix(2, 2), random_matrix(3, 1)), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
