// SPDX-License-Identifier: Apache-2.0
// Block kernels of reduce.
#define HWY_TARGET_INCLUDE "headrace/algo/reduce/reduce_cpu.cpp"
#include "headrace/algo/reduce/reduce_kernels.h"
#include "headrace/base/simd_targets.h"

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using Vec = hn::Vec<D>;

HR_INLINE Vec load(const double* p) {
  return hn::LoadU(D(), p);
}
HR_INLINE Vec load(const float* p) {
  const hn::Rebind<float, D> half;
  return hn::PromoteTo(D(), hn::LoadU(half, p));
}

struct Sum {
  HR_INLINE static Vec term(Vec x, Vec) { return x; }
  static constexpr double kNeutral = -0.0;
  HR_INLINE static Vec join(Vec a, Vec b) { return hn::Add(a, b); }
  HR_INLINE static double join(double a, double b) { return a + b; }
};

// Of deviations from the mean.
template <int kExponent>
struct Power : Sum {
  HR_INLINE static Vec term(Vec x, Vec mean) {
    const Vec d = hn::Sub(x, mean);
    Vec power = d;
    for (int k = 1; k < kExponent; ++k) power = hn::Mul(power, d);
    return power;
  }
};

struct Product {
  HR_INLINE static Vec term(Vec x, Vec) { return x; }
  static constexpr double kNeutral = 1;
  HR_INLINE static Vec join(Vec a, Vec b) { return hn::Mul(a, b); }
  HR_INLINE static double join(double a, double b) { return a * b; }
};

// Highway's Ne is false for NaN on AVX2 and AVX-512.
struct Min {
  static constexpr double kNeutral = std::numeric_limits<double>::infinity();
  HR_INLINE static Vec term(Vec x, Vec) { return x; }
  HR_INLINE static Vec join(Vec a, Vec b) {
    return hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::Not(hn::Eq(b, b))), b, a);
  }
  HR_INLINE static double join(double a, double b) { return b < a || b != b ? b : a; }
};

struct Max {
  static constexpr double kNeutral = -std::numeric_limits<double>::infinity();
  HR_INLINE static Vec term(Vec x, Vec) { return x; }
  HR_INLINE static Vec join(Vec a, Vec b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::Not(hn::Eq(b, b))), b, a);
  }
  HR_INLINE static double join(double a, double b) { return a < b || b != b ? b : a; }
};

// Of 2 to 12 KiB: lines of 400 doubles are read at 42 GB/s by two threads, at 38 with 6 or more.
constexpr size_t kFetchAhead = 3 << 10;

/// The first `count` values at x, in a vector with neutral ones behind them. Whole vectors are
/// loaded from where they lie: by way of memory of our own a line of 400 takes 1.18 times as long.
template <class Fold, class T>
HR_INLINE Vec load_first(const T* x, int64_t count) {
  constexpr auto kWidth = static_cast<int64_t>(hn::MaxLanes(D()));
  if (count >= kWidth) return load(x);
  T part[kWidth];
  std::fill(part, part + kWidth, static_cast<T>(Fold::kNeutral));
  for (int64_t k = 0; k < count; ++k) part[k] = x[k];
  return load(part);
}

template <class Fold, class T>
double fold_lanes(const T* x, int64_t count, double mean) {
  constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
  constexpr int kVectors = 32 / kWidth;
  const Vec center = hn::Set(D(), mean);
  Vec lanes[kVectors];
  const int64_t whole = count / 32 * 32;
  // The processor fetches ahead within a page of 4 KiB only; mostly the next block lies behind.
  const auto fetch = [x](int64_t i) {
    for (size_t line = 0; line < 32 * sizeof(T); line += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(x + i) + kFetchAhead + line, 0, 2);
  };
  fetch(0);
  if (whole > 0) {
    for (int j = 0; j < kVectors; ++j) lanes[j] = Fold::term(load(x + j * kWidth), center);
  } else {
    for (int j = 0; j < kVectors; ++j)
      lanes[j] = Fold::term(load_first<Fold>(x + j * kWidth, count - j * kWidth), center);
  }
  for (int64_t i = 32; i < whole; i += 32) {
    fetch(i);
    for (int j = 0; j < kVectors; ++j)
      lanes[j] = Fold::join(lanes[j], Fold::term(load(x + i + j * kWidth), center));
  }
  if (0 < whole && whole < count) {  // neutral values change nothing: vectors of them are left out
    fetch(whole);
    for (int j = 0; j < kVectors; ++j) {
      const int64_t first = whole + j * kWidth;
      if (first < count)
        lanes[j] =
            Fold::join(lanes[j], Fold::term(load_first<Fold>(x + first, count - first), center));
    }
  }
  for (int half = kVectors / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) lanes[j] = Fold::join(lanes[j], lanes[j + half]);
  double last[kWidth];
  hn::StoreU(lanes[0], D(), last);
  for (int half = kWidth / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) last[j] = Fold::join(last[j], last[j + half]);
  return last[0];
}

/// a[i] = join(a[i], x[i]).
template <class Fold, class X>
HR_INLINE void join_to(double* a, const X* x, int64_t count) {
  constexpr auto kWidth = static_cast<int64_t>(hn::MaxLanes(D()));
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth)
    hn::StoreU(Fold::join(load(a + i), load(x + i)), D(), a + i);
  for (; i < count; ++i) a[i] = Fold::join(a[i], static_cast<double>(x[i]));
}

/// lane[i] joined with the values of kRows rows, `step` apart, one after the other; with `fresh`
/// the first of these begins it. Values `ahead` of them are fetched meanwhile.
template <class Fold, int kRows, class T>
void join_rows(const T* x, int64_t step, int64_t columns, bool fresh, int64_t ahead, double* lane) {
  constexpr auto kWidth = static_cast<int64_t>(hn::MaxLanes(D()));
  constexpr int64_t kLine = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + kLine <= columns; i += kLine) {
    if (ahead != 0)
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) __builtin_prefetch(x + i + row * step + ahead, 0, 2);
#pragma GCC unroll 8
    for (int64_t k = i; k < i + kLine; k += kWidth) {
      Vec sum = load(x + k);
      if (!fresh) sum = Fold::join(load(lane + k), sum);
#pragma GCC unroll 8
      for (int row = 1; row < kRows; ++row) sum = Fold::join(sum, load(x + k + row * step));
      hn::StoreU(sum, D(), lane + k);
    }
  }
  for (; i < columns; ++i) {
    auto sum = static_cast<double>(x[i]);
    if (!fresh) sum = Fold::join(lane[i], sum);
    for (int row = 1; row < kRows; ++row)
      sum = Fold::join(sum, static_cast<double>(x[i + row * step]));
    lane[i] = sum;
  }
}

/// The same with 1 to kRows rows.
template <class Fold, int kRows, class T>
void join_some_rows(int64_t count, const T* x, int64_t step, int64_t columns, bool fresh,
                    int64_t ahead, double* lane) {
  if constexpr (kRows > 1)
    if (count < kRows)
      return join_some_rows<Fold, kRows - 1>(count, x, step, columns, fresh, ahead, lane);
  join_rows<Fold, kRows>(x, step, columns, fresh, ahead, lane);
}

template <class Fold, class T>
void fold_columns(const T* rows, int64_t step, int64_t count, int64_t columns, double* lanes,
                  double* out) {
  constexpr int kRowsAtOnce = 8;  // of a lane, which is then read and written once for them
  int64_t filled = std::min<int64_t>(count, 32);
  for (int64_t first = 0; first < count; first += 32 * kRowsAtOnce)
    for (int64_t lane = 0; lane < 32 && first + lane < count; ++lane) {
      const int64_t row = first + lane;
      const int64_t rows_of_lane = std::min<int64_t>(kRowsAtOnce, (count - row + 31) / 32);
      // The last rows of the next lane may lie behind the end; fetching does not read.
      join_some_rows<Fold, kRowsAtOnce>(rows_of_lane, rows + row * step, 32 * step, columns,
                                        first == 0, lane < 31 ? step : 0, lanes + lane * columns);
    }
  // A lane without rows is neutral: joined or left out, the bits are the same.
  for (int64_t half = 16; half > 0; filled = std::min(filled, half), half /= 2)
    for (int64_t j = 0; j < half && j + half < filled; ++j)
      join_to<Fold>(lanes + j * columns, lanes + (j + half) * columns, columns);
  std::copy(lanes, lanes + columns, out);
}

template <class T>
void fold_float_columns(Accumulator fold, const T* rows, int64_t step, int64_t count,
                        int64_t columns, double* lanes, double* out) {
  switch (fold) {
    case Accumulator::kProduct:
      return fold_columns<Product>(rows, step, count, columns, lanes, out);
    case Accumulator::kMin:
      return fold_columns<Min>(rows, step, count, columns, lanes, out);
    case Accumulator::kMax:
      return fold_columns<Max>(rows, step, count, columns, lanes, out);
    default:
      return fold_columns<Sum>(rows, step, count, columns, lanes, out);
  }
}

template <class T>
double fold_float(Accumulator fold, const T* x, int64_t count, double mean) {
  switch (fold) {
    case Accumulator::kSum:
      return fold_lanes<Sum>(x, count, mean);
    case Accumulator::kProduct:
      return fold_lanes<Product>(x, count, mean);
    case Accumulator::kSquares:
      return fold_lanes<Power<2>>(x, count, mean);
    case Accumulator::kMin:
      return fold_lanes<Min>(x, count, mean);
    case Accumulator::kMax:
      return fold_lanes<Max>(x, count, mean);
    default:
      return 0;
  }
}

template <class T>
void fold_powers(const T* x, int64_t count, double mean, double* powers) {
  powers[0] = fold_lanes<Power<1>>(x, count, mean);
  powers[1] = fold_lanes<Power<2>>(x, count, mean);
  powers[2] = fold_lanes<Power<3>>(x, count, mean);
  powers[3] = fold_lanes<Power<4>>(x, count, mean);
}

template <class T>
uint64_t fold_integer(Accumulator fold, const T* x, int64_t count) {
  uint64_t total = fold == Accumulator::kProduct ? 1 : 0;
  T best = x[0];
  switch (fold) {
    case Accumulator::kSum:
      for (int64_t i = 0; i < count; ++i) total += static_cast<uint64_t>(x[i]);
      return total;
    case Accumulator::kProduct:
      for (int64_t i = 0; i < count; ++i) total *= static_cast<uint64_t>(x[i]);
      return total;
    case Accumulator::kMin:
      for (int64_t i = 0; i < count; ++i) best = x[i] < best ? x[i] : best;
      return static_cast<uint64_t>(best);
    case Accumulator::kMax:
      for (int64_t i = 0; i < count; ++i) best = best < x[i] ? x[i] : best;
      return static_cast<uint64_t>(best);
    case Accumulator::kNonZero:
      for (int64_t i = 0; i < count; ++i) total += x[i] != 0;
      return total;
    default:
      return 0;
  }
}

int64_t keep(const double* values, const uint64_t* valid, int64_t count, bool skip_nan,
             double missing, double* out) {
  const hn::CappedTag<double, 8> d;  // a byte of bits holds a mask
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto other = hn::Set(d, missing);
  int64_t kept = 0, i = 0;
  for (; i + lanes <= count; i += lanes) {
    const uint64_t word = valid ? valid[i / 64] >> (i % 64) : ~uint64_t{0};
    const uint8_t bits[8] = {static_cast<uint8_t>(word)};
    const auto x = hn::LoadU(d, values + i);
    auto stays = hn::LoadMaskBits(d, bits);
    if (skip_nan) stays = hn::And(stays, hn::Eq(x, x));
    hn::StoreU(hn::IfThenElse(stays, x, other), d, out + i);
    kept += static_cast<int64_t>(hn::CountTrue(d, stays));
  }
  for (; i < count; ++i) {
    const bool stays =
        (!valid || ((valid[i / 64] >> (i % 64)) & 1)) && (!skip_nan || values[i] == values[i]);
    out[i] = stays ? values[i] : missing;
    kept += stays;
  }
  return kept;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

int64_t keep_valid(const double* values, const uint64_t* valid, int64_t count, bool skip_nan,
                   double missing, double* out) {
  return HR_SIMD(keep)(values, valid, count, skip_nan, missing, out);
}

double accumulate_block(Accumulator fold, const double* values, int64_t count, double mean) {
  return HR_SIMD(fold_float<double>)(fold, values, count, mean);
}

double accumulate_block(Accumulator fold, const float* values, int64_t count, double mean) {
  return HR_SIMD(fold_float<float>)(fold, values, count, mean);
}

void accumulate_columns(Accumulator fold, const double* rows, int64_t step, int64_t count,
                        int64_t columns, double* lanes, double* out) {
  HR_SIMD(fold_float_columns<double>)(fold, rows, step, count, columns, lanes, out);
}

void accumulate_columns(Accumulator fold, const float* rows, int64_t step, int64_t count,
                        int64_t columns, double* lanes, double* out) {
  HR_SIMD(fold_float_columns<float>)(fold, rows, step, count, columns, lanes, out);
}

void sum_powers(const double* values, int64_t count, double mean, double (&powers)[4]) {
  HR_SIMD(fold_powers<double>)(values, count, mean, powers);
}

void sum_powers(const float* values, int64_t count, double mean, double (&powers)[4]) {
  HR_SIMD(fold_powers<float>)(values, count, mean, powers);
}

namespace {

template <class T>
uint64_t fold_as(Accumulator fold, const void* values, int64_t count) {
  return HR_SIMD(fold_integer<T>)(fold, static_cast<const T*>(values), count);
}

}  // namespace

uint64_t fold_integers(Accumulator fold, Dtype dtype, const void* values, int64_t count) {
  switch (dtype.id()) {
    case TypeId::kInt8:
      return fold_as<int8_t>(fold, values, count);
    case TypeId::kInt16:
      return fold_as<int16_t>(fold, values, count);
    case TypeId::kInt32:
      return fold_as<int32_t>(fold, values, count);
    case TypeId::kInt64:
      return fold_as<int64_t>(fold, values, count);
    case TypeId::kUInt16:
      return fold_as<uint16_t>(fold, values, count);
    case TypeId::kUInt32:
      return fold_as<uint32_t>(fold, values, count);
    case TypeId::kUInt64:
      return fold_as<uint64_t>(fold, values, count);
    default:
      return fold_as<uint8_t>(fold, values, count);
  }
}

}  // namespace hr::cpu
#endif
