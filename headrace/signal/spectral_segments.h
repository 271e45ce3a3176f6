// SPDX-License-Identifier: Apache-2.0
// Spectra of the overlapping segments of a signal, or their mean.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string>

namespace hr {

/// What is taken from each segment before its window: nothing, its mean, or its line of least
/// squares.
enum class Detrend { kNone, kConstant, kLinear };

/// The terms of a segment's transform, their squared magnitudes, or conj(X) Y of two signals.
enum class Spectrum { kTerms, kPower, kCross };

struct SpectralSegments {
  Spectrum spectrum = Spectrum::kTerms;
  Detrend detrend = Detrend::kNone;
  int64_t first = 0;      ///< where the first segment begins; outside of the signal are zeros
  int64_t step = 1;       ///< from one segment to the next
  int64_t segments = 0;   ///< in each row
  int64_t n = 1;          ///< length of the transform; segments are padded with zeros
  bool one_sided = true;  ///< only n / 2 + 1 terms, where powers count for their mirrors too
  bool mean = false;      ///< over the segments of a row
  double scale = 1;       ///< factor on every result

  bool operator==(const SpectralSegments&) const = default;
};

/// Terms in a segment's result.
HR_API int64_t num_terms(const SpectralSegments& options);

/// Throws InvalidArgumentError or TypeMismatchError unless `options` suit signals of this dtype and
/// a window of `length` samples.
HR_API void check_spectral_segments(const SpectralSegments& options, Dtype dtype, int64_t length);

/// Segment k of each row (last axis) of `x` is x[first + k step : ... + window], detrended, times
/// the 1-D real `window`, transformed as by `fft`: row-major (..., segments, terms), or (...,
/// terms) of the mean. `x` is float or complex; `y`, for kCross alone, has its dtype and its other
/// axes, and may be shorter or longer: the missing samples are zeros. Powers are real, else the
/// result is complex, in the precision of `x`. A NaN or inf fills its segment. Segments run side by
/// side in all workers, without a copy of them in memory; the same bits for any number of threads.
/// O(segments n log n); scratch is a few segments a worker, for a mean also up to 64 results a row.
/// Throws InvalidArgumentError for a step or n < 1, fewer segments than 0 (of a mean: than 1),
/// a window longer than n, and TypeMismatchError for other dtypes and one-sided complex signals.
HR_API Tensor spectral_segments(const Tensor& x, const Tensor* y, const Tensor& window,
                                const SpectralSegments& options);

/// Why these spectra have no kernel for CUDA; empty: they have one, with the error bound of `fft`,
/// which takes a window in the precision of the signal.
HR_API std::string why_no_segments_kernel(const SpectralSegments& options);

}  // namespace hr
