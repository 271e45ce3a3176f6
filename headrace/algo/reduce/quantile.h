// SPDX-License-Identifier: Apache-2.0
// Quantiles by selection.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace hr {

/// What lies between two ranks.
enum class Interpolation : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };

/// "linear", "lower", "higher", "midpoint", "nearest"; throws InvalidArgumentError for another
/// word.
HR_API Interpolation interpolation_from_name(std::string_view name);

/// Whether quantiles are values that are there, so that they keep the dtype.
constexpr bool picks_values(Interpolation interpolation) {
  return interpolation != Interpolation::kLinear && interpolation != Interpolation::kMidpoint;
}

/// The quantiles `q` (each in [0, 1]) of the values that are neither null nor NaN, between the two
/// nearest ranks as `interpolate` of quantile_math.h: a float64 tensor, of the column's dtype where
/// `interpolation` picks values. NaN when there are no values. O(n) per distinct quantile on a
/// scratch copy. Throws TypeMismatchError unless integer or float, InvalidArgumentError for a q
/// outside [0, 1] and where no integer is to be picked from none.
HR_API Tensor quantile(const Column& column, std::span<const double> q,
                       Interpolation interpolation = Interpolation::kLinear);

}  // namespace hr
