// SPDX-License-Identifier: Apache-2.0
// Peaks on the CPU. Short windows: maxima of all windows by doubling, block by block. Longer ones:
// the same over the maxima of cells; the few cells that stand out of their surroundings are
// compared one by one.
#define HWY_TARGET_INCLUDE "headrace/signal/non_max_suppression_cpu.cpp"
#include "headrace/algo/bits/strided_view.h"
#include "headrace/base/checked.h"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/non_max_suppression_kernels.h"
#include "headrace/signal/non_max_suppression_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Stands for NaN and for what lies beyond the signal's ends.
template <class T>
constexpr T kLeast = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                 : std::numeric_limits<T>::lowest();

/// out[j] is the maximum of values[j], values[j + step], ... of which there are `terms`; NaN is
/// passed over.
template <int terms, class T>
void maxima_of_steps(const T* __restrict values, int64_t step, int64_t count, T* __restrict out) {
  for (int64_t j = 0; j < count; ++j) {
    T top = kLeast<T>;
    for (int64_t k = 0; k < terms; ++k) {
      const T value = values[j + k * step];
      top = value > top ? value : top;
    }
    out[j] = top;
  }
}

/// keep[i] tells whether value i + reach is at least the threshold, greater than the `reach` values
// before it and not less than those after it; never for the minimum. There are count + 2 reach
// values, and so much room at `run` and `next`.
template <class T>
void mark_window_maxima(const T* values, int64_t count, int64_t reach, T threshold, T* run, T* next,
                        uint8_t* __restrict keep) {
  const int64_t size = count + 2 * reach;
  const T* __restrict runs = values;  // maxima of `width` values
  int64_t width = 1;
  for (; 4 * width <= reach; width *= 4) {
    maxima_of_steps<4>(runs, width, size - 4 * width + 1, next);
    runs = next;
    std::swap(run, next);
  }
  if (2 * width <= reach) {
    maxima_of_steps<2>(runs, width, size - 2 * width + 1, next);
    runs = next;
    width *= 2;
  }
  const T* __restrict middle = values + reach;
  const int64_t other = reach - width;  // two runs overlap to cover the reach
  for (int64_t i = 0; i < count; ++i) {
    const T value = middle[i];
    const T left = runs[i] > runs[i + other] ? runs[i] : runs[i + other];
    const T first = runs[i + reach + 1];
    const T last = runs[i + reach + 1 + other];
    const T right = first > last ? first : last;
    keep[i] = ((value >= threshold) & !(left >= value) & !(right > value)) ? 1 : 0;
  }
}

template <class T>
void mark_above(const T* x, int64_t count, T threshold, uint8_t* gate) {
  for (int64_t i = 0; i < count; ++i) gate[i] = x[i] >= threshold ? 1 : 0;
}

template <class T>
bool has_least(const T* x, int64_t count) {
  uint8_t found = 0;
  for (int64_t i = 0; i < count; ++i) found |= x[i] == kLeast<T> ? 1 : 0;
  return found != 0;
}

template <class T>
void maxima_of_pairs(const T* __restrict values, int64_t pairs, T* __restrict out) {
  for (int64_t j = 0; j < pairs; ++j) {
    const T a = values[2 * j] > kLeast<T> ? values[2 * j] : kLeast<T>;
    out[j] = values[2 * j + 1] > a ? values[2 * j + 1] : a;
  }
}

/// Maxima of cells of `cell` elements, a power of two, NaN passed over; kBlockRows elements at
/// most.
template <class T>
void maxima_of_cells(const T* x, int64_t cell, int64_t cells, T* out) {
  T a[kBlockRows / 2];
  T b[kBlockRows / 4];
  T* to = a;
  for (int64_t pairs = cell / 2; pairs > 1; pairs /= 2) {  // of a cell
    maxima_of_pairs(x, cells * pairs, to);
    x = to;
    to = to == a ? b : a;
  }
  maxima_of_pairs(x, cells, out);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

using HWY_NAMESPACE::kLeast;

// Elements [begin, end) where they lie, or in `block`, with the minimum of the dtype beyond the
// ends.
template <class T>
const T* load_padded(const StridedView<T>& x, int64_t begin, int64_t end, T* block) {
  if (x.stride == 1 && begin >= 0 && end <= x.size) return x.data + begin;
  for (int64_t i = begin; i < end; ++i) block[i - begin] = i >= 0 && i < x.size ? x[i] : kLeast<T>;
  return block;
}

/// Windows up to this half are done value by value, up to the second one in cells of 16, which a
/// task makes for itself and the surroundings of its rows.
constexpr int64_t kNear = 31;
constexpr int64_t kMiddle = 2048;

/// Maxima of cells from `first` on.
template <class T>
struct CellMaxima {
  const T* maxima;
  int64_t first;

  T operator[](int64_t cell) const { return maxima[cell - first]; }
};

template <class T>
struct PeakSearch {
  StridedView<T> x;
  int64_t half;
  T threshold;
  const Buffer& out;
  uint8_t* gate;

  std::vector<BufferAccess> accesses() const { return {x.access(half, half), writes(out, 1)}; }

  void near() const {
    parallel_morsels(x.size, accesses(), [&](Morsel morsel) {
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows)
        near_block(begin, std::min(begin + kBlockRows, morsel.end));
    });
  }

  void near_block(int64_t begin, int64_t end) const {
    T block[kBlockRows + 2 * kNear];
    const int64_t count = end - begin;
    const T* values = load_padded(x, begin - half, end + half, block);
    if (half == 0) return HR_SIMD(mark_above<T>)(values, count, threshold, gate + begin);
    T run[kBlockRows + 2 * kNear];
    T next[kBlockRows + 2 * kNear];
    HR_SIMD(mark_window_maxima<T>)
    (values, count, half, threshold, run, next, gate + begin);
    if (threshold <= kLeast<T> && HR_SIMD(has_least<T>)(values + half, count))
      for (int64_t i = begin; i < end; ++i)
        if (x[i] == kLeast<T>) gate[i] = is_window_peak(x, i, half) ? 1 : 0;
  }

  /// Cells that lie in the window of every element of a cell, on each side.
  template <int64_t cell>
  int64_t reach() const {
    return (half - cell + 1) / cell;
  }

  /// Maxima of cells [first, last).
  template <int64_t cell>
  void fill_cells(int64_t first, int64_t last, T* maxima) const {
    T block[kBlockRows];
    constexpr int64_t cells = kBlockRows / cell;
    for (int64_t k = first; k < last; k += cells) {
      const int64_t stop = std::min(k + cells, last);
      const T* values = load_padded(x, k * cell, stop * cell, block);
      HR_SIMD(maxima_of_cells<T>)(values, cell, stop - k, maxima + (k - first));
    }
  }

  /// Whether no element of [begin, end) is greater than `value`, nor equal when `equal`.
  template <int64_t cell>
  bool none_greater(int64_t begin, int64_t end, T value, bool equal, CellMaxima<T> maxima) const {
    for (int64_t i = std::max<int64_t>(begin, 0); i < std::min(end, x.size);) {
      const int64_t stop = std::min((i / cell + 1) * cell, end);
      const T top = maxima[i / cell];
      if (top > value || (equal && top == value))
        for (const int64_t last = std::min(stop, x.size); i < last; ++i)
          if (x[i] > value || (equal && x[i] == value)) return false;
      i = stop;
    }
    return true;
  }

  /// Marks the peak of cell k, if it has one. Its maximum stands out of the `reach` cells on each
  /// side; left are the ends of its window.
  template <int64_t cell>
  void look_at_cell(int64_t k, CellMaxima<T> maxima) const {
    const T value = maxima[k];
    int64_t i = k * cell;
    while (x[i] != value) ++i;
    const int64_t near = reach<cell>();
    gate[i] = none_greater<cell>(i - half, (k - near) * cell, value, true, maxima) &&
                      none_greater<cell>((k + near + 1) * cell, i + half + 1, value, false, maxima)
                  ? 1
                  : 0;
  }

  // The first minimum of a cell may be a peak where the surroundings are NaN.
  template <int64_t cell>
  void look_for_least(int64_t k) const {
    for (int64_t i = k * cell; i < std::min((k + 1) * cell, x.size); ++i)
      if (x[i] == kLeast<T>) {
        gate[i] = is_window_peak(x, i, half) ? 1 : 0;
        return;
      }
  }

  /// Fills the gate of cells [first, last); `keep` is the one of the first.
  template <int64_t cell>
  void look_at_cells(int64_t first, int64_t last, CellMaxima<T> maxima, const uint8_t* keep) const {
    const int64_t end = std::min(last * cell, x.size);
    std::memset(gate + first * cell, 0, static_cast<size_t>(end - first * cell));
    for (int64_t k = first; k < last; ++k)
      if (keep[k - first]) look_at_cell<cell>(k, maxima);
    if (threshold <= kLeast<T>)
      for (int64_t k = first; k < last; ++k)
        if (maxima[k] == kLeast<T>) look_for_least<cell>(k);
  }

  void middle() const {
    constexpr int64_t cell = 16;
    constexpr int64_t task_cells = 2048;
    const std::vector<BufferAccess> needed = accesses();
    const int64_t cells = divide_up(x.size, cell);
    const int64_t halo = reach<cell>() + 2;  // the ends of windows lie up to two cells further
    parallel_for(divide_up(cells, task_cells), [&](int64_t task) {
      constexpr int64_t room = task_cells + 2 * (kMiddle / cell + 2);
      T maxima[room];
      T run[room];
      T next[room];
      uint8_t keep[task_cells];
      const int64_t first = task * task_cells;
      const int64_t last = std::min(first + task_cells, cells);
      const Pin pin(ranges_of(needed, first * cell, last * cell));
      fill_cells<cell>(first - halo, last + halo, maxima);
      HR_SIMD(mark_window_maxima<T>)
      (maxima + 2, last - first, halo - 2, threshold, run, next, keep);
      look_at_cells<cell>(first, last, {maxima, first - halo}, keep);
    });
  }

  void far() const {
    constexpr int64_t cell = 64;
    constexpr int64_t task_cells = kMorselRows / cell;
    const int64_t cells = divide_up(x.size, cell);
    const int64_t halo = std::min(reach<cell>(), cells);
    const int64_t room = (cells + 2 * halo) * static_cast<int64_t>(sizeof(T));
    Buffer maxima_buffer = Buffer::allocate(room);
    Buffer run = Buffer::allocate(room);
    Buffer next = Buffer::allocate(room);
    Buffer keep = Buffer::allocate(cells);
    T* maxima = maxima_buffer.mutable_as<T>() + halo;
    std::fill(maxima - halo, maxima, kLeast<T>);
    std::fill(maxima + cells, maxima + cells + halo, kLeast<T>);
    const int64_t tasks = divide_up(cells, task_cells);
    const std::vector<BufferAccess> needed = accesses();
    parallel_for(tasks, [&](int64_t task) {
      const int64_t first = task * task_cells;
      const int64_t last = std::min(first + task_cells, cells);
      const Pin pin(ranges_of({needed.data(), 1}, first * cell, last * cell));
      fill_cells<cell>(first, last, maxima + first);
    });
    HR_SIMD(mark_window_maxima<T>)
    (maxima - halo, cells, halo, threshold, run.mutable_as<T>(), next.mutable_as<T>(),
     keep.mutable_as<uint8_t>());
    parallel_for(tasks, [&](int64_t task) {
      const int64_t first = task * task_cells;
      const int64_t last = std::min(first + task_cells, cells);
      const Pin pin(ranges_of({needed.data() + 1, 1}, first * cell, last * cell));
      look_at_cells<cell>(first, last, {maxima, 0}, keep.as<uint8_t>() + first);
    });
  }
};

}  // namespace

void non_max_suppression(const Tensor& x, int64_t half, double threshold, Buffer& gate) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    uint8_t* out = gate.mutable_as<uint8_t>();
    T rounded;
    if (!round_threshold(threshold, rounded)) {
      parallel_morsels(gate.size_bytes(), {writes(gate, 1)}, [&](Morsel morsel) {
        std::memset(out + morsel.begin, 0, static_cast<size_t>(morsel.end - morsel.begin));
      });
      return;
    }
    const PeakSearch<T> search{StridedView<T>(x), half, rounded, gate, out};
    half <= kNear ? search.near() : half <= kMiddle ? search.middle() : search.far();
  });
}

}  // namespace hr::cpu
#endif
