// SPDX-License-Identifier: Apache-2.0
// Records taken apart.
#include "headrace/exchange/structured_array.h"

#include "headrace/base/error.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

namespace hr {
namespace {

constexpr int64_t kRecord = 15;  // int32, float64 at byte 5, bool, two bytes of nothing

std::vector<std::byte> records(int64_t rows) {
  std::vector<std::byte> bytes(static_cast<size_t>(rows * kRecord));
  for (int64_t row = 0; row < rows; ++row) {
    std::byte* const record = bytes.data() + row * kRecord;
    const auto whole = static_cast<int32_t>(row * 3);
    const double real = static_cast<double>(row) / 4;
    std::memcpy(record, &whole, 4);
    std::memcpy(record + 5, &real, 8);
    record[4] = std::byte(row % 3 == 0);
  }
  return bytes;
}

constexpr std::array<RecordField, 3> kFields = {RecordField{TypeId::kInt32, 0},
                                                RecordField{TypeId::kFloat64, 5},
                                                RecordField{TypeId::kBool, 4}};

class SplitRecords : public testing::TestWithParam<int64_t> {};

TEST_P(SplitRecords, GivesEachFieldAsAColumn) {
  const int64_t rows = GetParam();
  const std::vector<std::byte> bytes = records(rows);
  const auto columns = split_records("test", bytes.data(), rows, kRecord, kRecord, kFields);
  ASSERT_EQ(columns.size(), 3u);
  for (int64_t row = 0; row < rows; ++row) {
    ASSERT_EQ(columns[0].values<int32_t>()[static_cast<size_t>(row)], row * 3);
    ASSERT_EQ(columns[1].values<double>()[static_cast<size_t>(row)], static_cast<double>(row) / 4);
    ASSERT_EQ(columns[2].bit(row), row % 3 == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SplitRecords, testing::Values(0, 1, 63, 64, 65, 300'000));

TEST(SplitRecords, WalksBackwards) {
  const std::vector<std::byte> bytes = records(5);
  const auto columns = split_records("test", bytes.data() + 4 * kRecord, 5, -kRecord, kRecord,
                                     std::span(kFields).first(1));
  EXPECT_EQ(columns[0].values<int32_t>()[0], 12);
  EXPECT_EQ(columns[0].values<int32_t>()[4], 0);
}

TEST(SplitRecords, MakesNullOfNoTime) {
  const int64_t times[] = {7, std::numeric_limits<int64_t>::min()};
  const RecordField field{Dtype::timestamp(TimeUnit::kMilli), 0};
  const auto columns = split_records("test", reinterpret_cast<const std::byte*>(times), 2, 8, 8,
                                     std::span(&field, 1));
  EXPECT_FALSE(columns[0].is_null(0));
  EXPECT_TRUE(columns[0].is_null(1));
}

TEST(SplitRecords, RefusesFieldsOutsideAndTexts) {
  const std::byte bytes[8] = {};
  const auto split = [&](RecordField field) {
    return split_records("test", bytes, 1, 8, 8, std::span(&field, 1));
  };
  EXPECT_THROW(split({TypeId::kInt64, 1}), InvalidArgumentError);
  EXPECT_THROW(split({TypeId::kInt8, -1}), InvalidArgumentError);
  EXPECT_THROW(split({TypeId::kString, 0}), TypeMismatchError);
}

}  // namespace
}  // namespace hr
