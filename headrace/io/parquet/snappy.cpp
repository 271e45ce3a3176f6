// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/snappy.h"

#include "headrace/io/parquet/copy_match.h"
#include "headrace/io/parquet/find_matches.h"
#include "headrace/io/parquet/varint.h"

#include <array>

namespace hr::parquet {

namespace {

constexpr int64_t kLongestLiteral = 60;  // whose length stands in its tag
constexpr int64_t kMostShort = 64;       // bytes that a tag alone can stand for
constexpr int kDistanceBytes[] = {0, 1, 2, 4};
constexpr uint32_t kLiteralOfFour = 3 << 2;  // its tag
constexpr uint32_t kDistanceBits = 0x700;

// Of each tag of a copy: its length, and the bits of its distance that are in the tag.
constexpr std::array<uint16_t, 256> kCopies = [] {
  std::array<uint16_t, 256> copies{};
  for (uint32_t tag = 0; tag < copies.size(); ++tag)
    copies[tag] = static_cast<uint16_t>((tag & 3) == 1 ? (tag >> 2 & 7) + 4 + (tag >> 5 << 8)
                                                       : (tag >> 2) + 1);
  return copies;
}();

// The size that a block begins with; false when there is none.
bool take_size(const uint8_t*& p, const uint8_t* end, uint64_t& size) {
  size = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (p == end) return false;
    const uint64_t part = *p++;
    size |= (part & 127) << shift;
    if (part < 128) return true;
  }
  return false;
}

uint32_t little_endian(const uint8_t* p, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(p[i]) << (8 * i);
  return value;
}

}  // namespace

bool unpack_snappy(std::string_view block, char* out, int64_t size) {
  const auto* p = reinterpret_cast<const uint8_t*>(block.data());
  const uint8_t* const end = p + block.size();
  uint64_t said = 0;
  if (!take_size(p, end, said) || said != static_cast<uint64_t>(size)) return false;
  char* const begin = out;
  char* const out_end = out + size;
  while (p < end) {
    // What most parts are: of a length that needs no more bytes, far from both ends.
    while (end - p > kMostShort && out_end - out >= 2 * kMostShort) {
      uint64_t word;
      std::memcpy(&word, p, sizeof word);
      if (const uint32_t tag = word & 0xFF; (tag & 3) == 0) {
        if (tag > kLiteralOfFour) {
          const int64_t length = (tag >> 2) + 1;
          if (length > kLongestLiteral) break;
          std::memcpy(out, p + 1, 16);
          if (length > 16) std::memcpy(out + 16, p + 17, kMostShort - 16);
          p += 1 + length;
          out += length;
          continue;
        }
        // The copy that mostly follows such a literal is in the word too: nothing is loaded for it.
        const uint64_t literal = word >> 8;
        std::memcpy(out, &literal, sizeof literal);
        word >>= 2 * tag + 16;  // a tag, and a quarter of it and one more bytes
        p += (tag >> 2) + 2;
        out += (tag >> 2) + 1;
        if ((word & 3) == 0) continue;
      }
      // Where the next tag stands follows from this one alone. Both kinds of copies by a table: no
      // guess which one comes can be wrong.
      const uint32_t tag = word & 0xFF, kind = tag & 3;
      if (kind == 3) break;
      p += 1 + kind;
      const auto behind = static_cast<uint32_t>(word >> 8 & 0xFFFF >> (kind & 1) * 8);
      const uint32_t entry = kCopies[tag];
      const int64_t distance = behind | (entry & kDistanceBits), length = entry & 0xFF;
      if (distance == 0 || distance > out - begin) return false;
      if (distance >= 16) {
        const char* const from = out - distance;
        std::memcpy(out, from, 16);
        for (int64_t at = 16; at < length; at += 16) std::memcpy(out + at, from + at, 16);
      } else {
        copy_match(out, distance, length);
      }
      out += length;
    }
    if (p == end) break;
    const uint32_t tag = *p++;
    int64_t length = (tag >> 2) + 1;
    if ((tag & 3) == 0) {
      if (length > kLongestLiteral) {
        const int bytes = static_cast<int>(length - kLongestLiteral);
        if (end - p < bytes) return false;
        length = int64_t{little_endian(p, bytes)} + 1;
        p += bytes;
      }
      if (length > end - p || length > out_end - out) return false;
      std::memcpy(out, p, static_cast<size_t>(length));
      p += length;
      out += length;
      continue;
    }
    const bool is_near = (tag & 3) == 1;
    const int bytes = kDistanceBytes[tag & 3];
    if (end - p < bytes) return false;
    const uint32_t distance = little_endian(p, bytes) | (is_near ? tag >> 5 << 8 : 0);
    p += bytes;
    length = is_near ? ((tag >> 2) & 7) + 4 : length;
    if (distance == 0 || distance > out - begin || length > out_end - out) return false;
    copy_match(out, distance, length);
    out += length;
  }
  return out == out_end;
}

namespace {

char* put_literal(std::string_view literal, char* out) {
  if (literal.empty()) return out;
  const auto count = static_cast<uint32_t>(literal.size() - 1);
  if (count < 60) {
    *out++ = static_cast<char>(count << 2);
  } else {
    const int bytes = count < 1u << 8 ? 1 : count < 1u << 16 ? 2 : count < 1u << 24 ? 3 : 4;
    *out++ = static_cast<char>((59 + bytes) << 2);
    std::memcpy(out, &count, sizeof count);
    out += bytes;
  }
  std::memcpy(out, literal.data(), literal.size());
  return out + literal.size();
}

// At most 64 bytes.
char* put_copy(uint32_t distance, uint32_t length, char* out) {
  if (length >= 4 && length <= 11 && distance < 2048) {
    *out++ = static_cast<char>(distance >> 8 << 5 | (length - 4) << 2 | 1);
    *out++ = static_cast<char>(distance);
    return out;
  }
  *out++ = static_cast<char>((length - 1) << 2 | 2);
  *out++ = static_cast<char>(distance);
  *out++ = static_cast<char>(distance >> 8);
  return out;
}

}  // namespace

int64_t pack_snappy(std::string_view bytes, char* const begin) {
  char* out = put_varint(bytes.size(), begin);
  if (bytes.empty()) return out - begin;
  find_matches(bytes, [&](std::string_view literal, uint32_t distance, uint32_t length) {
    out = put_literal(literal, out);
    // No rest is shorter than the 4 bytes of a short copy.
    for (; length >= 68; length -= 64) out = put_copy(distance, 64, out);
    if (length > 64) {
      out = put_copy(distance, 60, out);
      length -= 60;
    }
    if (length > 0) out = put_copy(distance, length, out);
  });
  return out - begin;
}

}  // namespace hr::parquet
