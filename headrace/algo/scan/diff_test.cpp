// SPDX-License-Identifier: Apache-2.0
// diff equals its definition for every dtype, size and stride.
#include "headrace/algo/scan/diff.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {
namespace {

using namespace testing;

template <class T>
std::vector<T> some_values(int64_t count) {
  return random_values<T>(count, 1,
                          [](uint64_t state) { return static_cast<int64_t>(state >> 33) % 100; });
}

template <class T>
class Diff : public ::testing::Test {};

using RealTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                                   uint64_t, float, double>;
TYPED_TEST_SUITE(Diff, RealTypes);

TYPED_TEST(Diff, SubtractsNeighbours) {
  for (const int64_t size : edge_sizes())
    for (const int64_t stride : {1, 3, -1}) {
      const std::vector<TypeParam> values = some_values<TypeParam>(size);
      std::vector<TypeParam> expected;
      for (size_t i = 1; i < values.size(); ++i)
        expected.push_back(static_cast<TypeParam>(values[i] - values[i - 1]));
      const Tensor result = diff(tensor_of(values, stride));
      EXPECT_EQ(result.dtype(), dtype_of<TypeParam>());
      EXPECT_EQ(values_of<TypeParam>(result), expected) << "size " << size;
    }
}

TEST(DiffOfIntegers, WrapsAround) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values_of<int64_t>(diff(tensor_of<int64_t>({1, least}))),
            std::vector<int64_t>{std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(values_of<uint8_t>(diff(tensor_of<uint8_t>({2, 1}))), std::vector<uint8_t>{255});
}

TEST(DiffOfFloats, SpreadsNan) {
  const auto result = values_of<double>(diff(tensor_of<double>({1, NAN, 2, 5})));
  EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
  EXPECT_EQ(result[2], 3);
}

TEST(DiffOfFloats, IsTheSameForAnyThreads) {
  const Tensor x = tensor_of(some_values<float>(5 * kMorselRows + 3));
  EXPECT_TRUE(same_for_any_threads([&] { return diff(x); }));
}

TEST(DiffOfColumns, IsNullWhereEitherIs) {
  for (const int64_t rows : edge_sizes())
    for (const int64_t periods : {0, 1, -1, 3, -70, 1000})
      for (const bool has_nulls : {false, true}) {
        const std::vector<int64_t> values = some_values<int64_t>(rows + 5);
        Buffer data = Buffer::allocate(8 * (rows + 5));
        std::ranges::copy(values, data.mutable_as<int64_t>());
        Buffer validity;
        if (has_nulls) {
          validity = Buffer::allocate_zeroed(bitmap_bytes(rows + 5));
          for (int64_t row = 0; row < rows + 5; ++row)
            set_bit(validity.mutable_as<uint8_t>(), row, row % 7 != 3);
        }
        const Column whole(TypeId::kInt64, rows + 5, data, validity, -1);
        const Column x = whole.slice(5, rows), made = diff(x, periods);
        ASSERT_EQ(made.num_rows(), rows);
        int64_t nulls = 0;
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t other = row - periods;
          const bool is_null = other < 0 || other >= rows || x.is_null(row) || x.is_null(other);
          nulls += is_null;
          ASSERT_EQ(made.is_null(row), is_null) << row << " of " << rows << ", " << periods;
          if (is_null) continue;
          EXPECT_EQ(made.values<int64_t>()[static_cast<size_t>(row)],
                    x.values<int64_t>()[static_cast<size_t>(row)] -
                        x.values<int64_t>()[static_cast<size_t>(other)]);
        }
        EXPECT_EQ(made.null_count(), nulls);
      }
}

TEST(DiffOfOthers, IsRefused) {
  EXPECT_THROW(diff(Column(TypeId::kBool, 2, Buffer::allocate_zeroed(1)), 1), TypeMismatchError);
  EXPECT_THROW(diff(Tensor(TypeId::kBool, {2}, Buffer::allocate_zeroed(2))), TypeMismatchError);
  EXPECT_THROW(diff(Tensor(TypeId::kFloat64, {2, 2}, Buffer::allocate_zeroed(32))),
               TypeMismatchError);
}

}  // namespace
}  // namespace hr
