// SPDX-License-Identifier: Apache-2.0
// Segments cut from a signal on the CPU: a row is copied and scaled while it is in the cache.
#include "headrace/algo/strided_view.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/windows_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace hr::cpu {

namespace {

/// Sum of f(value) in float64 in 32 lanes, combined by a binary tree: the order does not depend on
/// the instruction set.
template <class T, class F>
double lane_sum(const T* values, int64_t count, F f) {
  constexpr int64_t lanes = 32;
  double sum[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t j = 0; j < lanes; ++j) sum[j] += f(static_cast<double>(values[i + j]));
  for (int64_t j = 0; i + j < count; ++j) sum[j] += f(static_cast<double>(values[i + j]));
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) sum[j] += sum[j + half];
  return sum[0];
}

template <class T>
struct Extremes {
  T low;
  T high;
};

/// Least and greatest value, NaN passed over; in lanes, which a compiler may put in vectors.
template <class T>
Extremes<T> extremes(const T* values, int64_t count) {
  constexpr int64_t lanes = 32;
  T low[lanes];
  T high[lanes];
  std::fill(low, low + lanes, std::numeric_limits<T>::infinity());
  std::fill(high, high + lanes, -std::numeric_limits<T>::infinity());
  const auto take = [&](int64_t j, T value) {
    low[j] = value < low[j] ? value : low[j];
    high[j] = value > high[j] ? value : high[j];
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t j = 0; j < lanes; ++j) take(j, values[i + j]);
  for (int64_t j = 0; i + j < count; ++j) take(j, values[i + j]);
  return {*std::min_element(low, low + lanes), *std::max_element(high, high + lanes)};
}

/// values = (values - center) / divisor, zeros where the divisor is 0.
template <class T>
void scale(T* values, int64_t count, double center, double divisor) {
  if (divisor == 0) {
    std::fill(values, values + count, T{0});
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<T>((static_cast<double>(values[i]) - center) / divisor);
}

template <class T>
void normalize_row(T* values, int64_t count, Normalize normalize) {
  if (normalize == Normalize::kNone || count == 0) return;
  const auto [low, high] = extremes(values, count);
  // 0, or NaN when a value is NaN or inf.
  const double spread = lane_sum(values, count, [](double v) { return v * 0.0; });
  const double least = static_cast<double>(low);
  const double most = static_cast<double>(high);
  if (spread != 0) {
    std::fill(values, values + count, static_cast<T>(NAN));
  } else if (normalize == Normalize::kMinMax) {
    scale(values, count, least, most - least);
  } else if (normalize == Normalize::kMax) {
    scale(values, count, 0.0, std::max(std::fabs(least), std::fabs(most)));
  } else if (low == high) {  // the rounded mean of equal values may differ from them
    scale(values, count, least, 0.0);
  } else {
    const auto samples = static_cast<double>(count);
    const double mean = lane_sum(values, count, [](double v) { return v; }) / samples;
    const double squares =
        lane_sum(values, count, [mean](double v) { return (v - mean) * (v - mean); });
    scale(values, count, mean, std::sqrt(squares / samples));
  }
}

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

template <class T>
void fill_row(const StridedView<T>& x, int64_t begin, int64_t length, int64_t width,
              Normalize normalize, T* row) {
  const Cut part = cut(begin, std::min(length, width), x.size);
  std::fill(row, row + part.before, T{0});
  T* samples = row + part.before;
  if (part.inside > 0) {
    const int64_t first = std::max<int64_t>(begin, 0);
    if (x.stride == 1)
      std::memcpy(samples, x.data + first, static_cast<size_t>(part.inside) * sizeof(T));
    else
      x.load(first, part.inside, samples);
  }
  normalize_row(samples, part.inside, normalize);
  std::fill(samples + part.inside, row + width, T{0});
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
    parallel_for((begin.size + rows_of_task - 1) / rows_of_task, [&](int64_t task) {
      const int64_t end = std::min(begin.size, (task + 1) * rows_of_task);
      for (int64_t k = task * rows_of_task; k < end; ++k)
        fill_row(signal, begin[k], length[length.size == 1 ? 0 : k], width, normalize,
                 result + k * width);
    });
  });
}

}  // namespace hr::cpu
