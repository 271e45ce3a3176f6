// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/snappy.h"

#include "headrace/io/parquet/copy_match.h"
#include "headrace/io/parquet/find_matches.h"
#include "headrace/io/parquet/varint.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hr::parquet {

namespace {

constexpr int64_t kLongestLiteral = 60;  // whose length stands in its tag
constexpr int kDistanceBytes[] = {0, 1, 2, 4};
constexpr uint64_t kLiteralOfFour = 3 << 2;  // its tag
constexpr int64_t kReach = int64_t{1}
                           << 16;  // the distances of the tags that mostly occur are below

// What a short literal and the copy behind it, or a literal whose length stands in its tag, read
// and write at most, with what is copied too much.
constexpr int64_t kMostRead = 66;
constexpr int64_t kMostWritten = 128;

// Of each tag of a copy: the bits of its distance that stand behind it and those that it has
// itself, and its length. Of copies with four bytes of distance: none, which is never far enough.
struct CopyTag {
  uint16_t behind = 0;
  uint16_t own = 0;
  uint32_t length = 0;
};

constexpr std::array<CopyTag, 256> kCopies = [] {
  std::array<CopyTag, 256> copies{};
  for (uint32_t tag = 0; tag < copies.size(); ++tag) {
    if ((tag & 3) == 1)
      copies[tag] = {0xFF, static_cast<uint16_t>(tag >> 5 << 8), (tag >> 2 & 7) + 4};
    else if ((tag & 3) == 2)
      copies[tag] = {0xFFFF, 0, (tag >> 2) + 1};
  }
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

// How far a block is unpacked.
struct Lane {
  const uint8_t* p;
  const uint8_t* end;
  char* out;
  char* begin;
  char* out_end;

  bool is_done() const { return p == end; }

  int64_t written() const { return out - begin; }

  // How many steps stay clear of both ends.
  int64_t safe_steps() const {
    return std::min((end - p) / kMostRead - 1, (out_end - out) / kMostWritten - 1);
  }
};

bool begin_lane(std::string_view block, char* out, int64_t size, Lane& lane) {
  const auto* p = reinterpret_cast<const uint8_t*>(block.data());
  const uint8_t* const end = p + block.size();
  uint64_t said = 0;
  if (!take_size(p, end, said) || said != static_cast<uint64_t>(size)) return false;
  lane = {p, end, out, out, out + size};
  return true;
}

// What most parts are: a literal whose length stands in its tag, a copy, or a short literal and a
// copy together. False where another part comes, and nothing is done. `kIsFar`: so much is written
// that no distance is too large.
template <bool kIsFar>
[[gnu::always_inline]] inline bool step(const uint8_t*& p, char*& out, const char* begin) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  const uint8_t* next = p;
  char* to = out;
  if (const uint64_t tag = word & 0xFF; (tag & 3) == 0) {
    if (tag > kLiteralOfFour) {
      const auto length = static_cast<int64_t>(tag >> 2) + 1;
      if (length > kLongestLiteral) return false;
      std::memcpy(out, p + 1, 16);
      if (length > 16) std::memcpy(out + 16, p + 17, 48);
      p += 1 + length;
      out += length;
      return true;
    }
    // The copy that mostly follows such a literal is in the word too: nothing is loaded for it.
    const uint64_t literal = word >> 8;
    std::memcpy(to, &literal, sizeof literal);
    word = word >> 16 >> 2 * tag;  // two tags, and a quarter of the first bytes
    next += (tag >> 2) + 2;
    to += (tag >> 2) + 1;
    if ((word & 3) == 0) {
      p = next;
      out = to;
      return true;
    }
  }
  // Where the next tag stands follows from this one alone. Both kinds of copies by a table: no
  // guess which one comes can be wrong.
  const CopyTag& copy = kCopies[word & 0xFF];
  const int64_t distance = (word >> 8 & copy.behind) | copy.own;
  if (distance < 8 || (!kIsFar && distance > to - begin)) return false;
  const char* const from = to - distance;
  for (uint32_t at = 0; at < copy.length; at += 16) {
    std::memcpy(to + at, from + at, 8);
    std::memcpy(to + at + 8, from + at + 8, 8);
  }
  p = next + (word & 3) + 1;
  out = to + copy.length;
  return true;
}

// Any part. False where it is damaged.
bool any_step(Lane& lane) {
  if (lane.is_done()) return false;
  const uint32_t tag = *lane.p++;
  int64_t length = (tag >> 2) + 1;
  if ((tag & 3) == 0) {
    if (length > kLongestLiteral) {
      const int bytes = static_cast<int>(length - kLongestLiteral);
      if (lane.end - lane.p < bytes) return false;
      length = int64_t{little_endian(lane.p, bytes)} + 1;
      lane.p += bytes;
    }
    if (length > lane.end - lane.p || length > lane.out_end - lane.out) return false;
    std::memcpy(lane.out, lane.p, static_cast<size_t>(length));
    lane.p += length;
    lane.out += length;
    return true;
  }
  const bool is_near = (tag & 3) == 1;
  const int bytes = kDistanceBytes[tag & 3];
  if (lane.end - lane.p < bytes) return false;
  const uint32_t distance = little_endian(lane.p, bytes) | (is_near ? tag >> 5 << 8 : 0);
  lane.p += bytes;
  if (is_near) length = (tag >> 2 & 7) + 4;
  if (distance == 0 || distance > lane.written() || length > lane.out_end - lane.out) return false;
  copy_match(lane.out, distance, length);
  lane.out += length;
  return true;
}

template <bool kIsFar>
void safe_steps(Lane& lane) {
  const uint8_t* p = lane.p;
  char* out = lane.out;
  for (int64_t left = lane.safe_steps(); left > 0 && step<kIsFar>(p, out, lane.begin); --left) {
    if (!kIsFar && out - lane.begin >= kReach) break;
  }
  lane.p = p;
  lane.out = out;
}

// To the end, or until so much is written.
bool run(Lane& lane, int64_t most_written) {
  while (!lane.is_done() && lane.written() < most_written) {
    lane.written() < kReach ? safe_steps<false>(lane) : safe_steps<true>(lane);
    if (!lane.is_done() && !any_step(lane)) return false;
  }
  return true;
}

bool finish(Lane lane) {
  return run(lane, std::numeric_limits<int64_t>::max()) && lane.out == lane.out_end;
}

}  // namespace

bool unpack_snappy(std::string_view block, char* out, int64_t size) {
  Lane lane{};
  return begin_lane(block, out, size, lane) && finish(lane);
}

bool unpack_snappy(const SnappyBlock& a, const SnappyBlock& b) {
  Lane x{}, y{};
  if (!begin_lane(a.packed, a.out, a.size, x) || !begin_lane(b.packed, b.out, b.size, y) ||
      !run(x, kReach) || !run(y, kReach))
    return false;
  while (x.written() >= kReach && y.written() >= kReach) {
    int64_t left = std::min(x.safe_steps(), y.safe_steps());
    if (left <= 0) break;
    const uint8_t *p = x.p, *q = y.p;
    char *to = x.out, *out = y.out;
    Lane* other = nullptr;  // that has a part of another kind
    for (; left > 0 && !other; --left) {
      if (!step<true>(p, to, nullptr))
        other = &x;
      else if (!step<true>(q, out, nullptr))
        other = &y;
    }
    x.p = p;
    x.out = to;
    y.p = q;
    y.out = out;
    if (other && !any_step(*other)) return false;
  }
  return finish(x) && finish(y);
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
