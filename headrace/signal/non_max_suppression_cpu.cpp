// SPDX-License-Identifier: Apache-2.0
// Peaks on the CPU: one pass marks local peaks and takes the maxima of cells; where many are
// marked, all of a block is compared with its near surroundings at once; what stays is looked at
// one by one.
#define HWY_TARGET_INCLUDE "headrace/signal/non_max_suppression_cpu.cpp"
#include "headrace/algo/strided_view.h"
#include "headrace/base/checked.h"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/non_max_suppression_kernels.h"
#include "headrace/signal/non_max_suppression_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

template <class T>
constexpr T kLeast = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                 : std::numeric_limits<T>::lowest();

/// gate[i] for the `count` elements from x[1] on: each has a neighbour on both sides.
template <class T>
void mark_local_peaks(const T* x, int64_t count, T threshold, uint8_t* gate) {
  for (int64_t i = 0; i < count; ++i)
    gate[i] = is_local_peak(x[i], x[i + 1], x[i + 2], threshold) ? 1 : 0;
}

template <class T>
void mark_above(const T* x, int64_t count, T threshold, uint8_t* gate) {
  for (int64_t i = 0; i < count; ++i) gate[i] = x[i] >= threshold ? 1 : 0;
}

/// Maxima of whole cells; a NaN counts as the lowest value.
template <class T>
void cell_maxima(const T* x, int64_t cells, T* out) {
  for (int64_t c = 0; c < cells; ++c) {
    T lane[kCell / 2];
    for (int64_t j = 0; j < kCell / 2; ++j) {
      const T a = x[c * kCell + j];
      const T b = x[c * kCell + j + kCell / 2];
      const T low = std::numeric_limits<T>::lowest();
      const T max_a = a > low ? a : low;
      lane[j] = b > max_a ? b : max_a;
    }
    T top = lane[0];
    for (const T value : lane) top = value > top ? value : top;
    out[c] = top;
  }
}

/// Clears gate[i] where one of the `reach` elements on either side of x[reach + i] speaks against
/// it. The maxima of runs of 1, 2, 4, ... elements are built by doubling in `run`, which holds
/// count + 2 reach elements as x does.
template <class T>
void keep_peaks_of(const T* __restrict x, int64_t count, int64_t reach, T* __restrict run,
                   uint8_t* __restrict gate) {
  const int64_t size = count + 2 * reach;
  const T least = kLeast<T>;
  for (int64_t j = 0; j < size; ++j) run[j] = x[j] > least ? x[j] : least;  // NaN too
  int64_t width = 1;
  for (; 2 * width <= reach; width *= 2)
    for (int64_t j = 0; j + 2 * width <= size; ++j)
      run[j] = run[j] > run[j + width] ? run[j] : run[j + width];
  const T* before = run;
  const T* before_end = run + reach - width;
  const T* after = run + reach + 1;
  const T* after_end = run + 2 * reach + 1 - width;
  for (int64_t i = 0; i < count; ++i) {
    const T left = before[i] > before_end[i] ? before[i] : before_end[i];
    const T right = after[i] > after_end[i] ? after[i] : after_end[i];
    const T value = x[reach + i];
    gate[i] &= !(left >= value) & !(right > value) ? 1 : 0;
  }
}

/// How many are set, and whether one of them has the least value of its type.
template <class T>
int64_t count_marked(const T* x, int64_t count, const uint8_t* gate, bool& has_least) {
  int64_t marked = 0;
  uint8_t least = 0;
  for (int64_t i = 0; i < count; ++i) {
    marked += gate[i];
    least |= gate[i] & (x[i] == kLeast<T> ? 1 : 0);
  }
  has_least = least != 0;
  return marked;
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

using HWY_NAMESPACE::kLeast;

/// The least T that is at least `threshold`; false when there is none.
template <class T>
bool round_threshold(double threshold, T& rounded) {
  if constexpr (std::is_integral_v<T>) {
    const double least = std::ceil(threshold);
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (least >= beyond) return false;
    const bool below = least <= static_cast<double>(std::numeric_limits<T>::lowest());
    rounded = below ? std::numeric_limits<T>::lowest() : static_cast<T>(least);
  } else {
    rounded = static_cast<T>(threshold);
    if (static_cast<double>(rounded) < threshold)
      rounded = std::nextafter(rounded, std::numeric_limits<T>::infinity());
  }
  return true;
}

/// Marks rows [begin, end) and fills their cells; `block` holds at least kBlockRows + 2 elements.
template <class T>
void mark_block(const StridedView<T>& x, int64_t begin, int64_t end, int64_t half, T threshold,
                T* block, uint8_t* gate, T* cells) {
  if (half == 0) {
    HR_SIMD(mark_above<T>)(x.load(begin, end - begin, block), end - begin, threshold, gate + begin);
    return;
  }
  const int64_t first = std::max<int64_t>(begin, 1);
  const int64_t last = std::min(end, x.size - 1);
  if (first < last) {
    const T* values = x.load(first - 1, last - first + 2, block);
    HR_SIMD(mark_local_peaks<T>)(values, last - first, threshold, gate + first);
    if (cells) {  // the neighbours that were loaded too: rows from first - 1 to last
      const T* row = values - (first - 1);
      HR_SIMD(cell_maxima<T>)(row + begin, (end - begin) / kCell, cells + begin / kCell);
    }
  }
  // The ends have one neighbour, which stands for the other; alone in the signal, they have none.
  if (begin == 0) gate[0] = x[0] >= threshold && (x.size == 1 || !(x[1] > x[0])) ? 1 : 0;
  if (end == x.size && x.size > 1)
    gate[end - 1] = x[end - 1] >= threshold && !(x[end - 2] >= x[end - 1]) ? 1 : 0;
}

/// Beside so many elements on each side a block with many local peaks is looked at as a whole.
constexpr int64_t kReach = 64;

/// Elements [begin, end) where they lie, or with the least value beyond the signal's ends.
template <class T>
const T* load_padded(const StridedView<T>& x, int64_t begin, int64_t end, T* block) {
  if (x.stride == 1 && begin >= 0 && end <= x.size) return x.data + begin;
  for (int64_t i = begin; i < end; ++i) block[i - begin] = i >= 0 && i < x.size ? x[i] : kLeast<T>;
  return block;
}

/// Removes most local peaks of a block that has many, without branches; true when the ones that
/// stay are peaks of the window. A least value among them (-inf) would not differ from what stands
/// for NaN and for nothing: such a block is left alone.
template <class T>
bool thin_out(const StridedView<T>& x, int64_t begin, int64_t end, int64_t half, T* block,
              uint8_t* gate) {
  constexpr int64_t many = 32;
  const int64_t reach = std::min(half, kReach);
  bool has_least;
  const T* values = load_padded(x, begin - reach, end + reach, block);
  const int64_t marked =
      HR_SIMD(count_marked<T>)(values + reach, end - begin, gate + begin, has_least);
  if (marked == 0) return true;
  if (has_least || marked * many < end - begin) return false;
  T run[kBlockRows + 2 * kReach];
  HR_SIMD(keep_peaks_of<T>)(values, end - begin, reach, run, gate + begin);
  return reach == half;
}

template <class T>
void verify(const StridedView<T>& x, int64_t begin, int64_t end, int64_t half, const T* cells,
            uint8_t* gate) {
  for (int64_t i = begin; i < end; i += 8) {
    if (end - i >= 8) {
      uint64_t eight;
      std::memcpy(&eight, gate + i, 8);
      if (eight == 0) continue;
    }
    for (int64_t j = i; j < std::min(i + 8, end); ++j)
      if (gate[j]) gate[j] = is_window_peak(x, j, half, cells) ? 1 : 0;
  }
}

template <class T>
void find_peaks(const StridedView<T>& x, int64_t half, T threshold, uint8_t* gate) {
  // Cells pay off once several fit beside a peak.
  Buffer cell_buffer;
  T* cells = nullptr;
  if (half > kReach) {
    cell_buffer = Buffer::allocate(divide_up(x.size, kCell) * static_cast<int64_t>(sizeof(T)));
    cells = cell_buffer.mutable_as<T>();
  }
  const auto each_block = [](Morsel morsel, const auto& body) {
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows)
      body(begin, std::min(begin + kBlockRows, morsel.end));
  };
  // Cells must be ready before the first look across a morsel's border.
  parallel_morsels(x.size, [&](Morsel morsel) {
    T block[kBlockRows + 2 * kReach];
    each_block(morsel, [&](int64_t begin, int64_t end) {
      mark_block(x, begin, end, half, threshold, block, gate, cells);
      if (half <= 1 || thin_out(x, begin, end, half, block, gate) || cells) return;
      verify(x, begin, end, half, cells, gate);
    });
  });
  if (!cells) return;
  parallel_morsels(x.size,
                   [&](Morsel morsel) { verify(x, morsel.begin, morsel.end, half, cells, gate); });
}

}  // namespace

void non_max_suppression(const Tensor& x, int64_t half, double threshold, Buffer& gate) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    uint8_t* out = gate.mutable_as<uint8_t>();
    T rounded;
    if (!round_threshold(threshold, rounded)) {
      std::memset(out, 0, static_cast<size_t>(gate.size_bytes()));
      return;
    }
    find_peaks(StridedView<T>(x), half, rounded, out);
  });
}

}  // namespace hr::cpu
#endif
