// SPDX-License-Identifier: Apache-2.0
// Transforms along the last axis: checks, lengths, dispatch.
#include "headrace/signal/fft.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/signal/fft_kernels.h"

#include <cmath>
#include <string_view>

namespace hr {

namespace {

void dispatch(const FftJob& job, const Tensor& x, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::fft(job, x, out);
  return cpu::fft(job, x, out);
}

double scale_of(FftNorm norm, bool inverse, int64_t n) {
  if (norm == FftNorm::kOrtho) return 1 / std::sqrt(static_cast<double>(n));
  const bool scaled = inverse == (norm == FftNorm::kBackward);
  return scaled ? 1 / static_cast<double>(n) : 1.0;
}

Tensor transform(std::string_view op, Transform kind, const Tensor& x, std::optional<int64_t> n,
                 FftNorm norm) {
  const ScopedTag tag(op);
  if (x.num_dimensions() == 0)
    throw_error<InvalidArgumentError>(op, "a 0-d array has no axis to transform",
                                      {{"dimensions", 0}}, "pass one or more dimensions");
  if (x.dtype().is_string() || (kind == Transform::kRealForward && x.dtype().is_complex()))
    throw_error<TypeMismatchError>(op, "the dtype cannot be transformed",
                                   {{"dtype", x.dtype().name()}},
                                   x.dtype().is_complex() ? "use fft" : "use astype first");
  const bool real_result = kind == Transform::kRealInverse;
  const int64_t axis = x.shape().back();
  const int64_t length = n ? *n : real_result ? 2 * (axis - 1) : axis;
  if (length < 1)
    throw_error<InvalidArgumentError>(op, "the length must be positive", {{"n", length}},
                                      "pass n >= 1");
  Shape shape = x.shape();
  shape.back() = kind == Transform::kRealForward ? length / 2 + 1 : length;
  const bool in_float = x.dtype() == TypeId::kFloat32 || x.dtype() == TypeId::kComplex64;
  const Dtype dtype = real_result ? (in_float ? TypeId::kFloat32 : TypeId::kFloat64)
                                  : (in_float ? TypeId::kComplex64 : TypeId::kComplex128);
  const int64_t elements = num_elements(shape);
  Buffer out = Buffer::allocate(checked_multiply(op, elements, dtype.size_bytes()));
  const bool inverse = kind == Transform::kInverse || kind == Transform::kRealInverse;
  if (elements > 0)
    dispatch({kind, in_float, length, elements / shape.back(), scale_of(norm, inverse, length)}, x,
             out);
  return Tensor(dtype, std::move(shape), std::move(out));
}

}  // namespace

Tensor fft(const Tensor& x, std::optional<int64_t> n, FftNorm norm) {
  return transform("fft", Transform::kForward, x, n, norm);
}

Tensor ifft(const Tensor& x, std::optional<int64_t> n, FftNorm norm) {
  return transform("ifft", Transform::kInverse, x, n, norm);
}

Tensor rfft(const Tensor& x, std::optional<int64_t> n, FftNorm norm) {
  return transform("rfft", Transform::kRealForward, x, n, norm);
}

Tensor irfft(const Tensor& x, std::optional<int64_t> n, FftNorm norm) {
  return transform("irfft", Transform::kRealInverse, x, n, norm);
}

}  // namespace hr
