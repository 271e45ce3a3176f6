// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: the functions of vmath of one value, with the CPU's bits.
#pragma once
#include "headrace/base/api.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#define HR_RARE HR_BOTH inline __attribute__((noinline))

namespace hr::cuda {

/// A vector of one lane.
template <class T>
struct OneLane {
  using Bits = OneLane<uint64_t>;
  static constexpr int kLanes = 1;
  T v;

  OneLane() = default;
  HR_INLINE explicit OneLane(T value) : v(value) {}

  HR_INLINE static OneLane load(const T* from) { return OneLane(*from); }

  HR_INLINE void store(T* to) const { *to = v; }
};

using LaneBits = OneLane<uint64_t>;
using Lane = OneLane<double>;

HR_INLINE LaneBits operator+(LaneBits a, LaneBits b) {
  return LaneBits(a.v + b.v);
}
HR_INLINE LaneBits operator&(LaneBits a, LaneBits b) {
  return LaneBits(a.v & b.v);
}
HR_INLINE LaneBits operator|(LaneBits a, LaneBits b) {
  return LaneBits(a.v | b.v);
}
HR_INLINE LaneBits operator^(LaneBits a, LaneBits b) {
  return LaneBits(a.v ^ b.v);
}

template <int k>
HR_INLINE LaneBits shift_left(LaneBits a) {
  return LaneBits(a.v << k);
}

template <int k>
HR_INLINE LaneBits shift_right(LaneBits a) {
  return LaneBits(a.v >> k);
}

HR_INLINE Lane operator+(Lane a, Lane b) {
  return Lane(a.v + b.v);
}
HR_INLINE Lane operator-(Lane a, Lane b) {
  return Lane(a.v - b.v);
}
HR_INLINE Lane operator*(Lane a, Lane b) {
  return Lane(a.v * b.v);
}
HR_INLINE Lane operator/(Lane a, Lane b) {
  return Lane(a.v / b.v);
}
HR_INLINE Lane operator-(Lane a) {
  return Lane(-a.v);
}
HR_INLINE Lane fma(Lane a, Lane b, Lane c) {
  return Lane(::fma(a.v, b.v, c.v));
}
HR_INLINE Lane abs(Lane a) {
  return Lane(::fabs(a.v));
}
HR_INLINE Lane rint(Lane a) {
  return Lane(::rint(a.v));
}
HR_INLINE bool less(Lane a, Lane b) {
  return a.v < b.v;
}
HR_INLINE bool equal(Lane a, Lane b) {
  return a.v == b.v;
}
HR_INLINE bool mask_and(bool a, bool b) {
  return a && b;
}
HR_INLINE bool mask_or(bool a, bool b) {
  return a || b;
}
HR_INLINE bool any(bool a) {
  return a;
}
HR_INLINE bool is_zero(LaneBits a) {
  return a.v == 0;
}
HR_INLINE Lane select(bool mask, Lane a, Lane b) {
  return mask ? a : b;
}
HR_INLINE LaneBits bits_of(Lane a) {
  return LaneBits(__builtin_bit_cast(uint64_t, a.v));
}
HR_INLINE Lane from_bits(LaneBits a) {
  return Lane(__builtin_bit_cast(double, a.v));
}

#include "headrace/algo/math/vmath_math.h"

}  // namespace hr::cuda
