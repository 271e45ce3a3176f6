// SPDX-License-Identifier: Apache-2.0
// The lazy forms of spectra and of their inverse: dtypes and shapes are checked now.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/signal/spectral_segments.h"
#include "headrace/signal/spectral_synthesis.h"

namespace hr {

/// As the functions of these names on tensors; `y` is null unless the spectrum is kCross.
HR_API NodePtr spectral_segments(const NodePtr& x, const NodePtr& y, const NodePtr& window,
                                 const SpectralSegments& options);
HR_API NodePtr spectral_synthesis(const NodePtr& spectra, const NodePtr& window,
                                  const SpectralSynthesis& options);

}  // namespace hr
