// SPDX-License-Identifier: Apache-2.0
// Block lengths and tables of convolutions.
#include "headrace/signal/fft_convolve_plan.h"

#include "headrace/exec/workers.h"
#include "headrace/signal/roots_of_unity.h"

#include <algorithm>

namespace hr {

template <class T>
int64_t convolve_block(int64_t num_taps, int64_t num_outputs) {
  // The fastest of 2^10 ... 2^15 for each number of taps, as measured (docs/design/signal.md).
  const int64_t few = sizeof(T) == 4 ? 500 : 1400;
  int64_t block = num_taps <= few ? 8192 : num_taps <= 5500 ? 16'384 : 32'768;
  while (block < 2 * num_taps + num_taps / 2) block *= 2;
  // A short signal is one pair of blocks.
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

template int64_t convolve_block<float>(int64_t num_taps, int64_t num_outputs);
template int64_t convolve_block<double>(int64_t num_taps, int64_t num_outputs);
template struct ConvolvePlan<float>;
template struct ConvolvePlan<double>;

}  // namespace hr
