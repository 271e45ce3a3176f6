// SPDX-License-Identifier: Apache-2.0
// Kernels of what the places of entries say.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Places of `entries` entries in a matrix of this shape. `Place` is int32_t or int64_t.
template <class Place>
struct Places {
  const Place* row;
  const Place* column;
  int64_t entries;
  int64_t rows;
  int64_t columns;
};

/// Of some entries, and of the one before them.
struct PlaceOrder {
  bool is_inside;     ///< all lie in the shape
  bool ascends;       ///< by row
  bool is_canonical;  ///< by row and column, with one entry for each place; holds if `ascends` does
};

template <class Place>
PlaceOrder place_order(const Places<Place>& places, int64_t begin, int64_t end);

/// Writes to pointer[r + 1] where each row r ends that has its last entry in [begin, end), and to
/// those of the rows without entries before each entry. All places are inside and ascend.
template <class Place, class Index>
void find_row_ends(const Places<Place>& places, int64_t begin, int64_t end, Index* pointer);

}  // namespace hr::cpu
