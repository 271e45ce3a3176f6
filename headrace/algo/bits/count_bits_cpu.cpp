// SPDX-License-Identifier: Apache-2.0
// Counts set bits a vector at a time: the baseline of x86-64 has no instruction for a word.
#define HWY_TARGET_INCLUDE "headrace/algo/bits/count_bits_cpu.cpp"
#include "headrace/algo/bits/count_bits.h"
#include "headrace/base/simd_targets.h"

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

int64_t count_words(const uint8_t* bits, const uint8_t* also, int64_t bytes) {
  int64_t at = 0, total = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int64_t kWord = 8;
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint8_t, decltype(d)> d8;
  const auto step = static_cast<int64_t>(hn::Lanes(d)) * kWord;
  auto counts = hn::Zero(d);
  for (; at + step <= bytes; at += step) {
    auto words = hn::BitCast(d, hn::LoadU(d8, bits + at));
    if (also) words = hn::And(words, hn::BitCast(d, hn::LoadU(d8, also + at)));
    counts = hn::Add(counts, hn::PopulationCount(words));
  }
  total = static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d, counts)));
#endif
  for (; at < bytes; ++at)
    total += std::popcount(static_cast<unsigned>(also ? bits[at] & also[at] : bits[at]));
  return total;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

int64_t count_set_bits(const uint8_t* bits, const uint8_t* also, int64_t bytes) {
  return HR_SIMD(count_words)(bits, also, bytes);
}

}  // namespace hr::cpu
#endif
