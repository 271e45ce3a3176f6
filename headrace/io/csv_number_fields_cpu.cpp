// SPDX-License-Identifier: Apache-2.0
// Number fields of a tile of CSV text, as many rows at a time as a vector has 64-bit lanes. A field
// is loaded by the bytes that end with it, so that its digits stand at the right end.
#define HWY_TARGET_INCLUDE "headrace/io/csv_number_fields_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/io/csv_fields_kernels.h"
#include "headrace/io/parse_number_math.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/number_lanes_math.h"

#if HWY_TARGET == HWY_SCALAR
template <class T>
int64_t numbers(const CsvFields&, int64_t, T*, int32_t*) {
  return 0;
}
#else
// 16 of these from n on: zeros, then n bytes of ones.
alignas(16) constexpr uint8_t kKeepLast[48] = {
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
// 1 behind the last byte of a block, 16 before the first: by how many places a point there divides,
// and 1.
alignas(16) constexpr uint8_t kPlaces[16] = {16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
constexpr double kTensByPlace[32] = {1,   1,   1e1,  1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
constexpr uint64_t kExactDouble = uint64_t{1} << 53;

alignas(16) constexpr uint8_t kLastByte[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255};

// kRows fields: where they end, and their sizes.
struct Group {
  const char* end[kRows];
  const char* keep[kRows];  // of kKeepLast, for the last 16 bytes
  int64_t size[kRows];
  int64_t longest = 0;
};

inline const char* keep_of(int64_t size) {
  return reinterpret_cast<const char*>(kKeepLast) + (size < 0 ? 0 : size < 16 ? size : 16);
}

// `ends` points at the end of the first field, before which stands the end of what precedes it.
inline Group group_of(const char* text, const int32_t* ends, int64_t step, int64_t gap) {
  Group group;
  for (int64_t i = 0; i < kRows; ++i, ends += step) {
    const int64_t end = ends[0];
    const int64_t size = end - ends[-1] - gap;
    group.end[i] = text + end;
    group.size[i] = size;
    group.keep[i] = reinterpret_cast<const char*>(kKeepLast) + (size < 16 ? size : 16);
    group.longest = size > group.longest ? size : group.longest;
  }
  return group;
}

// Blocks of some rows: digits less '0', zero outside of the field and for its sign.
struct Digits {
  V8 values;
  V8 minus;  // ones for a minus that comes first
  V8 wrong;  // not 0: the field is empty or a minus alone
};

// `before` is what is kept of the blocks before.
inline Digits digits_of(V8 text, V8 keep, V8 before) {
  const D8 d8;
  const V8 behind_first = hn::CombineShiftRightBytes<15>(d8, keep, before);
  const V8 minus =
      hn::And(hn::VecFromMask(d8, hn::Eq(text, hn::Set(d8, '-'))), hn::AndNot(behind_first, keep));
  const V8 last = hn::LoadDup128(d8, kLastByte);
  return {.values = hn::And(hn::AndNot(minus, hn::Sub(text, hn::Set(d8, '0'))), keep),
          .minus = minus,
          .wrong = hn::Or(hn::And(minus, last), hn::AndNot(keep, last))};
}

inline Digits last_digits(const Group& group, int64_t first) {
  const D8 d8;
  return digits_of(load_blocks(d8, group.end + first, -16), load_blocks(d8, group.keep + first, 0),
                   hn::Zero(d8));
}

// Rows that have a bit in the vector of their half, where a row is two neighbouring lanes.
inline hn::Mask<D64> rows_with(V8 first, V8 second) {
  const D64 d;
  const V64 a = hn::BitCast(d, first), b = hn::BitCast(d, second);
  return hn::Ne(hn::Or(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)), hn::Zero(d));
}

// What is above 9, or not 0 in `wrong`.
inline V8 misfits(V8 digits, V8 wrong) {
  return hn::Or(hn::SaturatedSub(digits, hn::Set(D8(), 9)), wrong);
}

inline uint32_t misfit_rows(V8 first, V8 second) {
  const D8 d8;
  if (hn::AllTrue(d8, hn::Eq(hn::Or(first, second), hn::Zero(d8)))) return 0;
  return bits_of(rows_with(first, second));
}

inline uint32_t rows_above(const Group& group, int64_t size) {
  uint32_t rows = 0;
  if (group.longest > size)
    for (int64_t i = 0; i < kRows; ++i) rows |= static_cast<uint32_t>(group.size[i] > size) << i;
  return rows;
}

// Two numbers of up to eight digits each in neighbouring lanes as one of up to 16.
inline V64 join_halves(V8 first, V8 second) {
  const D64 d;
  const V64 a = digits_to_numbers(first), b = digits_to_numbers(second);
  return hn::Add(multiply_low(hn::ConcatEven(d, b, a), hn::Set(d, 100000000)),
                 hn::ConcatOdd(d, b, a));
}

inline uint32_t integers(const Group& group, int64_t* values) {
  const D64 d;
  const Digits a = last_digits(group, 0), b = last_digits(group, kRows / 2);
  const V64 sign = hn::VecFromMask(d, rows_with(a.minus, b.minus));
  hn::StoreU(hn::Sub(hn::Xor(join_halves(a.values, b.values), sign), sign), d,
             reinterpret_cast<uint64_t*>(values));
  return misfit_rows(misfits(a.values, a.wrong), misfits(b.values, b.wrong)) |
         rows_above(group, 16);
}

constexpr uint8_t kPoint = static_cast<uint8_t>('.' - '0');

// Places of the point in both 64-bit lanes of a block; of more points nonsense.
inline V8 places_of(V8 digits, V8 weights) {
  const D8 d8;
  const V8 found = hn::IfThenElseZero(hn::Eq(digits, hn::Set(d8, kPoint)), weights);
  const V64 sums = hn::SumsOf8(found);
  const V64 both = hn::Add(sums, hn::Shuffle01(sums));
  return hn::TableLookupBytes(hn::BitCast(d8, both), hn::Zero(d8));
}

// Moves what stands before the point by one byte; `before` comes into the first byte.
inline V8 drop_point(V8 digits, V8 before, V8 places, V8 weights) {
  const D8 d8;
  const V8 moved = hn::CombineShiftRightBytes<15>(d8, digits, before);
  // Without a point, places - 1 is 255, and nothing moves.
  const V8 one = hn::Set(d8, 1);
  const V8 behind = hn::Sub(places, one);
  const auto moves = hn::Eq(hn::Max(hn::Sub(weights, one), behind), hn::Sub(weights, one));
  return hn::IfThenElse(moves, moved, digits);
}

inline V64 even_lanes(V8 a, V8 b) {
  const D64 d;
  return hn::ConcatEven(d, hn::BitCast(d, b), hn::BitCast(d, a));
}

inline V64 sign_bits(hn::Mask<D64> negative) {
  const D64 d;
  return hn::IfThenElseZero(negative, hn::Set(d, uint64_t{1} << 63));
}

// The places behind the point of each row, from places_of.
inline V64 places_down(V64 places) {
  const D64 d;
  return hn::Sub(places, hn::IfThenElseZero(hn::Ne(places, hn::Zero(d)), hn::Set(d, 1)));
}

// Fields of up to 16 bytes.
template <class T>
inline uint32_t short_decimals(const Group& group, T* values) {
  const D8 d8;
  const D64 d;
  const V8 weights = hn::LoadDup128(d8, kPlaces);
  const Digits first = last_digits(group, 0), second = last_digits(group, kRows / 2);
  const V8 places_a = places_of(first.values, weights);
  const V8 places_b = places_of(second.values, weights);
  const V8 a = drop_point(first.values, hn::Zero(d8), places_a, weights);
  const V8 b = drop_point(second.values, hn::Zero(d8), places_b, weights);
  uint32_t others = misfit_rows(misfits(a, first.wrong), misfits(b, second.wrong));
  const V64 w = join_halves(a, b);
  const V64 places = hn::And(even_lanes(places_a, places_b), hn::Set(d, 255));
  // A point at the end may stand alone.
  auto careful = hn::Eq(places, hn::Set(d, 1));
  const V64 signs = sign_bits(rows_with(first.minus, second.minus));
  if constexpr (sizeof(T) == 8) {
    const hn::RebindToSigned<D64> di;
    const hn::RebindToFloat<D64> df;
    careful = hn::Or(careful, hn::Gt(w, hn::Set(d, kExactDouble)));
    const auto tens =
        hn::GatherIndex(df, kTensByPlace, hn::BitCast(di, hn::And(places, hn::Set(d, 31))));
    const auto quotient = hn::Div(hn::ConvertTo(df, hn::BitCast(di, w)), tens);
    hn::StoreU(hn::Or(hn::BitCast(d, quotient), signs), d, reinterpret_cast<uint64_t*>(values));
  } else {
    others |= scale_decimals(w, hn::Sub(hn::Set(d, kBias), places_down(places)), signs, values);
  }
  if (!hn::AllFalse(d, careful)) others |= bits_of(careful);
  return others;
}

// Blocks of half of the rows: the last 16 bytes and the 16 before, without points.
struct LongDigits {
  V8 before;
  V8 last;
  V8 places;
  V8 minus;
  V8 misfits;
};

inline LongDigits long_digits(const Group& group, int64_t first) {
  const D8 d8;
  const V8 weights = hn::LoadDup128(d8, kPlaces);
  const V8 weights_before = hn::Add(weights, hn::Set(d8, 16));
  const char* keep_before[kRows / 2];
  for (int64_t i = 0; i < kRows / 2; ++i) {
    const int64_t more = group.size[first + i] - 16;
    keep_before[i] = reinterpret_cast<const char*>(kKeepLast) + (more < 0    ? 0
                                                                 : more < 16 ? more
                                                                             : 16);
  }
  const V8 kept = load_blocks(d8, keep_before, 0);
  const Digits before = digits_of(load_blocks(d8, group.end + first, -32), kept, hn::Zero(d8));
  const Digits last = digits_of(load_blocks(d8, group.end + first, -16),
                                load_blocks(d8, group.keep + first, 0), kept);
  const V8 places =
      hn::Add(places_of(last.values, weights), places_of(before.values, weights_before));
  const V8 digits_before = drop_point(before.values, hn::Zero(d8), places, weights_before);
  const V8 digits_last = drop_point(last.values, before.values, places, weights);
  return {digits_before, digits_last, places, hn::Or(before.minus, last.minus),
          hn::Or(misfits(digits_last, last.wrong), misfits(digits_before, hn::Zero(d8)))};
}

// Fields of up to 32 bytes and 19 digits, times ten to the power less kBias.
template <class T>
inline uint32_t long_decimals(const Group& group, V64 power, T* values) {
  const D64 d;
  const LongDigits a = long_digits(group, 0), b = long_digits(group, kRows / 2);
  uint32_t others = misfit_rows(a.misfits, b.misfits) | rows_above(group, 32);
  // Of the digits before the last 16, only three may be there.
  const V64 before_a = digits_to_numbers(a.before), before_b = digits_to_numbers(b.before);
  const V64 high = hn::ConcatOdd(d, before_b, before_a);
  const V64 more = hn::ConcatEven(d, before_b, before_a);
  const V64 low = join_halves(a.last, b.last);
  const V64 w = hn::Add(multiply_by(multiply_low(high, hn::Set(d, 100000000)), 100000000), low);
  const V64 places = hn::And(even_lanes(a.places, b.places), hn::Set(d, 255));
  const auto careful = hn::Or(hn::Eq(places, hn::Set(d, 1)),
                              hn::Or(hn::Gt(high, hn::Set(d, 999)), hn::Ne(more, hn::Zero(d))));
  const V64 signs = sign_bits(rows_with(a.minus, b.minus));
  others |= scale_decimals(w, hn::Sub(power, places_down(places)), signs, values);
  if (!hn::AllFalse(d, careful)) others |= bits_of(careful);
  return others;
}

// A field ends with an exponent of two digits, "e-05".
inline bool has_exponent(const char* end) {
  return (end[-4] | 0x20) == 'e' && (end[-3] == '-' || end[-3] == '+') && is_digit(end[-2]) &&
         is_digit(end[-1]);
}

// Fields of which some may have an exponent.
template <class T>
inline uint32_t scaled_decimals(Group group, T* values) {
  uint64_t powers[kRows];
  for (int64_t i = 0; i < kRows; ++i) {
    const char* const end = group.end[i];
    const bool has = group.size[i] > 4 && has_exponent(end);
    const int64_t power = has ? (end[-2] - '0') * 10 + (end[-1] - '0') : 0;
    powers[i] = static_cast<uint64_t>(kBias + (end[-3] == '-' ? -power : power));
    group.end[i] = end - 4 * has;
    group.size[i] -= 4 * has;
    group.keep[i] = keep_of(group.size[i]);
  }
  return long_decimals(group, hn::LoadU(D64(), powers), values);
}

// Values of a group, as many as there are lanes; bit i of the result: row i is none of them.
template <bool kScaled, class T>
inline uint32_t parse_group(const Group& group, T* values) {
  if constexpr (kScaled) {
    return scaled_decimals(group, values);
  } else if constexpr (std::is_floating_point_v<T>) {
    return group.longest <= 16 ? short_decimals(group, values)
                               : long_decimals(group, hn::Set(D64(), kBias), values);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return integers(group, values);
  } else {
    int64_t wide[kRows];
    uint32_t others = integers(group, wide);
    for (int64_t i = 0; i < kRows; ++i) {
      values[i] = static_cast<T>(wide[i]);
      const bool fits =
          std::is_same_v<T, uint64_t> ? wide[i] >= 0 : static_cast<int64_t>(values[i]) == wide[i];
      others |= static_cast<uint32_t>(!fits) << i;
    }
    return others;
  }
}

struct Others {
  int32_t* rows;
  int64_t count = 0;
};

// Rows from `row` on; stops early before a group with exponents, or when `kScaled` at one whose
// first row has none. A loop of its own for each keeps the common one short.
template <bool kScaled, class T>
HWY_NOINLINE int64_t parse_rows(const CsvFields& fields, int64_t field, int64_t row, T* values,
                                Others* others) {
  const int64_t step = fields.fields, gap = field == 0 ? fields.line_end : 1;
  for (; row < fields.rows; row += kRows) {
    const int32_t* const ends = fields.ends + row * step + field;
    const int64_t count = std::min(fields.rows - row, kRows);
    uint32_t bits;
    if (count == kRows) {
      bits = parse_group<kScaled>(group_of(fields.text, ends, step, gap), values + row);
    } else {
      int32_t pairs[2 * kRows];  // the last rows, and the last one again and again
      for (int64_t i = 0; i < kRows; ++i)
        std::copy_n(ends + std::min(i, count - 1) * step - 1, 2, pairs + 2 * i);
      T some[kRows];
      bits = parse_group<kScaled>(group_of(fields.text, pairs + 1, 2, gap), some) &
             ((1U << count) - 1);
      std::copy_n(some, count, values + row);
    }
    if constexpr (!kScaled && std::is_floating_point_v<T>)
      if (bits != 0 && has_exponent(fields.text + ends[std::countr_zero(bits) * step])) break;
    for (; bits != 0; bits &= bits - 1)
      others->rows[others->count++] = static_cast<int32_t>(row + std::countr_zero(bits));
    if (kScaled && !has_exponent(fields.text + ends[0])) return row + kRows;
  }
  return row;
}

template <class T>
int64_t numbers(const CsvFields& fields, int64_t field, T* values, int32_t* rows) {
  Others others{rows};
  for (int64_t row = 0; row < fields.rows;) {
    row = parse_rows<false>(fields, field, row, values, &others);
    if constexpr (std::is_floating_point_v<T>)
      row = parse_rows<true>(fields, field, row, values, &others);
  }
  return others.count;
}
#endif

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class T>
int64_t parse_number_fields(const CsvFields& fields, int64_t field, T* values, int32_t* others) {
  return HR_SIMD(numbers<T>)(fields, field, values, others);
}

#define HR_NUMBER_FIELDS(T) \
  template int64_t parse_number_fields<T>(const CsvFields&, int64_t, T*, int32_t*);
HR_NUMBER_FIELDS(int8_t)
HR_NUMBER_FIELDS(int16_t)
HR_NUMBER_FIELDS(int32_t)
HR_NUMBER_FIELDS(int64_t)
HR_NUMBER_FIELDS(uint8_t)
HR_NUMBER_FIELDS(uint16_t)
HR_NUMBER_FIELDS(uint32_t)
HR_NUMBER_FIELDS(uint64_t)
HR_NUMBER_FIELDS(float)
HR_NUMBER_FIELDS(double)
#undef HR_NUMBER_FIELDS

}  // namespace hr::cpu
#endif
