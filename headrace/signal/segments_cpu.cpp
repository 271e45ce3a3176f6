// SPDX-License-Identifier: Apache-2.0
// Segments cut from a signal on the CPU: sums are taken where they lie, then rows are written.
#define HWY_TARGET_INCLUDE "headrace/signal/segments_cpu.cpp"
#include "headrace/algo/bits/strided_view.h"
#include "headrace/base/checked.h"
#include "headrace/base/simd_targets.h"
#include "headrace/base/simd_vectors.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/segments_kernels.h"
#include "headrace/signal/segments_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

// Sums run in float64 in this number of lanes and are combined by a binary tree: the order does not
// depend on the instruction set.
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

/// The lanes are kVectors of kStep.
using Doubles = Vector<double>;
constexpr int64_t kStep = kWidth<double>;
constexpr int64_t kVectors = kSumLanes / kStep;

template <class T>
__attribute__((always_inline)) inline Doubles load_doubles(const T* from) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) == 4) {  // g++ 12 converts halves and puts them together
    namespace simd = hwy::HWY_NAMESPACE;
    const simd::FixedTag<double, kStep> wide;
    return simd::PromoteTo(wide, simd::LoadU(simd::Rebind<T, decltype(wide)>(), from)).raw;
  }
#endif
  typedef T Part __attribute__((vector_size(kStep * sizeof(T))));
  Part part;
  __builtin_memcpy(&part, from, sizeof part);
  return __builtin_convertvector(part, Doubles);
}

/// Calls take(j, values, ones) for each vector j of lanes, kSumLanes values at a time. Those that
/// are left go to the last lanes; the others get a value of the row again, with weight 0.
template <class T, class Take>
__attribute__((always_inline)) inline void each_lane(const T* values, int64_t count,
                                                     const Take& take) {
  const int64_t rest = count % kSumLanes;
  for (int64_t i = 0; i < count - rest; i += kSumLanes)
#pragma GCC unroll 16
    for (int64_t j = 0; j < kVectors; ++j)
      take(j, load_doubles(values + i + j * kStep), broadcast(1.0));
  if (rest == 0) return;
  T short_row[kSumLanes];
  const T* last = values + count - kSumLanes;
  if (count < kSumLanes) {
    std::fill_n(short_row, kSumLanes, values[0]);
    std::copy_n(values, rest, short_row + kSumLanes - rest);
    last = short_row;
  }
  const double* weights = kWeights.data() + rest;
#pragma GCC unroll 16
  for (int64_t j = 0; j < kVectors; ++j)
    take(j, load_doubles(last + j * kStep), load(weights + j * kStep));
}

/// Combines all lanes.
template <class F>
__attribute__((always_inline)) inline double fold_lanes(Doubles* lanes, const F& combine) {
  double left[kStep];
  store<double>(fold<kVectors>(lanes, combine), left);
  return fold<kStep>(left, combine);
}

constexpr auto kAdd = [](const auto& a, const auto& b) { return a + b; };
constexpr auto kLeast = [](const auto& a, const auto& b) { return b < a ? b : a; };
constexpr auto kMost = [](const auto& a, const auto& b) { return b > a ? b : a; };

struct Summary {
  double low;
  double high;
  double sum;  ///< not finite when a value is NaN or inf
};

// Minimum, maximum and sum; low and high count only when the sum is finite.
template <class T>
Summary summarize(const T* values, int64_t count) {
  Doubles low[kVectors];
  Doubles high[kVectors];
  Doubles sum[kVectors] = {};
  std::fill_n(low, kVectors, broadcast(static_cast<double>(values[0])));
  std::fill_n(high, kVectors, broadcast(static_cast<double>(values[0])));
  each_lane(values, count, [&](int64_t j, const Doubles& found, const Doubles& weights) {
    low[j] = kLeast(low[j], found);
    high[j] = kMost(high[j], found);
    sum[j] += found * weights;
  });
  return {fold_lanes(low, kLeast), fold_lanes(high, kMost), fold_lanes(sum, kAdd)};
}

struct Sums {
  double sum;      ///< that of `summarize`, bit for bit
  double squares;  ///< of float32, which are exact; not centred
};

template <class T>
Sums sums_of(const T* values, int64_t count) {
  Doubles sum[kVectors] = {};
  Doubles squares[kVectors] = {};
  each_lane(values, count, [&](int64_t j, const Doubles& found, const Doubles& weights) {
    const Doubles counted = found * weights;
    sum[j] += counted;
    if constexpr (sizeof(T) == 4) squares[j] += counted * counted;
  });
  return {fold_lanes(sum, kAdd), fold_lanes(squares, kAdd)};
}

template <class T>
double sum_of_squares(const T* values, int64_t count, double mean) {
  Doubles sum[kVectors] = {};
  const Doubles means = broadcast(mean);
  each_lane(values, count, [&](int64_t j, const Doubles& found, const Doubles& weights) {
    const Doubles distance = (found - means) * weights;
    sum[j] += distance * distance;
  });
  return fold_lanes(sum, kAdd);
}

template <class T>
void copy(const T* values, int64_t count, T* row) {
  for (int64_t i = 0; i < count; ++i) row[i] = values[i];
}

/// row = (values - center) / divisor, zeros where the divisor is 0. Both may be the same memory.
template <class T>
void scale(const T* values, int64_t count, double center, double divisor, T* row) {
  if (divisor == 0) {
    std::fill(row, row + count, T{0});
  } else if (sizeof(T) == 4) {
    // The product's last place is 29 binary places below float32's.
    const double factor = 1.0 / divisor;
    for (int64_t i = 0; i < count; ++i)
      row[i] = static_cast<T>((static_cast<double>(values[i]) - center) * factor);
  } else {
    for (int64_t i = 0; i < count; ++i)
      row[i] = static_cast<T>((static_cast<double>(values[i]) - center) / divisor);
  }
}

template <class T>
bool has_nan_or_inf(const T* values, int64_t count) {
  return std::any_of(values, values + count, [](T value) { return !std::isfinite(value); });
}

template <class T>
void normalize_row(const T* values, int64_t count, Normalize normalize, T* row) {
  const auto [least, most, sum] = summarize(values, count);
  // A sum of finite values may be infinite too.
  if (!std::isfinite(sum) && has_nan_or_inf(values, count)) {
    std::fill(row, row + count, std::numeric_limits<T>::quiet_NaN());
  } else if (normalize == Normalize::kMinMax) {
    scale(values, count, least, most - least, row);
  } else if (normalize == Normalize::kMax) {
    scale(values, count, 0.0, std::max(std::fabs(least), std::fabs(most)), row);
  } else if (least == most) {  // the rounded mean of equal values may differ from them
    scale(values, count, least, 0.0, row);
  } else {
    const auto samples = static_cast<double>(count);
    const double mean = sum / samples;
    scale(values, count, mean, std::sqrt(sum_of_squares(values, count, mean) / samples), row);
  }
}

/// Rows that are worked on together: the chains of sums, divisions and roots of one would keep the
/// processor waiting.
constexpr int64_t kRows = 16;

/// Writes the rows of up to kRows segments.
template <class T>
void write_rows(const cpu::Segment<T>* segments, int64_t rows, int64_t width, Normalize normalize) {
  double means[kRows];
  double deviations[kRows];
  if (normalize == Normalize::kZscore) {
    double variances[kRows];
    for (int64_t k = 0; k < rows; ++k) {
      const Sums sums = sums_of(segments[k].samples, segments[k].count);
      means[k] = sums.sum;
      variances[k] = sums.squares;
    }
    for (int64_t k = 0; k < rows; ++k) {
      const auto count = static_cast<double>(segments[k].count);
      means[k] /= count;
      variances[k] = variances[k] / count - means[k] * means[k];
    }
    for (int64_t k = 0; k < rows; ++k) {
      constexpr double far = kFarFromMean * kFarFromMean;
      if (sizeof(T) > 4 || !(variances[k] * far > means[k] * means[k]))
        variances[k] = sum_of_squares(segments[k].samples, segments[k].count, means[k]) /
                       static_cast<double>(segments[k].count);
    }
    for (int64_t k = 0; k < rows; ++k) deviations[k] = std::sqrt(variances[k]);
  }
  for (int64_t k = 0; k < rows; ++k) {
    const auto [samples, count, row, before] = segments[k];
    T* const place = row + before;
    std::fill(row, place, T{0});
    if (normalize == Normalize::kNone)
      copy(samples, count, place);
    else if (normalize == Normalize::kZscore && std::isfinite(means[k]) &&
             deviations[k] > kNearlyEqual * std::fabs(means[k]))
      scale(samples, count, means[k], deviations[k], place);
    else if (count > 0)
      normalize_row(samples, count, normalize, place);
    std::fill(place + count, row + width, T{0});
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// Finds the samples of a segment.
template <class T>
Segment<T> find_segment(const StridedView<T>& x, int64_t begin, int64_t length, int64_t width,
                        T* row) {
  const WindowCut part = cut_window(begin, std::min(length, width), x.size);
  if (part.inside == 0) return {row, 0, row, part.before};
  const T* const samples = x.load(std::max<int64_t>(begin, 0), part.inside, row + part.before);
  return {samples, part.inside, row, part.before};
}

/// Rows [first, last) of the result, and of the signal what they span if they lie together.
template <class T>
std::vector<PinnedRange> ranges_of_task(const StridedView<T>& signal,
                                        const StridedView<int64_t>& begin,
                                        const StridedView<int64_t>& length, int64_t first,
                                        int64_t last, int64_t width, const Buffer& out) {
  constexpr int64_t most = 16 * kMorselRows;
  const BufferAccess accesses[] = {signal.source,
                                   writes(out, width * static_cast<int64_t>(sizeof(T)))};
  if (!out.residency() && !signal.source.buffer->residency()) return {};
  std::vector<PinnedRange> ranges = ranges_of({accesses + 1, 1}, first, last);
  int64_t low = signal.size;
  int64_t high = 0;
  for (int64_t k = first; k < last; ++k) {
    if (begin[k] >= signal.size) continue;
    const int64_t end = begin[k] + std::min(length[length.size == 1 ? 0 : k], width);
    low = std::min(low, std::max<int64_t>(begin[k], 0));
    high = std::max(high, std::min(end, signal.size));
  }
  if (low >= high || high - low > most) return ranges;
  for (const PinnedRange& range : ranges_of({accesses, 1}, low, high)) ranges.push_back(range);
  return ranges;
}

template <class T>
void prefetch(const Segment<T>& segment) {
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < segment.count; i += line) __builtin_prefetch(segment.samples + i);
}

}  // namespace

void segments(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
              Normalize normalize, Buffer& out) {
  const StridedView<int64_t> begin(begins);
  const StridedView<int64_t> length(lengths);
  const int64_t rows_of_task = std::max<int64_t>(1, kMorselRows / 4 / width);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    constexpr uint64_t near = 4096;
    const StridedView<T> signal(x);
    T* result = out.mutable_as<T>();
    // So many segments are asked for, and summed, before a row is written: they may lie anywhere in
    // memory, and the processor waits for several at once.
    constexpr int64_t most = HWY_NAMESPACE::kRows;
    constexpr int64_t cached = 16'384 / static_cast<int64_t>(sizeof(T));
    const int64_t group = std::clamp<int64_t>(cached / width, 1, most);
    parallel_for(divide_up(begin.size, rows_of_task), [&](int64_t task) {
      const int64_t end = std::min(begin.size, (task + 1) * rows_of_task);
      const Pin pin(ranges_of_task(signal, begin, length, task * rows_of_task, end, width, out));
      for (int64_t first = task * rows_of_task; first < end; first += group) {
        const int64_t last = std::min(first + group, end);
        Segment<T> segments[most];
        for (int64_t k = first; k < last; ++k) {
          segments[k - first] = find_segment(signal, begin[k], length[length.size == 1 ? 0 : k],
                                             width, result + k * width);
          // The processor itself fetches ahead for segments that follow each other.
          if (k > 0 && static_cast<uint64_t>(begin[k]) - static_cast<uint64_t>(begin[k - 1]) > near)
            prefetch(segments[k - first]);
        }
        HR_SIMD(write_rows<T>)(segments, last - first, width, normalize);
      }
    });
  });
}

}  // namespace hr::cpu
#endif
