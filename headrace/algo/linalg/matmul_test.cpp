// SPDX-License-Identifier: Apache-2.0
// matmul against its definition: k in order by fma, in blocks of 256 that are added in order.
#include "headrace/algo/linalg/matmul.h"

#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <cmath>
#include <limits>

namespace hr {
namespace {

using testing::random_values;
using testing::same_bits;
using testing::values_of;

class Matmul : public testing::SimdAndThreadsTest {};

template <class T>
Tensor random_matrix(Shape shape, uint64_t seed) {
  const Tensor flat =
      testing::tensor_of(random_values<T>(num_elements(shape), seed, [](uint64_t s) {
        return static_cast<double>(s >> 33) / 1073741824.0 - 1;
      }));
  return Tensor(dtype_of<T>(), std::move(shape), flat.buffer());
}

template <class T>
Tensor transposed(const Tensor& x) {
  return Tensor(x.dtype(), {x.shape()[1], x.shape()[0]}, {x.strides()[1], x.strides()[0]},
                x.buffer(), x.byte_offset());
}

template <class T, class From>
std::vector<T> by_definition(const Tensor& a, const Tensor& b) {
  std::vector<T> made;
  for (int64_t i = 0; i < a.shape()[0]; ++i)
    for (int64_t j = 0; j < b.shape()[1]; ++j) {
      T total = 0;
      for (int64_t k = 0; k < a.shape()[1]; k += 256) {
        T sum = 0;
        for (int64_t l = k; l < std::min(k + 256, a.shape()[1]); ++l)
          sum =
              std::fma(static_cast<T>(a.as<From>()[i * a.strides()[0] + l * a.strides()[1]]),
                       static_cast<T>(b.as<From>()[l * b.strides()[0] + j * b.strides()[1]]), sum);
        total = k == 0 ? sum : total + sum;
      }
      made.push_back(total);
    }
  return made;
}

template <class T, class From = T>
void check(int64_t rows, int64_t columns, int64_t depth) {
  const Tensor a = random_matrix<From>({rows, depth}, 1),
               b = random_matrix<From>({depth, columns}, 2);
  const Tensor a_turned = transposed<From>(random_matrix<From>({depth, rows}, 1));
  const Tensor b_turned = transposed<From>(random_matrix<From>({columns, depth}, 2));
  for (const Tensor& left : {a, a_turned})
    for (const Tensor& right : {b, b_turned})
      ASSERT_EQ(values_of<T>(matmul(left, right, dtype_of<T>())),
                (by_definition<T, From>(left, right)))
          << rows << " x " << columns << " x " << depth;
}

TEST_F(Matmul, IsItsDefinitionBitForBit) {
  for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level > best_simd_level()) continue;
    set_simd_level(level);
    for (const auto& [rows, columns] : {std::pair{1, 1},
                                        {1, 40},
                                        {40, 1},
                                        {2, 7},
                                        {7, 2},
                                        {5, 8},
                                        {13, 33},
                                        {25, 64},
                                        {97, 17},
                                        {67, 1},
                                        {96, 1}})
      for (const int64_t depth : {1, 2, 63, 255, 256, 257, 1024, 1100}) {
        check<double>(rows, columns, depth);
        check<float>(rows, columns, depth);
        check<double, float>(rows, columns, depth);
      }
  }
}

TEST_F(Matmul, SameBitsForAnyThreadsAndSimdLevel) {
  for (const auto& [rows, columns, depth] : {std::tuple{200, 2100, 300},
                                             {300, 100, 600},
                                             {500, 1, 700},
                                             {20, 30, 9000},
                                             {700, 5, 260}}) {
    const Tensor a = random_matrix<float>({rows, depth}, 3);
    const Tensor b = random_matrix<float>({depth, columns}, 4);
    set_threads(1);
    set_simd_level(best_simd_level());
    const Tensor one = matmul(a, b, TypeId::kFloat32);
    for (const int count : {1, 2, 4})
      for (const SimdLevel level : {SimdLevel::kAvx2, best_simd_level()}) {
        set_threads(count);
        set_simd_level(std::min(level, best_simd_level()));
        EXPECT_TRUE(same_bits(one, matmul(a, b, TypeId::kFloat32)));
      }
  }
}

TEST_F(Matmul, StacksBroadcast) {
  const Tensor a = random_matrix<double>({3, 1, 4, 5}, 1), b = random_matrix<double>({2, 5, 6}, 2);
  const Tensor made = matmul(a, b, TypeId::kFloat64);
  ASSERT_EQ(made.shape(), (Shape{3, 2, 4, 6}));
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j) {
      const Tensor left(a.dtype(), {4, 5}, a.buffer(), i * 20 * 8);
      const Tensor right(b.dtype(), {5, 6}, b.buffer(), j * 30 * 8);
      const std::vector<double> expected = values_of<double>(matmul(left, right, TypeId::kFloat64));
      EXPECT_EQ(std::memcmp(expected.data(), made.as<double>() + (i * 2 + j) * 24, 24 * 8), 0);
    }
}

TEST_F(Matmul, UpdatesWhatIsThere) {
  const Tensor a = random_matrix<double>({9, 600}, 1), b = random_matrix<double>({600, 20}, 2);
  const std::vector<double> product = values_of<double>(matmul(a, b, TypeId::kFloat64));
  std::vector<double> sums(9 * 24, 1.0);
  const MatrixView<double> out{sums.data(), 9, 20, 24};
  multiply(AnyMatrix(a), AnyMatrix(b), out, Update::kAdd);
  for (size_t i = 0; i < 9; ++i)
    for (size_t j = 0; j < 20; ++j) ASSERT_NEAR(sums[i * 24 + j], 1 + product[i * 20 + j], 1e-12);
  EXPECT_EQ(sums[20], 1.0);  // between the rows
  multiply(AnyMatrix(a), AnyMatrix(b), out, Update::kSubtract);
  for (size_t i = 0; i < 9; ++i) ASSERT_NEAR(sums[i * 24], 1.0, 1e-12);
}

TEST_F(Matmul, IntegersWrapAndNansSpread) {
  const auto square = [](const std::vector<int64_t>& values) {
    return Tensor(TypeId::kInt64, {2, 2}, testing::tensor_of(values).buffer());
  };
  const Tensor product =
      matmul(square({int64_t{1} << 62, 0, 1, 4}), square({4, 2, 0, 1}), TypeId::kInt64);
  EXPECT_EQ(values_of<int64_t>(product),
            (std::vector<int64_t>{0, std::numeric_limits<int64_t>::min(), 4, 6}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x(TypeId::kFloat64, {2, 2}, testing::tensor_of<double>({1, nan, 2, 3}).buffer());
  const Tensor y(TypeId::kFloat64, {2, 1}, testing::tensor_of<double>({1, 1}).buffer());
  const std::vector<double> made = values_of<double>(matmul(x, y, TypeId::kFloat64));
  EXPECT_TRUE(std::isnan(made[0]));
  EXPECT_EQ(made[1], 5);
}

TEST_F(Matmul, EmptySidesAndWrongShapes) {
  const Tensor none = random_matrix<double>({3, 0}, 1), right = random_matrix<double>({0, 2}, 1);
  EXPECT_EQ(values_of<double>(matmul(none, right, TypeId::kFloat64)), std::vector<double>(6, 0.0));
  EXPECT_EQ(matmul(right, random_matrix<double>({2, 4}, 1), TypeId::kFloat64).shape(),
            (Shape{0, 4}));
  EXPECT_THROW(matmul(none, none, TypeId::kFloat64), InvalidArgumentError);
  EXPECT_THROW(matmul(testing::tensor_of<double>({1, 2}), none, TypeId::kFloat64),
               TypeMismatchError);
  EXPECT_THROW(matmul(none, right, TypeId::kInt32), TypeMismatchError);
}

}  // namespace
}  // namespace hr
