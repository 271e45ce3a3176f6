// SPDX-License-Identifier: Apache-2.0
// Philox for a vector of blocks at a time, one block in each 64-bit lane.
#define HWY_TARGET_INCLUDE "headrace/algo/random/philox_cpu.cpp"
#include "headrace/algo/random/philox.h"
#include "headrace/base/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<uint64_t>;
using Halves = hn::Repartition<uint32_t, Words>;
using Lanes = hn::Vec<Words>;

/// Products of the lower halves; what stands in the upper halves does not matter.
HR_INLINE Lanes product(Lanes factor, uint32_t multiplier) {
  return hn::MulEven(hn::BitCast(Halves(), factor), hn::Set(Halves(), multiplier));
}
#endif

void words(RandomKey key, uint64_t first, int64_t count, uint64_t* out) {
  int64_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int kTogether = 2;  // vectors of blocks, for the latency of the products
  const Words tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (; at + kTogether * lanes <= count; at += kTogether * lanes) {
    Lanes a[kTogether], b[kTogether], c[kTogether], d[kTogether];
    for (int k = 0; k < kTogether; ++k) {
      a[k] = hn::Iota(tag, first + static_cast<uint64_t>(at + k * lanes));
      b[k] = hn::ShiftRight<32>(a[k]);
      c[k] = hn::Set(tag, key.stream);
      d[k] = hn::Zero(tag);
    }
    auto key0 = static_cast<uint32_t>(key.seed), key1 = static_cast<uint32_t>(key.seed >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      for (int k = 0; k < kTogether; ++k) {
        const Lanes product0 = product(a[k], kPhiloxMultiplier0);
        const Lanes product1 = product(c[k], kPhiloxMultiplier1);
        a[k] = hn::Xor3(hn::ShiftRight<32>(product1), b[k], hn::Set(tag, key0));
        b[k] = product1;
        c[k] = hn::Xor3(hn::ShiftRight<32>(product0), d[k], hn::Set(tag, key1));
        d[k] = product0;
      }
      key0 += kPhiloxWeyl0;
      key1 += kPhiloxWeyl1;
    }
    const Lanes low = hn::Set(tag, 0xFFFFFFFF);
    for (int k = 0; k < kTogether; ++k)
      hn::StoreInterleaved2(hn::Or(hn::And(a[k], low), hn::ShiftLeft<32>(b[k])),
                            hn::Or(hn::And(c[k], low), hn::ShiftLeft<32>(d[k])), tag,
                            out + 2 * (at + k * lanes));
  }
#endif
  for (; at < count; ++at) {
    const PhiloxBlock block = philox_block(key, first + static_cast<uint64_t>(at));
    out[2 * at] = philox_word(block, 0);
    out[2 * at + 1] = philox_word(block, 1);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void philox_words(RandomKey key, uint64_t first, int64_t count, uint64_t* out) {
  HR_SIMD(words)(key, first, count, out);
}

}  // namespace hr::cpu
#endif
