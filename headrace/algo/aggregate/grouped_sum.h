// SPDX-License-Identifier: Apache-2.0
// Sums of several columns by slot, side by side.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <span>

namespace hr {

/// Whether all are finite: a product with 0 is 0 for no others.
HR_API bool all_finite(const double* x, int64_t count);

/// Counts each row in `sizes`, and adds x[k][i] to states[k][slots[i]] for each k: row after row,
/// as one column after the other would, but the sums of a row do not wait for each other. Where
/// rows of few slots follow each other, which wait for the slot's last sum, five columns take as
/// long as one.
HR_API void grouped_sum(const uint32_t* slots, int64_t count, uint32_t* sizes,
                        std::span<const double* const> x, std::span<double* const> states);

}  // namespace hr
