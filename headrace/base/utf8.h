// SPDX-License-Identifier: Apache-2.0
// UTF-8: is it valid, and text made fit for a table or a message.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hr {

/// Length of the valid sequence at `p` (1 to 4), or 0 when there is none before `end`: no overlong
/// forms, no surrogates, nothing above U+10FFFF.
inline int utf8_sequence(const char* p, const char* end) {
  const auto byte = [p](int i) { return static_cast<uint8_t>(p[i]); };
  const uint8_t first = byte(0);
  const auto follows = [&](int i, uint8_t low = 0x80, uint8_t high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const int64_t room = end - p;
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return room >= 2 && follows(1) ? 2 : 0;
  if (first < 0xF0) {
    const uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = first == 0xED ? 0x9F : 0xBF;
    return room >= 3 && follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first < 0xF5) {
    const uint8_t low = first == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
    return room >= 4 && follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Writes a code point of UTF-8, at most 4 bytes; gives how many.
inline size_t put_character(uint32_t code, char* out) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0 | code >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0 | code >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | code >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

inline bool is_ascii(std::string_view text) {
  const char* const p = text.data();
  const size_t size = text.size();
  uint64_t high = 0, words[8];
  if (size < 8) {
    for (const char c : text) high |= static_cast<uint8_t>(c);
    return high < 0x80;
  }
  size_t i = 0;
  for (; i + 64 <= size; i += 64) {
    std::memcpy(words, p + i, 64);
    for (const uint64_t word : words) high |= word;
  }
  for (; i + 8 <= size; i += 8) {
    std::memcpy(words, p + i, 8);
    high |= words[0];
  }
  std::memcpy(words, p + size - 8, 8);
  return ((high | words[0]) & 0x8080808080808080) == 0;
}

/// How many bytes from the front are valid UTF-8.
inline size_t valid_utf8_bytes(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    uint64_t word;
    if (end - p >= 8 && (std::memcpy(&word, p, 8), (word & 0x8080808080808080) == 0)) {
      p += 8;
      continue;
    }
    const int length = utf8_sequence(p, end);
    if (length == 0) break;
    p += length;
  }
  return static_cast<size_t>(p - text.data());
}

/// Long strings are checked as vectors: each byte with the three before it.
inline bool is_valid_utf8(std::string_view text) {
  if (text.size() < 32) return valid_utf8_bytes(text) == text.size();
  const auto* const p = reinterpret_cast<const uint8_t*>(text.data());
  const size_t size = text.size();
  size_t begin = 0;
  while (begin < 3) {
    const int length = utf8_sequence(text.data() + begin, text.data() + size);
    if (length == 0) return false;
    begin += static_cast<size_t>(length);
  }
  for (size_t i = begin; i < size;) {
    const size_t stop = i + 4096 < size ? i + 4096 : size;
    uint8_t wrong = 0;
    for (; i < stop; ++i) {
      const uint8_t at = p[i], before = p[i - 1];
      const uint8_t follows = (at & 0xC0) == 0x80;
      const uint8_t wanted = (before >= 0xC0) | (p[i - 2] >= 0xE0) | (p[i - 3] >= 0xF0);
      wrong |= static_cast<uint8_t>(follows ^ wanted);
      wrong |= static_cast<uint8_t>((before == 0xE0) & (at < 0xA0));
      wrong |= static_cast<uint8_t>((before == 0xED) & (at >= 0xA0));
      wrong |= static_cast<uint8_t>((before == 0xF0) & (at < 0x90));
      wrong |= static_cast<uint8_t>((before == 0xF4) & (at >= 0x90));
      wrong |= static_cast<uint8_t>((at == 0xC0) | (at == 0xC1) | (at >= 0xF5));
    }
    if (wrong != 0) return false;
  }
  return p[size - 1] < 0xC0 && p[size - 2] < 0xE0 && p[size - 3] < 0xF0;
}

/// `text` with each byte that is not part of valid UTF-8 replaced by U+FFFD.
inline std::string replace_invalid_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  std::string result;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const int length = utf8_sequence(p, end);
    result.append(length > 0 ? std::string_view(p, static_cast<size_t>(length)) : "\xEF\xBF\xBD");
    p += length > 0 ? length : 1;
  }
  return result;
}

/// At most about `limit` bytes of `text` for a message: control bytes as \xNN, valid UTF-8.
inline std::string printable(std::string_view text, size_t limit = 80) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (const char c : replace_invalid_utf8(text.substr(0, limit))) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte != 0x7F)
      result += c;
    else
      result.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
  }
  if (text.size() > limit) result += "...";
  return result;
}

}  // namespace hr
