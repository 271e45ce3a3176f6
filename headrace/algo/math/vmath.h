// SPDX-License-Identifier: Apache-2.0
// Elementary functions of float64 and float32 arrays, equal bits at every SIMD level.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

enum class VectorFunction : uint8_t {
  kSin,
  kCos,
  kTan,
  kTanh,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kPow,     ///< two arguments
  kSinCos,  ///< two results
};

/// Largest error in units in the last place, float64, over all arguments (tests hold it).
HR_API double vector_function_ulp(VectorFunction function);

/// out[i] = f(x[i]) for i < n; `out` may be `x`. A result depends on its argument alone: not on the
/// SIMD level, the position or n. Limits and special values as C's <math.h>. float32 is computed
/// in float64 and rounded once. Cost per value and core, float64, AVX-512: about 1 ns, pow 4 ns.
using UnaryFunction64 = void (*)(const double* x, double* out, int64_t n);
using UnaryFunction32 = void (*)(const float* x, float* out, int64_t n);
using BinaryFunction64 = void (*)(const double* x, const double* y, double* out, int64_t n);
using BinaryFunction32 = void (*)(const float* x, const float* y, float* out, int64_t n);

/// The function for the SIMD level in use; every function but kPow and kSinCos.
HR_API UnaryFunction64 unary_function64(VectorFunction function);
HR_API UnaryFunction32 unary_function32(VectorFunction function);

HR_API void vector_pow(const double* x, const double* y, double* out, int64_t n);
HR_API void vector_pow(const float* x, const float* y, float* out, int64_t n);

/// sine[i] and cosine[i] of x[i] at the price of little more than one of them.
HR_API void vector_sin_cos(const double* x, double* sine, double* cosine, int64_t n);

}  // namespace hr
