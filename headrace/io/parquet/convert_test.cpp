// SPDX-License-Identifier: Apache-2.0
// Stored values to ours: the ends of each range, and what lies behind them.
#include "headrace/io/parquet/convert.h"

#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr::parquet {
namespace {

__extension__ using Int128 = __int128;

template <class To, class From>
std::vector<To> converted(const Leaf& leaf, const std::vector<From>& stored) {
  std::vector<To> out(stored.size());
  convert(leaf, reinterpret_cast<const std::byte*>(stored.data()),
          static_cast<int64_t>(stored.size()), reinterpret_cast<std::byte*>(out.data()));
  return out;
}

TEST(Convert, NarrowIntegers) {
  Leaf leaf{.stored_bytes = 4, .dtype = TypeId::kInt8, .conversion = Conversion::kNarrow};
  EXPECT_EQ((converted<int8_t, int32_t>(leaf, {-128, 0, 127})),
            (std::vector<int8_t>{-128, 0, 127}));
  EXPECT_THROW((converted<int8_t, int32_t>(leaf, {0, 128})), Refusal);
  leaf.dtype = TypeId::kUInt16;
  EXPECT_EQ((converted<uint16_t, int32_t>(leaf, {0, 65535})), (std::vector<uint16_t>{0, 65535}));
  EXPECT_THROW((converted<uint16_t, int32_t>(leaf, {-1})), Refusal);
}

TEST(Convert, Halves) {
  const Leaf leaf{.stored_bytes = 2, .dtype = TypeId::kFloat32, .conversion = Conversion::kHalf};
  const std::vector<float> out = converted<float, uint16_t>(
      leaf,
      {0x0000, 0x8000, 0x3C00, 0xC000, 0x7BFF, 0x0001, 0x03FF, 0x0400, 0x7C00, 0xFC00, 0x7E00});
  const float expected[] = {0.F,      -0.F,     1.F,      -2.F, 65504.F, 0x1p-24F, 1023 * 0x1p-24F,
                            0x1p-14F, INFINITY, -INFINITY};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(out[i], expected[i]) << i;
  EXPECT_TRUE(std::signbit(out[1]));
  EXPECT_TRUE(std::isnan(out[10]));
}

TEST(Convert, Int96) {
  const Leaf leaf{.physical = PhysicalType::kInt96,
                  .stored_bytes = 12,
                  .dtype = Dtype::timestamp(TimeUnit::kNano),
                  .conversion = Conversion::kInt96};
  const auto of = [&](int64_t nanos, int32_t day) {
    std::byte stored[12];
    std::memcpy(stored, &nanos, 8);
    std::memcpy(stored + 8, &day, 4);
    int64_t out;
    convert(leaf, stored, 1, reinterpret_cast<std::byte*>(&out));
    return out;
  };
  EXPECT_EQ(of(5, 2'440'588), 5);
  EXPECT_EQ(of(1, 2'440'587), 1 - int64_t{86'400} * 1'000'000'000);
  EXPECT_THROW(of(0, 0), Refusal);
  EXPECT_THROW(of(std::numeric_limits<int64_t>::max(), 2'440'589), Refusal);
}

TEST(Convert, Decimals) {
  const auto of = [](std::string_view bytes) {
    Int128 out;
    decimal_of_bytes(bytes, reinterpret_cast<std::byte*>(&out));
    return out;
  };
  EXPECT_EQ(of(""), 0);
  EXPECT_EQ(of("\x7f"), 127);
  EXPECT_EQ(of("\xff"), -1);
  EXPECT_EQ(of(std::string_view("\xff\x00", 2)), -256);
  const std::string least = "\x80" + std::string(15, '\0');
  EXPECT_EQ(of(least), std::numeric_limits<Int128>::min());
  EXPECT_EQ(of("\xff" + least), std::numeric_limits<Int128>::min());
  EXPECT_THROW(of(std::string(1, '\0') + least), Refusal);
  EXPECT_THROW(of("\x01" + std::string(16, '\0')), Refusal);
  const Leaf leaf{
      .stored_bytes = 4, .dtype = Dtype::decimal(9, 2), .conversion = Conversion::kDecimal};
  EXPECT_EQ((converted<Int128, int32_t>(leaf, {-5, 7})), (std::vector<Int128>{-5, 7}));
  EXPECT_THROW((converted<Int128, int32_t>(leaf, {1'000'000'000})), Refusal);
  EXPECT_THROW((converted<Int128, int32_t>(leaf, {7, -1'000'000'000})), Refusal);
  EXPECT_NO_THROW((converted<Int128, int32_t>(leaf, {-999'999'999, 999'999'999})));
}

TEST(Convert, Uuids) {
  std::byte bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<std::byte>(17 * i);
  char out[kUuidCharacters];
  format_uuid(bytes, out);
  EXPECT_EQ(std::string_view(out, sizeof out), "00112233-4455-6677-8899-aabbccddeeff");
  const auto again = parse_uuid({out, sizeof out});
  ASSERT_TRUE(again);
  EXPECT_TRUE(std::equal(again->begin(), again->end(), bytes));
  for (const std::string_view other :
       {"", "00112233-4455-6677-8899-aabbccddeef", "00112233-4455-6677-8899-AABBCCDDEEFF",
        "00112233-4455-6677-8899-aabbccddeefg", "001122334455-6677-8899-aabbccddee-ff"})
    EXPECT_FALSE(parse_uuid(other)) << other;
}

}  // namespace
}  // namespace hr::parquet
