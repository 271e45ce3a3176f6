// SPDX-License-Identifier: Apache-2.0
// Segments cut from a signal on the CPU: a row is copied and scaled while it is in the cache.
#define HWY_TARGET_INCLUDE "headrace/signal/windows_cpu.cpp"
#include "headrace/algo/strided_view.h"
#include "headrace/base/checked.h"
#include "headrace/base/simd_targets.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/windows_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Sums run in float64 in so many lanes and are combined by a binary tree: the order does not
/// depend on the instruction set.
constexpr int64_t kSumLanes = 32;

/// Combines lanes [0, n) into lane 0.
template <int64_t n, class T, class F>
__attribute__((always_inline)) inline T fold(T* lanes, const F& combine) {
  if constexpr (n > 1) {
    for (int64_t j = 0; j < n / 2; ++j) lanes[j] = combine(lanes[j], lanes[j + n / 2]);
    return fold<n / 2>(lanes, combine);
  } else {
    return lanes[0];
  }
}

/// Nothing, then one, for kSumLanes each: from element n on, the last n of kSumLanes lanes count.
constexpr std::array<double, 2 * kSumLanes> kWeights = [] {
  std::array<double, 2 * kSumLanes> weights{};
  std::fill(weights.begin() + kSumLanes, weights.end(), 1.0);
  return weights;
}();

/// Calls take(j, value, 1.0) for the value of each lane j, kSumLanes at a time. Those that are left
/// go to the last lanes; the others get a value of the row again, with weight 0.0.
template <class T, class Take>
__attribute__((always_inline)) inline void each_lane(const T* values, int64_t count,
                                                     const Take& take) {
  const int64_t rest = count % kSumLanes;
  for (int64_t i = 0; i < count - rest; i += kSumLanes)
    for (int64_t j = 0; j < kSumLanes; ++j) take(j, values[i + j], 1.0);
  if (rest == 0) return;
  T short_row[kSumLanes];
  const T* last = values + count - kSumLanes;
  if (count < kSumLanes) {
    std::fill_n(short_row, kSumLanes, values[0]);
    std::copy_n(values, rest, short_row + kSumLanes - rest);
    last = short_row;
  }
  const double* weights = kWeights.data() + rest;
  for (int64_t j = 0; j < kSumLanes; ++j) take(j, last[j], weights[j]);
}

template <class T>
struct Summary {
  T low;
  T high;
  double sum;  ///< not finite when a value is NaN or inf
};

/// Least and greatest value and the sum; low and high count only when the sum is finite.
template <class T>
Summary<T> summarize(const T* values, int64_t count) {
  T low[kSumLanes];
  T high[kSumLanes];
  double sum[kSumLanes] = {};
  std::fill_n(low, kSumLanes, values[0]);
  std::fill_n(high, kSumLanes, values[0]);
  each_lane(values, count, [&](int64_t j, T value, double weight) {
    low[j] = value < low[j] ? value : low[j];
    high[j] = value > high[j] ? value : high[j];
    sum[j] += static_cast<double>(value) * weight;
  });
  return {fold<kSumLanes>(low, [](T a, T b) { return b < a ? b : a; }),
          fold<kSumLanes>(high, [](T a, T b) { return b > a ? b : a; }),
          fold<kSumLanes>(sum, [](double a, double b) { return a + b; })};
}

/// The sum of `summarize` alone, bit for bit.
template <class T>
double sum_of(const T* values, int64_t count) {
  double sum[kSumLanes] = {};
  each_lane(values, count, [&](int64_t j, T value, double weight) {
    sum[j] += static_cast<double>(value) * weight;
  });
  return fold<kSumLanes>(sum, [](double a, double b) { return a + b; });
}

template <class T>
double sum_of_squares(const T* values, int64_t count, double mean) {
  double sum[kSumLanes] = {};
  each_lane(values, count, [&](int64_t j, T value, double weight) {
    const double distance = (static_cast<double>(value) - mean) * weight;
    sum[j] += distance * distance;
  });
  return fold<kSumLanes>(sum, [](double a, double b) { return a + b; });
}

/// values = (values - center) / divisor, zeros where the divisor is 0.
template <class T>
void scale(T* values, int64_t count, double center, double divisor) {
  if (divisor == 0) {
    std::fill(values, values + count, T{0});
  } else if (sizeof(T) == 4) {
    // The product's last place is 29 binary places below float32's.
    const double factor = 1.0 / divisor;
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<T>((static_cast<double>(values[i]) - center) * factor);
  } else {
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<T>((static_cast<double>(values[i]) - center) / divisor);
  }
}

template <class T>
bool has_nan_or_inf(const T* values, int64_t count) {
  return std::any_of(values, values + count, [](T value) { return !std::isfinite(value); });
}

template <class T>
void normalize_row(T* values, int64_t count, Normalize normalize) {
  const Summary<T> found = summarize(values, count);
  const double least = static_cast<double>(found.low);
  const double most = static_cast<double>(found.high);
  // A sum of finite values may be infinite too.
  if (!std::isfinite(found.sum) && has_nan_or_inf(values, count)) {
    std::fill(values, values + count, std::numeric_limits<T>::quiet_NaN());
  } else if (normalize == Normalize::kMinMax) {
    scale(values, count, least, most - least);
  } else if (normalize == Normalize::kMax) {
    scale(values, count, 0.0, std::max(std::fabs(least), std::fabs(most)));
  } else if (least == most) {  // the rounded mean of equal values may differ from them
    scale(values, count, least, 0.0);
  } else {
    const auto samples = static_cast<double>(count);
    const double mean = found.sum / samples;
    scale(values, count, mean, std::sqrt(sum_of_squares(values, count, mean) / samples));
  }
}

/// Rows that are worked on together: the chains of sums, divisions and roots of one would keep the
/// processor waiting.
constexpr int64_t kRows = 16;

/// A row that deviates by less of its mean is looked at for equal values.
constexpr double kNearlyEqual = 1e-6;

/// Normalises up to kRows rows, none of them empty.
template <class T>
void normalize_rows(T* const* values, const int64_t* counts, int64_t rows, Normalize normalize) {
  if (normalize != Normalize::kZscore) {
    for (int64_t k = 0; k < rows; ++k) normalize_row(values[k], counts[k], normalize);
    return;
  }
  double means[kRows];
  double deviations[kRows];
  for (int64_t k = 0; k < rows; ++k) means[k] = sum_of(values[k], counts[k]);
  for (int64_t k = 0; k < rows; ++k) means[k] /= static_cast<double>(counts[k]);
  for (int64_t k = 0; k < rows; ++k) deviations[k] = sum_of_squares(values[k], counts[k], means[k]);
  for (int64_t k = 0; k < rows; ++k)
    deviations[k] = std::sqrt(deviations[k] / static_cast<double>(counts[k]));
  for (int64_t k = 0; k < rows; ++k)
    if (std::isfinite(means[k]) && deviations[k] > kNearlyEqual * std::fabs(means[k]))
      scale(values[k], counts[k], means[k], deviations[k]);
    else
      normalize_row(values[k], counts[k], normalize);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// How many of `begin`, `begin` + 1, ... lie before row 0 or behind the end, and how many inside.
struct Cut {
  int64_t before;
  int64_t inside;
};

Cut cut(int64_t begin, int64_t length, int64_t rows) {
  if (begin >= rows) return {0, 0};
  if (begin >= 0) return {0, std::min(length, rows - begin)};
  const int64_t before = begin <= -length ? length : -begin;
  return {before, std::min(length - before, rows)};
}

/// Copies the samples of a segment into its row, zeros around them; which part of it they are.
template <class T>
Cut fill_row(const StridedView<T>& x, int64_t begin, int64_t length, int64_t width, T* row) {
  const Cut part = cut(begin, std::min(length, width), x.size);
  T* samples = row + part.before;
  std::fill(row, samples, T{0});
  if (part.inside > 0) {
    const int64_t first = std::max<int64_t>(begin, 0);
    if (x.stride == 1)
      std::memcpy(samples, x.data + first, static_cast<size_t>(part.inside) * sizeof(T));
    else
      x.load(first, part.inside, samples);
  }
  std::fill(samples + part.inside, row + width, T{0});
  return part;
}

}  // namespace

void windows(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
             Normalize normalize, Buffer& out) {
  const StridedView<int64_t> begin(begins);
  const StridedView<int64_t> length(lengths);
  const int64_t rows_of_task = std::max<int64_t>(1, kMorselRows / 4 / width);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const StridedView<T> signal(x);
    T* result = out.mutable_as<T>();
    // So many rows are copied before they are scaled: segments may lie anywhere in memory, and the
    // processor looks for several at once if no sums stand between.
    constexpr int64_t most = HWY_NAMESPACE::kRows;
    constexpr int64_t cached = 16'384 / static_cast<int64_t>(sizeof(T));
    const int64_t group = std::clamp<int64_t>(cached / width, 1, most);
    parallel_for(divide_up(begin.size, rows_of_task), [&](int64_t task) {
      const int64_t end = std::min(begin.size, (task + 1) * rows_of_task);
      for (int64_t first = task * rows_of_task; first < end; first += group) {
        const int64_t last = std::min(first + group, end);
        T* values[most];
        int64_t counts[most];
        int64_t rows = 0;
        for (int64_t k = first; k < last; ++k) {
          T* const row = result + k * width;
          const Cut part = fill_row(signal, begin[k], length[length.size == 1 ? 0 : k], width, row);
          values[rows] = row + part.before;
          counts[rows] = part.inside;
          rows += part.inside > 0;
        }
        if (normalize != Normalize::kNone)
          HR_SIMD(normalize_rows<T>)(values, counts, rows, normalize);
      }
    });
  });
}

}  // namespace hr::cpu
#endif
