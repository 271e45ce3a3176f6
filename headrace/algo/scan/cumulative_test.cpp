// SPDX-License-Identifier: Apache-2.0
// Running results against a plain loop.
#include "headrace/algo/scan/cumulative.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
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

// Reads groups from a vector.
ReadGroups from(const std::vector<uint32_t>& groups) {
  return [&groups](int64_t row, int64_t count, uint32_t* out) {
    ASSERT_LE(count, kBlockRows);
    std::copy_n(groups.begin() + row, count, out);
  };
}

TEST(CumulateInGroups, IntegersOfAllSizesMatchALoop) {
  constexpr int64_t kGroups = 5, kMissing = 3, kBefore = 2;  // rows that a slice leaves out
  std::mt19937_64 random(3);
  for (const size_t rows : {0, 1, 63, 64, 65, 1025, 131'072, 131'073, 400'000}) {
    std::vector<int64_t> values(rows + kBefore);
    std::vector<uint8_t> valid(rows + kBefore);
    std::vector<uint32_t> groups(rows);
    for (int64_t& value : values) value = static_cast<int64_t>(random());
    for (uint8_t& bit : valid) bit = random() % 5 > 0;
    for (uint32_t& group : groups) group = random() % 50 == 0 ? 4 : random() % 4;
    const Column column = column_of<int64_t>(TypeId::kInt64, values, valid)
                              .slice(kBefore, static_cast<int64_t>(rows));
    constexpr Aggregate kKinds[] = {Aggregate::kSum, Aggregate::kProduct, Aggregate::kMin,
                                    Aggregate::kMax};
    for (int k = 0; k < 4; ++k) {
      for (const int64_t missing : {int64_t{-1}, kMissing}) {
        const Column got = cumulative(kKinds[k], column, from(groups), kGroups, missing, {});
        std::map<uint32_t, int64_t> totals;
        int64_t nulls = 0;
        for (size_t i = 0; i < rows; ++i) {
          const bool has = valid[i + kBefore] && groups[i] != missing;
          nulls += !has;
          ASSERT_EQ(got.is_null(static_cast<int64_t>(i)), !has) << i << " of " << rows;
          if (!has) continue;
          const int64_t value = values[i + kBefore];
          const auto [at, is_first] = totals.emplace(groups[i], value);
          const auto a = static_cast<uint64_t>(at->second), b = static_cast<uint64_t>(value);
          if (!is_first)
            at->second = k == 0   ? static_cast<int64_t>(a + b)
                         : k == 1 ? static_cast<int64_t>(a * b)
                         : k == 2 ? std::min(at->second, value)
                                  : std::max(at->second, value);
          ASSERT_EQ(got.values<int64_t>()[i], at->second) << k << " at " << i << " of " << rows;
        }
        ASSERT_EQ(got.null_count(), nulls);
      }
    }
  }
}

TEST(CumulateInGroups, FloatsAddAsWithoutGroupsForAnyThreads) {
  std::mt19937_64 random(4);
  const size_t rows = 500'000;
  std::vector<double> values(rows);
  std::vector<uint8_t> valid(rows);
  std::vector<uint32_t> one(rows), two(rows);
  for (size_t i = 0; i < rows; ++i) {
    values[i] = static_cast<double>(random() % 1000) / 7;
    if (random() % 9 == 0) values[i] = std::numeric_limits<double>::quiet_NaN();
    valid[i] = random() % 7 > 0, two[i] = i % 2;
  }
  const Column column = column_of<double>(TypeId::kFloat64, values, valid);
  const Column whole = cumulative(Aggregate::kSum, column);
  const auto bits_of = [](const Column& made) {
    std::vector<uint64_t> bits(static_cast<size_t>(made.num_rows()));
    std::memcpy(bits.data(), made.values<double>().data(), 8 * bits.size());
    for (size_t i = 0; i < bits.size(); ++i)
      if (made.is_null(static_cast<int64_t>(i))) bits[i] = 1;
    return bits;
  };
  const int before = threads();
  std::vector<std::vector<uint64_t>> made;
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    EXPECT_TRUE(bits_of(cumulative(Aggregate::kSum, column, from(one), 1, -1, {})) ==
                bits_of(whole));
    made.push_back(bits_of(cumulative(Aggregate::kSum, column, from(two), 2, -1, {})));
  }
  set_threads(before);
  EXPECT_TRUE(made[0] == made[1]);
  EXPECT_TRUE(made[0] == made[2]);
}

TEST(CumulateInGroups, BoolsTimesAndOtherDtypes) {
  const std::vector<uint32_t> groups{0, 1, 0, 1};
  Buffer bits = Buffer::allocate_zeroed(1);
  bits.mutable_as<uint8_t>()[0] = 0b1101;
  const Column bools(TypeId::kBool, 4, std::move(bits));
  const Column sums = cumulative(Aggregate::kSum, bools, from(groups), 2, -1, {});
  EXPECT_EQ(sums.dtype(), Dtype(TypeId::kInt64));
  EXPECT_EQ(std::vector<int64_t>(sums.values<int64_t>().begin(), sums.values<int64_t>().end()),
            (std::vector<int64_t>{1, 0, 2, 1}));
  const Dtype times = dtype_from_name("datetime64[us]");
  const Column last = cumulative(Aggregate::kMax, column_of<int64_t>(times, {5, -7, 3, -9}),
                                 from(groups), 2, -1, {});
  EXPECT_EQ(last.dtype(), times);
  EXPECT_EQ(last.with_dtype(TypeId::kInt64).values<int64_t>()[2], 5);
  EXPECT_EQ(last.with_dtype(TypeId::kInt64).values<int64_t>()[3], -7);
  const Column floats = cumulative(
      Aggregate::kMin, column_of<float>(TypeId::kFloat32, {2, 1, NAN, 3}), from(groups), 2, 1, {});
  EXPECT_EQ(floats.dtype(), Dtype(TypeId::kFloat32));
  EXPECT_TRUE(std::isnan(floats.values<float>()[2]));
  EXPECT_FALSE(floats.is_null(2));
  EXPECT_TRUE(floats.is_null(1));
  EXPECT_THROW(cumulative(Aggregate::kMin, Column::strings(0, {}, {}), from(groups), 2, -1, {}),
               TypeMismatchError);
}

}  // namespace

}  // namespace hr
