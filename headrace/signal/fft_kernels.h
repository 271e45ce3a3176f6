// SPDX-License-Identifier: Apache-2.0
// Kernels of the transforms. The input is checked; `out` holds the result row-major.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

enum class Transform { kForward, kInverse, kRealForward, kRealInverse };

struct FftJob {
  Transform transform;
  bool in_float;  ///< complex64 and float32, else complex128 and float64
  int64_t n;      ///< length of the transform, >= 1
  int64_t rows;
  double scale;   ///< factor on every result
  int64_t pitch;  ///< elements of the result from row to row
};

/// Complex numbers, row-major, whose columns along one axis are transformed.
struct FftColumnsJob {
  Shape shape;
  size_t axis;  ///< not the last one
  int64_t run;  ///< numbers at the beginning of each line of the last axis; the rest is not read
  bool inverse;
  double scale;  ///< factor on every result
  /// The other numbers of a line become the conjugates that mirror these along the axes that are
  /// true here, the last one among them; empty: they stay as they are.
  std::vector<bool> mirrored{};
};

}  // namespace hr

namespace hr::cpu {
void fft(const FftJob& job, const Tensor& x, Buffer& out);

/// T is float or double, `in` may be `out`.
template <class T>
void fft_columns(const FftColumnsJob& job, const T* in, T* out);
}  // namespace hr::cpu
namespace hr::cuda {

/// Numbers of a line that one block of threads transforms; longer rows are such lines of lines.
inline constexpr int64_t kMostFftLine = 4096;

/// Of a contiguous array on a device; the length is a power of two from 8 to kMostFftLine squared.
void fft(const FftJob& job, const Tensor& x, Buffer& out);

/// Lines along an axis, of `from`, which is complex and contiguous, or of `out` itself for null;
/// lengths are powers of two from 8 to kMostFftLine.
void fft_columns(const FftColumnsJob& job, const Tensor* from, bool in_float, const Buffer& out);

}  // namespace hr::cuda
