// SPDX-License-Identifier: Apache-2.0
// Filters between two sampling rates: zeros are put in, taps are applied, samples are left out.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

/// For each row (last axis) of `x`: y[m] = sum over j of taps[j] u[m down + shift - j] for m <
/// `count`, where u has x[i] at i `up` and zeros elsewhere. Only products that count are computed,
/// in float64, phase by phase: each output sums its taps in order. float32 where x is and `single`,
/// else float64. O(count taps / up) time, parallel over rows and blocks of a row; the same bits for
/// any number of threads and at every SIMD level; scratch is a block a worker.
/// Throws TypeMismatchError unless x is float32 or float64, InvalidArgumentError unless there are
/// taps and `up` and `down` are positive and `shift` and `count` not negative.
HR_API Tensor polyphase_filter(const Tensor& x, const std::vector<double>& taps, int64_t up,
                               int64_t down, int64_t shift, int64_t count, bool single);

}  // namespace hr
