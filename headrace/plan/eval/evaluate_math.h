// SPDX-License-Identifier: Apache-2.0
// One element of each operation of the evaluator: one text for the CPU's loops and for the kernels
// that are compiled at run time on a CUDA device.
//
// Include it inside the namespace of a SIMD level (or of a device), after <cmath>, <cstdint>,
// <limits> and <type_traits>: its functions must be compiled with that level's instructions. No
// #pragma once.

// Operations that are one expression of their operands a and b.
#define HR_UNARY(Name, Result, expression) \
  struct Name {                            \
    template <class T>                     \
    HR_INLINE static Result apply(T a) {   \
      return expression;                   \
    }                                      \
  };
#define HR_BINARY(Name, Result, expression)   \
  struct Name {                               \
    template <class T>                        \
    HR_INLINE static Result apply(T a, T b) { \
      return expression;                      \
    }                                         \
  };

// ---- arithmetic --------------------------------------------------------------------------------

// Integers wrap: their arithmetic is done unsigned, in at least 32 bits.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>;

template <class T>
HR_INLINE Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}

HR_BINARY(Add, T, static_cast<T>(wide(a) + wide(b)))
HR_BINARY(Subtract, T, static_cast<T>(wide(a) - wide(b)))
HR_BINARY(Multiply, T, static_cast<T>(wide(a) * wide(b)))
HR_BINARY(Divide, T, a / b)

// Without a branch, so that loops vectorise.
HR_INLINE bool either(bool p, bool q) {
  return (static_cast<int>(p) | static_cast<int>(q)) != 0;
}

// NaN spreads.
HR_BINARY(Minimum, T, either(a < b, a != a) ? a : b)
HR_BINARY(Maximum, T, either(a > b, a != a) ? a : b)

// NaN only when both are.
HR_BINARY(Fmin, T, either(a <= b, b != b) ? a : b)
HR_BINARY(Fmax, T, either(a >= b, b != b) ? a : b)
HR_BINARY(Copysign, T, std::copysign(a, b))

struct Negative {
  template <class T>
  HR_INLINE static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) return -a;
    return static_cast<T>(Wide<T>{0} - wide(a));
  }
};

struct Absolute {
  template <class T>
  HR_INLINE static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
    return a < 0 ? Negative::apply(a) : a;
  }
};

HR_UNARY(Square, T, Multiply::apply(a, a))

struct Sign {
  template <class T>
  HR_INLINE static T apply(T a) {
    const T sign = static_cast<T>((a > T{0}) - (a < T{0}));
    return a != a ? a : sign;
  }
};

struct Reciprocal {
  template <class T>
  HR_INLINE static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>) return T{1} / a;
    // 1 / a is 0 but for 1 and -1; of zero it is 0
    return a == T{1} || (std::is_signed_v<T> && static_cast<T>(a + T{1}) == T{0}) ? a : T{0};
  }
};

HR_UNARY(Sqrt, T, std::sqrt(a))
HR_UNARY(Floor, T, std::floor(a))
HR_UNARY(Ceil, T, std::ceil(a))
HR_UNARY(Rint, T, std::rint(a))
HR_UNARY(Trunc, T, std::trunc(a))

// ---- comparisons, tests, logic -----------------------------------------------------------------

HR_BINARY(Equal, bool, a == b)
HR_BINARY(NotEqual, bool, a != b)
HR_BINARY(Less, bool, a < b)
HR_BINARY(LessEqual, bool, a <= b)
HR_BINARY(Greater, bool, a > b)
HR_BINARY(GreaterEqual, bool, a >= b)
HR_UNARY(IsNan, bool, a != a)
HR_UNARY(IsInf, bool, std::fabs(a) == std::numeric_limits<T>::infinity())
HR_UNARY(IsFinite, bool, a - a == T{0})
HR_BINARY(And, T, static_cast<T>((a & b)))
HR_BINARY(Or, T, static_cast<T>(a | b))
HR_BINARY(Xor, T, static_cast<T>(a ^ b))

#undef HR_UNARY
#undef HR_BINARY

// ---- casts -------------------------------------------------------------------------------------

// Stands for bool: a byte 0 or 1.
struct Bool {
  uint8_t byte;
};

template <class To, class From>
HR_INLINE To convert(From x) {
  if constexpr (std::is_same_v<From, Bool>) {
    return static_cast<To>(x.byte);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(x != From{0})};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // through int64 with one value for all that does not fit, the same on every machine
    constexpr From kLimit = static_cast<From>(0x1p63);
    if constexpr (std::is_same_v<To, uint64_t>)
      if (x >= kLimit && x < 2 * kLimit)
        return static_cast<uint64_t>(static_cast<int64_t>(x - kLimit)) ^ (uint64_t{1} << 63);
    const bool inside = x >= -kLimit && x < kLimit;
    const int64_t whole = static_cast<int64_t>(inside ? x : From{0});
    return static_cast<To>(inside ? whole : std::numeric_limits<int64_t>::min());
  } else {
    return static_cast<To>(x);
  }
}

// ---- integers ----------------------------------------------------------------------------------

template <class T>
HR_BOTH T floor_divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T{0}, a / b);
    const T whole = std::floor(quotient);
    return quotient - whole > T{0.5} ? whole + 1 : whole;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
      const T quotient = static_cast<T>(a / b);
      return static_cast<T>(quotient - (a % b != 0 && (a < 0) != (b < 0)));
    } else {
      return static_cast<T>(a / b);
    }
  }
}

// The sign of the divisor, as NumPy and Python.
template <class T>
HR_BOTH T remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(T{0}, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    } else {
      return static_cast<T>(a % b);
    }
  }
}

// Wraps; the evaluator refuses negative exponents.
template <class T>
HR_BOTH T integer_power(T a, T b) {
  uint64_t result = 1, base = static_cast<uint64_t>(a);
  for (uint64_t e = static_cast<uint64_t>(b); e != 0; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return static_cast<T>(result);
}

// Shifts by the width or more: all bits gone (a negative count counts as such).
template <class T>
HR_BOTH T left_shift(T a, T b) {
  constexpr uint64_t kWidth = sizeof(T) * 8;
  const uint64_t count = static_cast<uint64_t>(b);
  return count < kWidth ? static_cast<T>(static_cast<uint64_t>(a) << count) : T{0};
}

template <class T>
HR_BOTH T right_shift(T a, T b) {
  constexpr uint64_t kWidth = sizeof(T) * 8;
  const uint64_t count = static_cast<uint64_t>(b);
  return static_cast<T>(count < kWidth ? a >> count : a < T{0} ? -1 : 0);
}
