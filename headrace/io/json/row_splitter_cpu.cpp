// SPDX-License-Identifier: Apache-2.0
#define HWY_TARGET_INCLUDE "headrace/io/json/row_splitter_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/json/row_splitter_kernels.h"

#include <bit>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/byte_bits_math.h"

// Each bit is the parity of those up to it.
inline uint64_t prefix_parity(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Bytes behind an odd number of backslashes.
inline uint64_t escaped_bits(uint64_t backslashes, bool& is_escaped) {
  if (backslashes == 0) {
    const uint64_t first = is_escaped;
    is_escaped = false;
    return first;
  }
  uint64_t escaped = 0;
  for (int i = 0; i < 64; ++i) {
    if (is_escaped) {
      escaped |= uint64_t{1} << i;
      is_escaped = false;
    } else {
      is_escaped = backslashes >> i & 1;
    }
  }
  return escaped;
}

int64_t find_comma(const char* text, int64_t size, int64_t least, json::Nesting& nesting) {
  for (int64_t at = 0; at < size; at += 64) {
    const char* const p = text + at;
    const uint64_t valid = bits_between(0, size - at < 64 ? size - at : 64);
    const uint64_t escaped = escaped_bits(equal_bits(p, '\\') & valid, nesting.is_escaped);
    const uint64_t quotes = equal_bits(p, '"') & ~escaped & valid;
    const uint64_t carry = nesting.in_string ? ~uint64_t{0} : 0;
    const uint64_t inside = prefix_parity(quotes) ^ carry;
    nesting.in_string ^= std::popcount(quotes) & 1;
    const uint64_t opens = (equal_bits(p, '{') | equal_bits(p, '[')) & ~inside & valid;
    const uint64_t closes = (equal_bits(p, '}') | equal_bits(p, ']')) & ~inside & valid;
    if (at + 64 > least) {
      uint64_t commas = equal_bits(p, ',') & ~inside & valid;
      if (at < least) commas &= ~bits_between(0, least - at);
      for (; commas != 0; commas &= commas - 1) {
        const int place = std::countr_zero(commas);
        const uint64_t before = bits_between(0, place);
        if (nesting.depth + std::popcount(opens & before) - std::popcount(closes & before) == 1)
          return at + place + 1;
      }
    }
    nesting.depth += std::popcount(opens) - std::popcount(closes);
  }
  return -1;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::json::cpu {

int64_t find_comma(const char* text, int64_t size, int64_t least, Nesting& nesting) {
  return HR_SIMD(find_comma)(text, size, least, nesting);
}

}  // namespace hr::json::cpu
#endif
