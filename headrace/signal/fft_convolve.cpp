// SPDX-License-Identifier: Apache-2.0
// Convolution: checks, which taps count, which method, dispatch.
#include "headrace/signal/fft_convolve.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/signal/fft_convolve_kernels.h"

#include <cstdio>

namespace hr {

namespace {

ConvolveMethod method_of(Dtype dtype, int64_t num_taps) {
  return visit_floating(dtype,
                        [&]<class T>(std::type_identity<T>) { return choose_method<T>(num_taps); });
}

void check(const Tensor& signal, const Tensor& taps, ConvolveMode mode) {
  check_one_dimension("fft_convolve", signal);
  check_one_dimension("fft_convolve", taps);
  if (!signal.dtype().is_floating() || signal.dtype() != taps.dtype())
    throw_error<TypeMismatchError>(
        "fft_convolve", "signal and taps must both be float32 or both float64",
        {{"signal", signal.dtype().name()}, {"taps", taps.dtype().name()}}, "use astype first");
  if (taps.num_elements() == 0)
    throw_error<InvalidArgumentError>("fft_convolve", "the taps are empty", {{"taps", 0}},
                                      "pass at least one");
  if (mode != ConvolveMode::kFull && signal.num_elements() > 0 &&
      taps.num_elements() > signal.num_elements())
    throw_error<InvalidArgumentError>(
        "fft_convolve", "taps are longer than the signal",
        {{"taps", taps.num_elements()}, {"signal", signal.num_elements()}},
        "shorten the taps or pass mode='full'");
}

// Few numbers, which decide how all is done.
Tensor taps_on_host(const Tensor& taps) {
  if (!taps.place().is_gpu()) return taps;
  const int64_t bytes = taps.buffer().size_bytes();
  Buffer here = Buffer::allocate(bytes);
  DeviceCall call("fft_convolve", taps.place());
  call.reads(taps.buffer());
  call.fetch(here.mutable_data(), taps.buffer().data(), bytes);
  return Tensor(taps.dtype(), taps.shape(), taps.strides(), std::move(here), taps.byte_offset());
}

}  // namespace

void convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out) {
  const bool direct = method_of(signal.dtype(), job.num_taps).block == 0;
  if constexpr (built_with_cuda)
    if (signal.place().is_gpu())
      return direct ? cuda::direct_convolve(job, signal, taps, out)
                    : cuda::fft_convolve(job, signal, taps, out);
  return direct ? cpu::direct_convolve(job, signal, taps, out)
                : cpu::fft_convolve(job, signal, taps, out);
}

Tensor fft_convolve(const Tensor& signal, const Tensor& all_taps, ConvolveMode mode) {
  const ScopedTag tag("fft_convolve");
  check(signal, all_taps, mode);
  const Tensor taps = taps_on_host(all_taps);
  const int64_t n = signal.num_elements();
  const int64_t m = taps.num_elements();
  if (n == 0) return Tensor(signal.dtype(), {0}, Buffer{});
  const ConvolveTaps counting = trim_taps(taps);
  ConvolveJob job{0, 0, counting.first, counting.count};
  job.num_outputs = mode == ConvolveMode::kFull   ? checked_add("fft_convolve", n, m - 1)
                    : mode == ConvolveMode::kSame ? n
                                                  : n - m + 1;
  const int64_t skipped = mode == ConvolveMode::kFull   ? 0
                          : mode == ConvolveMode::kSame ? (m - 1) / 2
                                                        : m - 1;
  job.first_position = skipped - job.first_tap;
  Buffer out = allocate_result(
      checked_multiply("fft_convolve", job.num_outputs, signal.dtype().size_bytes()),
      signal.place());
  convolve(job, signal, taps, out);
  return Tensor(signal.dtype(), {job.num_outputs}, std::move(out));
}

std::string fft_convolve_method(const Tensor& taps) {
  const ConvolveTaps counting = trim_taps(taps);
  const ConvolveMethod method = method_of(taps.dtype(), counting.count);
  char time[32];
  std::snprintf(time, sizeof time, "%.2f", method.nanoseconds);
  return (method.block == 0 ? "direct" : "FFT of " + std::to_string(method.block)) + ", " +
         std::to_string(counting.count) + " of " + std::to_string(taps.num_elements()) +
         " taps used, about " + time + " ns per sample and core";
}

}  // namespace hr
