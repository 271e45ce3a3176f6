// SPDX-License-Identifier: Apache-2.0
// One element of each operation of the evaluator: one text for the CPU's loops and for the kernels
// that are compiled at run time on a CUDA device.
//
// Include it inside the namespace of a SIMD level (or of a device), after <cmath>, <cstdint>,
// <limits> and <type_traits>: its functions must be compiled with that level's instructions. No
// #pragma once.

// ---- arithmetic --------------------------------------------------------------------------------

// Integers wrap: their arithmetic is done unsigned, in at least 32 bits.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>;

template <class T>
HR_INLINE Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}

struct Add {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return static_cast<T>(wide(a) + wide(b));
  }
};

struct Subtract {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return static_cast<T>(wide(a) - wide(b));
  }
};

struct Multiply {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return static_cast<T>(wide(a) * wide(b));
  }
};

struct Divide {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return a / b;
  }
};

// Without a branch, so that loops vectorise.
HR_INLINE bool either(bool p, bool q) {
  return (static_cast<int>(p) | static_cast<int>(q)) != 0;
}

// NaN spreads.
struct Minimum {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return either(a < b, a != a) ? a : b;
  }
};

struct Maximum {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return either(a > b, a != a) ? a : b;
  }
};

// NaN only when both are.
struct Fmin {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return either(a <= b, b != b) ? a : b;
  }
};

struct Fmax {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return either(a >= b, b != b) ? a : b;
  }
};

struct Copysign {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return std::copysign(a, b);
  }
};

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

struct Square {
  template <class T>
  HR_INLINE static T apply(T a) {
    return Multiply::apply(a, a);
  }
};

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

struct Sqrt {
  template <class T>
  HR_INLINE static T apply(T a) {
    return std::sqrt(a);
  }
};

struct Floor {
  template <class T>
  HR_INLINE static T apply(T a) {
    return std::floor(a);
  }
};

struct Ceil {
  template <class T>
  HR_INLINE static T apply(T a) {
    return std::ceil(a);
  }
};

struct Rint {
  template <class T>
  HR_INLINE static T apply(T a) {
    return std::rint(a);
  }
};

struct Trunc {
  template <class T>
  HR_INLINE static T apply(T a) {
    return std::trunc(a);
  }
};

// ---- comparisons, tests, logic -----------------------------------------------------------------

struct Equal {
  template <class T>
  HR_INLINE static bool apply(T a, T b) {
    return a == b;
  }
};

struct NotEqual {
  template <class T>
  HR_INLINE static bool apply(T a, T b) {
    return a != b;
  }
};

struct Less {
  template <class T>
  HR_INLINE static bool apply(T a, T b) {
    return a < b;
  }
};

struct LessEqual {
  template <class T>
  HR_INLINE static bool apply(T a, T b) {
    return a <= b;
  }
};

struct Greater {
  template <class T>
  HR_INLINE static bool apply(T a, T b) {
    return a > b;
  }
};

struct GreaterEqual {
  template <class T>
  HR_INLINE static bool apply(T a, T b) {
    return a >= b;
  }
};

struct IsNan {
  template <class T>
  HR_INLINE static bool apply(T a) {
    return a != a;
  }
};

struct IsInf {
  template <class T>
  HR_INLINE static bool apply(T a) {
    return std::fabs(a) == std::numeric_limits<T>::infinity();
  }
};

struct IsFinite {
  template <class T>
  HR_INLINE static bool apply(T a) {
    return a - a == T{0};
  }
};

struct And {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <class T>
  HR_INLINE static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

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
