// SPDX-License-Identifier: Apache-2.0
// Complex functions of libm.
#include "headrace/exec/workers.h"
#include "headrace/tensor/complex_function_kernels.h"

#include <algorithm>
#include <complex>

namespace hr::cpu {

namespace {

constexpr int64_t kTaskElements = int64_t{1} << 12;

template <class T>
using Call = std::complex<T> (*)(const std::complex<T>&);

// At infinity the angle gives nothing but its sign, as the array API standard has it.
template <class T>
std::complex<T> tanh_of(const std::complex<T>& z) {
  if (std::isinf(z.real()) && std::isfinite(z.imag()))
    return {std::copysign(T{1}, z.real()), std::copysign(T{0}, z.imag())};
  return std::tanh(z);
}

template <class T>
Call<T> call_of(ComplexFunction function) {
  switch (function) {
    case ComplexFunction::kSqrt:
      return std::sqrt<T>;
    case ComplexFunction::kExp:
      return std::exp<T>;
    case ComplexFunction::kLog:
      return std::log<T>;
    case ComplexFunction::kSin:
      return std::sin<T>;
    case ComplexFunction::kCos:
      return std::cos<T>;
    case ComplexFunction::kTan:
      return std::tan<T>;
    case ComplexFunction::kArcsin:
      return std::asin<T>;
    case ComplexFunction::kArccos:
      return std::acos<T>;
    case ComplexFunction::kArctan:
      return std::atan<T>;
    case ComplexFunction::kSinh:
      return std::sinh<T>;
    case ComplexFunction::kCosh:
      return std::cosh<T>;
    case ComplexFunction::kTanh:
      return tanh_of<T>;
    case ComplexFunction::kArcsinh:
      return std::asinh<T>;
    case ComplexFunction::kArccosh:
      return std::acosh<T>;
    default:
      return std::atanh<T>;
  }
}

template <class T>
void apply(ComplexFunction function, const std::byte* in, std::byte* out, int64_t count) {
  const Call<T> call = call_of<T>(function);
  const auto* x = reinterpret_cast<const std::complex<T>*>(in);
  auto* z = reinterpret_cast<std::complex<T>*>(out);
  parallel_for((count + kTaskElements - 1) / kTaskElements, [&](int64_t task) {
    const int64_t end = std::min(count, (task + 1) * kTaskElements);
    for (int64_t i = task * kTaskElements; i < end; ++i) z[i] = call(x[i]);
  });
}

}  // namespace

void apply_complex(ComplexFunction function, Dtype dtype, const std::byte* in, std::byte* out,
                   int64_t count) {
  if (dtype.id() == TypeId::kComplex64)
    apply<float>(function, in, out, count);
  else
    apply<double>(function, in, out, count);
}

}  // namespace hr::cpu
