// SPDX-License-Identifier: Apache-2.0
// Decimal numbers found, checked and converted in vectors of 16 bytes: "-12.345" in one, longer
// ones in two. Include it inside the namespace of a SIMD level, after decimal_number_tables.h,
// <bit>, <cstdint> and <cstring>: it must be compiled with that level's instructions. No #pragma
// once.

// (-1)^negative * digits / 10^places; the text ends at `end`, null when it has another shape.
struct ShortNumber {
  uint64_t digits;
  int64_t places;
  bool negative;
  bool has_point;
  const char* end;
};

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::FixedTag<uint8_t, 16>;

inline uint32_t bits_of(hn::Mask<D8> mask) {
  uint8_t bytes[2 + 8];  // StoreMaskBits may write a few bytes more
  hn::StoreMaskBits(D8(), mask, bytes);
  uint16_t bits;
  std::memcpy(&bits, bytes, 2);
  return bits;
}

// The number that some bytes 0 to 9 say when they are shuffled to the right end.
inline uint64_t right_digits(hn::Vec<D8> values, hn::Mask<D8> is_digit, const uint8_t* shuffle) {
  const D8 d8;
  const hn::FixedTag<uint16_t, 8> d16;
  const hn::FixedTag<uint32_t, 4> d32;
  const hn::FixedTag<uint64_t, 2> d64;
  const auto digits =
      hn::TableLookupBytesOr0(hn::IfThenElseZero(is_digit, values), hn::Load(d8, shuffle));
  // The products' upper halves hold ten (a hundred) times the left one and the right one.
  const auto pairs =
      hn::ShiftRight<8>(hn::Mul(hn::BitCast(d16, digits), hn::Set(d16, 10 * 256 + 1)));
  const auto fours =
      hn::ShiftRight<16>(hn::Mul(hn::BitCast(d32, pairs), hn::Set(d32, 100 * 65536 + 1)));
  const auto eights =
      hn::Add(hn::MulEven(fours, hn::Set(d32, 10000)), hn::ShiftRight<32>(hn::BitCast(d64, fours)));
  alignas(16) uint64_t halves[2];
  hn::Store(eights, d64, halves);
  return halves[0] * 100000000 + halves[1];
}

struct DigitRun {
  uint64_t digits;
  int64_t size;  // at most 16
};

inline DigitRun leading_digits(const char* p) {
  const D8 d8;
  const auto values = hn::Sub(hn::LoadU(d8, reinterpret_cast<const uint8_t*>(p)), hn::Set(d8, '0'));
  const auto is_digit = hn::Eq(hn::Min(values, hn::Set(d8, 9)), values);
  const auto size = static_cast<size_t>(std::countr_one(bits_of(is_digit)));
  return {right_digits(values, is_digit, kDropPoint.bytes[size][size]), static_cast<int64_t>(size)};
}
#endif

// A number of at most 15 characters without exponent.
inline ShortNumber parse_short_number([[maybe_unused]] const char* p) {
#if HWY_TARGET == HWY_SCALAR
  return {0, 0, false, false, nullptr};
#else
  const D8 d8;
  const auto text = hn::LoadU(d8, reinterpret_cast<const uint8_t*>(p));
  const auto value = hn::Sub(text, hn::Set(d8, '0'));
  const auto is_digit = hn::Eq(hn::Min(value, hn::Set(d8, 9)), value);
  const uint32_t digit_bits = bits_of(is_digit);
  const uint32_t point_bits = bits_of(hn::Eq(text, hn::Set(d8, '.')));
  const bool negative = *p == '-';
  const uint32_t sign = negative | static_cast<uint32_t>(*p == '+');
  const uint32_t mine = digit_bits | point_bits | sign;
  const auto size = static_cast<uint32_t>(std::countr_one(mine));
  const uint32_t points = point_bits & ((1U << size) - 1);
  const uint32_t found = digit_bits & ((1U << size) - 1);
  if (size > kShortNumber || (points & (points - 1)) != 0 || found == 0)
    return {0, 0, false, false, nullptr};
  const uint32_t point = points != 0 ? static_cast<uint32_t>(std::countr_zero(points)) : size;
  return {right_digits(value, is_digit, kDropPoint.bytes[size][point]),
          points != 0 ? size - 1 - point : 0, negative, points != 0, p + size};
#endif
}

// (-1)^negative * digits * 10^power, of up to 19 digits, with or without an exponent.
struct LongNumber {
  uint64_t digits;
  int64_t power;
  bool negative;
  const char* end;
};

// Reads up to 45 bytes.
inline LongNumber parse_long_number([[maybe_unused]] const char* p) {
#if HWY_TARGET == HWY_SCALAR
  return {0, 0, false, nullptr};
#else
  const bool negative = *p == '-';
  p += negative;
  const DigitRun whole = leading_digits(p);
  if (whole.size == 0 || whole.size > kShortNumber) return {0, 0, false, nullptr};
  p += whole.size;
  uint64_t digits = whole.digits;
  int64_t places = 0;
  if (*p == '.') {
    const DigitRun part = leading_digits(++p);
    places = part.size;
    // With at most 19 digits, or 19 behind a zero, they fit.
    if (places + (digits == 0 ? 0 : whole.size) > 16 + 3) return {0, 0, false, nullptr};
    digits = digits * kWholeTens[static_cast<size_t>(places)] + part.digits;
    p += places;
    if (places == 16) {
      const int64_t most = digits < kWholeTens[16] ? 3 : 16 + 3 - places - whole.size;
      for (int64_t i = 0; i < most && is_digit(*p); ++i, ++p, ++places)
        digits = digits * 10 + static_cast<uint64_t>(*p - '0');
    }
  }
  int64_t power = -places;
  if ((*p | 0x20) == 'e') {
    const bool down = p[1] == '-';
    p += 1 + (down || p[1] == '+');
    int64_t exponent = 0, size = 0;
    for (; size < 4 && is_digit(*p); ++size, ++p) exponent = exponent * 10 + (*p - '0');
    if (size == 0 || size == 4) return {0, 0, false, nullptr};
    power += down ? -exponent : exponent;
  }
  return {digits, power, negative, p};
#endif
}
