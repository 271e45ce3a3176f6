// SPDX-License-Identifier: Apache-2.0
// The bin of one value, by the steps of numpy.histogram: equal counts need equal roundings.
#pragma once
#include "headrace/algo/histogram_kernels.h"
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Bin of `value` (E: the dtype of the edges), which lies in the range. D is the type in which
/// NumPy divides: float for a float32 range that it took from the data, else double.
template <class D, class E>
HR_BOTH inline int64_t uniform_bin(E value, const UniformBins& bins, const E* edges) {
  const E distance = value - static_cast<E>(bins.low);
  const D place = static_cast<D>(distance) / static_cast<D>(bins.width) *
                  static_cast<D>(static_cast<double>(bins.bins));
  int64_t bin = static_cast<int64_t>(place);
  if (bin >= bins.bins) bin = bins.bins - 1;
  if (value < edges[bin] && bin > 0) --bin;
  if (bin != bins.bins - 1 && value >= edges[bin + 1]) ++bin;
  return bin;
}

/// Bin of `value` between ascending edges, -1 outside them and for NaN. The last bin holds its
/// right edge; of equal edges the last begins the bin.
template <class C>
HR_BOTH inline int64_t bin_between(C value, const C* edges, int64_t bins) {
  if (!(value >= edges[0] && value <= edges[bins])) return -1;
  const C* first = edges;
  for (int64_t count = bins + 1; count > 1;) {  // the last edge that is not above the value
    const int64_t half = count / 2;
    first += first[half] <= value ? half : 0;
    count -= half;
  }
  const int64_t bin = first - edges;
  return bin == bins ? bins - 1 : bin;
}

}  // namespace hr
