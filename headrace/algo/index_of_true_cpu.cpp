// SPDX-License-Identifier: Apache-2.0
// Positions of the true elements on the CPU: count by morsel, then write each morsel in its place.
#include "headrace/algo/index_of_true_kernels.h"
#include "headrace/algo/strided_view.h"
#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace hr::cpu {

namespace {

/// Bit j is set when byte j of the eight at `bytes` is not zero.
uint64_t mask_of_bytes(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f;
  const uint64_t high_bits = (((word & low) + low) | word) & ~low;  // 0x80 where not zero
  return (high_bits >> 7) * 0x0102040810204080 >> 56;
}

/// The gate as words of up to 64 bits, from bytes of any stride.
struct ByteGate {
  StridedView<uint8_t> bytes;

  uint64_t word(int64_t begin, int64_t count) const {
    uint8_t block[64];
    const uint8_t* first = bytes.load(begin, count, block);
    if (count < 64) {
      uint64_t bits = 0;
      for (int64_t i = 0; i < count; ++i) bits |= static_cast<uint64_t>(first[i] != 0) << i;
      return bits;
    }
    uint64_t words[8];
    std::memcpy(words, first, 64);
    uint64_t any = 0;
    for (const uint64_t w : words) any |= w;
    if (any == 0) return 0;
    uint64_t bits = 0;
    for (int64_t i = 0; i < 8; ++i) bits |= mask_of_bytes(first + 8 * i) << (8 * i);
    return bits;
  }
};

struct BitGate {
  const uint8_t* bits;
  int64_t offset;

  uint64_t word(int64_t begin, int64_t count) const {
    return load_bits(bits, offset + begin, count);
  }
};

template <class Gate>
Tensor positions(const Gate& gate, int64_t rows) {
  const int64_t morsels = num_morsels(rows);
  std::vector<int64_t> first(static_cast<size_t>(morsels) + 1, 0);
  parallel_morsels(rows, [&](Morsel morsel) {
    int64_t count = 0;
    for (int64_t i = morsel.begin; i < morsel.end; i += 64)
      count += std::popcount(gate.word(i, std::min<int64_t>(64, morsel.end - i)));
    first[static_cast<size_t>(morsel.index) + 1] = count;
  });
  for (size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];

  Buffer out = Buffer::allocate(first.back() * int64_t{8});
  int64_t* result = first.back() > 0 ? out.mutable_as<int64_t>() : nullptr;
  parallel_morsels(rows, [&](Morsel morsel) {
    int64_t* next = result + first[static_cast<size_t>(morsel.index)];
    for (int64_t i = morsel.begin; i < morsel.end; i += 64)
      for (uint64_t bits = gate.word(i, std::min<int64_t>(64, morsel.end - i)); bits != 0;
           bits &= bits - 1)
        *next++ = i + std::countr_zero(bits);
  });
  return Tensor(TypeId::kInt64, {first.back()}, std::move(out));
}

}  // namespace

Tensor index_of_true(const Tensor& gate) {
  const ByteGate bytes{StridedView<uint8_t>(gate)};
  return positions(bytes, gate.num_elements());
}

Tensor index_of_true(const Column& gate) {
  return positions(BitGate{gate.bits(), gate.offset()}, gate.num_rows());
}

}  // namespace hr::cpu
