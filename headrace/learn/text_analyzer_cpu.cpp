// SPDX-License-Identifier: Apache-2.0
// Tells the bytes of words, a vector at a time.
#define HWY_TARGET_INCLUDE "headrace/learn/text_analyzer_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/learn/text_analyzer_kernels.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

bool word_bits(const char* text, int64_t size, uint64_t* bits) {
  std::fill_n(bits, size / 64 + 1, uint64_t{0});
  const auto* from = reinterpret_cast<const uint8_t*>(text);
  int64_t i = 0;
  uint8_t all = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> tag;
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  const auto set = [&](char byte) { return hn::Set(tag, static_cast<uint8_t>(byte)); };
  auto any = hn::Zero(tag);
  for (; i + lanes <= size; i += lanes) {
    const auto bytes = hn::LoadU(tag, from + i);
    any = hn::Or(any, bytes);
    const auto letter =
        hn::Lt(hn::Sub(hn::Or(bytes, set(0x20)), set('a')), hn::Set(tag, uint8_t{26}));
    const auto digit = hn::Lt(hn::Sub(bytes, set('0')), hn::Set(tag, uint8_t{10}));
    const auto word = hn::Or(hn::Or(letter, digit), hn::Eq(bytes, set('_')));
    hn::StoreMaskBits(tag, word, reinterpret_cast<uint8_t*>(bits) + i / 8);
  }
  if (!hn::AllTrue(tag, hn::Lt(any, hn::Set(tag, uint8_t{0x80})))) return false;
#endif
  for (; i < size; ++i) {
    const uint8_t byte = from[i];
    all |= byte;
    const bool is_word = static_cast<uint8_t>((byte | 0x20) - 'a') < 26 ||
                         static_cast<uint8_t>(byte - '0') < 10 || byte == '_';
    bits[i / 64] |= uint64_t{is_word} << (i % 64);
  }
  return all < 0x80;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

bool word_bits(const char* text, int64_t size, uint64_t* bits) {
  return HR_SIMD(word_bits)(text, size, bits);
}

}  // namespace hr::cpu

#endif
