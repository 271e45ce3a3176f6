// SPDX-License-Identifier: Apache-2.0
// Blended values against a branch on each bit.
#include "headrace/algo/bits/blend.h"

#include "headrace/base/bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hr {

namespace {

// Whether each value, and nothing past the last one, is what a branch gives.
template <class T, class Make>
void expect_blended(Make&& make) {
  std::mt19937_64 random(1);
  for (const int64_t count : {0, 1, 7, 8, 9, 63, 64, 65, 71, 72, 128, 200}) {
    for (const uint64_t one_in : {0, 1, 2, 5}) {  // 0: no bit is set
      const auto size = static_cast<size_t>(count);
      std::vector<T> values(size), others(size), made(size + 8, make(99));
      std::vector<uint64_t> valid(size / 64 + 1);
      for (size_t i = 0; i < size; ++i) {
        values[i] = make(random()), others[i] = make(random());
        if (one_in > 0 && random() % one_in == 0) valid[i / 64] |= uint64_t{1} << (i % 64);
      }
      if (one_in == 2) valid.back() |= count % 64 ? ~uint64_t{0} << (count % 64) : 0;  // past it
      blend(
          values.data(), valid.data(), count,
          [&](int64_t i) { return others.at(static_cast<size_t>(i)); }, made.data());
      for (size_t i = 0; i < size; ++i) {
        const bool keep = valid[i / 64] >> (i % 64) & 1;
        const T expected = keep ? values[i] : others[i];
        ASSERT_EQ(std::memcmp(&made[i], &expected, sizeof(T)), 0) << i << " of " << count;
      }
      const T untouched = make(99);
      for (size_t i = size; i < made.size(); ++i)
        ASSERT_EQ(std::memcmp(&made[i], &untouched, sizeof(T)), 0) << count;
    }
  }
}

TEST(Blend, MatchesABranchForEachWidth) {
  const auto integer = []<class T>(std::type_identity<T>) {
    expect_blended<T>([](uint64_t bits) { return static_cast<T>(bits); });
  };
  integer(std::type_identity<int8_t>{});
  integer(std::type_identity<uint8_t>{});
  integer(std::type_identity<int16_t>{});
  integer(std::type_identity<uint32_t>{});
  integer(std::type_identity<int64_t>{});
  expect_blended<std::array<uint64_t, 2>>(
      [](uint64_t bits) { return std::array<uint64_t, 2>{bits, ~bits}; });
}

TEST(Blend, KeepsTheBitsOfFloats) {
  expect_blended<float>([](uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); });
  expect_blended<double>([](uint64_t bits) { return std::bit_cast<double>(bits); });
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(choose(true, nan, 1.0)));
  EXPECT_EQ(choose(false, nan, 1.0), 1.0);
  EXPECT_TRUE(std::signbit(choose(true, -0.0, 1.0)));
}

TEST(Blend, ABitBecomesAByte) {
  for (uint64_t bits = 0; bits < 256; ++bits)
    for (int k = 0; k < 8; ++k)
      ASSERT_EQ(bytes_of_bits(0xAB00 + bits) >> (8 * k) & 0xFF, bits >> k & 1) << bits;
}

}  // namespace

}  // namespace hr
