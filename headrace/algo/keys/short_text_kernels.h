// SPDX-License-Identifier: Apache-2.0
// Kernels of normalized keys: short strings as numbers that order as they do.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>

namespace hr::cpu {

/// Bytes of which a number is made together with the size, in 51 bits.
inline constexpr int kShortText = 6;

/// Of strings: the least and the greatest number of kShortText bytes and size, which mean nothing
/// once one is longer.
struct TextRange {
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  uint64_t shortest = kShortText;
  uint64_t longest = 0;
};

void widen_text_range(const StringView* views, int64_t count, TextRange& range);

/// The first `bytes` bytes, at most kShortText, the first one highest, then the size in `size_bits`
/// bits; less `least`.
void text_numbers(const StringView* views, int64_t count, int bytes, int size_bits, uint64_t least,
                  uint64_t* numbers);

}  // namespace hr::cpu

namespace hr::cuda {

/// The range of the strings of a column that are not null. Waits for it.
cpu::TextRange text_range(const Column& strings);

/// The numbers of the rows as int32, null for null; they are at most 2^31 - 1.
Column text_numbers(const Column& strings, int bytes, int size_bits, uint64_t least);

/// The strings of such numbers.
Column texts_of_numbers(const Column& numbers, int bytes, int size_bits, uint64_t least);

}  // namespace hr::cuda
