// SPDX-License-Identifier: Apache-2.0
// Kernels of recursive_filter. Inputs are checked; `out` is row-major with the shape of x.
#pragma once
#include "headrace/signal/recursive_filter.h"

namespace hr::cpu {

/// `states`: `state_size` numbers a line, read first and left as they are after the last sample.
void recursive_filter(const Tensor& x, const FilterSections& sections, int64_t axis, Dtype result,
                      double* states, Buffer& out);

void recursive_filter_both_ways(const Tensor& x, const FilterSections& sections, int64_t axis,
                                Dtype result, const std::vector<double>& steady,
                                FilterPadding padding, int64_t padding_length, Buffer& out);

/// Stretches of samples that are filtered side by side. A tile holds sample t of lane l at
/// t * kFilterLanes + l; a state of lanes has this layout too.
inline constexpr int64_t kFilterLanes = 16;

/// Whether a section's results count for later ones. If not, they are not multiplied by zero, which
/// would keep what is not finite.
inline bool has_feedback(int64_t order, const double* a) {
  for (int64_t i = 1; i <= order; ++i)
    if (a[i] != 0) return true;
  return false;
}

/// `count` samples of each row into a tile; of rows that lie backwards in memory when `reversed`.
void pack_tile(const double* const* rows, bool reversed, int64_t count, double* tile);
/// Undoes `pack_tile`.
void unpack_tile(const double* tile, bool reversed, int64_t count, double* const* rows);
/// All sections over a tile in place, from `state`.
void filter_tile(const FilterSections& sections, int64_t count, double* tile, double* state);

}  // namespace hr::cpu
