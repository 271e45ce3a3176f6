// SPDX-License-Identifier: Apache-2.0
// Lines of one "%.18e" number: as many at a time as a vector has 64-bit lanes.
#define HWY_TARGET_INCLUDE "headrace/io/csv_number_lines_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/csv_number_lines_kernels.h"
#include "headrace/io/parse_number_math.h"

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The next line, or null when it has another shape.
template <class T>
inline const char* parse_line(const char* p, T* value) {
  const char* stop = parse_scientific18(p, value);
  if (!stop) return nullptr;
  stop += *stop == '\r';
  return *stop == '\n' ? stop + 1 : nullptr;
}

#if HWY_TARGET != HWY_SCALAR
using D64 = hn::CappedTag<uint64_t, 8>;
using D32 = hn::Repartition<uint32_t, D64>;
using D16 = hn::Repartition<uint16_t, D64>;
using D8 = hn::Repartition<uint8_t, D64>;
using V64 = hn::Vec<D64>;
using V8 = hn::Vec<D8>;
constexpr int64_t kRows = hn::MaxLanes(D64());
constexpr int64_t kLongestLine = 27;

// A line without its sign, d.dddddddddddddddddde+dd, is looked at in two blocks: 16 bytes from 0
// on and 16 from 16 on. A byte xor `pattern` is at most `limit`; `shuffle` puts the digits in place
// for digits_to_numbers.
struct Shape {
  alignas(16) uint8_t pattern[16];
  alignas(16) uint8_t limit[16];
  alignas(16) uint8_t shuffle[16];
};
constexpr uint8_t k0 = 0x80;  // a shuffle's zero
constexpr Shape kFront = {
    {'0', '.', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0'},
    {9, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9},
    {k0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
constexpr Shape kBack = {{'0', '0', '0', '0', 'e', '+', '0', '0', '\n', 0, 0, 0, 0, 0, 0, 0},
                         {9, 9, 9, 9, 0, 0, 9, 9, 0, 255, 255, 255, 255, 255, 255, 255},
                         {k0, k0, k0, k0, 0, 1, 2, 3, k0, k0, k0, k0, k0, k0, 6, 7}};
constexpr Shape kBackReturn = {
    {'0', '0', '0', '0', 'e', '+', '0', '0', '\r', '\n', 0, 0, 0, 0, 0, 0},
    {9, 9, 9, 9, 0, 0, 9, 9, 0, 0, 255, 255, 255, 255, 255, 255},
    {k0, k0, k0, k0, 0, 1, 2, 3, k0, k0, k0, k0, k0, k0, 6, 7}};
alignas(16) constexpr uint8_t kSignPlace[16] = {0, 0, 0, 0, 0, 255};

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

// w * 10^(biased_q - kBias) of all lanes, rounded as scale_decimal does, for w of 0 or 19 digits.
// False when a lane wants more care.
constexpr int64_t kBias = 65536;

template <class T>
inline bool scale_decimals(V64 w, V64 biased_q, V64 signs, T* values) {
  using Format = fast_float::binary_format<T>;
  using Powers = fast_float::powers;
  constexpr int kBits = Format::mantissa_explicit_bits();
  const D64 d;
  const hn::RebindToSigned<D64> di;
  const V64 one = hn::Set(d, 1);
  const auto is_zero = hn::Eq(w, hn::Zero(d));
  const auto is_short = hn::Lt(w, hn::Set(d, 1000000000000000000));
  auto careful = hn::AndNot(is_zero, is_short);

  // 10^18 has 60 bits: at most four zeros lead.
  V64 zeros = hn::IfThenElseZero(hn::Eq(hn::ShiftRight<60>(w), hn::Zero(d)), hn::Set(d, 4));
  w = hn::Shl(w, zeros);
  const V64 two = hn::IfThenElseZero(hn::Eq(hn::ShiftRight<62>(w), hn::Zero(d)), hn::Set(d, 2));
  w = hn::Shl(w, two);
  const V64 last = hn::AndNot(hn::ShiftRight<63>(w), one);
  w = hn::Shl(w, last);
  zeros = hn::Add(hn::Add(zeros, two), last);

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
  // Perhaps halfway between two floats, or perhaps not exact enough.
  const auto is_tiny = hn::Lt(product.low, hn::Set(d, 2));
  const auto is_full = hn::Eq(product.low, hn::Set(d, ~uint64_t{0}));
  const auto from = [&](int64_t q) { return static_cast<uint64_t>(kBias + q); };
  const auto can_tie =
      hn::And(hn::Gt(biased_q, hn::Set(d, from(Format::min_exponent_round_to_even() - 1))),
              hn::Lt(biased_q, hn::Set(d, from(Format::max_exponent_round_to_even() + 1))));
  careful = hn::Or(careful, hn::Or(hn::And(is_tiny, can_tie), is_full));

  const V64 upper = hn::ShiftRight<63>(product.high);
  V64 mantissa = hn::Shr(hn::ShiftRight<64 - kBits - 3>(product.high), upper);
  mantissa = hn::ShiftRight<1>(hn::Add(mantissa, hn::And(mantissa, one)));
  // floor(q * log2(10)) for the bias's sake in whole steps of 2^16.
  const V64 log = hn::ShiftRight<16>(multiply_low(biased_q, hn::Set(d, 217706)));
  const V64 power = hn::Sub(
      hn::Add(log, hn::Add(upper, hn::Set(d, 63 - Format::minimum_exponent() - 217706 - 1))),
      zeros);  // less 1, which the mantissa's leading bit adds
  if constexpr (sizeof(T) == 4) {
    careful = hn::Or(careful, hn::AndNot(is_zero, hn::Gt(power, hn::Set(d, 252))));
  }
  if (!hn::AllFalse(d, careful)) return false;
  const V64 bits = hn::IfThenZeroElse(is_zero, hn::Add(hn::ShiftLeft<kBits>(power), mantissa));
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(hn::Or(bits, signs), d, reinterpret_cast<uint64_t*>(values));
  } else {
    const hn::Rebind<uint32_t, D64> half;
    hn::StoreU(hn::TruncateTo(half, hn::Or(bits, hn::ShiftRight<32>(signs))), half,
               reinterpret_cast<uint32_t*>(values));
  }
  return true;
}

// kRows lines; null when one of them has another shape or wants more care.
template <class T>
inline const char* parse_lines(const char* p, const Shape& back, int64_t step, T* values) {
  const D64 d;
  const D8 d8;
  const char* at[kRows];
  alignas(8) uint8_t negative[8] = {};
  uint32_t bits = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const uint32_t sign = *p == '-';
    at[row] = p + sign;
    bits |= sign << row;
    p = at[row] + step;
  }
  negative[0] = static_cast<uint8_t>(bits);

  const V8 front_pattern = hn::LoadDup128(d8, kFront.pattern);
  const V8 back_pattern = hn::LoadDup128(d8, back.pattern);
  const V8 front_limit = hn::LoadDup128(d8, kFront.limit);
  const V8 back_limit = hn::LoadDup128(d8, back.limit);
  const V8 minus = hn::Set(d8, '-'), sign_place = hn::LoadDup128(d8, kSignPlace);
  const V8 front0 = hn::Xor(load_blocks(d8, at, 0), front_pattern);
  const V8 front1 = hn::Xor(load_blocks(d8, at + kRows / 2, 0), front_pattern);
  const V8 raw0 = load_blocks(d8, at, 16), raw1 = load_blocks(d8, at + kRows / 2, 16);
  const V8 minus0 = hn::And(hn::VecFromMask(d8, hn::Eq(raw0, minus)), sign_place);
  const V8 minus1 = hn::And(hn::VecFromMask(d8, hn::Eq(raw1, minus)), sign_place);
  const V8 back0 = hn::AndNot(minus0, hn::Xor(raw0, back_pattern));
  const V8 back1 = hn::AndNot(minus1, hn::Xor(raw1, back_pattern));
  // What is above its limit stays after the saturated difference.
  const V8 above =
      hn::Or(hn::Or(hn::SaturatedSub(front0, front_limit), hn::SaturatedSub(front1, front_limit)),
             hn::Or(hn::SaturatedSub(back0, back_limit), hn::SaturatedSub(back1, back_limit)));
  if (!hn::AllTrue(d8, hn::Eq(above, hn::Zero(d8)))) return nullptr;

  const V8 front_shuffle = hn::LoadDup128(d8, kFront.shuffle);
  const V8 back_shuffle = hn::LoadDup128(d8, back.shuffle);
  const V64 f0 = digits_to_numbers(hn::TableLookupBytesOr0(front0, front_shuffle));
  const V64 f1 = digits_to_numbers(hn::TableLookupBytesOr0(front1, front_shuffle));
  const V64 b0 = digits_to_numbers(hn::TableLookupBytesOr0(back0, back_shuffle));
  const V64 b1 = digits_to_numbers(hn::TableLookupBytesOr0(back1, back_shuffle));
  const V64 first7 = hn::ConcatEven(d, f1, f0), next8 = hn::ConcatOdd(d, f1, f0);
  const V64 last4 = hn::ConcatEven(d, b1, b0), exponent = hn::ConcatOdd(d, b1, b0);
  const V64 first15 = hn::Add(multiply_low(first7, hn::Set(d, 100000000)), next8);
  const V64 ten_thousand = hn::Set(d, 10000);
  const V64 w =
      hn::Add(hn::Add(multiply_low(first15, ten_thousand),
                      hn::ShiftLeft<32>(multiply_low(hn::ShiftRight<32>(first15), ten_thousand))),
              last4);
  const V64 minuses = hn::ConcatEven(d, hn::BitCast(d, minus1), hn::BitCast(d, minus0));
  const V64 zero_q = hn::Set(d, kBias - 18);
  const V64 q = hn::IfThenElse(hn::Eq(minuses, hn::Zero(d)), hn::Add(zero_q, exponent),
                               hn::Sub(zero_q, exponent));
  const V64 signs =
      hn::IfThenElseZero(hn::LoadMaskBits(d, negative), hn::Set(d, uint64_t{1} << 63));
  return scale_decimals(w, q, signs, values) ? p : nullptr;
}
#endif

template <class T>
const char* parse(const char* p, const char* end, int64_t most, T* values, int64_t* count) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const bool carriage_return = p < end && p[24 + (*p == '-')] == '\r';
  const Shape& back = carriage_return ? kBackReturn : kBack;
  const int64_t step = carriage_return ? 26 : 25;
  while (most - row >= kRows && end - p >= kRows * kLongestLine) {
    const char* next = parse_lines(p, back, step, values + row);
    if (next) {
      p = next;
      row += kRows;
      continue;
    }
    for (int64_t i = 0; i < kRows; ++i) {
      const char* line = parse_line(p, values + row);
      if (!line) {
        *count = row;
        return p;
      }
      p = line;
      ++row;
    }
  }
#endif
  while (row < most && p < end) {
    const char* next = parse_line(p, values + row);
    if (!next) break;
    p = next;
    ++row;
  }
  *count = row;
  return p;
}

const char* parse_f64(const char* p, const char* end, int64_t most, double* values,
                      int64_t* count) {
  return parse(p, end, most, values, count);
}

const char* parse_f32(const char* p, const char* end, int64_t most, float* values, int64_t* count) {
  return parse(p, end, most, values, count);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

const char* parse_number_lines(const char* p, const char* end, int64_t most, double* values,
                               int64_t* count) {
  return HR_SIMD(parse_f64)(p, end, most, values, count);
}

const char* parse_number_lines(const char* p, const char* end, int64_t most, float* values,
                               int64_t* count) {
  return HR_SIMD(parse_f32)(p, end, most, values, count);
}

}  // namespace hr::cpu
#endif
