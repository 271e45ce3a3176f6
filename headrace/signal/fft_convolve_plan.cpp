// SPDX-License-Identifier: Apache-2.0
// Block lengths and tables of convolutions.
#include "headrace/signal/fft_convolve_plan.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/roots_of_unity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {

namespace {

template <class T>
ConvolveTaps trim(const StridedView<T>& tap) {
  double total = 0;
  for (int64_t k = 0; k < tap.size; ++k) total += std::fabs(static_cast<double>(tap[k]));
  if (!std::isfinite(total)) return {0, tap.size};
  int64_t first = 0;
  int64_t last = tap.size - 1;
  double left_out = 0;
  while (first < last) {
    const double left = std::fabs(static_cast<double>(tap[first]));
    const double right = std::fabs(static_cast<double>(tap[last]));
    left_out += std::fmin(left, right);
    if (left_out > total * static_cast<double>(std::numeric_limits<T>::epsilon()) / 8) break;
    left < right ? ++first : --last;
  }
  return {first, last - first + 1};
}

/// What a sample costs on one core, in nanoseconds, as measured with AVX-512
/// (docs/design/signal.md). Direct sums are counted a fifth higher: AVX2 doubles them, and blocks
/// less.
struct Costs {
  double direct_tap;
  double direct_least;
  /// Of each sample of a block of 2^13, 2^14, 2^15 or more; the taps' share of a block is lost.
  double blocks[3];
};

template <class T>
constexpr Costs costs() {
  if constexpr (sizeof(T) == 4) return {1 / 100.0, 0.3, {0.90, 0.93, 1.02}};
  return {1 / 50.0, 0.5, {1.50, 1.62, 1.96}};
}

}  // namespace

ConvolveTaps trim_taps(const Tensor& taps) {
  return visit_floating(taps.dtype(),
                        [&]<class T>(std::type_identity<T>) { return trim(StridedView<T>(taps)); });
}

template <class T>
ConvolveMethod choose_method(int64_t num_taps) {
  constexpr Costs cost = costs<T>();
  ConvolveMethod best{0,
                      std::max(cost.direct_least, cost.direct_tap * static_cast<double>(num_taps))};
  if (num_taps > kMostDirectTaps) best.nanoseconds = HUGE_VAL;
  for (int64_t block = 8192, size = 0;; block *= 2, ++size) {
    if (2 * block < 5 * num_taps) continue;
    const double share = 1 - static_cast<double>(num_taps - 1) / static_cast<double>(block);
    const double nanoseconds = cost.blocks[std::min<int64_t>(size, 2)] / share;
    if (nanoseconds < best.nanoseconds) best = {block, nanoseconds};
    if (size >= 2) break;
  }
  return best;
}

template <class T>
int64_t convolve_block(int64_t num_taps, int64_t num_outputs) {
  int64_t block = choose_method<T>(num_taps).block;
  while (block > 1024 && num_outputs <= 2 * (block / 2 - kTwiddleRun<T> - num_taps)) block /= 2;
  return block;
}

template <class T>
ConvolvePlan<T>::ConvolvePlan(int64_t length) : n(length) {
  int64_t size = 0;
  for (int64_t left = n / 8; left > 1;) {
    const int64_t radix = left == 16 || left == 4 ? 4 : 8;  // 8 x ... x 8, then 4 or 4 x 4
    left /= radix;
    passes.push_back({radix, left * 8, size});
    // Rows fewer than a run still take a whole one.
    size += (radix - 1) * 2 * std::max(left * 8, kTwiddleRun<T>);
  }
  twiddles = Buffer::allocate(size * static_cast<int64_t>(sizeof(T)), system_resource());
  T* table = twiddles.template mutable_as<T>();
  const RootsOfUnity roots(n);
  constexpr int64_t run = kTwiddleRun<T>;
  for (const ConvolvePass& pass : passes) {
    const int64_t step = n / (pass.radix * pass.rows);
    parallel_for((pass.rows + run - 1) / run, [&](int64_t group) {
      T* out = table + pass.twiddles + group * (pass.radix - 1) * 2 * run;
      for (int64_t k = 1; k < pass.radix; ++k, out += 2 * run)
        for (int64_t i = 0; i < run; ++i) {
          // A short pass repeats its rows in the run.
          const int64_t row = (group * run + i) % pass.rows;
          const RootsOfUnity::Root root = roots[step * row * k];
          out[i] = static_cast<T>(root.cos);
          out[run + i] = static_cast<T>(-root.sin);
        }
    });
  }
}

template ConvolveMethod choose_method<float>(int64_t num_taps);
template ConvolveMethod choose_method<double>(int64_t num_taps);
template int64_t convolve_block<float>(int64_t num_taps, int64_t num_outputs);
template int64_t convolve_block<double>(int64_t num_taps, int64_t num_outputs);
template struct ConvolvePlan<float>;
template struct ConvolvePlan<double>;

}  // namespace hr
