// SPDX-License-Identifier: Apache-2.0
// The lazy forms of this room's functions: dtype and shape are checked now, the work is done
// later.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/signal/fft.h"
#include "headrace/signal/fft_convolve.h"
#include "headrace/signal/non_max_suppression.h"
#include "headrace/signal/ricker.h"
#include "headrace/signal/segments.h"

#include <utility>

namespace hr {

// Each takes arrays or columns without nulls and promises what the function of its name does.

HR_API NodePtr lazy_ricker(int64_t points, double width, Dtype dtype);
HR_API NodePtr fft_convolve(const NodePtr& signal, const NodePtr& taps, ConvolveMode mode);
/// `threshold` is a real scalar, perhaps one that the plan has yet to compute.
HR_API NodePtr non_max_suppression(const NodePtr& x, int64_t window, const NodePtr& threshold);
/// `lengths` may be null: every segment has the full width.
HR_API NodePtr segments(const NodePtr& x, const NodePtr& begins, const NodePtr& lengths,
                        int64_t width, Normalize normalize);
HR_API NodePtr nonzero(const NodePtr& gate);
HR_API NodePtr diff(const NodePtr& x);

struct HistogramNodes {
  NodePtr counts;
  NodePtr edges;
};

/// `edges` may be null; then `bins` and `range` count.
HR_API HistogramNodes histogram(const NodePtr& x, int64_t bins,
                                std::optional<std::pair<double, double>> range,
                                const NodePtr& edges);

enum class FftKind { kFft, kIfft, kRfft, kIrfft };
HR_API NodePtr fft(FftKind kind, const NodePtr& x, std::optional<int64_t> n, FftNorm norm);
HR_API NodePtr fftn(const NodePtr& x, const std::vector<int64_t>& axes, bool inverse, FftNorm norm);

}  // namespace hr
