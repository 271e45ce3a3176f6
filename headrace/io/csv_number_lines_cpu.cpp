// SPDX-License-Identifier: Apache-2.0
// Lines of one "%.18e" number: as many at a time as a vector has 64-bit lanes.
#define HWY_TARGET_INCLUDE "headrace/io/csv_number_lines_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/csv_number_lines_kernels.h"
#include "headrace/io/parse_number_math.h"

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/number_lanes_math.h"

// The next line, or null when it has another shape.
template <class T>
inline const char* parse_line(const char* p, T* value) {
  const char* stop = parse_scientific18(p, value);
  if (!stop) return nullptr;
  stop += *stop == '\r';
  return *stop == '\n' ? stop + 1 : nullptr;
}

#if HWY_TARGET != HWY_SCALAR
constexpr int64_t kLongestLine = 27;

// A line without its sign, d.dddddddddddddddddde+dd, is read in two blocks: 16 bytes from 0 on and
// 16 from 16 on. A byte xor `pattern` is at most `limit`; `shuffle` puts the digits in place for
// digits_to_numbers.
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
  const V64 w = hn::Add(multiply_by(first15, 10000), last4);
  const V64 minuses = hn::ConcatEven(d, hn::BitCast(d, minus1), hn::BitCast(d, minus0));
  const V64 zero_q = hn::Set(d, kBias - 18);
  const V64 q = hn::IfThenElse(hn::Eq(minuses, hn::Zero(d)), hn::Add(zero_q, exponent),
                               hn::Sub(zero_q, exponent));
  const V64 signs =
      hn::IfThenElseZero(hn::LoadMaskBits(d, negative), hn::Set(d, uint64_t{1} << 63));
  return scale_decimals(w, q, signs, values) == 0 ? p : nullptr;
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
