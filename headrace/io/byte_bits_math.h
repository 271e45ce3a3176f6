// SPDX-License-Identifier: Apache-2.0
// Which of 64 bytes are a given one, as the bits of a word. Include it inside the namespace of a
// SIMD level, after <bit>, <cstdint> and <cstring>: it must be compiled with that level's
// instructions. No #pragma once.
#if HWY_TARGET == HWY_SCALAR
inline uint64_t equal_bits(const char* p, uint8_t byte) {
  constexpr uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  uint64_t bits = 0;
  for (int i = 0; i < 64; i += 8) {
    uint64_t word;
    std::memcpy(&word, p + i, 8);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    const uint64_t x = word ^ (uint64_t{0x0101010101010101} * byte);
    const uint64_t zero = ~(((x & kLow) + kLow) | x | kLow);  // high bit of each zero byte
    bits |= ((zero >> 7) * 0x0102040810204080) >> 56 << i;
  }
  return bits;
}
#else
namespace hn = hwy::HWY_NAMESPACE;

inline uint64_t equal_bits(const char* p, uint8_t byte) {
  const hn::CappedTag<uint8_t, 64> d;
  constexpr size_t kLanes = hn::MaxLanes(hn::CappedTag<uint8_t, 64>());
  // As wide as a mask: a wider load would wait for two stores.
  using Part = hwy::UnsignedFromSize<kLanes / 8>;
  uint64_t word = 0;
  for (size_t i = 0; i < 64; i += kLanes) {
    uint8_t bits[16];  // StoreMaskBits may write a few bytes more
    hn::StoreMaskBits(
        d, hn::Eq(hn::LoadU(d, reinterpret_cast<const uint8_t*>(p) + i), hn::Set(d, byte)), bits);
    Part part;
    std::memcpy(&part, bits, sizeof part);
    word |= uint64_t{part} << i;
  }
  return word;
}
#endif

// Bits [begin, end) of a word, 0 <= begin <= end <= 64.
inline uint64_t bits_between(int64_t begin, int64_t end) {
  const uint64_t below_end = end == 64 ? ~uint64_t{0} : (uint64_t{1} << end) - 1;
  return begin == 64 ? 0 : below_end & ~((uint64_t{1} << begin) - 1);
}
