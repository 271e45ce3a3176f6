// SPDX-License-Identifier: Apache-2.0
// Statistics that mean something become bounds, others nothing.
#include "headrace/io/parquet/bounds.h"

#include "headrace/io/parquet/parquet_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hr::parquet {
namespace {

using testing::plain;

// Bounds of a file of one row group whose chunk has these statistics.
ColumnBounds bounds(const Leaf& leaf, const Statistics& statistics) {
  FileMetadata file;
  RowGroupMetadata group;
  group.chunks.push_back({.type = leaf.physical, .statistics = statistics});
  file.row_groups.push_back(group);
  return column_bounds(file, {.name = "x", .dtype = leaf.dtype, .leaf = leaf});
}

const Leaf kInt{.physical = PhysicalType::kInt32, .stored_bytes = 4, .dtype = TypeId::kInt32};
const Leaf kDouble{.physical = PhysicalType::kDouble, .stored_bytes = 8, .dtype = TypeId::kFloat64};
const Leaf kText{.physical = PhysicalType::kByteArray,
                 .dtype = TypeId::kString,
                 .conversion = Conversion::kText,
                 .is_signed_order = false};

TEST(Bounds, OfNumbers) {
  const std::string one = plain<int32_t>({1}), nine = plain<int32_t>({9});
  const ColumnBounds found = bounds(kInt, {.least = one, .most = nine, .null_count = 3});
  EXPECT_EQ(found.least.values<int32_t>()[0], 1);
  EXPECT_EQ(found.most.values<int32_t>()[0], 9);
  EXPECT_EQ(found.nulls.values<int64_t>()[0], 3);
  const ColumnBounds old = bounds(kInt, {.old_least = one, .old_most = nine});
  EXPECT_EQ(old.most.values<int32_t>()[0], 9);
  EXPECT_TRUE(old.nulls.is_null(0));
  Leaf other = kInt;
  other.is_signed_order = false;
  EXPECT_TRUE(bounds(other, {.old_least = one, .old_most = nine}).least.is_null(0));
  EXPECT_TRUE(bounds(kInt, {.least = one}).least.is_null(0));
  EXPECT_TRUE(bounds(kInt, {.least = "abc", .most = nine}).most.is_null(0));
}

TEST(Bounds, NaNMeansNothing) {
  const std::string one = plain<double>({1}), nan = plain<double>({std::nan("")});
  EXPECT_FALSE(bounds(kDouble, {.least = one, .most = one}).least.is_null(0));
  EXPECT_TRUE(bounds(kDouble, {.least = one, .most = nan}).least.is_null(0));
  EXPECT_TRUE(bounds(kDouble, {.least = nan, .most = one}).most.is_null(0));
}

TEST(Bounds, OfTextThatWasCut) {
  const ColumnBounds found = bounds(kText, {.least = "ab\xc3", .most = "x\xff"});
  EXPECT_EQ(found.least.string(0), "ab");
  EXPECT_TRUE(found.most.is_null(0));
  const std::string far(40, 'z');
  EXPECT_EQ(bounds(kText, {.least = "", .most = far}).most.string(0), far);
  EXPECT_TRUE(bounds(kText, {.old_least = "a", .old_most = "b"}).least.is_null(0));
}

}  // namespace
}  // namespace hr::parquet
