// SPDX-License-Identifier: Apache-2.0
// Patterns of one class of characters, `\d+` or `[ ,;]`, matched without an automaton. For this
// room only.
#pragma once
#include "headrace/functions/strings/characters.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hr {

/// One character of a class, or a run of them.
class ByteRuns {
 public:
  /// The matcher of a pattern of RE2 that is a class of ASCII characters or its complement, with or
  /// without `+`; nothing for all others.
  static std::optional<ByteRuns> of(std::string_view pattern) {
    ByteRuns runs;
    if (pattern.ends_with('+')) {
      runs.many_ = true;
      pattern.remove_suffix(1);
    }
    if (pattern.size() == 2 && pattern[0] == '\\') {
      if (!runs.add_escape(pattern[1])) return {};
      return runs;
    }
    if (pattern.size() < 3 || pattern.front() != '[' || pattern.back() != ']') return {};
    pattern = pattern.substr(1, pattern.size() - 2);
    const bool negated = pattern.front() == '^';
    if (negated) pattern.remove_prefix(1);
    if (pattern.empty() || !runs.add_members(pattern)) return {};
    if (negated) runs.negate();
    return runs;
  }

  /// The first match from `at` on; empty, with no address, if there is none.
  std::string_view find(std::string_view text, size_t at) const {
    while (at < text.size() && !has(text[at])) ++at;
    if (at >= text.size()) return {};
    size_t end = at + 1;
    if (many_)
      while (end < text.size() && has(text[end])) ++end;
    else
      end = next_character(text, at);
    return text.substr(at, end - at);
  }

 private:
  bool has(char byte) const { return members_[static_cast<uint8_t>(byte)]; }

  void add(char first, char last) {
    for (int byte = first; byte <= last; ++byte) members_[static_cast<size_t>(byte)] = true;
  }

  void negate() {
    for (bool& member : members_) member = !member;
  }

  // A class or sign behind a backslash; false for what may mean something else.
  bool add_escape(char letter) {
    switch (letter) {
      case 'd':
        add('0', '9');
        return true;
      case 's':
        for (const char space : {'\t', '\n', '\f', '\r', ' '}) add(space, space);
        return true;
      case 'w':
        add('0', '9');
        add('A', 'Z');
        add('a', 'z');
        add('_', '_');
        return true;
      default:
        if (!is_sign(letter)) return false;
        add(letter, letter);
        return true;
    }
  }

  static bool is_sign(char letter) {
    return letter > ' ' && letter < 0x7F && !(letter >= '0' && letter <= '9') &&
           !(letter >= 'A' && letter <= 'Z') && !(letter >= 'a' && letter <= 'z');
  }

  // What stands between the brackets; false for what is not plain.
  bool add_members(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] < ' ' || text[at] == '[' || text[at] == ']') return false;  // or not ASCII
      if (text[at] == '\\') {
        if (++at == text.size() || !add_escape(text[at])) return false;
        if (at + 1 < text.size() && text[at + 1] == '-') return false;
        continue;
      }
      const bool is_range = at + 2 < text.size() && text[at + 1] == '-';
      const char last = is_range ? text[at + 2] : text[at];
      if (text[at] == '-' && text.size() > 1 && at != 0 && at + 1 != text.size()) return false;
      if (last < text[at] || last == '\\' || last == '[' || last == ']') return false;
      add(text[at], last);
      if (is_range) at += 2;
    }
    return true;
  }

  std::array<bool, 256> members_{};
  bool many_ = false;
};

}  // namespace hr
