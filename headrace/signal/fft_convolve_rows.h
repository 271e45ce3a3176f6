// SPDX-License-Identifier: Apache-2.0
// One signal with several sets of taps, and rows with one set and ends of their own.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

/// Row k is `fft_convolve` of the 1-D signal `x` with taps[k] in mode same, without copies. Taps
/// are rounded to the dtype of `x`, float32 or float64; there are at most as many as samples.
HR_API Tensor convolve_with_each(const Tensor& x, const std::vector<std::vector<double>>& taps);

/// `fft_convolve` of each row (last axis) of `x` with an odd number of taps in mode same, but for
/// the first and the last taps.size() / 2 samples: these are sums of the first and the last
/// taps.size() samples weighted by the rows of `first` and `last`, from the signal's end up to the
/// last weight that is not zero. Rows have at least as many
/// samples as taps.
HR_API Tensor convolve_with_ends(const Tensor& x, const std::vector<double>& taps,
                                 const std::vector<double>& first, const std::vector<double>& last);

}  // namespace hr
