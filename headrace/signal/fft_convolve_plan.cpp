// SPDX-License-Identifier: Apache-2.0
// Block lengths and tables of convolutions.
#include "headrace/signal/fft_convolve_plan.h"

#include "headrace/exec/workers.h"
#include "headrace/signal/roots_of_unity.h"

#include <algorithm>

namespace hr {

template <class T>
int64_t convolve_block(int64_t num_taps) {
  // Data, spectrum and twiddles of the largest cached block take 24 bytes x sizeof(T) / 8 x 2 an
  // element and should fit 1 MiB of second-level cache; longer taps need longer blocks.
  constexpr int64_t cached = 131'072 / static_cast<int64_t>(sizeof(T));
  if (num_taps <= 256) return 2048;
  if (num_taps <= 700) return 4096;
  if (num_taps <= 1400) return 8192;
  if (num_taps <= 3 * cached / 8) return cached;
  int64_t block = 2 * cached;
  while (block < 4 * num_taps) block *= 2;
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

template int64_t convolve_block<float>(int64_t num_taps);
template int64_t convolve_block<double>(int64_t num_taps);
template struct ConvolvePlan<float>;
template struct ConvolvePlan<double>;

}  // namespace hr
