// SPDX-License-Identifier: Apache-2.0
// What a kernel that is compiled at run time begins with. The build puts vmath_math.h and
// evaluate_math.h between the two parts (evaluate_sources.h).
#pragma once

namespace hr::cuda {

/// Words of the standard library that the shared sources use. The compiler at run time has no
/// headers.
inline constexpr const char* kWordsText = R"cuda(
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define HR_BOTH
#define __extension__
#define HR_INLINE __forceinline__
#define HR_RARE __noinline__

namespace std {
template <bool b, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;
template <class A, class B> constexpr bool is_same_v = false;
template <class A> constexpr bool is_same_v<A, A> = true;
template <class T> constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T> constexpr bool is_integral_v =
    is_same_v<T, int8_t> || is_same_v<T, int16_t> || is_same_v<T, int32_t> ||
    is_same_v<T, int64_t> || is_same_v<T, uint8_t> || is_same_v<T, uint16_t> ||
    is_same_v<T, uint32_t> || is_same_v<T, uint64_t>;
template <class T> constexpr bool is_signed_v =
    is_floating_point_v<T> || is_same_v<T, int8_t> || is_same_v<T, int16_t> ||
    is_same_v<T, int32_t> || is_same_v<T, int64_t>;
template <class T> struct numeric_limits {
  static constexpr T infinity() { return static_cast<T>(__builtin_bit_cast(double, uint64_t{0x7ff0000000000000})); }
  static constexpr T quiet_NaN() { return static_cast<T>(__builtin_bit_cast(double, uint64_t{0x7ff8000000000000})); }
  static constexpr T min() { return is_signed_v<T> ? static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1)) : T{0}; }
};
template <class To, class From> HR_INLINE To bit_cast(From x) { return __builtin_bit_cast(To, x); }
HR_INLINE double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
HR_INLINE double copysign(double a, double b) { return ::copysign(a, b); }
HR_INLINE float copysign(float a, float b) { return ::copysignf(a, b); }
HR_INLINE double fmod(double a, double b) { return ::fmod(a, b); }
HR_INLINE float fmod(float a, float b) { return ::fmodf(a, b); }
HR_INLINE double fabs(double a) { return ::fabs(a); }
HR_INLINE float fabs(float a) { return ::fabsf(a); }
HR_INLINE double sqrt(double a) { return __dsqrt_rn(a); }
HR_INLINE float sqrt(float a) { return __fsqrt_rn(a); }
HR_INLINE double floor(double a) { return ::floor(a); }
HR_INLINE float floor(float a) { return ::floorf(a); }
HR_INLINE double ceil(double a) { return ::ceil(a); }
HR_INLINE float ceil(float a) { return ::ceilf(a); }
HR_INLINE double rint(double a) { return ::rint(a); }
HR_INLINE float rint(float a) { return ::rintf(a); }
HR_INLINE double trunc(double a) { return ::trunc(a); }
HR_INLINE float trunc(float a) { return ::truncf(a); }
}  // namespace std

namespace hr {

template <class T> struct OneLane {
  using Bits = OneLane<uint64_t>;
  static constexpr int kLanes = 1;
  OneLane() = default;
  HR_INLINE explicit OneLane(T value) : v(value) {}
  HR_INLINE static OneLane load(const T* p) { return OneLane(*p); }
  HR_INLINE void store(T* p) const { *p = v; }
  T v;
};
using Bits = OneLane<uint64_t>;
using Lane = OneLane<double>;
HR_INLINE Bits operator+(Bits a, Bits b) { return Bits(a.v + b.v); }
HR_INLINE Bits operator&(Bits a, Bits b) { return Bits(a.v & b.v); }
HR_INLINE Bits operator|(Bits a, Bits b) { return Bits(a.v | b.v); }
HR_INLINE Bits operator^(Bits a, Bits b) { return Bits(a.v ^ b.v); }
template <int k> HR_INLINE Bits shift_left(Bits a) { return Bits(a.v << k); }
template <int k> HR_INLINE Bits shift_right(Bits a) { return Bits(a.v >> k); }

HR_INLINE Lane operator+(Lane a, Lane b) { return Lane(a.v + b.v); }
HR_INLINE Lane operator-(Lane a, Lane b) { return Lane(a.v - b.v); }
HR_INLINE Lane operator*(Lane a, Lane b) { return Lane(a.v * b.v); }
HR_INLINE Lane operator/(Lane a, Lane b) { return Lane(a.v / b.v); }
HR_INLINE Lane operator-(Lane a) { return Lane(-a.v); }
HR_INLINE Lane fma(Lane a, Lane b, Lane c) { return Lane(__fma_rn(a.v, b.v, c.v)); }
HR_INLINE Lane abs(Lane a) { return Lane(::fabs(a.v)); }
HR_INLINE Lane rint(Lane a) { return Lane(::rint(a.v)); }
HR_INLINE bool less(Lane a, Lane b) { return a.v < b.v; }
HR_INLINE bool equal(Lane a, Lane b) { return a.v == b.v; }
HR_INLINE bool mask_and(bool a, bool b) { return a & b; }
HR_INLINE bool mask_or(bool a, bool b) { return a | b; }
HR_INLINE bool any(bool a) { return a; }
HR_INLINE bool is_zero(Bits a) { return a.v == 0; }
HR_INLINE Lane select(bool mask, Lane a, Lane b) { return Lane(mask ? a.v : b.v); }
HR_INLINE Bits bits_of(Lane a) { return Bits(static_cast<uint64_t>(__double_as_longlong(a.v))); }
HR_INLINE Lane from_bits(Bits a) { return Lane(__longlong_as_double(static_cast<int64_t>(a.v))); }
)cuda";

/// Loads, constants and reductions. A partial has the layout of hr::ReducePartial, and its block of
/// 1024 rows the CPU's 32 lanes.
inline constexpr const char* kFoldText = R"cuda(
template <class T> HR_INLINE T word_as(uint64_t word) {
  if constexpr (std::is_same_v<T, double>) return __longlong_as_double(static_cast<int64_t>(word));
  else if constexpr (std::is_same_v<T, float>) return __uint_as_float(static_cast<uint32_t>(word));
  else return static_cast<T>(word);
}

struct Partial {
  int64_t count;
  double value;
  double squares;
  double cubes;  // of no kernel yet
  double fourths;
  uint64_t integer;
  int64_t index;
  bool has_null;
};

enum Kind { kSum, kProduct, kMean, kVariance, kStd, kMin, kMax, kArgmin, kArgmax, kAny, kAll, kCount };

template <class T, int kind> struct Fold {
  static constexpr bool floating = std::is_floating_point_v<T>;
  static constexpr bool least = kind == kMin || kind == kArgmin;
  static constexpr bool extreme = kind >= kMin && kind <= kArgmax;
  static constexpr bool counts = kind == kAny || kind == kAll || kind == kCount;
  // Whether the result grows in `value`; else in `integer`.
  static constexpr bool in_value = !counts && (floating || kind == kMean || kind == kVariance || kind == kStd);
  static constexpr bool placed = kind == kArgmin || kind == kArgmax;
  // Extremes of integers are compared as 64 bits of their sign.
  using Wide64 = std::conditional_t<floating, double, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

  int count = 0;  // of at most 1024
  double value = kind == kProduct ? 1.0 : extreme ? (least ? vmath::kInf : -vmath::kInf) : -0.0;
  double squares = -0.0;
  uint64_t integer = kind == kProduct ? 1 : 0;
  int64_t index = -1;

  HR_INLINE static bool beats(Wide64 b, Wide64 a) {
    if (a != a) return false;
    if (b != b) return true;
    return least ? b < a : a < b;
  }
  HR_INLINE static double join(double a, double b) {
    if constexpr (kind == kProduct) return a * b;
    else if constexpr (extreme) return (least ? b < a : a < b) || b != b ? b : a;
    else return a + b;
  }
  HR_INLINE Wide64 best() const {
    if constexpr (floating) return value;
    else return static_cast<Wide64>(integer);
  }

  HR_INLINE void take(T x, int64_t row, bool skip_nan) {
    if (skip_nan && x != x) return;
    if constexpr (kind == kAny || kind == kAll || kind == kCount) {
      integer += x != T{0};
    } else if constexpr (kind == kMean || kind == kVariance || kind == kStd) {
      value += static_cast<double>(x);
    } else if constexpr (placed) {
      const Wide64 wide = static_cast<Wide64>(x);
      if (count == 0 || beats(wide, best())) {
        if constexpr (floating) value = wide; else integer = static_cast<uint64_t>(wide);
        index = row;
      }
    } else if constexpr (floating) {
      value = join(value, static_cast<double>(x));
    } else if constexpr (kind == kSum) {
      integer += static_cast<uint64_t>(x);
    } else if constexpr (kind == kProduct) {
      integer *= static_cast<uint64_t>(x);
    } else {
      const Wide64 wide = static_cast<Wide64>(x);
      if (count == 0 || beats(wide, best())) integer = static_cast<uint64_t>(wide);
    }
    ++count;
  }

  HR_INLINE void take_square(T x, double mean, bool skip_nan) {
    if (skip_nan && x != x) return;
    const double distance = static_cast<double>(x) - mean;
    squares += distance * distance;
  }

  // The tree over 32 lanes; lane 0 has the result.
  HR_INLINE void fold_lanes() {
    for (int half = 16; half > 0; half /= 2) {
      const int other_count = __shfl_down_sync(~0u, count, half);
      if constexpr (extreme && (placed || !floating)) {
        Wide64 other;
        if constexpr (floating) other = __shfl_down_sync(~0u, value, half);
        else other = static_cast<Wide64>(__shfl_down_sync(~0u, integer, half));
        int64_t other_index = -1;
        if constexpr (placed) other_index = __shfl_down_sync(~0u, index, half);
        const bool same = other == best() || (other != other && best() != best());
        const bool right = other_count > 0 && (count == 0 || beats(other, best()) || (same && placed && other_index < index));
        if (right) {
          if constexpr (floating) value = other; else integer = static_cast<uint64_t>(other);
          index = other_index;
        }
      } else if constexpr (in_value) {
        value = join(value, __shfl_down_sync(~0u, value, half));
      } else {
        const uint64_t other = __shfl_down_sync(~0u, integer, half);
        if constexpr (kind == kProduct) integer *= other; else integer += other;
      }
      count += other_count;
    }
  }

  HR_INLINE void fold_squares() {
    for (int half = 16; half > 0; half /= 2) squares += __shfl_down_sync(~0u, squares, half);
  }

  // Of lane 0; for the variance `value` is the mean, and the squares come later.
  HR_INLINE Partial partial() const {
    Partial p{count, in_value ? value : 0.0, squares, 0, 0, integer, index, false};
    if (count == 0) p = Partial{0, 0, 0, 0, 0, 0, -1, false};
    else if (kind == kVariance || kind == kStd) p.value = value / static_cast<double>(count);
    return p;
  }

  HR_INLINE static Partial merge(const Partial& a, const Partial& b) {
    Partial result = a.count == 0 ? b : a;
    if (a.count == 0 || b.count == 0) return result;
    result.count = a.count + b.count;
    if constexpr (kind == kVariance || kind == kStd) {
      const double n = static_cast<double>(result.count), nb = static_cast<double>(b.count);
      const double delta = b.value - a.value;
      result.value = a.value + delta * (nb / n);
      result.squares = a.squares + b.squares + delta * delta * (static_cast<double>(a.count) * (nb / n));
    } else if constexpr (extreme) {
      bool right;
      if constexpr (floating) right = beats(b.value, a.value);
      else right = beats(static_cast<Wide64>(b.integer), static_cast<Wide64>(a.integer));
      if (right) { result.value = b.value; result.integer = b.integer; result.index = b.index; }
    } else if constexpr (kind == kProduct) {
      result.value = a.value * b.value;
      result.integer = a.integer * b.integer;
    } else {
      result.value = a.value + b.value;
      result.integer = a.integer + b.integer;
    }
    return result;
  }
};

// One level of the tree over a group's blocks, by 8 threads a reduction.
template <class F> HR_INLINE void merge_pair(Partial* parts, int lane, int step, int n) {
  const int i = 2 * step * lane;
  if (lane >= 0 && lane < 8 && i + step < n) parts[i] = F::merge(parts[i], parts[i + step]);
}

// Neighbours by a binary tree; what has none waits for the next level.
template <class F> HR_INLINE Partial tree(Partial* parts, int n) {
  for (int step = 1; step < n; step *= 2)
    for (int i = 0; i + step < n; i += 2 * step) parts[i] = F::merge(parts[i], parts[i + step]);
  return parts[0];
}

template <class F> HR_INLINE void merge_morsel(const Partial* groups, int64_t count, int64_t morsel, Partial* out) {
  Partial parts[8];
  const int64_t first = morsel * 8;
  const int n = static_cast<int>(count - first < 8 ? count - first : 8);
  for (int i = 0; i < n; ++i) parts[i] = groups[first + i];
  out[morsel] = tree<F>(parts, n);
}
)cuda";

}  // namespace hr::cuda
