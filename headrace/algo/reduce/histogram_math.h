// SPDX-License-Identifier: Apache-2.0
// The bin of one value, by the steps of numpy.histogram: equal counts need equal roundings.
#pragma once
#include "headrace/algo/reduce/histogram_kernels.h"
#include "headrace/base/api.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace hr {

/// The types of a count: of the input, of the edges, and that in which NumPy divides.
template <class In, class Edge, class Quotient>
struct CountTypes {
  using T = In;
  using E = Edge;
  using D = Quotient;
};

/// high - low, exact in integers before it is rounded.
template <class T>
inline double width_of(T low, T high) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<double>(static_cast<U>(static_cast<U>(high) - static_cast<U>(low)));
  } else {
    return static_cast<double>(static_cast<T>(high - low));
  }
}

/// What a part of the values holds.
template <class T>
struct FoundExtremes {
  T low;
  T high;
  bool has_nan;
};

/// All parts together, of which there is one at least.
template <class T>
Extremes join_extremes(const std::vector<FoundExtremes<T>>& parts) {
  FoundExtremes<T> all = parts[0];
  for (const FoundExtremes<T>& part : parts) {
    if (part.has_nan) return {NAN, NAN, NAN};
    all.low = std::min(all.low, part.low);
    all.high = std::max(all.high, part.high);
  }
  return {static_cast<double>(all.low), static_cast<double>(all.high), width_of(all.low, all.high)};
}

/// Slot of `value` (E: the dtype of the edges) before it is held against the edges: its bin + 1, or
/// 0 when it is outside the range or NaN. D is the type in which NumPy divides: float for a float32
/// range that it took from the data, else double. There are fewer than 2^31 bins.
template <class D, class E>
HR_BOTH inline int32_t rough_slot(E value, E low, E high, D width, D bins) {
  const D wide = static_cast<D>(value);
  const D place = static_cast<D>(value - low) / width * bins + 1;
  const D slot = place < bins ? place : bins;
  const D above = wide >= static_cast<D>(low) ? slot : 0;
  return static_cast<int32_t>(wide <= static_cast<D>(high) ? above : 0);
}

/// The rough slots of equal bins, their figures in the types that they are computed in.
template <class Types>
struct RoughSlots {
  using E = typename Types::E;
  using D = typename Types::D;

  HR_BOTH explicit RoughSlots(const UniformBins& uniform)
      : low(static_cast<E>(uniform.low)),
        high(static_cast<E>(uniform.high)),
        width(static_cast<D>(uniform.width)),
        bins(static_cast<D>(static_cast<double>(uniform.bins))) {}

  HR_BOTH int32_t operator()(E value) const {
    return rough_slot<D, E>(value, low, high, width, bins);
  }

  E low;
  E high;
  D width;
  D bins;
};

/// The edges of a bin that a rough slot may have missed; NaN where nothing is beyond.
template <class E>
struct BinBorders {
  E left;
  E right;
};

template <class E>
HR_BOTH inline int32_t exact_slot(E value, int32_t rough, const BinBorders<E>* borders) {
  const int32_t slot = rough - (value < borders[rough].left ? 1 : 0);
  return slot + (value >= borders[slot].right ? 1 : 0);
}

/// Equal cells over a range.
struct Grid {
  double low;
  double scale;  ///< cells / width of the range
  double cells;
};

/// The cell of `value`; ascends with the value. Those outside the range are in the outermost cells,
/// NaN in the first.
HR_BOTH inline int32_t grid_cell(double value, const Grid& grid) {
  double place = (value - grid.low) * grid.scale;
  place = place > 0 ? place : 0;
  return static_cast<int32_t>(place < grid.cells - 1 ? place : grid.cells - 1);
}

/// How many of the ascending edges are not above `value`, when edges before `first` are not and
/// those from `last` on are.
template <class C>
HR_BOTH inline int64_t edges_not_above(C value, const C* edges, int64_t first, int64_t last) {
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (edges[middle] <= value)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

}  // namespace hr
