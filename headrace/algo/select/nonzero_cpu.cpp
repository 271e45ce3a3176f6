// SPDX-License-Identifier: Apache-2.0
// Positions of the true elements on the CPU: count by morsel, then write each morsel in its place.
#define HWY_TARGET_INCLUDE "headrace/algo/select/nonzero_cpu.cpp"
#include "headrace/algo/bits/set_bits.h"
#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/select/nonzero_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Bit i of out[k] is set when byte i of the k-th 64 at `bytes` is not zero; how many are set.
int64_t words_of_bytes(const uint8_t* bytes, int64_t count, uint64_t* out) {
  int64_t set = 0;
  for (int64_t k = 0; k < count; ++k, bytes += 64) {
    uint64_t bits = 0;
#if HWY_TARGET == HWY_SCALAR
    for (int64_t i = 0; i < 64; i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f;
      const uint64_t high_bits = (((word & low) + low) | word) & ~low;  // 0x80 where not zero
      bits |= ((high_bits >> 7) * 0x0102040810204080 >> 56) << i;
    }
#else
    const hn::CappedTag<uint8_t, 64> d;
    uint8_t mask[16] = {};  // at least 8 bytes are written
    for (size_t i = 0; i < 64; i += hn::Lanes(d))
      hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, bytes + i), hn::Zero(d)), mask + i / 8);
    std::memcpy(&bits, mask, 8);
#endif
    out[k] = bits;
    set += std::popcount(bits);
  }
  return set;
}

/// Positions of the set bits of words, the first of which holds bit `begin`; `end` is the place
/// behind the last one.
void write_positions(const uint64_t* words, int64_t count, int64_t begin, int64_t* out,
                     const int64_t* end) {
  for (int64_t k = 0; k < count; ++k, begin += 64) {
    uint64_t bits = words[k];
    if (std::popcount(bits) > 6 && end - out >= 64 + 8) {
      // Eight places are written for each byte; the next byte overwrites those in excess.
      for (int64_t place = begin; bits != 0; bits >>= 8, place += 8) {
        const auto& set = kSetBits[bits & 255];
        for (size_t j = 0; j < 8; ++j) out[j] = place + set[j];
        out += std::popcount(bits & 255);
      }
    }
    for (; bits != 0; bits &= bits - 1) *out++ = begin + std::countr_zero(bits);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// Words of a block.
constexpr int64_t kWords = 64;
constexpr int64_t kBlockBits = 64 * kWords;

/// The gate as words, from bytes of any stride.
struct ByteGate {
  StridedView<uint8_t> bytes;

  /// Bits [begin, begin + count), at most kBlockBits, in words; how many are set.
  int64_t words(int64_t begin, int64_t count, uint64_t* out) const {
    uint8_t block[kBlockBits];
    const uint8_t* first = bytes.load(begin, count, block);
    if (count % 64 != 0) {
      if (first != block) std::memcpy(block, first, static_cast<size_t>(count));
      std::fill(block + count, block + round_up(count, 64), uint8_t{0});
      first = block;
    }
    return HR_SIMD(words_of_bytes)(first, divide_up(count, 64), out);
  }
};

struct BitGate {
  const uint8_t* bits;
  int64_t offset;

  int64_t words(int64_t begin, int64_t count, uint64_t* out) const {
    int64_t set = 0;
    for (int64_t i = 0; i < count; i += 64) {
      const uint64_t word = load_bits(bits, offset + begin + i, std::min<int64_t>(64, count - i));
      set += std::popcount(word);
      *out++ = word;
    }
    return set;
  }
};

template <class Gate>
Tensor positions(const Gate& gate, int64_t rows, const BufferAccess& access) {
  // Calls body(begin, words, set) for each block of a morsel.
  const auto each_block = [&](const Morsel& morsel, const auto& body) {
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockBits) {
      uint64_t words[kWords];
      const int64_t count = std::min(kBlockBits, morsel.end - begin);
      body(begin, divide_up(count, 64), words, gate.words(begin, count, words));
    }
  };
  const std::vector<int64_t> first = compact_offsets(rows, {access}, [&](Morsel morsel) {
    int64_t total = 0;
    each_block(morsel, [&](int64_t, int64_t, const uint64_t*, int64_t set) { total += set; });
    return total;
  });

  Buffer out = Buffer::allocate_spillable(first.back() * int64_t{8});
  int64_t* result = first.back() > 0 ? out.mutable_as<int64_t>() : nullptr;
  parallel_morsels(rows, [&](Morsel morsel) {
    const auto index = static_cast<size_t>(morsel.index);
    std::vector<PinnedRange> ranges = ranges_of({&access, 1}, morsel.begin, morsel.end);
    ranges.push_back({&out, 8 * first[index], 8 * first[index + 1], true});
    const Pin pin(ranges);
    int64_t* next = result + first[index];
    const int64_t* end = result + first[index + 1];
    each_block(morsel, [&](int64_t begin, int64_t count, const uint64_t* words, int64_t set) {
      if (set > 0) HR_SIMD(write_positions)(words, count, begin, next, end);
      next += set;
    });
  });
  return Tensor(TypeId::kInt64, {first.back()}, std::move(out));
}

}  // namespace

Tensor nonzero(const Tensor& gate) {
  const ByteGate bytes{StridedView<uint8_t>(gate)};
  return positions(bytes, gate.num_elements(), bytes.bytes.source);
}

Tensor nonzero(const Column& gate) {
  return positions(BitGate{gate.bits(), gate.offset()}, gate.num_rows(), reads(gate));
}

}  // namespace hr::cpu
#endif
