// SPDX-License-Identifier: Apache-2.0
// What is written is read back: each width, runs of all lengths, bits from any place of a bitmap.
#include "headrace/io/parquet/hybrid_writer.h"

#include "headrace/base/bits.h"
#include "headrace/io/parquet/hybrid.h"
#include "headrace/io/parquet/parquet_testing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace hr::parquet {
namespace {

std::vector<uint32_t> some_values(std::mt19937& random, int width, int kind) {
  const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << width) - 1);
  std::vector<uint32_t> values;
  while (values.size() < 3000) {
    const bool is_run = kind == 0 ? false : kind == 1 ? true : random() % 4 == 0;
    const size_t count = 1 + random() % (is_run ? 60 : 20);
    const auto value = static_cast<uint32_t>(random()) & mask;
    for (size_t i = 0; i < count; ++i)
      values.push_back(is_run ? value : static_cast<uint32_t>(random()) & mask);
  }
  return values;
}

TEST(HybridWriter, EachWidthIsReadBack) {
  std::mt19937 random(1);
  for (int width = 1; width <= 32; ++width)
    for (int kind = 0; kind < 3; ++kind) {
      const std::vector<uint32_t> all = some_values(random, width, kind);
      for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{15}, size_t{16},
                                 size_t{63}, size_t{64}, size_t{65}, all.size()}) {
        ByteBuffer out;
        append_hybrid(all.data(), static_cast<int64_t>(count), width, out);
        HybridReader in(out.view(), width);
        std::vector<uint32_t> read(count);
        in.read(static_cast<int64_t>(count), read.data());
        ASSERT_TRUE(std::equal(read.begin(), read.end(), all.begin())) << width << " " << count;
        EXPECT_LE(out.size(), static_cast<int64_t>((count + 7) / 8) * width + 10 +
                                  static_cast<int64_t>(count) / 16 * 16);
      }
    }
}

TEST(HybridWriter, LongRunsTakeFewBytes) {
  const std::vector<uint32_t> same(100'000, 5);
  ByteBuffer out;
  append_hybrid(same.data(), std::ssize(same), 3, out);
  EXPECT_EQ(out.size(), 4);
  EXPECT_EQ(out.view(), testing::repeated_run(100'000, 5, 3));
}

TEST(HybridWriter, BitsFromAnyPlace) {
  std::mt19937 random(2);
  std::vector<uint8_t> bitmap(200);
  for (size_t i = 0; i < bitmap.size(); ++i)
    bitmap[i] = i < 40 ? 255 : i < 80 ? 0 : static_cast<uint8_t>(random());
  for (const int64_t first : {0, 1, 7, 63, 64, 300})
    for (const int64_t count : {0, 1, 63, 64, 65, 128, 1000, 1200}) {
      ByteBuffer out;
      append_hybrid_bits(bitmap.data(), first, count, out);
      std::vector<uint64_t> read(static_cast<size_t>(count / 64 + 2));
      HybridReader in(out.view(), 1);
      if (count > 0) in.read_bits(count, read.data(), 0);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(get_bit(reinterpret_cast<const uint8_t*>(read.data()), i),
                  get_bit(bitmap.data(), first + i))
            << first << " " << count << " " << i;
    }
}

TEST(HybridWriter, WidePackedValues) {
  std::mt19937_64 random(3);
  for (int width = 0; width <= 64; ++width) {
    std::vector<uint64_t> values(101);
    for (uint64_t& each : values) each = width == 0 ? 0 : random() >> (64 - width);
    ByteBuffer out;
    append_packed(values.data(), std::ssize(values), width, out);
    EXPECT_EQ(out.view(), testing::packed(values, width)) << width;
  }
}

}  // namespace
}  // namespace hr::parquet
