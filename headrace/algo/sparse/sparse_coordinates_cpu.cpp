// SPDX-License-Identifier: Apache-2.0
// The order of places without branches; row ends by a store for each entry.
#define HWY_TARGET_INCLUDE "headrace/algo/sparse/sparse_coordinates_cpu.cpp"
#include "headrace/algo/sparse/sparse_coordinates_kernels.h"
#include "headrace/base/simd_targets.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

template <class Place>
Place last_of(int64_t count) {
  return static_cast<Place>(std::min<int64_t>(count - 1, std::numeric_limits<Place>::max()));
}

template <class Place>
cpu::PlaceOrder order_of(const cpu::Places<Place>& places, int64_t begin, int64_t end) {
  using Word = std::make_unsigned_t<Place>;
  const Place* HWY_RESTRICT row = places.row;
  const Place* HWY_RESTRICT column = places.column;
  const auto last_row = static_cast<Word>(last_of<Place>(places.rows));
  const auto last_column = static_cast<Word>(last_of<Place>(places.columns));
  Word signs = 0;  // of what is below 0 or, from the last row or column, above it
  Word descends = 0, repeats = 0;
  const auto check = [&](int64_t k) HWY_ATTR {
    const auto r = static_cast<Word>(row[k]), c = static_cast<Word>(column[k]);
    signs |= (r | (last_row - r)) | (c | (last_column - c));
  };
  if (begin == 0 && end > 0) check(begin++);
  for (int64_t k = begin; k < end; ++k) {
    check(k);
    descends |= row[k - 1] > row[k] ? Word{1} : Word{0};
    repeats |= (row[k - 1] == row[k] ? Word{1} : Word{0}) &
               (column[k - 1] >= column[k] ? Word{1} : Word{0});
  }
  return {static_cast<Place>(signs) >= 0, descends == 0, repeats == 0};
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class Place>
PlaceOrder place_order(const Places<Place>& places, int64_t begin, int64_t end) {
  return HR_SIMD(order_of<Place>)(places, begin, end);
}

template <class Place, class Index>
void find_row_ends(const Places<Place>& places, int64_t begin, int64_t end, Index* pointer) {
  const Place* const row = places.row;
  // Where rows turn out to descend elsewhere, two threads may be at one pointer.
  const auto put = [&](int64_t at, int64_t entry) {
    std::atomic_ref<Index>(pointer[at]).store(static_cast<Index>(entry), std::memory_order_relaxed);
  };
  const auto put_empty = [&](int64_t k) {
    const int64_t before = k == 0 ? -1 : int64_t{row[k - 1]};
    for (int64_t at = before + 2; at <= row[k]; ++at) put(at, k);
  };
  int64_t stop = end;  // the row that goes on behind `end` has its end there
  if (end < places.entries && row[end - 1] == row[end])
    while (stop > begin && row[stop - 1] == row[end]) --stop;
  for (int64_t k = begin; k < stop; ++k) {
    put_empty(k);
    put(int64_t{row[k]} + 1, k + 1);
  }
  if (stop < end) put_empty(stop);
}

#define HR_PLACES(Place)                                                         \
  template PlaceOrder place_order(const Places<Place>&, int64_t, int64_t);       \
  template void find_row_ends(const Places<Place>&, int64_t, int64_t, int32_t*); \
  template void find_row_ends(const Places<Place>&, int64_t, int64_t, int64_t*);
HR_PLACES(int32_t)
HR_PLACES(int64_t)
#undef HR_PLACES

}  // namespace hr::cpu
#endif
