// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 one by one, as Python counts them.
#pragma once
#include "headrace/base/api.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hr {

HR_BOTH inline bool starts_character(char byte) {
  return (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
}

/// The byte where the next character begins.
HR_BOTH inline size_t next_character(std::string_view text, size_t at) {
  do ++at;
  while (at < text.size() && !starts_character(text[at]));
  return at;
}

/// A character of a string.
struct Character {
  uint32_t code = 0;
  size_t bytes = 1;  ///< 1 with kNoCharacter: a byte that begins no character
};

inline constexpr uint32_t kNoCharacter = 0xFFFFFFFF;

/// The character that begins at a byte.
HR_BOTH inline Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + bytes > text.size()) return {kNoCharacter, 1};
  uint32_t code = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (starts_character(text[at + i])) return {kNoCharacter, 1};
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  return {code, bytes};
}

/// White space as Python's str.strip() and str.split() have it.
HR_BOTH inline bool is_space(uint32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/// The character that ends before a byte.
HR_BOTH inline Character character_before(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && !starts_character(text[at])) --at;
  const Character found = character_at(text, at);
  return at + found.bytes == end ? found : Character{kNoCharacter, 1};
}

}  // namespace hr
