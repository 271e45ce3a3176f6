// SPDX-License-Identifier: Apache-2.0
// Spectra of segments: checks, shapes, dispatch.
#include "headrace/signal/spectral_segments.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/signal/spectral_segments_kernels.h"
#include "headrace/signal/spectral_window.h"

#include <bit>
#include <utility>

namespace hr {

namespace {

constexpr const char* kOp = "spectral_segments";

}  // namespace

int64_t num_terms(const SpectralSegments& options) {
  return options.one_sided ? options.n / 2 + 1 : options.n;
}

void check_spectral_segments(const SpectralSegments& options, Dtype dtype, int64_t length) {
  if (!dtype.is_floating() && !dtype.is_complex())
    throw_error<TypeMismatchError>(kOp, "the signal must be float or complex",
                                   {{"dtype", dtype.name()}}, "use astype('float64')");
  if (options.one_sided && dtype.is_complex())
    throw_error<TypeMismatchError>(kOp, "a complex signal has no one-sided spectrum",
                                   {{"dtype", dtype.name()}}, "use return_onesided=False");
  if (options.step < 1)
    throw_error<InvalidArgumentError>(kOp, "the step is not positive", {{"step", options.step}},
                                      "use noverlap < nperseg");
  if (length < 1 || length > options.n)
    throw_error<InvalidArgumentError>(kOp, "the window does not fit the transform",
                                      {{"window", length}, {"nfft", options.n}},
                                      "use 1 <= nperseg <= nfft");
  if (options.segments < (options.mean ? 1 : 0))
    throw_error<InvalidArgumentError>(kOp, "there are too few segments",
                                      {{"segments", options.segments}},
                                      "use nperseg <= the signal's length");
}

std::string why_no_segments_kernel(const SpectralSegments& options) {
  constexpr int64_t kMost = 4096;
  const bool fits =
      options.n >= 8 && options.n <= kMost && std::has_single_bit(static_cast<uint64_t>(options.n));
  if (!fits) return "this length has no kernel for CUDA: powers of two from 8 to 4096 have";
  return options.detrend == Detrend::kLinear ? "linear trends have no kernel for CUDA" : "";
}

Tensor spectral_segments(const Tensor& x, const Tensor* y, const Tensor& window,
                         const SpectralSegments& options) {
  const ScopedTag tag(kOp);
  if (x.num_dimensions() == 0)
    throw_error<InvalidArgumentError>(kOp, "a 0-d array has no samples", {{"dimensions", 0}},
                                      "pass one or more dimensions");
  const bool is_single = x.dtype() == TypeId::kFloat32 || x.dtype() == TypeId::kComplex64;
  const Tensor weights = spectral_window(kOp, window, is_single);
  check_spectral_segments(options, x.dtype(), weights.num_elements());
  if ((y != nullptr) != (options.spectrum == Spectrum::kCross))
    throw_error<InvalidArgumentError>(kOp, "a cross spectrum is one of two signals",
                                      {{"signals", y ? 2 : 1}}, "pass both");
  Shape shape = x.shape();
  shape.pop_back();
  if (y) {
    Shape others = y->shape();
    if (!others.empty()) others.pop_back();
    if (y->dtype() != x.dtype() || y->num_dimensions() != x.num_dimensions() || others != shape)
      throw_error<TypeMismatchError>(
          kOp, "the signals differ",
          {{"x", x.dtype().name()}, {"y", y->dtype().name()}, {"dimensions", y->num_dimensions()}},
          "convert with astype, broadcast all axes but the last");
  }
  if (!options.mean) shape.push_back(options.segments);
  shape.push_back(num_terms(options));
  const Dtype dtype = options.spectrum == Spectrum::kPower
                          ? (is_single ? TypeId::kFloat32 : TypeId::kFloat64)
                          : (is_single ? TypeId::kComplex64 : TypeId::kComplex128);
  const int64_t elements = num_elements(shape);
  Buffer out = allocate_at(x.place(), checked_multiply(kOp, elements, dtype.size_bytes()));
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      if (const std::string why = why_no_segments_kernel(options); !why.empty())
        throw_error<UnsupportedError>(kOp, why, {}, "move the values first: x.to('cpu')");
      const Tensor rows = contiguous(x, kOp), others = y ? contiguous(*y, kOp) : Tensor();
      if (elements > 0) cuda::spectral_segments(rows, y ? &others : nullptr, weights, options, out);
      return Tensor(dtype, std::move(shape), std::move(out));
    }
  if (elements > 0) {
    const Tensor rows = contiguous(x, kOp);
    const Tensor others = y ? contiguous(*y, kOp) : Tensor();
    cpu::spectral_segments(rows, y ? &others : nullptr, weights, options, out);
  }
  return Tensor(dtype, std::move(shape), std::move(out));
}

}  // namespace hr
