// SPDX-License-Identifier: Apache-2.0
// Convolution of a long signal with taps, by FFT blocks (overlap-save) or directly for few taps.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Which part of the n + m - 1 sums is returned (n samples, m taps): all, the middle n (from
/// (m - 1) / 2 on), or the n - m + 1 that need no padding.
enum class ConvolveMode { kFull, kSame, kValid };

/// Convolves two 1-D tensors of any stride, both float32 or both float64; the result has their
/// dtype. As scipy.signal.fftconvolve; an empty signal gives an empty result.
/// Taps at either end whose magnitudes sum to less than eps/8 of the sum of all are left out: they
/// change no output by more than eps/8 sum|taps| max|signal|. Up to 48 remaining taps are summed
/// directly; more run in blocks of 2^10 samples or more, two blocks as the real and the imaginary
/// part of one complex FFT. The error of an output is below 4 eps log2(block) times the 2-norms of
/// the taps and of the two blocks. A NaN or inf spreads over the blocks that it reaches. Method and
/// blocks depend on lengths, taps and dtype only: the same bits for any number of threads.
/// Throws InvalidArgumentError when `taps` is empty, or longer than the signal in another mode than
/// full, TypeMismatchError for other dtypes and for more than one dimension.
/// O(n log m) time; scratch is a few blocks a worker.
HR_API Tensor fft_convolve(const Tensor& signal, const Tensor& taps,
                           ConvolveMode mode = ConvolveMode::kSame);

}  // namespace hr
