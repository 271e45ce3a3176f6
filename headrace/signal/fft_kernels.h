// SPDX-License-Identifier: Apache-2.0
// Kernels of the transforms. The input is checked; `out` holds the result row-major.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>

namespace hr {

enum class Transform { kForward, kInverse, kRealForward, kRealInverse };

struct FftJob {
  Transform transform;
  bool in_float;  ///< complex64 and float32, else complex128 and float64
  int64_t n;      ///< length of the transform, >= 1
  int64_t rows;
  double scale;  ///< factor on every result
};

}  // namespace hr

namespace hr::cpu {
void fft(const FftJob& job, const Tensor& x, Buffer& out);
}
namespace hr::cuda {
void fft(const FftJob& job, const Tensor& x, Buffer& out);
}
