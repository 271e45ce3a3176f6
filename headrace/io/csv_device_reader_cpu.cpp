// SPDX-License-Identifier: Apache-2.0
// Counts the quotes of text that goes to a device: where they are even, rows may end.
#define HWY_TARGET_INCLUDE "headrace/io/csv_device_reader_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/csv_device_reader_kernels.h"

#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/byte_bits_math.h"

QuoteCount count_quotes(const char* text, int64_t size, uint8_t quote) {
  uint64_t any = 0, odd = 0;
  int64_t at = 0;
  for (; at + 64 <= size; at += 64) {
    const uint64_t quotes = equal_bits(text + at, quote);
    any |= quotes;
    odd ^= quotes;
  }
  for (; at < size; ++at) {
    const uint64_t is_quote = static_cast<uint8_t>(text[at]) == quote;
    any |= is_quote;
    odd ^= is_quote;
  }
  return {any != 0, std::popcount(odd) % 2 != 0};
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

QuoteCount count_quotes(const char* text, int64_t size, uint8_t quote) {
  return HR_SIMD(count_quotes)(text, size, quote);
}

}  // namespace hr::cpu
#endif
