// SPDX-License-Identifier: Apache-2.0
// A signal from the spectra of its overlapping segments.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string>

namespace hr {

struct SpectralSynthesis {
  int64_t step = 1;       ///< from one segment to the next
  int64_t n = 1;          ///< length of the transform
  int64_t first = 0;      ///< samples left out at the beginning
  int64_t count = 0;      ///< samples of the result
  bool one_sided = true;  ///< the spectra are those of real segments
  double scale = 1;       ///< factor on every result

  bool operator==(const SpectralSynthesis&) const = default;
};

/// Throws InvalidArgumentError or TypeMismatchError unless `options` suit spectra of this dtype and
/// a window of `length` samples.
HR_API void check_spectral_synthesis(const SpectralSynthesis& options, Dtype dtype, int64_t length);

/// Why such a sum has no kernel for CUDA; empty: it has one.
HR_API std::string why_no_synthesis_kernel(const SpectralSynthesis& options);

/// The inverse of `spectral_segments` by overlap-add (J. B. Allen and L. R. Rabiner, Proceedings of
/// the IEEE 65, 1977): the inverse transforms of `spectra` (..., segments, terms), complex, each
/// cut to the length of the 1-D real `window` and multiplied by it, added step by step and divided
/// by the sums of its squares where these are above 1e-10. Missing terms are zeros, surplus ones
/// are left out. Gives (..., count), real if one-sided, in the precision of `spectra`. The same
/// bits for any number of threads. O(segments n log n); scratch is a few segments a worker.
HR_API Tensor spectral_synthesis(const Tensor& spectra, const Tensor& window,
                                 const SpectralSynthesis& options);

}  // namespace hr
