// SPDX-License-Identifier: Apache-2.0
// The checks by words and vectors, compared with one sequence after the other.
#include "headrace/base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hr {
namespace {

// The vectors find what a loop over sequences finds.
TEST(Utf8, TheQuickLookIsRight) {
  const std::vector<std::string> pieces = {"a",
                                           "\xC3\xA9",
                                           "\xE6\xBC\xA2",
                                           "\xF0\x9F\x98\x80",
                                           "\xED\x9F\xBF",
                                           "\xF4\x8F\xBF\xBF",
                                           "\x80",
                                           "\xFF",
                                           "\xC0\x80",
                                           "\xC1\xBF",
                                           "\xE0\x80\x80",
                                           "\xED\xA0\x80",
                                           "\xF0\x80\x80\x80",
                                           "\xF4\x90\x80\x80",
                                           "\xF5\x80\x80\x80",
                                           "\xE2\x82",
                                           "\xF0\x9F\x98",
                                           "\xC3"};
  uint64_t state = 7;
  const auto next = [&state](uint64_t below) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % below;
  };
  int64_t valid = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string text;
    const bool mostly_good = next(2) == 0;
    for (uint64_t left = next(60); left > 0; --left)
      text += pieces[mostly_good && next(80) > 0 ? next(6) : next(pieces.size())];
    const bool expected = valid_utf8_bytes(text) == text.size();
    ASSERT_EQ(is_valid_utf8(text), expected) << printable(text);
    ASSERT_EQ(is_ascii(text), text.find_first_of("\x80\xC3\xE6\xF0\xED\xF4\xFF\xC0\xC1\xE0\xF5"
                                                 "\xE2") == std::string::npos);
    valid += expected;
  }
  EXPECT_GT(valid, 10'000);
}

}  // namespace
}  // namespace hr
