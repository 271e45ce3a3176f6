// SPDX-License-Identifier: Apache-2.0
// Row tiles read the same values from every source, and gram is its definition, bit for bit.
#include "headrace/algo/linalg/gram.h"

#include "headrace/algo/linalg/matmul.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

namespace hr {
namespace {

using testing::same_bits;

class Gram : public testing::SimdAndThreadsTest {};

template <class T>
Tensor random_matrix(int64_t rows, int64_t columns) {
  const auto value = [](uint64_t s) { return static_cast<double>(s >> 33) / 1073741824.0 + 2; };
  const Tensor flat = testing::tensor_of(testing::random_values<T>(rows * columns, 7, value));
  return Tensor(dtype_of<T>(), {rows, columns}, flat.buffer());
}

/// The same numbers, columns lying contiguous.
template <class T>
Tensor by_columns(const Tensor& x) {
  std::vector<T> values;
  for (int64_t j = 0; j < x.shape()[1]; ++j)
    for (int64_t i = 0; i < x.shape()[0]; ++i) values.push_back(x.as<T>()[i * x.shape()[1] + j]);
  return Tensor(x.dtype(), x.shape(), {1, x.shape()[0]}, testing::tensor_of(values).buffer(), 0);
}

template <class T>
std::vector<RowTiles> sources(const Tensor& x) {
  const Tensor turned = by_columns<T>(x);
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  std::vector<Column> parts;
  for (int64_t j = 0; j < columns; ++j)
    parts.push_back(
        as_column(Tensor(x.dtype(), {rows}, turned.buffer(), j * rows * int64_t{sizeof(T)})));
  const auto compute = [turned, rows, columns](int64_t first, int64_t count, double* out) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < count; ++i)
        out[j * count + i] = static_cast<double>(turned.as<T>()[j * rows + first + i]);
  };
  return {RowTiles(x), RowTiles(turned), RowTiles(parts), RowTiles(rows, columns, compute)};
}

TEST_F(Gram, TilesAreTheSameFromEverySource) {
  const Tensor x = random_matrix<float>(100, 7);
  const std::vector<double> shift{1, 2, 3, 4, 5, 6, 7}, scale{2, 3, 4, 5, 6, 7, 8};
  for (const RowTiles& tiles : sources<float>(x))
    for (const TileForm form : {TileForm::kRows, TileForm::kPoints})
      for (const int64_t count : {0, 1, 33, 60}) {
        std::vector<double> wide(static_cast<size_t>(count * 7));
        std::vector<float> narrow(wide.size());
        tiles.read(40, count, form, shift.data(), scale.data(), wide.data());
        tiles.read(40, count, form, nullptr, nullptr, narrow.data());
        for (int64_t i = 0; i < count; ++i)
          for (int64_t j = 0; j < 7; ++j) {
            const auto at =
                static_cast<size_t>(form == TileForm::kRows ? i * 7 + j : j * count + i);
            const auto column = static_cast<size_t>(j);
            const float value = x.as<float>()[(40 + i) * 7 + j];
            ASSERT_EQ(wide[at], (static_cast<double>(value) - shift[column]) * scale[column]);
            ASSERT_EQ(narrow[at], value);
          }
      }
}

TEST_F(Gram, IsAMatmulOfEachPart) {
  for (const int64_t columns : {1, 7, 33, 97, 300}) {
    const Tensor x = random_matrix<double>(600, columns);
    const Tensor turned(x.dtype(), {columns, 600}, {1, columns}, x.buffer(), 0);
    const Tensor expected = matmul(turned, x, TypeId::kFloat64);
    EXPECT_TRUE(same_bits(gram(RowTiles(x)), expected)) << columns;
  }
  const Tensor x = random_matrix<double>(20'000, 5);  // three parts
  std::vector<double> sums(25, 0.0);
  for (int64_t part = 0; part < 3; ++part) {
    const int64_t first = part * 8192, rows = std::min<int64_t>(8192, 20'000 - first);
    const Tensor some(x.dtype(), {rows, 5}, x.buffer(), first * 40);
    const Tensor turned(x.dtype(), {5, rows}, {1, 5}, x.buffer(), first * 40);
    const Tensor product = matmul(turned, some, TypeId::kFloat64);
    for (size_t i = 0; i < 25; ++i) sums[i] += product.as<double>()[i];
  }
  EXPECT_EQ(testing::values_of<double>(gram(RowTiles(x))), sums);
}

TEST_F(Gram, ShiftsAndWeighs) {
  const Tensor x = random_matrix<float>(1000, 3);
  const std::vector<double> shift{2, 2.5, 3};
  std::vector<double> weights;
  for (int i = 0; i < 1000; ++i) weights.push_back(i % 3);
  const Tensor each = testing::tensor_of(weights);
  const Tensor made = gram(RowTiles(x), {shift.data(), &each});
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 3; ++b) {
      double sum = 0;
      for (size_t i = 0; i < 1000; ++i)
        sum += weights[i] * (x.as<float>()[i * 3 + a] - shift[a]) *
               (x.as<float>()[i * 3 + b] - shift[b]);
      ASSERT_NEAR(made.as<double>()[a * 3 + b], sum, 1e-9);
    }
}

TEST_F(Gram, SecondMomentsAreOfMatricesSideBySide) {
  const Tensor x = random_matrix<float>(20'000, 3), y = random_matrix<double>(20'000, 2);
  std::vector<double> weights;
  for (int i = 0; i < 20'000; ++i) weights.push_back(1 + i % 3);
  const Tensor each = testing::tensor_of(weights);
  for (const Tensor* weight : {static_cast<const Tensor*>(nullptr), &each}) {
    const SecondMoments found = second_moments(RowTiles({x, y}), weight, true);
    const auto value = [&](size_t i, size_t j) {
      return j < 3 ? static_cast<double>(x.as<float>()[i * 3 + j]) : y.as<double>()[i * 2 + j - 3];
    };
    const auto own = [&](size_t i) { return weight == nullptr ? 1.0 : weights[i]; };
    std::vector<double> means(5);
    double total = 0;
    for (size_t i = 0; i < 20'000; ++i) {
      total += own(i);
      for (size_t j = 0; j < 5; ++j) means[j] += own(i) * value(i, j);
    }
    EXPECT_EQ(found.total, total);
    for (size_t j = 0; j < 5; ++j)
      EXPECT_NEAR(found.means.as<double>()[j], means[j] / total, 1e-12);
    for (size_t a = 0; a < 5; ++a)
      for (size_t b = 0; b < 5; ++b) {
        double sum = 0;
        for (size_t i = 0; i < 20'000; ++i)
          sum += own(i) * (value(i, a) - means[a] / total) * (value(i, b) - means[b] / total);
        ASSERT_NEAR(found.products.as<double>()[a * 5 + b], sum, 1e-7);
      }
    const SecondMoments plain = second_moments(RowTiles({x, y}), weight, false);
    EXPECT_EQ(testing::values_of<double>(plain.means), std::vector<double>(5, 0.0));
  }
  EXPECT_THROW(RowTiles({x, random_matrix<double>(3, 1)}), InvalidArgumentError);
}

TEST_F(Gram, SameBitsForAnySourceThreadsAndSimdLevel) {
  for (const int64_t columns : {20, 270}) {
    const Tensor x = random_matrix<float>(17'000, columns);
    set_threads(1);
    const Tensor one = gram(RowTiles(x));
    const Tensor sums = column_sums(RowTiles(x));
    for (const RowTiles& tiles : sources<float>(x)) {
      EXPECT_TRUE(same_bits(one, gram(tiles)));
      EXPECT_TRUE(same_bits(sums, column_sums(tiles)));
    }
    for (const int count : {2, 4})
      for (const SimdLevel level : {SimdLevel::kAvx2, best_simd_level()}) {
        set_threads(count);
        set_simd_level(std::min(level, best_simd_level()));
        EXPECT_TRUE(same_bits(one, gram(RowTiles(x))));
        EXPECT_TRUE(same_bits(sums, column_sums(RowTiles(x))));
      }
    set_simd_level(best_simd_level());
  }
}

TEST_F(Gram, OfNoRowsIsZeroAndRefusesWhatIsNoMatrix) {
  EXPECT_EQ(testing::values_of<double>(gram(RowTiles(random_matrix<double>(0, 2)))),
            std::vector<double>(4, 0.0));
  EXPECT_EQ(gram(RowTiles(random_matrix<double>(5, 0))).num_elements(), 0);
  EXPECT_THROW(RowTiles(testing::tensor_of<double>({1, 2})), TypeMismatchError);
  const Column one = as_column(testing::tensor_of<double>({1}));
  const Column two = as_column(testing::tensor_of<double>({1, 2}));
  EXPECT_THROW(RowTiles(std::vector<Column>{one, two}), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
