// SPDX-License-Identifier: Apache-2.0
// Convolution: checks, which taps count, which method, dispatch.
#include "headrace/signal/fft_convolve.h"

#include "headrace/algo/strided_view.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/signal/fft_convolve_kernels.h"

#include <cmath>
#include <limits>

namespace hr {

namespace {

void dispatch(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out) {
  const bool direct = job.num_taps <= kDirectTaps;
  if constexpr (built_with_cuda)
    if (signal.place().is_gpu())
      return direct ? cuda::direct_convolve(job, signal, taps, out)
                    : cuda::fft_convolve(job, signal, taps, out);
  return direct ? cpu::direct_convolve(job, signal, taps, out)
                : cpu::fft_convolve(job, signal, taps, out);
}

void check(const Tensor& signal, const Tensor& taps, ConvolveMode mode) {
  check_one_dimension("fft_convolve", signal);
  check_one_dimension("fft_convolve", taps);
  if (!signal.dtype().is_floating() || signal.dtype() != taps.dtype())
    throw_error<TypeMismatchError>(
        "fft_convolve", "signal and taps must both be float32 or both float64",
        {{"signal", signal.dtype().name()}, {"taps", taps.dtype().name()}}, "use astype first");
  if (taps.num_elements() == 0)
    throw_error<InvalidArgumentError>("fft_convolve", "there are no taps", {{"taps", 0}},
                                      "pass at least one");
  if (mode != ConvolveMode::kFull && signal.num_elements() > 0 &&
      taps.num_elements() > signal.num_elements())
    throw_error<InvalidArgumentError>(
        "fft_convolve", "taps are longer than the signal",
        {{"taps", taps.num_elements()}, {"signal", signal.num_elements()}},
        "shorten the taps or pass mode='full'");
}

/// The taps that count: from the ends, the smaller first, those are left out whose magnitudes sum
/// to at most eps/8 of all. At least one stays.
template <class T>
ConvolveJob trim(const Tensor& taps) {
  const StridedView<T> tap(taps);
  double total = 0;
  for (int64_t k = 0; k < tap.size; ++k) total += std::fabs(static_cast<double>(tap[k]));
  int64_t first = 0;
  int64_t last = tap.size - 1;
  if (!std::isfinite(total)) return {0, 0, first, tap.size};
  double left_out = 0;
  while (first < last) {
    const double left = std::fabs(static_cast<double>(tap[first]));
    const double right = std::fabs(static_cast<double>(tap[last]));
    left_out += std::fmin(left, right);
    if (left_out > total * static_cast<double>(std::numeric_limits<T>::epsilon()) / 8) break;
    left < right ? ++first : --last;
  }
  return {0, 0, first, last - first + 1};
}

}  // namespace

Tensor fft_convolve(const Tensor& signal, const Tensor& taps, ConvolveMode mode) {
  const ScopedTag tag("fft_convolve");
  check(signal, taps, mode);
  const int64_t n = signal.num_elements();
  const int64_t m = taps.num_elements();
  if (n == 0) return Tensor(signal.dtype(), {0}, Buffer{});
  ConvolveJob job = signal.dtype() == TypeId::kFloat32 ? trim<float>(taps) : trim<double>(taps);
  job.num_outputs = mode == ConvolveMode::kFull   ? checked_add("fft_convolve", n, m - 1)
                    : mode == ConvolveMode::kSame ? n
                                                  : n - m + 1;
  const int64_t skipped = mode == ConvolveMode::kFull   ? 0
                          : mode == ConvolveMode::kSame ? (m - 1) / 2
                                                        : m - 1;
  job.first_position = skipped - job.first_tap;
  Buffer out = Buffer::allocate(
      checked_multiply("fft_convolve", job.num_outputs, signal.dtype().size_bytes()));
  dispatch(job, signal, taps, out);
  return Tensor(signal.dtype(), {job.num_outputs}, std::move(out));
}

}  // namespace hr
