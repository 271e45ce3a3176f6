// SPDX-License-Identifier: Apache-2.0
// Overlap-add: checks, shapes, dispatch.
#include "headrace/signal/spectral_synthesis.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/signal/fft_kernels.h"
#include "headrace/signal/spectral_synthesis_kernels.h"
#include "headrace/signal/spectral_window.h"

#include <bit>
#include <utility>

namespace hr {

namespace {

constexpr const char* kOp = "spectral_synthesis";

void dispatch(const Tensor& spectra, const Tensor& window, const SpectralSynthesis& options,
              Buffer& out) {
  if constexpr (built_with_cuda)
    if (spectra.place().is_gpu()) {
      if (const std::string why = why_no_synthesis_kernel(options); !why.empty())
        throw_error<UnsupportedError>(kOp, why, {}, "move the values first: x.to('cpu')");
      return cuda::spectral_synthesis(contiguous(spectra, kOp), window, options, out);
    }
  return cpu::spectral_synthesis(contiguous(spectra, kOp), window, options, out);
}

}  // namespace

std::string why_no_synthesis_kernel(const SpectralSynthesis& options) {
  const bool fits = options.n >= 8 && options.n <= cuda::kMostFftLine &&
                    std::has_single_bit(static_cast<uint64_t>(options.n));
  return fits ? "" : "this length has no kernel for CUDA: powers of two from 8 to 4096 have";
}

void check_spectral_synthesis(const SpectralSynthesis& options, Dtype dtype, int64_t length) {
  if (!dtype.is_complex())
    throw_error<TypeMismatchError>(kOp, "spectra must be complex", {{"dtype", dtype.name()}},
                                   "use astype('complex128')");
  if (options.step < 1)
    throw_error<InvalidArgumentError>(kOp, "the step is not positive", {{"step", options.step}},
                                      "use noverlap < nperseg");
  if (length < 1 || length > options.n)
    throw_error<InvalidArgumentError>(kOp, "the window does not fit the transform",
                                      {{"window", length}, {"nfft", options.n}},
                                      "use 1 <= nperseg <= nfft");
  if (options.first < 0 || options.count < 0)
    throw_error<InvalidArgumentError>(kOp, "there are too few segments",
                                      {{"first", options.first}, {"count", options.count}},
                                      "use boundary=False");
}

Tensor spectral_synthesis(const Tensor& spectra, const Tensor& window,
                          const SpectralSynthesis& options) {
  const ScopedTag tag(kOp);
  if (spectra.num_dimensions() < 2)
    throw_error<InvalidArgumentError>(kOp, "expected two or more dimensions",
                                      {{"dimensions", spectra.num_dimensions()}},
                                      "pass segments and terms");
  const bool is_single = spectra.dtype() == TypeId::kComplex64;
  const Tensor weights = spectral_window(kOp, window, is_single);
  check_spectral_synthesis(options, spectra.dtype(), weights.num_elements());
  Shape shape = spectra.shape();
  shape.pop_back();
  shape.back() = options.count;
  const Dtype dtype = options.one_sided ? (is_single ? TypeId::kFloat32 : TypeId::kFloat64)
                                        : (is_single ? TypeId::kComplex64 : TypeId::kComplex128);
  const int64_t elements = num_elements(shape);
  Buffer out =
      allocate_result(checked_multiply(kOp, elements, dtype.size_bytes()), spectra.place());
  if (elements > 0) dispatch(spectra, weights, options, out);
  return Tensor(dtype, std::move(shape), std::move(out));
}

}  // namespace hr
