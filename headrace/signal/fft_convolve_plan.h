// SPDX-License-Identifier: Apache-2.0
// How a convolution is done: which taps count, directly or by blocks, and the tables of a block.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/signal/fft_convolve.h"

#include <cstdint>
#include <vector>

namespace hr {

/// output[i] = sum over k < num_taps of taps[first_tap + k] signal[first_position + i - k], where
/// the signal is zero beyond its ends.
struct ConvolveJob {
  int64_t num_outputs;
  int64_t first_position;
  int64_t first_tap;
  int64_t num_taps;
  int64_t first_output = 0;  ///< where they begin in the buffer for them
};

/// Taps [first, first + count), all that count.
struct ConvolveTaps {
  int64_t first;
  int64_t count;
};

/// Leaves out, from the ends, the smaller first, taps whose magnitudes sum to at most eps/8 of all.
/// At least one stays; all do when one is not finite.
ConvolveTaps trim_taps(const Tensor& taps);

/// How a number of taps is summed: chosen by their number and the dtype alone, so that the bits are
/// the same on every machine.
struct ConvolveMethod {
  int64_t block;       ///< length of the FFT; 0: directly
  double nanoseconds;  ///< predicted time of a sample on one core, as measured on one machine
};

template <class T>
ConvolveMethod choose_method(int64_t num_taps);

/// More taps are never summed directly.
inline constexpr int64_t kMostDirectTaps = 128;

/// Length of the FFT for a number of taps and outputs, or 0: that of the method, less for a signal
/// that fits a shorter pair of blocks.
template <class T>
int64_t convolve_block(int64_t num_taps, int64_t num_outputs);

/// One pass over sub-blocks of `radix` x `rows` complex numbers.
struct ConvolvePass {
  int64_t radix;  ///< 8 or 4
  int64_t rows;
  int64_t twiddles;  ///< where its factors begin
};

/// A forward transform by decimation in frequency leaves its terms in scrambled order; the inverse
/// one reads them in place, and the taps' spectrum is scrambled alike: nothing is ever sorted.
/// Both run depth first, so that sub-blocks stay in the nearest cache between the two.
template <class T>
struct ConvolvePlan {
  explicit ConvolvePlan(int64_t length);

  int64_t table_bytes() const { return twiddles.size_bytes(); }

  int64_t n;  ///< a power of two, at least 1024
  /// The outermost first; each divides a sub-block by its radix until 8 are left, and these are
  /// transformed in registers.
  std::vector<ConvolvePass> passes;
  /// For each pass and each kTwiddleRun rows: radix - 1 times a run of real, a run of imaginary
  /// parts of exp(-2 pi i row k / (radix rows)).
  Buffer twiddles;
};

/// Where the rows of one pass lie, real and imaginary parts.
template <class T, int R>
struct ConvolveRows {
  T* re[R];
  T* im[R];
};

/// Rows whose factors lie together: 64 bytes.
template <class T>
inline constexpr int64_t kTwiddleRun = 64 / static_cast<int64_t>(sizeof(T));

}  // namespace hr
