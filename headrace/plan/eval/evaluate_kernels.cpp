// SPDX-License-Identifier: Apache-2.0
// Kernels that no SIMD level speeds up, elementary functions, and the search for a kernel.
#include "headrace/plan/eval/evaluate_kernels.h"

#include "headrace/algo/math/vmath.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace hr::cpu {

namespace {

#include "headrace/plan/eval/evaluate_math.h"

template <class T, T (*f)(T, T)>
void binary(const void* a, const void* b, const void*, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = f(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]);
}

// libm, until vmath has the function: slow, but the same bits at every level.
template <double (*f)(double), class T>
void unary_libm(const void* a, const void*, const void*, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = static_cast<T>(f(static_cast<const T*>(a)[i]));
}

template <double (*f)(double, double), class T>
void binary_libm(const void* a, const void* b, const void*, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] =
        static_cast<T>(f(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]));
}

template <VectorFunction f, class T>
void unary_vector(const void* a, const void*, const void*, void* out, int64_t n) {
  if constexpr (std::is_same_v<T, float>)
    unary_function32(f)(static_cast<const float*>(a), static_cast<float*>(out), n);
  else
    unary_function64(f)(static_cast<const double*>(a), static_cast<double*>(out), n);
}

template <class T>
void power(const void* a, const void* b, const void*, void* out, int64_t n) {
  vector_pow(static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(out), n);
}

template <class T>
Kernel function_kernel(Op op) {
  switch (op) {
    case Op::kSin:
      return unary_vector<VectorFunction::kSin, T>;
    case Op::kCos:
      return unary_vector<VectorFunction::kCos, T>;
    case Op::kTan:
      return unary_vector<VectorFunction::kTan, T>;
    case Op::kTanh:
      return unary_vector<VectorFunction::kTanh, T>;
    case Op::kExp:
      return unary_vector<VectorFunction::kExp, T>;
    case Op::kExp2:
      return unary_vector<VectorFunction::kExp2, T>;
    case Op::kExpm1:
      return unary_vector<VectorFunction::kExpm1, T>;
    case Op::kLog:
      return unary_vector<VectorFunction::kLog, T>;
    case Op::kLog2:
      return unary_vector<VectorFunction::kLog2, T>;
    case Op::kLog10:
      return unary_vector<VectorFunction::kLog10, T>;
    case Op::kLog1p:
      return unary_vector<VectorFunction::kLog1p, T>;
    case Op::kPower:
      return power<T>;
    case Op::kCbrt:
      return unary_libm<std::cbrt, T>;
    case Op::kArcsin:
      return unary_libm<std::asin, T>;
    case Op::kArccos:
      return unary_libm<std::acos, T>;
    case Op::kArctan:
      return unary_libm<std::atan, T>;
    case Op::kSinh:
      return unary_libm<std::sinh, T>;
    case Op::kCosh:
      return unary_libm<std::cosh, T>;
    case Op::kHypot:
      return binary_libm<std::hypot, T>;
    case Op::kArctan2:
      return binary_libm<std::atan2, T>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel math_kernel(Op op, Dtype dtype) {
  if (!dtype.is_floating()) return nullptr;
  return visit_floating(dtype,
                        [&]<class T>(std::type_identity<T>) { return function_kernel<T>(op); });
}

Kernel integer_kernel(Op op, Dtype dtype) {
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) -> Kernel {
    if (op == Op::kFloorDivide) return binary<T, floor_divide<T>>;
    if (op == Op::kRemainder) return binary<T, remainder<T>>;
    if constexpr (std::is_integral_v<T>) {
      if (op == Op::kPower) return binary<T, integer_power<T>>;
      if (op == Op::kLeftShift) return binary<T, left_shift<T>>;
      if (op == Op::kRightShift) return binary<T, right_shift<T>>;
    }
    return nullptr;
  });
}

Kernel find_kernel(Op op, Dtype dtype, Once once) {
  if (const Kernel kernel = arithmetic_kernel(op, dtype, once)) return kernel;
  if (const Kernel kernel = logic_kernel(op, dtype, once)) return kernel;
  if (const Kernel kernel = math_kernel(op, dtype)) return kernel;
  return integer_kernel(op, dtype);
}

}  // namespace hr::cpu
