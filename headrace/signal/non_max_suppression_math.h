// SPDX-License-Identifier: Apache-2.0
// The decision of non_max_suppression for one element.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Elements of a cell, of which only the maximum is read at first.
inline constexpr int64_t kCell = 16;

/// True unless a neighbour, the threshold or NaN speaks against `value`. An earlier equal value
/// does, a later one does not; a NaN neighbour never does.
template <class T>
HR_BOTH inline bool is_local_peak(T before, T value, T after, T threshold) {
  return (value >= threshold) & !(before >= value) & !(after > value);
}

/// Whether x[i] is greater than all of the `half` values before it and not less than the `half`
/// after it. Looks outwards on both sides in turn: over all elements that takes O(n log n) steps
/// (each stops at the nearer of its two greater neighbours, as in the heights of a Cartesian tree),
/// and whole cells of 16 are skipped by their maxima, which makes it O(n). `cells` may be null.
template <class View, class T>
HR_BOTH inline bool is_window_peak(const View& x, int64_t i, int64_t half, const T* cells) {
  const T value = x[i];
  const int64_t first = i - half > 0 ? i - half : 0;
  const int64_t last = i + half < x.size - 1 ? i + half : x.size - 1;
  int64_t left = i - 1;
  int64_t right = i + 1;
  while (left >= first || right <= last) {
    if (left >= first) {
      const bool cell = cells && left % kCell == kCell - 1 && left - kCell + 1 >= first;
      const int64_t stop = cell ? left - kCell + 1 : left;
      if (!cell || cells[left / kCell] >= value)
        for (int64_t j = left; j >= stop; --j)
          if (x[j] >= value) return false;
      left = stop - 1;
    }
    if (right <= last) {
      const bool cell = cells && right % kCell == 0 && right + kCell - 1 <= last;
      const int64_t stop = cell ? right + kCell - 1 : right;
      if (!cell || cells[right / kCell] > value)
        for (int64_t j = right; j <= stop; ++j)
          if (x[j] > value) return false;
      right = stop + 1;
    }
  }
  return true;
}

}  // namespace hr
