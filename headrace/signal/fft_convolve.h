// SPDX-License-Identifier: Apache-2.0
// Convolution of a long signal with taps, by FFT blocks (overlap-save) or directly for few taps.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <string>

namespace hr {

/// Which part of the n + m - 1 sums is returned (n samples, m taps): all, the middle n (from
/// (m - 1) / 2 on), or the n - m + 1 that need no padding.
enum class ConvolveMode { kFull, kSame, kValid };

/// Convolves two 1-D tensors of any stride, both float32 or both float64; the result has their
/// dtype. As scipy.signal.fftconvolve; an empty signal gives an empty result.
/// Taps at either end whose magnitudes sum to less than eps/8 of the l1 norm (the sum of all
/// magnitudes) are left out: they change no output by more than eps/8 sum|taps| max|signal|. Few
/// remaining taps (up to 75 in float64, 90 in float32) are summed directly: the error of an output
/// of m taps is below m eps/2 sum|taps| max|signal|. More run in blocks of 2^10 samples or more,
/// two blocks as the real and the imaginary part of one complex FFT: the error of an output is
/// below 4 eps log2(block) times the 2-norms of the taps and of the two blocks. A NaN or inf
/// reaches just the outputs of the taps that are left: by blocks they are NaN (and a pair of blocks
/// with such samples takes twice the time), by direct sums NaN or inf as IEEE arithmetic has it.
/// The method depends on the taps' number and dtype only (`fft_convolve_method`), borders on
/// lengths too: the same bits for any number of threads and at every SIMD level.
/// Throws InvalidArgumentError when `taps` is empty, or longer than the signal in another mode than
/// full, TypeMismatchError for other dtypes and for more than one dimension.
/// On a CUDA device direct sums have these bits too. Blocks are of 2^13 samples there and take up
/// to 4096 taps; more taps are taken in parts, whose results and bounds add up: the same bits in
/// every run. O(n log m) time; scratch is a few blocks a worker.
HR_API Tensor fft_convolve(const Tensor& signal, const Tensor& taps,
                           ConvolveMode mode = ConvolveMode::kSame);

/// How `fft_convolve` convolves with these taps, as explain() shows it: directly or by which FFT,
/// how many taps count, and the predicted time on the machine of docs/design/signal.md.
HR_API std::string fft_convolve_method(const Tensor& taps);

}  // namespace hr
