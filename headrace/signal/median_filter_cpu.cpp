// SPDX-License-Identifier: Apache-2.0
// Moving medians. Short windows: many at a time, by exchanges that leave out the least and the
// greatest of half of the window and two more, then take the next sample, until one is left. Each
// is a permutation, so every SIMD level leaves the same number.
#define HWY_TARGET_INCLUDE "headrace/signal/median_filter_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_vectors.h"
//
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/line_offsets.h"
#include "headrace/signal/median_filter_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

template <class Vec>
__attribute__((always_inline)) inline void exchange_if_greater(Vec& a, Vec& b) {
  const Vec low = b < a ? b : a;
  b = b < a ? a : b;
  a = low;
}

/// The least of `count` vectors to the first, the greatest to the last.
template <class Vec>
void ends_apart(Vec* v, int64_t count) {
  for (int64_t i = 0; i < count / 2; ++i) exchange_if_greater(v[i], v[count - 1 - i]);
  for (int64_t i = 1; i < (count + 1) / 2; ++i) exchange_if_greater(v[0], v[i]);
  for (int64_t i = count / 2; i < count - 1; ++i) exchange_if_greater(v[i], v[count - 1]);
}

/// The same without loops, so that the vectors stay in registers.
template <int64_t count, class Vec, size_t... pair, size_t... other>
__attribute__((always_inline)) inline void ends_apart(Vec* v, std::index_sequence<pair...>,
                                                      std::index_sequence<other...>) {
  (exchange_if_greater(v[pair], v[count - 1 - pair]), ...);
  (exchange_if_greater(v[0], v[1 + other]), ...);
  (exchange_if_greater(v[count / 2 + other], v[count - 1]), ...);
}

/// The median of three vectors becomes the second.
template <class Vec>
__attribute__((always_inline)) inline void middle_of_three(Vec* v) {
  exchange_if_greater(v[0], v[1]);
  exchange_if_greater(v[1], v[2]);
  exchange_if_greater(v[0], v[1]);
}

/// Leaves out the least and the greatest of `held` vectors, takes the next sample, and so on.
template <int64_t held, class T>
__attribute__((always_inline)) inline void leave_out(Vector<T>* v, const T* next) {
  if constexpr (held > 3) {
    ends_apart<held>(v, std::make_index_sequence<held / 2>(),
                     std::make_index_sequence<(held - 1) / 2>());
    v[0] = load(next);
    leave_out<held - 1>(v, next + 1);
  }
}

/// out[i] = median of x[i ... i + size); whole vectors are written.
template <int64_t size, class T>
void medians_of(const T* x, int64_t count, T* out) {
  constexpr int64_t first = size / 2 + 2;
  for (int64_t i = 0; i < count; i += kWidth<T>) {
    Vector<T> v[first];
#pragma GCC unroll 8
    for (int64_t k = 0; k < first; ++k) v[k] = load(x + i + k);
    leave_out<first>(v, x + i + first);
    middle_of_three(v);
    store(v[1], out + i);
  }
}

template <class T>
void medians_of_any(const T* x, int64_t size, int64_t count, T* out) {
  Vector<T> v[kMostSortedMedian / 2 + 2] = {};
  for (int64_t i = 0; i < count; i += kWidth<T>) {
    int64_t next = size / 2 + 2;
    for (int64_t k = 0; k < next; ++k) v[k] = load(x + i + k);
    for (int64_t held = next; held > 3; --held, ++next) {
      ends_apart(v, held);
      v[0] = load(x + i + next);
    }
    middle_of_three(v);
    store(v[1], out + i);
  }
}

template <class T>
void sorted_medians_by_size(const T* x, int64_t size, int64_t count, T* out) {
  switch (size) {
    case 3:
      return medians_of<3>(x, count, out);
    case 5:
      return medians_of<5>(x, count, out);
    case 7:
      return medians_of<7>(x, count, out);
    case 9:
      return medians_of<9>(x, count, out);
    default:
      return medians_of_any(x, size, count, out);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// Numbers behind a block that whole vectors read or write.
constexpr int64_t kSpare = 16;

/// out[i] = median of x[i ... i + size); `window` has room for `size`.
template <class T>
void kept_medians(const T* x, int64_t size, int64_t count, T* window, T* out) {
  T* const end = std::copy(x, x + size, window);
  std::sort(window, end);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = window[size / 2];
    if (i + 1 == count) break;
    // The place of the old sample moves to that of the new one.
    T* const gone = std::lower_bound(window, end, x[i]);
    const T fresh = x[i + size];
    T* const at = std::lower_bound(window, end, fresh);
    if (at > gone) {
      std::move(gone + 1, at, gone);
      *(at - 1) = fresh;
    } else {
      std::move_backward(at, gone, gone + 1);
      *at = fresh;
    }
  }
}

/// Outputs [begin, begin + count) of a row.
template <class T>
void median_block(const T* x, int64_t stride, int64_t samples, int64_t size, int64_t begin,
                  int64_t count, T* out) {
  const int64_t half = size / 2;
  const int64_t length = count + size - 1;
  const bool is_kept = size > kMostSortedMedian;
  const int64_t scratch = length + count + 2 * kSpare + (is_kept ? size : 0);
  Buffer buffer = Buffer::allocate_zeroed(
      checked_multiply("median_filter", scratch, static_cast<int64_t>(sizeof(T))));
  T* const block = buffer.mutable_as<T>();
  T* const medians = block + length + kSpare;
  const int64_t first = std::max<int64_t>(0, half - begin);
  const int64_t last = std::min(length, samples - begin + half);
  bool has_nan = false;
  for (int64_t i = first; i < last; ++i) {
    T value = x[(begin - half + i) * stride];
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value)) {
        has_nan = true;
        value = std::numeric_limits<T>::infinity();
      }
    block[i] = value;
  }
  if (size == 1)
    std::copy(block, block + count, medians);
  else if (is_kept)
    kept_medians(block, size, count, medians + count + kSpare, medians);
  else
    HR_SIMD(sorted_medians_by_size<T>)(block, size, count, medians);
  std::copy(medians, medians + count, out + begin);
  if constexpr (std::is_floating_point_v<T>) {
    if (!has_nan) return;
    for (int64_t i = first; i < last; ++i)
      if (std::isnan(x[(begin - half + i) * stride]))
        for (int64_t j = std::max<int64_t>(0, i - size + 1); j <= std::min(i, count - 1); ++j)
          out[begin + j] = std::numeric_limits<T>::quiet_NaN();
  }
}

template <class T>
void filter_rows(const Tensor& x, int64_t size, T* out) {
  const int64_t samples = x.shape().back();
  const int64_t rows = x.num_elements() / samples;
  const LineOffsets rows_at{x.shape(), x.strides(), x.num_dimensions() - 1};
  // A few windows a block, so that their first sort does not count.
  const int64_t step = size <= kMostSortedMedian ? 8192 : std::max<int64_t>(8192, 8 * size);
  const int64_t blocks = divide_up(samples, step);
  parallel_for(rows * blocks, [&](int64_t task) {
    const int64_t row = task / blocks, begin = task % blocks * step;
    median_block(x.as<T>() + rows_at[row], x.strides().back(), samples, size, begin,
                 std::min(step, samples - begin), out + row * samples);
  });
}

}  // namespace

void median_filter(const Tensor& x, int64_t size, Buffer& out) {
  if (x.dtype() == Dtype(TypeId::kInt64)) return filter_rows(x, size, out.mutable_as<int64_t>());
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    filter_rows(x, size, out.mutable_as<T>());
  });
}

}  // namespace hr::cpu
#endif
