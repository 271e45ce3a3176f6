// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/regex_syntax.h"

#include <gtest/gtest.h>

namespace hr {
namespace {

std::string unicode(std::string_view pattern) {
  const UnicodePattern made = unicode_pattern(pattern);
  return made.lacking.empty() ? made.text : "lacking";
}

TEST(RegexSyntax, ClassesAreUnicodes) {
  EXPECT_EQ(unicode(R"(a\w+)"), R"(a[\p{L}\p{N}_]+)");
  EXPECT_EQ(unicode(R"(\D\W)"), R"([^\p{Nd}][^\p{L}\p{N}_])");
  EXPECT_EQ(unicode(R"([\w.-])"), R"([\p{L}\p{N}_.-])");
  EXPECT_EQ(unicode(R"([^\d,])"), R"([^\p{Nd},])");
  EXPECT_EQ(unicode(R"([\W_])"), R"((?:[^\p{L}\p{N}_]|[_]))");
  EXPECT_EQ(unicode(R"([^\W])"), R"([\p{L}\p{N}_])");
  EXPECT_EQ(unicode(R"([^\W\d_])"), R"([\p{L}\p{Nl}\p{No}])");
}

TEST(RegexSyntax, OtherPartsStay) {
  for (const char* pattern : {"", "a", R"(\\w)", R"(\[\]x)", "[]a]", "[^]a]", "[[:alpha:]x]",
                              "(?P<a>b|c)*", R"([\n\]])", R"(\)", "[", R"([\)", "[[:", "[[:a]b]"}) {
    const UnicodePattern made = unicode_pattern(pattern);
    EXPECT_EQ(made.text, pattern);
    EXPECT_FALSE(made.differs) << pattern;
  }
}

TEST(RegexSyntax, LacksWhatRe2Cannot) {
  for (const char* pattern : {R"(\bcat\b)", R"(\B)", R"([^\Wa])", R"([\W\S])"}) {
    EXPECT_EQ(unicode(pattern), "lacking");
    EXPECT_EQ(unicode_pattern(pattern).text, pattern);
  }
}

TEST(RegexSyntax, WideWordCharacters) {
  for (const char* text : {"", "plain", "5 €", "a – b", "\xFF\xC3"})
    EXPECT_FALSE(has_wide_word_characters(text)) << text;
  for (const char* text : {"caf\xC3\xA9", "\xE6\x97\xA5", "\xD9\xA3"})
    EXPECT_TRUE(has_wide_word_characters(text)) << text;
}

}  // namespace
}  // namespace hr
