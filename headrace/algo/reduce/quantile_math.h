// SPDX-License-Identifier: Apache-2.0
// Between two neighbours in order: the rule of every median and quantile.
#pragma once
#include "headrace/algo/reduce/quantile.h"
#include "headrace/algo/reduce/select_ranks.h"
#include "headrace/base/api.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hr {

/// What lies `part` (0 to 1) of the way from `low` to `high`, which is not less: exact at both ends
/// and monotone, as NumPy's. An infinity next to it wins; between two infinities of opposite sign
/// lies NaN.
HR_BOTH inline double interpolate(double low, double high, double part) {
  if (part == 0) return low;  // an infinity above it is no neighbour
  const double difference = high - low;
  if (!std::isfinite(difference)) return low * (1 - part) + high * part;
  return part < 0.5 ? low + difference * part : high - difference * (1 - part);
}

/// Where a quantile of some values in order lies.
struct QuantilePlace {
  int64_t below;  ///< the rank at or before it
  int64_t above;  ///< the next one, or the last
  double part;    ///< of the way from one to the other
};

/// For `count` values, at least one, and `q` from 0 to 1; a nearest place in the middle goes to the
/// even rank, as NumPy's.
HR_BOTH inline QuantilePlace quantile_place(int64_t count, double q, Interpolation interpolation) {
  const double place = q * static_cast<double>(count - 1);
  const auto below = static_cast<int64_t>(std::floor(place));
  double part = place - static_cast<double>(below);
  switch (interpolation) {
    case Interpolation::kLinear:
      break;
    case Interpolation::kLower:
      part = 0;
      break;
    case Interpolation::kHigher:
      part = part > 0;
      break;
    case Interpolation::kMidpoint:
      part = part > 0 ? 0.5 : 0;
      break;
    case Interpolation::kNearest:
      part = part > 0.5 || (part == 0.5 && below % 2 != 0);
  }
  return {below, std::min(below + 1, count - 1), part};
}

/// The quantile at a place, of the values at its two ranks.
HR_BOTH inline double value_at(const QuantilePlace& place, double below, double above) {
  if (place.part == 0) return below;
  return place.part == 1 ? above : interpolate(below, above, place.part);
}

/// That quantile of values without NaN, at least one; may reorder them. Which of two zeros is open.
inline double quantile_of(double* values, int64_t count, double q, Interpolation interpolation) {
  const QuantilePlace place = quantile_place(count, q, interpolation);
  if (count >= kLeastToSelect) {
    const std::span<const double> all(values, static_cast<size_t>(count));
    const RankedPair<double> pair = select_ranks(all, count, place.below);
    return value_at(place, pair.at, pair.next);
  }
  std::nth_element(values, values + place.below, values + count);
  if (place.part == 0) return values[place.below];
  return value_at(place, values[place.below],
                  *std::min_element(values + place.above, values + count));
}

}  // namespace hr
