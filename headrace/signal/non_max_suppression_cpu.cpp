// SPDX-License-Identifier: Apache-2.0
// Peaks on the CPU: one pass marks local peaks and takes the maxima of cells, a second one looks at
// the surroundings of the marked elements only.
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

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

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

/// Marks rows [begin, end) and fills their cells; `block` holds kBlockRows + 2 elements.
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
  if (half >= 2 * kCell) {
    cell_buffer = Buffer::allocate(divide_up(x.size, kCell) * static_cast<int64_t>(sizeof(T)));
    cells = cell_buffer.mutable_as<T>();
  }
  parallel_morsels(x.size, [&](Morsel morsel) {
    T block[kBlockRows + 2];
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows)
      mark_block(x, begin, std::min(begin + kBlockRows, morsel.end), half, threshold, block, gate,
                 cells);
  });
  if (half <= 1) return;
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
