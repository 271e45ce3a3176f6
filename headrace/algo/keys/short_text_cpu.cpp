// SPDX-License-Identifier: Apache-2.0
// Short strings as numbers that order as they do.
#define HWY_TARGET_INCLUDE "headrace/algo/keys/short_text_cpu.cpp"
#include "headrace/algo/keys/short_text_kernels.h"
#include "headrace/base/simd_targets.h"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

// Read as words of 8 bytes: so compilers turn the loops into vectors of several strings.
using Word __attribute__((may_alias)) = uint64_t;

const Word* words_of(const StringView* views) {
  return reinterpret_cast<const Word*>(views);
}

// The first 8 bytes of text, the first one highest.
inline uint64_t text_of(const Word* view) {
  return __builtin_bswap64(view[0] >> 32 | view[1] << 32);
}

inline uint64_t size_of(const Word* view) {
  return view[0] & UINT32_MAX;
}

void widen_range(const StringView* views, int64_t count, cpu::TextRange& range) {
  const Word* const words = words_of(views);
  uint64_t low = range.low, high = range.high;
  uint64_t shortest = range.shortest, longest = range.longest;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t size = size_of(words + 2 * i);
    const uint64_t number = text_of(words + 2 * i) >> (64 - 8 * cpu::kShortText) << 3 | size;
    low = std::min(low, number);
    high = std::max(high, number);
    shortest = std::min(shortest, size);
    longest = std::max(longest, size);
  }
  range = {low, high, shortest, longest};
}

void numbers_of(const StringView* views, int64_t count, int bytes, int size_bits, uint64_t least,
                uint64_t* numbers) {
  const Word* const words = words_of(views);
  const int rest = 64 - 8 * bytes;
  const uint64_t sizes = size_bits == 0 ? 0 : UINT32_MAX;
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = (text_of(words + 2 * i) >> rest << size_bits | (words[2 * i] & sizes)) - least;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void widen_text_range(const StringView* views, int64_t count, TextRange& range) {
  HR_SIMD(widen_range)(views, count, range);
}

void text_numbers(const StringView* views, int64_t count, int bytes, int size_bits, uint64_t least,
                  uint64_t* numbers) {
  if (bytes == 0)  // empty strings only
    std::fill_n(numbers, count, 0 - least);
  else
    HR_SIMD(numbers_of)(views, count, bytes, size_bits, least, numbers);
}

}  // namespace hr::cpu
#endif
