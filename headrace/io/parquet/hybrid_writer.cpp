// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/hybrid_writer.h"

#include "headrace/base/bits.h"
#include "headrace/io/parquet/varint.h"

#include <array>
#include <cstring>
#include <utility>

namespace hr::parquet {

namespace {

constexpr int64_t kGroup = 8;      // values that are packed together
constexpr int64_t kShortest = 16;  // runs that are worth the end of a packed one
constexpr int64_t kSlack = 8;      // bytes that packing writes behind its end

// Eight values to `kWidth` bytes; writes up to kSlack more.
template <int kWidth>
void pack_group(const uint32_t* values, char* out) {
  uint64_t word = 0;
  int used = 0;
  for (int i = 0; i < kGroup; ++i) {
    const uint64_t value = values[i];
    word |= value << used;
    used += kWidth;
    if (used < 64) continue;
    std::memcpy(out, &word, sizeof word);
    out += sizeof word;
    used -= 64;
    word = used == 0 ? 0 : value >> (kWidth - used);
  }
  std::memcpy(out, &word, sizeof word);
}

template <int kWidth>
void pack_groups(const uint32_t* values, int64_t groups, char* out) {
  for (int64_t g = 0; g < groups; ++g) pack_group<kWidth>(values + kGroup * g, out + kWidth * g);
}

using PackGroups = void (*)(const uint32_t*, int64_t, char*);

template <int... kWidths>
constexpr std::array<PackGroups, sizeof...(kWidths)> packers(
    std::integer_sequence<int, kWidths...> /*widths*/) {
  return {&pack_groups<kWidths>...};
}

constexpr std::array<PackGroups, 33> kPackers = packers(std::make_integer_sequence<int, 33>());

// A packed run; what is missing of the last group is zero.
void append_groups(const uint32_t* values, int64_t count, int width, ByteBuffer& out) {
  if (count == 0) return;
  const int64_t whole = count / kGroup, groups = (count + kGroup - 1) / kGroup;
  char* const begin = out.reserve(10 + groups * width + kSlack);
  char* at = put_varint(static_cast<uint64_t>(groups) << 1 | 1, begin);
  const PackGroups pack = kPackers[static_cast<size_t>(width)];
  pack(values, whole, at);
  at += whole * width;
  if (groups > whole) {
    std::array<uint32_t, kGroup> last{};
    std::memcpy(last.data(), values + whole * kGroup,
                static_cast<size_t>(count - whole * kGroup) * sizeof(uint32_t));
    pack(last.data(), 1, at);
    at += width;
  }
  out.advance(at - begin);
}

bool is_group_equal(const uint32_t* values) {
  uint32_t different = 0;
  for (int i = 1; i < kGroup; ++i) different |= values[i] ^ values[0];
  return different == 0;
}

}  // namespace

void append_run(uint32_t value, int64_t count, int width, ByteBuffer& out) {
  char* const begin = out.reserve(16);
  char* at = put_varint(static_cast<uint64_t>(count) << 1, begin);
  std::memcpy(at, &value, sizeof value);
  out.advance(at - begin + (width + 7) / 8);
}

void append_hybrid(const uint32_t* values, int64_t count, int width, ByteBuffer& out) {
  int64_t packed = 0;  // from there on values wait to be packed
  for (int64_t at = 0; at + kGroup <= count;) {
    if (!is_group_equal(values + at)) {
      at += kGroup;
      continue;
    }
    int64_t end = at + kGroup;
    while (end < count && values[end] == values[at]) ++end;
    if (end - at < kShortest) {
      at += kGroup;
      continue;
    }
    append_groups(values + packed, at - packed, width, out);
    append_run(values[at], end - at, width, out);
    at = packed = end;
  }
  append_groups(values + packed, count - packed, width, out);
}

void append_hybrid_bits(const uint8_t* bitmap, int64_t first, int64_t count, ByteBuffer& out) {
  constexpr int64_t kWord = 64;
  const auto word_at = [&](int64_t at) {
    const int64_t some = count - at < kWord ? count - at : kWord;
    return load_bits(bitmap, first + at, some);
  };
  const auto is_run = [](uint64_t word) { return word == 0 || word == ~uint64_t{0}; };
  for (int64_t at = 0; at < count;) {
    int64_t end = at;
    if (count - at >= kWord && is_run(word_at(at))) {
      const uint64_t word = word_at(at);
      while (count - end >= kWord && word_at(end) == word) end += kWord;
      append_run(word & 1, end - at, 1, out);
    } else {
      while (end < count && (count - end < kWord || !is_run(word_at(end)))) end += kWord;
      end = end < count ? end : count;
      const int64_t groups = (end - at + kGroup - 1) / kGroup;
      char* const begin = out.reserve(10 + groups + kSlack);
      char* to = put_varint(static_cast<uint64_t>(groups) << 1 | 1, begin);
      for (int64_t i = at; i < end; i += kWord, to += kWord / 8) {
        const uint64_t word = word_at(i);
        std::memcpy(to, &word, sizeof word);
      }
      out.advance(to - begin - ((end - at + kWord - 1) / kWord * (kWord / 8) - groups));
    }
    at = end;
  }
}

void append_packed(const uint64_t* values, int64_t count, int width, ByteBuffer& out) {
  if (width == 0) return;
  const int64_t bytes = (count * width + 7) / 8;
  char* const begin = out.reserve(bytes + 2 * kSlack);
  char* at = begin;
  uint64_t word = 0;
  int used = 0;
  for (int64_t i = 0; i < count; ++i) {
    word |= values[i] << used;
    used += width;
    if (used < 64) continue;
    std::memcpy(at, &word, sizeof word);
    at += sizeof word;
    used -= 64;
    word = used == 0 ? 0 : values[i] >> (width - used);
  }
  std::memcpy(at, &word, sizeof word);
  out.advance(bytes);
}

}  // namespace hr::parquet
