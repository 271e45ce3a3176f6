// SPDX-License-Identifier: Apache-2.0
// Decimal numbers of several fields at a time, one in each 64-bit lane of a vector. Include it
// inside the namespace of a SIMD level other than SCALAR, after parse_number_math.h: it must be
// compiled with that level's instructions. No #pragma once.

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;
using D64 = hn::CappedTag<uint64_t, 8>;
using D32 = hn::Repartition<uint32_t, D64>;
using D16 = hn::Repartition<uint16_t, D64>;
using D8 = hn::Repartition<uint8_t, D64>;
using V64 = hn::Vec<D64>;
using V8 = hn::Vec<D8>;
constexpr int64_t kRows = hn::MaxLanes(D64());

inline uint32_t bits_of(hn::Mask<D64> mask) {
  uint8_t bytes[8 + 8];  // StoreMaskBits may write a few bytes more
  hn::StoreMaskBits(D64(), mask, bytes);
  return bytes[0];
}

// Blocks of 16 bytes from as many places as the vector has.
template <class D>
inline hn::Vec<D> load_blocks(D d, const char* const* at, int64_t offset) {
  if constexpr (hn::MaxLanes(D()) == 16) {
    return hn::LoadU(d, reinterpret_cast<const uint8_t*>(at[0] + offset));
  } else {
    const hn::Half<D> half;
    constexpr size_t kHalf = hn::MaxLanes(hn::Half<D>()) / 16;
    return hn::Combine(d, load_blocks(half, at + kHalf, offset), load_blocks(half, at, offset));
  }
}

// Products of the low halves of the lanes.
inline V64 multiply_low(V64 a, V64 b) {
  const D32 d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
}

// Products with `b` of up to 32 bits, of which the low 64 bits are kept.
inline V64 multiply_by(V64 a, uint64_t b) {
  const V64 factor = hn::Set(D64(), b);
  return hn::Add(multiply_low(a, factor),
                 hn::ShiftLeft<32>(multiply_low(hn::ShiftRight<32>(a), factor)));
}

// Eight bytes 0 to 9 of each lane as the number that they say.
inline V64 digits_to_numbers(V8 digits) {
  const D16 d16;
  const D32 d32;
  const D64 d64;
  const auto pairs =
      hn::ShiftRight<8>(hn::Mul(hn::BitCast(d16, digits), hn::Set(d16, 10 * 256 + 1)));
  const auto fours =
      hn::ShiftRight<16>(hn::Mul(hn::BitCast(d32, pairs), hn::Set(d32, 100 * 65536 + 1)));
  return hn::Add(hn::MulEven(fours, hn::Set(d32, 10000)),
                 hn::ShiftRight<32>(hn::BitCast(d64, fours)));
}

struct Wide {
  V64 high;
  V64 low;
};

inline Wide multiply_wide(V64 a, V64 b) {
  const D64 d;
  const V64 half = hn::Set(d, 0xFFFFFFFF);
  const V64 a_high = hn::ShiftRight<32>(a), b_high = hn::ShiftRight<32>(b);
  const V64 low = multiply_low(a, b), high = multiply_low(a_high, b_high);
  const V64 cross = multiply_low(a, b_high), other = multiply_low(a_high, b);
  const V64 middle =
      hn::Add(hn::ShiftRight<32>(low), hn::Add(hn::And(cross, half), hn::And(other, half)));
  return {hn::Add(hn::Add(high, hn::ShiftRight<32>(middle)),
                  hn::Add(hn::ShiftRight<32>(cross), hn::ShiftRight<32>(other))),
          hn::Or(hn::ShiftLeft<32>(middle), hn::And(low, half))};
}

constexpr int64_t kBias = 65536;

template <int kZeros>
inline void shift_by_zeros(V64& w, V64& zeros) {
  const D64 d;
  const auto leading = hn::Eq(hn::ShiftRight<64 - kZeros>(w), hn::Zero(d));
  w = hn::IfThenElse(leading, hn::ShiftLeft<kZeros>(w), w);
  zeros = hn::Add(zeros, hn::IfThenElseZero(leading, hn::Set(d, kZeros)));
}

// w * 10^(biased_q - kBias) of all lanes, rounded as scale_decimal does. Bit i of the result: lane
// i wants more care, its value means nothing.
template <class T>
inline uint32_t scale_decimals(V64 w, V64 biased_q, V64 signs, T* values) {
  using Format = fast_float::binary_format<T>;
  using Powers = fast_float::powers;
  constexpr int kBits = Format::mantissa_explicit_bits();
  const D64 d;
  const hn::RebindToSigned<D64> di;
  const V64 one = hn::Set(d, 1);
  const auto is_zero = hn::Eq(w, hn::Zero(d));
  V64 zeros = hn::Zero(d);  // that led w
  shift_by_zeros<32>(w, zeros);
  shift_by_zeros<16>(w, zeros);
  shift_by_zeros<8>(w, zeros);
  shift_by_zeros<4>(w, zeros);
  shift_by_zeros<2>(w, zeros);
  shift_by_zeros<1>(w, zeros);

  const V64 index =
      hn::ShiftLeft<1>(hn::Sub(biased_q, hn::Set(d, kBias + Powers::smallest_power_of_five)));
  const auto places = hn::BitCast(di, index);
  Wide product = multiply_wide(w, hn::GatherIndex(d, Powers::power_of_five_128, places));
  const V64 unsure = hn::Set(d, ~uint64_t{0} >> (kBits + 3));
  const auto refine = hn::Eq(hn::And(product.high, unsure), unsure);
  if (!hn::AllFalse(d, refine)) {
    const V64 more =
        multiply_wide(w, hn::GatherIndex(d, Powers::power_of_five_128 + 1, places)).high;
    const V64 addend = hn::IfThenElseZero(refine, more);
    product.low = hn::Add(product.low, addend);
    product.high = hn::Add(product.high, hn::IfThenElseZero(hn::Gt(addend, product.low), one));
  }
  auto careful = hn::Eq(product.low, hn::Set(d, ~uint64_t{0}));  // perhaps not exact enough
  const V64 upper = hn::ShiftRight<63>(product.high);
  V64 mantissa = hn::Shr(hn::ShiftRight<64 - kBits - 3>(product.high), upper);
  // Halfway between two floats the even one is taken.
  const auto from = [&](int64_t q) { return static_cast<uint64_t>(kBias + q); };
  const auto can_tie =
      hn::And(hn::Gt(biased_q, hn::Set(d, from(Format::min_exponent_round_to_even() - 1))),
              hn::Lt(biased_q, hn::Set(d, from(Format::max_exponent_round_to_even() + 1))));
  const auto tiny = hn::And(hn::Lt(product.low, hn::Set(d, 2)), can_tie);
  if (!hn::AllFalse(d, tiny)) {
    const V64 exact = hn::Shl(mantissa, hn::Add(upper, hn::Set(d, 64 - kBits - 3)));
    const auto halfway =
        hn::And(hn::Eq(exact, product.high), hn::Eq(hn::And(mantissa, hn::Set(d, 3)), one));
    mantissa = hn::Sub(mantissa, hn::IfThenElseZero(hn::And(tiny, halfway), one));
  }
  mantissa = hn::ShiftRight<1>(hn::Add(mantissa, hn::And(mantissa, one)));
  // floor(q * log2(10)) for the bias's sake in whole steps of 2^16.
  const V64 log = hn::ShiftRight<16>(multiply_low(biased_q, hn::Set(d, 217706)));
  const V64 power = hn::Sub(
      hn::Add(log, hn::Add(upper, hn::Set(d, 63 - Format::minimum_exponent() - 217706 - 1))),
      zeros);  // less 1, which the mantissa's leading bit adds
  if constexpr (sizeof(T) == 4) {
    careful = hn::Or(careful, hn::AndNot(is_zero, hn::Gt(power, hn::Set(d, 252))));
  }
  const V64 bits = hn::IfThenZeroElse(is_zero, hn::Add(hn::ShiftLeft<kBits>(power), mantissa));
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(hn::Or(bits, signs), d, reinterpret_cast<uint64_t*>(values));
  } else {
    const hn::Rebind<uint32_t, D64> half;
    hn::StoreU(hn::TruncateTo(half, hn::Or(bits, hn::ShiftRight<32>(signs))), half,
               reinterpret_cast<uint32_t*>(values));
  }
  return hn::AllFalse(d, careful) ? 0 : bits_of(careful);
}
#endif
