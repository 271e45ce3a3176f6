// SPDX-License-Identifier: Apache-2.0
// Running results against a plain loop.
#include "headrace/algo/scan/cumulative.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace hr {

namespace {

template <class T>
Column column_of(Dtype dtype, const std::vector<T>& values,
                 const std::vector<uint8_t>& valid = {}) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(T)));
  if (rows > 0) std::copy(values.begin(), values.end(), buffer.mutable_as<T>());
  if (valid.empty()) return Column(dtype, rows, std::move(buffer));
  Buffer bits = Buffer::allocate_zeroed((rows + 7) / 8);
  for (int64_t i = 0; i < rows; ++i)
    if (valid[static_cast<size_t>(i)]) bits.mutable_as<uint8_t>()[i / 8] |= uint8_t(1 << (i % 8));
  return Column(dtype, rows, std::move(buffer), std::move(bits), -1);
}

TEST(Cumulate, IntegersOfAllSizesMatchALoop) {
  std::mt19937_64 random(1);
  for (const size_t rows : {0, 1, 63, 64, 65, 131'072, 131'073, 400'000}) {
    std::vector<int64_t> values(rows);
    std::vector<uint8_t> valid(rows);
    for (size_t i = 0; i < rows; ++i) {
      values[i] = static_cast<int64_t>(random());
      valid[i] = random() % 5 > 0;
    }
    const Column column = column_of<int64_t>(TypeId::kInt64, values, valid);
    constexpr Aggregate kKinds[] = {Aggregate::kSum, Aggregate::kProduct, Aggregate::kMin,
                                    Aggregate::kMax};
    for (int k = 0; k < 4; ++k) {
      const Column got = cumulative(kKinds[k], column);
      ASSERT_EQ(got.null_count(), column.null_count());
      uint64_t total = k == 1;
      int64_t least = std::numeric_limits<int64_t>::max(), most = -least - 1;
      for (size_t i = 0; i < rows; ++i) {
        ASSERT_EQ(got.is_null(static_cast<int64_t>(i)), !valid[i]);
        if (!valid[i]) continue;
        const auto value = static_cast<uint64_t>(values[i]);
        total = k == 0 ? total + value : total * value;
        least = std::min(least, values[i]), most = std::max(most, values[i]);
        const int64_t wanted = k < 2 ? static_cast<int64_t>(total) : k == 2 ? least : most;
        ASSERT_EQ(got.values<int64_t>()[i], wanted) << k << " at " << i;
      }
    }
  }
}

TEST(Cumulate, FloatsSkipMissingOnesAndHaveTheSameBitsForAnyThreads) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Column small = cumulative(
      Aggregate::kSum, column_of<double>(TypeId::kFloat64, {1, nan, 2, 4}, {1, 1, 0, 1}));
  EXPECT_EQ(small.values<double>()[0], 1);
  EXPECT_TRUE(std::isnan(small.values<double>()[1]));
  EXPECT_TRUE(small.is_null(2));
  EXPECT_EQ(small.values<double>()[3], 5);
  std::mt19937_64 random(2);
  std::vector<float> values(500'000);
  for (float& value : values) value = static_cast<float>(random() % 1000) / 7 - 60;
  const Column column = column_of<float>(TypeId::kFloat32, values);
  const int before = threads();
  set_threads(1);
  const Column one = cumulative(Aggregate::kSum, column);
  set_threads(4);
  const Column four = cumulative(Aggregate::kSum, column);
  set_threads(before);
  EXPECT_EQ(one.dtype(), Dtype(TypeId::kFloat32));
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(one.values<float>()[i], four.values<float>()[i]);
    total += values[i];
  }
  EXPECT_NEAR(one.values<float>().back(), total, 1);
}

TEST(Cumulate, DtypesGrowAsSumsDoAndTextIsRefused) {
  const Column bytes = cumulative(Aggregate::kSum, column_of<uint8_t>(TypeId::kUInt8, {200, 100}));
  EXPECT_EQ(bytes.dtype(), Dtype(TypeId::kUInt64));
  EXPECT_EQ(bytes.values<uint64_t>()[1], 300u);
  const Column least =
      cumulative(Aggregate::kMin, column_of<int8_t>(TypeId::kInt8, {3, -4, 5}).slice(1, 2));
  EXPECT_EQ(least.dtype(), Dtype(TypeId::kInt8));
  EXPECT_EQ(least.values<int8_t>()[1], -4);
  EXPECT_THROW(aggregate_dtype(Aggregate::kSum, TypeId::kString, AggregateForm::kCumulative),
               TypeMismatchError);
  EXPECT_THROW(aggregate_dtype(Aggregate::kMin, TypeId::kBool, AggregateForm::kCumulative),
               TypeMismatchError);
}

}  // namespace

}  // namespace hr
