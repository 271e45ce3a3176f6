// SPDX-License-Identifier: Apache-2.0
// Arithmetic kernels: plain loops that the compiler vectorises for each SIMD level.
#define HWY_TARGET_INCLUDE "headrace/plan/eval/evaluate_arithmetic_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/plan/eval/evaluate_kernels.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

using cpu::Kernel;
using cpu::Once;

#include "headrace/plan/eval/evaluate_math.h"

template <class F, class T>
void unary(const void* a, const void*, const void*, void* out, int64_t n) {
  const T* __restrict x = static_cast<const T*>(a);
  T* __restrict z = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) z[i] = F::template apply<T>(x[i]);
}

template <class F, Once once, class T>
void binary(const void* a, const void* b, const void*, void* out, int64_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* __restrict z = static_cast<T*>(out);
  const T left = x[0], right = y[0];
  for (int64_t i = 0; i < n; ++i)
    z[i] = F::template apply<T>(once == Once::kLeft ? left : x[i],
                                once == Once::kRight ? right : y[i]);
}

// Wrapping arithmetic is the same for signed and unsigned integers of one width.
template <class F, Once once>
Kernel wrapping_binary(Dtype dtype) {
  if (dtype.id() == TypeId::kFloat32) return binary<F, once, float>;
  if (dtype.id() == TypeId::kFloat64) return binary<F, once, double>;
  switch (dtype.size_bytes()) {
    case 1:
      return binary<F, once, uint8_t>;
    case 2:
      return binary<F, once, uint16_t>;
    case 4:
      return binary<F, once, uint32_t>;
    default:
      return binary<F, once, uint64_t>;
  }
}

template <class F>
Kernel wrapping_unary(Dtype dtype) {
  if (dtype.id() == TypeId::kFloat32) return unary<F, float>;
  if (dtype.id() == TypeId::kFloat64) return unary<F, double>;
  switch (dtype.size_bytes()) {
    case 1:
      return unary<F, uint8_t>;
    case 2:
      return unary<F, uint16_t>;
    case 4:
      return unary<F, uint32_t>;
    default:
      return unary<F, uint64_t>;
  }
}

template <class F, Once once>
Kernel real_binary(Dtype dtype) {
  if (dtype.is_bool()) return binary<F, once, uint8_t>;
  return visit_real(dtype,
                    []<class T>(std::type_identity<T>) -> Kernel { return binary<F, once, T>; });
}

template <class F>
Kernel real_unary(Dtype dtype) {
  return visit_real(dtype, []<class T>(std::type_identity<T>) -> Kernel { return unary<F, T>; });
}

template <class F, Once once>
Kernel float_binary(Dtype dtype) {
  return dtype.id() == TypeId::kFloat32 ? binary<F, once, float> : binary<F, once, double>;
}

template <class F>
Kernel float_unary(Dtype dtype) {
  return dtype.id() == TypeId::kFloat32 ? unary<F, float> : unary<F, double>;
}

template <Once once>
Kernel arithmetic(Op op, Dtype dtype) {
  switch (op) {
    case Op::kAdd:
      // bools: 1 + 1 = 1 is the maximum, and their product the minimum
      return dtype.is_bool() ? binary<Maximum, once, uint8_t> : wrapping_binary<Add, once>(dtype);
    case Op::kSubtract:
      return wrapping_binary<Subtract, once>(dtype);
    case Op::kMultiply:
      return wrapping_binary<Multiply, once>(dtype);
    case Op::kDivide:
      return float_binary<Divide, once>(dtype);
    case Op::kMinimum:
      return real_binary<Minimum, once>(dtype);
    case Op::kMaximum:
      return real_binary<Maximum, once>(dtype);
    case Op::kFmin:
      return dtype.is_floating() ? float_binary<Fmin, once>(dtype)
                                 : real_binary<Minimum, once>(dtype);
    case Op::kFmax:
      return dtype.is_floating() ? float_binary<Fmax, once>(dtype)
                                 : real_binary<Maximum, once>(dtype);
    case Op::kCopysign:
      return float_binary<Copysign, once>(dtype);
    case Op::kNegative:
      return wrapping_unary<Negative>(dtype);
    case Op::kAbsolute:
      return real_unary<Absolute>(dtype);
    case Op::kSquare:
      return wrapping_unary<Square>(dtype);
    case Op::kSign:
      return real_unary<Sign>(dtype);
    case Op::kReciprocal:
      return real_unary<Reciprocal>(dtype);
    case Op::kSqrt:
      return float_unary<Sqrt>(dtype);
    case Op::kFloor:
      return float_unary<Floor>(dtype);
    case Op::kCeil:
      return float_unary<Ceil>(dtype);
    case Op::kRint:
      return float_unary<Rint>(dtype);
    case Op::kTrunc:
      return float_unary<Trunc>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

Kernel arithmetic_kernel(Op op, Dtype dtype, Once once) {
  if (once == Once::kLeft) return HR_SIMD(arithmetic<Once::kLeft>)(op, dtype);
  if (once == Once::kRight) return HR_SIMD(arithmetic<Once::kRight>)(op, dtype);
  return HR_SIMD(arithmetic<Once::kNone>)(op, dtype);
}

}  // namespace hr::cpu
#endif
