// SPDX-License-Identifier: Apache-2.0
// Numbers of at most 15 characters, "-12.345": found, checked and converted in one 16-byte vector.
// Include it inside the namespace of a SIMD level, after short_number_tables.h, <bit>, <cstdint>
// and <cstring>: it must be compiled with that level's instructions. No #pragma once.

// The number
// (-1)^negative * digits / 10^places; its text ends at `end`, null if it has another shape.
struct ShortNumber {
  uint64_t digits;
  int64_t places;
  bool negative;
  bool has_point;
  const char* end;
};

// Reads 16 bytes.
inline ShortNumber parse_short_number([[maybe_unused]] const char* p) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR
  return {0, 0, false, false, nullptr};
#else
  const hn::FixedTag<uint8_t, 16> d8;
  const hn::FixedTag<uint16_t, 8> d16;
  const hn::FixedTag<uint32_t, 4> d32;
  const hn::FixedTag<uint64_t, 2> d64;
  const auto text = hn::LoadU(d8, reinterpret_cast<const uint8_t*>(p));
  const auto value = hn::Sub(text, hn::Set(d8, '0'));
  const auto is_digit = hn::Eq(hn::Min(value, hn::Set(d8, 9)), value);
  uint8_t bits[2][8 + 8];  // StoreMaskBits may write a few bytes more
  hn::StoreMaskBits(d8, is_digit, bits[0]);
  hn::StoreMaskBits(d8, hn::Eq(text, hn::Set(d8, '.')), bits[1]);
  uint16_t digit_bits, point_bits;
  std::memcpy(&digit_bits, bits[0], 2);
  std::memcpy(&point_bits, bits[1], 2);
  const bool negative = *p == '-';
  const uint32_t sign = negative | static_cast<uint32_t>(*p == '+');
  const uint32_t mine = digit_bits | point_bits | sign;
  const auto size = static_cast<uint32_t>(std::countr_one(mine));
  const uint32_t points = point_bits & ((1U << size) - 1);
  const uint32_t found = digit_bits & ((1U << size) - 1);
  if (size > kShortNumber || (points & (points - 1)) != 0 || found == 0)
    return {0, 0, false, false, nullptr};
  const uint32_t point = points != 0 ? static_cast<uint32_t>(std::countr_zero(points)) : size;
  const auto shuffle = hn::Load(d8, kDropPoint.bytes[size][point]);
  const auto digits = hn::TableLookupBytesOr0(hn::IfThenElseZero(is_digit, value), shuffle);
  // Pairs, fours, eights: the products' upper parts hold ten (a hundred) times the left and the
  // right.
  const auto pairs =
      hn::ShiftRight<8>(hn::Mul(hn::BitCast(d16, digits), hn::Set(d16, 10 * 256 + 1)));
  const auto fours =
      hn::ShiftRight<16>(hn::Mul(hn::BitCast(d32, pairs), hn::Set(d32, 100 * 65536 + 1)));
  const auto eights =
      hn::Add(hn::MulEven(fours, hn::Set(d32, 10000)), hn::ShiftRight<32>(hn::BitCast(d64, fours)));
  alignas(16) uint64_t halves[2];
  hn::Store(eights, d64, halves);
  return {halves[0] * 100000000 + halves[1], points != 0 ? size - 1 - point : 0, negative,
          points != 0, p + size};
#endif
}
