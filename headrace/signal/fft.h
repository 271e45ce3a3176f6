// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of any length along the last axis.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace hr {

/// Where the factor 1/n stands: on the inverse, as 1/sqrt(n) on both, on the forward transform.
enum class FftNorm { kBackward, kOrtho, kForward };

/// The transform of each row (last axis) of `x`, as `numpy.fft.fft`: sum over j of x[j]
/// exp(-2 pi i j k / n). `n` is the length to use: longer rows are cut, shorter ones padded with
/// zeros; default is the length of the axis. float32 and complex64 give complex64, every other
/// number dtype complex128. Any shape and strides; the result is row-major. A NaN or inf fills its
/// row. The relative error (2-norm) is a few eps log2(n); the roots are within an ulp.
/// Mixed radix (2 to 31), Bluestein's method for other primes; plans are kept in a small cache.
/// Rows run in parallel, and long ones on all workers; the bits of a row depend on its values and n
/// alone. Long rows need about n numbers in addition to the result.
/// Throws InvalidArgumentError when `x` is 0-d or n < 1. O(n log n) for every n.
HR_API Tensor fft(const Tensor& x, std::optional<int64_t> n = {},
                  FftNorm norm = FftNorm::kBackward);

/// The inverse transform (positive exponent), as `numpy.fft.ifft`; otherwise as `fft`.
HR_API Tensor ifft(const Tensor& x, std::optional<int64_t> n = {},
                   FftNorm norm = FftNorm::kBackward);

/// The first n / 2 + 1 terms of the transform of real rows (the others mirror them), as
/// `numpy.fft.rfft`. Throws TypeMismatchError for complex input.
HR_API Tensor rfft(const Tensor& x, std::optional<int64_t> n = {},
                   FftNorm norm = FftNorm::kBackward);

/// The inverse of `rfft`: `n` real values (default 2 (m - 1)) from m = n / 2 + 1 terms, as
/// `numpy.fft.irfft`; the imaginary parts of the first and, for even n, the last term count as 0.
HR_API Tensor irfft(const Tensor& x, std::optional<int64_t> n = {},
                    FftNorm norm = FftNorm::kBackward);

/// The transform along each of `axes`, all different, as `numpy.fft.fftn`, or with `inverse` as
/// `numpy.fft.ifftn`. Real input needs the last axis among them, and half of the work: the other
/// half of the result mirrors what is computed. Columns are transformed where they lie, some side
/// by side; without the last axis the result is the only memory. Else as `fft`.
/// Throws InvalidArgumentError for an axis out of range, twice the same, or of length 0.
HR_API Tensor fftn(const Tensor& x, const std::vector<int64_t>& axes, bool inverse = false,
                   FftNorm norm = FftNorm::kBackward);

/// Why a transform of rows of this length, or along these axes, has no kernel for CUDA; empty: it
/// has one, with the error bound of `fft`.
HR_API std::string why_no_fft_kernel(int64_t n);
HR_API std::string why_no_fft_kernel(const Tensor& x, const std::vector<int64_t>& axes);

/// Drops the cached plans and their tables.
HR_API void clear_fft_plans();

}  // namespace hr
