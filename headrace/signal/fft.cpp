// SPDX-License-Identifier: Apache-2.0
// Transforms along the last axis: checks, lengths, dispatch.
#include "headrace/signal/fft.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/signal/fft_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

namespace hr {

namespace {

void dispatch(const FftJob& job, const Tensor& x, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::fft(job, contiguous(x, "fft"), out);
  return cpu::fft(job, x, out);
}

/// Throws where no kernel for CUDA has the transform.
void require_kernel(std::string_view op, const std::string& why) {
  if (!why.empty())
    throw_error<UnsupportedError>(op, why, {}, "move the values first: x.to('cpu')");
}

bool is_length_for_cuda(int64_t n, int64_t most) {
  return n >= 8 && n <= most && std::has_single_bit(static_cast<uint64_t>(n));
}

constexpr const char* kNoLength =
    "this length has no kernel for CUDA: powers of two from 8 on have";

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
  if (x.place().is_gpu()) require_kernel(op, why_no_fft_kernel(length));
  Buffer out = allocate_at(x.place(), checked_multiply(op, elements, dtype.size_bytes()));
  const bool inverse = kind == Transform::kInverse || kind == Transform::kRealInverse;
  if (elements > 0)
    dispatch({kind, in_float, length, elements / shape.back(), scale_of(norm, inverse, length),
              shape.back()},
             x, out);
  return Tensor(dtype, std::move(shape), std::move(out));
}

}  // namespace

std::string why_no_fft_kernel(int64_t n) {
  const bool fits = is_length_for_cuda(n, cuda::kMostFftLine * cuda::kMostFftLine);
  return fits ? "" : kNoLength;
}

std::string why_no_fft_kernel(const Tensor& x, const std::vector<int64_t>& axes) {
  for (const int64_t axis : axes) {
    const int64_t n = x.shape()[static_cast<size_t>(axis)];
    const bool is_last = axis + 1 == x.num_dimensions();
    if (is_last ? !why_no_fft_kernel(n).empty() : !is_length_for_cuda(n, cuda::kMostFftLine))
      return kNoLength;
  }
  return "";
}

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

namespace {

/// True for each of `axes`.
std::vector<bool> chosen_axes(std::string_view op, const Tensor& x,
                              const std::vector<int64_t>& axes) {
  std::vector<bool> chosen(x.shape().size());
  for (const int64_t axis : axes) {
    const bool there = axis >= 0 && axis < x.num_dimensions();
    if (!there || chosen[static_cast<size_t>(axis)])
      throw_error<InvalidArgumentError>(
          op, there ? "an axis appears twice" : "the axis is out of range",
          {{"axis", axis}, {"dimensions", x.num_dimensions()}});
    if (x.shape()[static_cast<size_t>(axis)] == 0)
      throw_error<InvalidArgumentError>(op, "the length must be positive", {{"n", 0}},
                                        "pass n >= 1");
    chosen[static_cast<size_t>(axis)] = true;
  }
  return chosen;
}

/// The same on a device: the last axis first, then columns where they lie.
Tensor transform_axes_there(const Tensor& x, const std::vector<bool>& chosen, bool inverse,
                            FftNorm norm) {
  const bool in_float = x.dtype() == TypeId::kFloat32 || x.dtype() == TypeId::kComplex64;
  const Dtype dtype = in_float ? TypeId::kComplex64 : TypeId::kComplex128;
  const Shape& shape = x.shape();
  const size_t last = shape.size() - 1;
  const int64_t elements = num_elements(shape);
  Buffer out = allocate_at(x.place(), checked_multiply("fftn", elements, dtype.size_bytes()));
  if (elements == 0) return Tensor(dtype, shape, std::move(out));
  const Tensor source = contiguous(x, "fftn");
  bool is_made = chosen[last];
  if (is_made)
    dispatch({inverse ? Transform::kInverse : Transform::kForward, in_float, shape[last],
              elements / shape[last], scale_of(norm, inverse, shape[last]), shape[last]},
             source, out);
  for (size_t axis = last; axis-- > 0;) {
    if (!chosen[axis]) continue;
    if constexpr (built_with_cuda)
      cuda::fft_columns({shape, axis, shape[last], inverse, scale_of(norm, inverse, shape[axis])},
                        is_made ? nullptr : &source, in_float, out);
    is_made = true;
  }
  return Tensor(dtype, shape, std::move(out));
}

template <class T>
Tensor transform_axes(const Tensor& x, const std::vector<bool>& chosen, bool inverse,
                      FftNorm norm) {
  const bool in_float = std::is_same_v<T, float>;
  const Dtype dtype = in_float ? TypeId::kComplex64 : TypeId::kComplex128;
  const Shape& shape = x.shape();
  const size_t last = shape.size() - 1;
  const int64_t elements = num_elements(shape);
  Buffer out = Buffer::allocate(checked_multiply("fftn", elements, dtype.size_bytes()));
  if (elements == 0) return Tensor(dtype, shape, std::move(out));
  auto* const numbers = out.mutable_as<T>();
  const int64_t others = std::count(chosen.begin(), chosen.end() - 1, true);
  const bool mirrors = !x.dtype().is_complex() && !inverse && others > 0;
  const T* from = numbers;
  if (chosen[last])
    cpu::fft({mirrors   ? Transform::kRealForward
              : inverse ? Transform::kInverse
                        : Transform::kForward,
              in_float, shape[last], elements / shape[last], scale_of(norm, inverse, shape[last]),
              shape[last]},
             x, out);
  else if (x.is_contiguous())
    from = reinterpret_cast<const T*>(x.data());
  else
    copy_strided(x, out.mutable_data(), row_major(shape));
  int64_t left = others;
  for (size_t axis = last; axis-- > 0;) {
    if (!chosen[axis]) continue;
    FftColumnsJob job{shape, axis, mirrors ? shape[last] / 2 + 1 : shape[last], inverse,
                      scale_of(norm, inverse, shape[axis])};
    if (mirrors && --left == 0) job.mirrored = chosen;
    cpu::fft_columns(job, from, numbers);
    from = numbers;
  }
  return Tensor(dtype, shape, std::move(out));
}

}  // namespace

Tensor fftn(const Tensor& x, const std::vector<int64_t>& axes, bool inverse, FftNorm norm) {
  const std::string_view op = inverse ? "ifftn" : "fftn";
  const ScopedTag tag(op);
  if (x.dtype().is_string() || axes.empty())
    throw_error<InvalidArgumentError>(op, "expected numbers and one or more axes",
                                      {{"dtype", x.dtype().name()}});
  const std::vector<bool> chosen = chosen_axes(op, x, axes);
  if (!x.dtype().is_complex() && !chosen.back())
    throw_error<TypeMismatchError>(op, "real numbers without the last axis",
                                   {{"dtype", x.dtype().name()}}, "use astype('complex128')");
  if (x.place().is_gpu()) {
    require_kernel(op, why_no_fft_kernel(x, axes));
    return transform_axes_there(x, chosen, inverse, norm);
  }
  const bool in_float = x.dtype() == TypeId::kFloat32 || x.dtype() == TypeId::kComplex64;
  return in_float ? transform_axes<float>(x, chosen, inverse, norm)
                  : transform_axes<double>(x, chosen, inverse, norm);
}

}  // namespace hr
