// SPDX-License-Identifier: Apache-2.0
// Bounds of strings that are cut stay bounds and stay UTF-8; guesses of how many are distinct.
#include "headrace/io/parquet/text_writer.h"

#include "headrace/base/utf8.h"
#include "headrace/io/parquet/distinct_guess.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace hr::parquet {
namespace {

TEST(TextBounds, ShortOnesAreExact) {
  const auto bounds = text_bounds("", "zz");
  ASSERT_TRUE(bounds);
  EXPECT_TRUE(bounds->is_exact);
  EXPECT_EQ(bounds->least, "");
  EXPECT_EQ(bounds->most, "zz");
}

TEST(TextBounds, LongOnesAreCutToBounds) {
  const std::string umlaut = "\xC3\xBC", last = "\xF4\x8F\xBF\xBF", edge = "\xC3\xBF";
  for (const std::string& unit :
       {std::string("a"), umlaut, std::string("\x7F"), edge, std::string("ab") + last})
    for (size_t shift = 0; shift < 4; ++shift) {
      std::string text(shift, 'b');
      while (text.size() < 300) text += unit;
      const auto bounds = text_bounds(text, text);
      ASSERT_TRUE(bounds);
      EXPECT_FALSE(bounds->is_exact);
      EXPECT_LE(bounds->least, text);
      EXPECT_GE(bounds->most, text);
      EXPECT_LE(bounds->least.size(), 64u);
      EXPECT_TRUE(is_valid_utf8(bounds->least));
      EXPECT_TRUE(is_valid_utf8(bounds->most));
    }
}

TEST(TextBounds, AnUpperBoundThatCannotBeCut) {
  std::string text;
  while (text.size() < 1000) text += "\xF4\x8F\xBF\xBF";
  EXPECT_EQ(text_bounds("a", text)->most, text);
  while (text.size() < 10'000) text += "\xF4\x8F\xBF\xBF";
  EXPECT_FALSE(text_bounds("a", text));
}

TEST(DistinctGuess, OfDrawsAtRandom) {
  for (const double distinct : {10.0, 1e3, 1e5, 1e6}) {
    const double found = distinct * -std::expm1(-65'536 / distinct);
    const double rows = 1 << 20;
    const double expected = distinct * -std::expm1(-rows / distinct);
    EXPECT_NEAR(guess_distinct(static_cast<int64_t>(found), 65'536, 1 << 20) / expected, 1, 0.1);
  }
  EXPECT_EQ(guess_distinct(5, 5, 100), 100);
}

TEST(DistinctGuess, Indices) {
  EXPECT_EQ(index_bits(0), 1);
  EXPECT_EQ(index_bits(1), 1);
  EXPECT_EQ(index_bits(2), 1);
  EXPECT_EQ(index_bits(3), 2);
  EXPECT_EQ(index_bits(256), 8);
  EXPECT_EQ(index_bits(257), 9);
  EXPECT_EQ(guess_index_bytes(256, 800, 800), 800);
  EXPECT_EQ(guess_index_bytes(256, 800, 10), 30);
}

}  // namespace
}  // namespace hr::parquet
