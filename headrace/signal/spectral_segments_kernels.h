// SPDX-License-Identifier: Apache-2.0
// Kernels of the spectra of segments: `x` and `y` (or null) are contiguous, `window` has their
// precision, all is checked.
#pragma once
#include "headrace/signal/spectral_segments.h"

namespace hr::cpu {
void spectral_segments(const Tensor& x, const Tensor* y, const Tensor& window,
                       const SpectralSegments& options, Buffer& out);
}

namespace hr::cuda {

/// The same on a device where `why_no_segments_kernel` has nothing against it.
void spectral_segments(const Tensor& x, const Tensor* y, const Tensor& window,
                       const SpectralSegments& options, const Buffer& out);

}  // namespace hr::cuda
