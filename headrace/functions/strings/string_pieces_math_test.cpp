// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/string_pieces_math.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace hr {
namespace {

// Few letters, so that parts are found and prefixes are shared; high bytes too.
std::string random_text(std::mt19937& random, size_t most) {
  std::string text;
  for (size_t k = random() % (most + 1); k > 0; --k) text += "ab\xC3"[random() % 3];
  return text;
}

TEST(StringPieces, TestsAreThoseOfTheStandardLibrary) {
  std::mt19937 random(1);
  for (int k = 0; k < 20'000; ++k) {
    const std::string text = random_text(random, 20);
    const std::string part = random_text(random, 4);
    EXPECT_EQ(starts_with_part(text, part), text.starts_with(part));
    EXPECT_EQ(ends_with_part(text, part), text.ends_with(part));
    EXPECT_EQ(contains_part(text, part), text.find(part) != std::string::npos);
    const int order = text.compare(part);
    EXPECT_EQ(order_of(text, part), (order > 0) - (order < 0));
  }
}

TEST(StringPieces, CharactersCountAsInPython) {
  EXPECT_EQ(characters_of(""), 0);
  EXPECT_EQ(characters_of("na\xC3\xAFve"), 5);
  EXPECT_EQ(slice_of("na\xC3\xAFve", 1, 3), "a\xC3\xAF");
  EXPECT_EQ(slice_of("na\xC3\xAFve", -2, 9), "ve");
  EXPECT_EQ(slice_of("abc", 2, 1), "");
  const auto is_blank = [](uint32_t code) { return is_space(code); };
  EXPECT_EQ(stripped(" \xC2\xA0 a b\t", true, true, is_blank), "a b");
  EXPECT_EQ(stripped("  ", true, true, is_blank), "");
  EXPECT_EQ(stripped(" a ", false, true, is_blank), " a");
}

}  // namespace
}  // namespace hr
