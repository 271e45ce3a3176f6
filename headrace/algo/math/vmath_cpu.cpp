// SPDX-License-Identifier: Apache-2.0
// The elementary functions on Highway vectors.
#define HWY_TARGET_INCLUDE "headrace/algo/math/vmath_cpu.cpp"
#include "headrace/algo/math/vmath.h"
#include "headrace/base/simd_targets.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using DBits = hn::ScalableTag<uint64_t>;
using DHalf = hn::Rebind<float, D>;

struct Bits {
  HR_INLINE Bits() = default;
  HR_INLINE explicit Bits(uint64_t value) : v(hn::Set(DBits(), value)) {}
  HR_INLINE explicit Bits(hn::Vec<DBits> value, int) : v(value) {}

  HR_INLINE static Bits load(const uint64_t* p) { return Bits(hn::LoadU(DBits(), p), 0); }
  HR_INLINE void store(uint64_t* p) const { hn::StoreU(v, DBits(), p); }

  hn::Vec<DBits> v;
};

HR_INLINE Bits operator+(Bits a, Bits b) {
  return Bits(hn::Add(a.v, b.v), 0);
}
HR_INLINE Bits operator&(Bits a, Bits b) {
  return Bits(hn::And(a.v, b.v), 0);
}
HR_INLINE Bits operator|(Bits a, Bits b) {
  return Bits(hn::Or(a.v, b.v), 0);
}
HR_INLINE Bits operator^(Bits a, Bits b) {
  return Bits(hn::Xor(a.v, b.v), 0);
}

template <int k>
HR_INLINE Bits shift_left(Bits a) {
  return Bits(hn::ShiftLeft<k>(a.v), 0);
}

template <int k>
HR_INLINE Bits shift_right(Bits a) {
  return Bits(hn::ShiftRight<k>(a.v), 0);
}

struct Lanes {
  using Bits = HWY_NAMESPACE::Bits;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

  HR_INLINE Lanes() = default;
  HR_INLINE explicit Lanes(double value) : v(hn::Set(D(), value)) {}
  HR_INLINE explicit Lanes(hn::Vec<D> value, int) : v(value) {}

  HR_INLINE static Lanes load(const double* p) { return Lanes(hn::LoadU(D(), p), 0); }
  HR_INLINE void store(double* p) const { hn::StoreU(v, D(), p); }
  HR_INLINE static Lanes load(const float* p) {
    return Lanes(hn::PromoteTo(D(), hn::LoadU(DHalf(), p)), 0);
  }
  HR_INLINE void store(float* p) const { hn::StoreU(hn::DemoteTo(DHalf(), v), DHalf(), p); }

  hn::Vec<D> v;
};

using Mask = hn::Mask<D>;

HR_INLINE Lanes operator+(Lanes a, Lanes b) {
  return Lanes(hn::Add(a.v, b.v), 0);
}
HR_INLINE Lanes operator-(Lanes a, Lanes b) {
  return Lanes(hn::Sub(a.v, b.v), 0);
}
HR_INLINE Lanes operator*(Lanes a, Lanes b) {
  return Lanes(hn::Mul(a.v, b.v), 0);
}
HR_INLINE Lanes operator/(Lanes a, Lanes b) {
  return Lanes(hn::Div(a.v, b.v), 0);
}
HR_INLINE Lanes operator-(Lanes a) {
  return Lanes(hn::Neg(a.v), 0);
}

HR_INLINE Lanes fma(Lanes a, Lanes b, Lanes c) {
#if HWY_TARGET == HWY_SCALAR  // Highway's scalar MulAdd rounds twice
  return Lanes(std::fma(hn::GetLane(a.v), hn::GetLane(b.v), hn::GetLane(c.v)));
#else
  return Lanes(hn::MulAdd(a.v, b.v, c.v), 0);
#endif
}

HR_INLINE Lanes abs(Lanes a) {
  return Lanes(hn::Abs(a.v), 0);
}
HR_INLINE Lanes rint(Lanes a) {
  return Lanes(hn::Round(a.v), 0);
}
HR_INLINE Mask less(Lanes a, Lanes b) {
  return hn::Lt(a.v, b.v);
}
HR_INLINE Mask equal(Lanes a, Lanes b) {
  return hn::Eq(a.v, b.v);
}
HR_INLINE Mask mask_and(Mask a, Mask b) {
  return hn::And(a, b);
}
HR_INLINE Mask mask_or(Mask a, Mask b) {
  return hn::Or(a, b);
}
HR_INLINE bool any(Mask mask) {
  return !hn::AllFalse(D(), mask);
}
HR_INLINE Mask is_zero(Bits a) {
  return hn::RebindMask(D(), hn::Eq(a.v, hn::Zero(DBits())));
}
HR_INLINE Lanes select(Mask mask, Lanes a, Lanes b) {
  return Lanes(hn::IfThenElse(mask, a.v, b.v), 0);
}
HR_INLINE Bits bits_of(Lanes a) {
  return Bits(hn::BitCast(DBits(), a.v), 0);
}
HR_INLINE Lanes from_bits(Bits a) {
  return Lanes(hn::BitCast(D(), a.v), 0);
}

#undef HR_RARE
#define HR_RARE HR_INLINE
#include "headrace/algo/math/vmath_math.h"

// The tail goes through the same vector code with padding.
template <Lanes (*f)(Lanes), class T>
void map(const T* x, T* out, int64_t n) {
  constexpr int kStep = Lanes::kLanes;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) f(Lanes::load(x + i)).store(out + i);
  if (i == n) return;
  T buffer[kStep] = {};
  for (int64_t k = i; k < n; ++k) buffer[k - i] = x[k];
  f(Lanes::load(buffer)).store(buffer);
  for (int64_t k = i; k < n; ++k) out[k] = buffer[k - i];
}

template <class T>
void map_pow(const T* x, const T* y, T* out, int64_t n) {
  constexpr int kStep = Lanes::kLanes;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    vmath::pow(Lanes::load(x + i), Lanes::load(y + i)).store(out + i);
  if (i == n) return;
  T a[kStep] = {}, b[kStep] = {};
  for (int64_t k = i; k < n; ++k) {
    a[k - i] = x[k];
    b[k - i] = y[k];
  }
  vmath::pow(Lanes::load(a), Lanes::load(b)).store(a);
  for (int64_t k = i; k < n; ++k) out[k] = a[k - i];
}

void map_sin_cos(const double* x, double* sine, double* cosine, int64_t n) {
  constexpr int kStep = Lanes::kLanes;
  int64_t i = 0;
  Lanes s, c;
  for (; i + kStep <= n; i += kStep) {
    vmath::sin_cos(Lanes::load(x + i), s, c);
    s.store(sine + i);
    c.store(cosine + i);
  }
  if (i == n) return;
  double a[kStep] = {}, b[kStep];
  for (int64_t k = i; k < n; ++k) a[k - i] = x[k];
  vmath::sin_cos(Lanes::load(a), s, c);
  s.store(a);
  c.store(b);
  for (int64_t k = i; k < n; ++k) {
    sine[k] = a[k - i];
    cosine[k] = b[k - i];
  }
}

template <class T>
using Unary = void (*)(const T*, T*, int64_t);

template <class T>
Unary<T> unary(VectorFunction function) {
  switch (function) {
    case VectorFunction::kSin:
      return map<vmath::sin<Lanes>, T>;
    case VectorFunction::kCos:
      return map<vmath::cos<Lanes>, T>;
    case VectorFunction::kTan:
      return map<vmath::tan<Lanes>, T>;
    case VectorFunction::kTanh:
      return map<vmath::tanh<Lanes>, T>;
    case VectorFunction::kExp:
      return map<vmath::exp<Lanes>, T>;
    case VectorFunction::kExp2:
      return map<vmath::exp2<Lanes>, T>;
    case VectorFunction::kExpm1:
      return map<vmath::expm1<Lanes>, T>;
    case VectorFunction::kLog:
      return map<vmath::log<Lanes>, T>;
    case VectorFunction::kLog2:
      return map<vmath::log2<Lanes>, T>;
    case VectorFunction::kLog10:
      return map<vmath::log10<Lanes>, T>;
    case VectorFunction::kLog1p:
      return map<vmath::log1p<Lanes>, T>;
    case VectorFunction::kPow:
    case VectorFunction::kSinCos:
      return nullptr;
  }
  return nullptr;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr {

double vector_function_ulp(VectorFunction function) {
  switch (function) {
    case VectorFunction::kTanh:
    case VectorFunction::kTan:
      return 3;
    case VectorFunction::kExpm1:
      return 2;
    case VectorFunction::kPow:
      return 1.5;
    default:
      return 1;
  }
}

UnaryFunction64 unary_function64(VectorFunction function) {
  return HR_SIMD(unary<double>)(function);
}

UnaryFunction32 unary_function32(VectorFunction function) {
  return HR_SIMD(unary<float>)(function);
}

void vector_pow(const double* x, const double* y, double* out, int64_t n) {
  HR_SIMD(map_pow<double>)(x, y, out, n);
}

void vector_pow(const float* x, const float* y, float* out, int64_t n) {
  HR_SIMD(map_pow<float>)(x, y, out, n);
}

void vector_sin_cos(const double* x, double* sine, double* cosine, int64_t n) {
  HR_SIMD(map_sin_cos)(x, sine, cosine, n);
}

}  // namespace hr
#endif
