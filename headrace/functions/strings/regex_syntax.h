// SPDX-License-Identifier: Apache-2.0
// What Python's `re` and RE2 write alike and mean differently. For this room only.
#pragma once
#include <string>
#include <string_view>

namespace hr {

/// A pattern for RE2 in which `\w`, `\d` and `\s` and their complements are classes of Unicode, as
/// in Python; RE2 has ASCII's.
struct UnicodePattern {
  std::string text;
  /// Whether the pattern has such a class or a border of words.
  bool differs = false;
  /// What RE2 has in ASCII only, if anything: `\b`, or `\W` among other members of a class. It is
  /// left as it was.
  std::string_view lacking;
};

UnicodePattern unicode_pattern(std::string_view pattern);

/// Whether a UTF-8 string has a letter, digit or other character of a word beyond ASCII.
bool has_wide_word_characters(std::string_view text);

}  // namespace hr
