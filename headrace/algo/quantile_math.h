// SPDX-License-Identifier: Apache-2.0
// Between two neighbours in order: the rule of every median and quantile.
#pragma once
#include <cmath>

namespace hr {

/// What lies `part` (0 to 1) of the way from `low` to `high`, which is not less: exact at both ends
/// and monotone, as NumPy's. An infinity beside it wins; between both lies NaN.
inline double interpolate(double low, double high, double part) {
  if (part == 0) return low;  // an infinity above it is no neighbour
  const double difference = high - low;
  if (!std::isfinite(difference)) return low * (1 - part) + high * part;
  return part < 0.5 ? low + difference * part : high - difference * (1 - part);
}

}  // namespace hr
