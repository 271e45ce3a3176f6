// SPDX-License-Identifier: Apache-2.0
#include "headrace/functions/strings/regex_syntax.h"

#include "headrace/functions/strings/character_classes.h"
#include "headrace/functions/strings/characters.h"

#include <array>
#include <utility>

namespace hr {

namespace {

constexpr std::string_view kWord = R"(\p{L}\p{N}_)", kDigit = R"(\p{Nd})";
constexpr std::string_view kSpace = R"(\t-\r\x1c-\x20\x{85}\p{Z})";

/// The members of `\w`, `\d` or `\s`, which `\W`, `\D` and `\S` lack; nothing for other letters.
std::string_view members_of(char letter) {
  switch (letter) {
    case 'w':
    case 'W':
      return kWord;
    case 'd':
    case 'D':
      return kDigit;
    case 's':
    case 'S':
      return kSpace;
    default:
      return {};
  }
}

bool is_complement(char letter) {
  return letter == 'W' || letter == 'D' || letter == 'S';
}

std::string class_of_members(std::string_view members, bool complement) {
  std::string made = complement ? "[^" : "[";
  made += members;
  made += ']';
  return made;
}

/// The byte behind the `]` of a class whose members begin at `at`; npos where it is not closed.
size_t end_of_class(std::string_view pattern, size_t at) {
  for (const size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == '\\')
      ++at;
    else if (pattern[at] == '[' && at + 1 < pattern.size() && pattern[at + 1] == ':')
      at = std::min(pattern.find(":]", at), pattern.size()) + 1;
    else if (pattern[at] == ']' && at > first)
      return at + 1;
  }
  return std::string_view::npos;
}

/// Classes that take something away from `\w` or `\s`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kDifferences = {{
    {R"(\W_)", R"([\p{L}\p{N}])"},
    {R"(_\W)", R"([\p{L}\p{N}])"},
    {R"(\W\d_)", R"([\p{L}\p{Nl}\p{No}])"},
    {R"(\W_\d)", R"([\p{L}\p{Nl}\p{No}])"},
    {R"(\W\d)", R"([\p{L}\p{Nl}\p{No}_])"},
    {R"(\S\n)", R"([\t\x0b-\r\x1c-\x20\x{85}\p{Z}])"},
}};

/// A class, without its brackets, of Unicode; empty if RE2 cannot say it.
std::string unicode_class(std::string_view members) {
  const bool negated = members.starts_with('^');
  if (negated) members.remove_prefix(1);
  std::string_view complement;  // of \W, \D or \S: what it lacks
  std::string others;
  for (size_t at = 0; at < members.size(); ++at) {
    const bool escaped = members[at] == '\\' && at + 1 < members.size();
    const std::string_view found = escaped ? members_of(members[at + 1]) : std::string_view{};
    if (found.empty()) {
      others += members.substr(at, escaped ? 2 : 1);
    } else if (!is_complement(members[at + 1])) {
      others += found;
    } else if (complement.empty()) {
      complement = found;
    } else {
      return {};
    }
    if (escaped) ++at;
  }
  if (complement.empty()) return class_of_members(others, negated);
  if (others.empty()) return class_of_members(complement, !negated);
  if (!negated)
    return "(?:" + class_of_members(complement, true) + '|' + class_of_members(others, false) + ')';
  for (const auto& [from, to] : kDifferences)
    if (members == from) return std::string(to);
  return {};
}

}  // namespace

UnicodePattern unicode_pattern(std::string_view pattern) {
  UnicodePattern made;
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '[') {
      const bool negated = at + 1 < pattern.size() && pattern[at + 1] == '^';
      const size_t end = end_of_class(pattern, at + (negated ? 2 : 1));
      if (end == std::string_view::npos) {
        made.text += pattern.substr(at);
        break;
      }
      const std::string_view whole = pattern.substr(at, end - at);
      at = end;
      const std::string members = unicode_class(whole.substr(1, whole.size() - 2));
      if (members.empty()) made.lacking = R"(\W, \D or \S among other members of a class)";
      made.differs |= members != whole;
      made.text += members.empty() ? whole : std::string_view(members);
    } else if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      const char letter = pattern[at + 1];
      const std::string_view members = members_of(letter);
      if (letter == 'b' || letter == 'B') made.lacking = R"(\b or \B)";
      made.differs |= !members.empty() || letter == 'b' || letter == 'B';
      made.text += members.empty() ? std::string(pattern.substr(at, 2))
                                   : class_of_members(members, is_complement(letter));
      at += 2;
    } else {
      made.text += pattern[at++];
    }
  }
  return made;
}

bool has_wide_word_characters(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.code >= 0x80 && is_word_character(character.code)) return true;
    at += character.bytes;
  }
  return false;
}

}  // namespace hr
