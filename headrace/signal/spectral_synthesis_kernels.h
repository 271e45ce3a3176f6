// SPDX-License-Identifier: Apache-2.0
// Kernels of overlap-add: `spectra` are contiguous, `window` has their precision, all is checked.
#pragma once
#include "headrace/signal/spectral_synthesis.h"

namespace hr::cpu {
void spectral_synthesis(const Tensor& spectra, const Tensor& window,
                        const SpectralSynthesis& options, Buffer& out);
}  // namespace hr::cpu
namespace hr::cuda {
/// The length of the transforms is a power of two from 8 on.
void spectral_synthesis(const Tensor& spectra, const Tensor& window,
                        const SpectralSynthesis& options, Buffer& out);
}  // namespace hr::cuda
