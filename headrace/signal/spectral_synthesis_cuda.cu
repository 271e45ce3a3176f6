// SPDX-License-Identifier: Apache-2.0
// Overlap-add on a CUDA device: all segments are transformed, then each sample of the result is
// summed over the segments that meet it, in the CPU's order.
#include "headrace/data/copy_strided.h"
#include "headrace/data/device_launch.h"
#include "headrace/signal/fft_kernels.h"
#include "headrace/signal/spectral_synthesis_kernels.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;

template <class T>
struct SynthesisJob {
  const T* samples;  // n of each segment, `parts` numbers each
  const T* window;
  int64_t segments;
  int64_t length;  // of the window
  int64_t n;
  int64_t step;
  int64_t first;
  int64_t count;
  int64_t elements;
};

/// `kParts`: numbers in a sample.
template <int kParts, class T>
__global__ void overlap_kernel(const __grid_constant__ SynthesisJob<T> job, T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= job.elements) return;
  const int64_t row = i / job.count, place = job.first + i - row * job.count;
  const int64_t before = max(int64_t{0}, place - job.length + 1);
  const int64_t last = min(job.segments - 1, place / job.step);
  T sum[kParts] = {};
  T norm = 0;
  for (int64_t k = (before + job.step - 1) / job.step; k <= last; ++k) {
    const int64_t within = place - k * job.step;
    const T weight = job.window[within];
    const T* const from = job.samples + ((row * job.segments + k) * job.n + within) * kParts;
#pragma unroll
    for (int part = 0; part < kParts; ++part) sum[part] += from[part] * weight;
    norm += weight * weight;
  }
  if (!(norm > T{1e-10})) norm = 1;
#pragma unroll
  for (int part = 0; part < kParts; ++part) out[i * kParts + part] = sum[part] / norm;
}

template <class T>
void run(const Tensor& spectra, const Tensor& window, const SpectralSynthesis& options,
         Buffer& out) {
  const int64_t given = spectra.shape().back();
  const int64_t segments = spectra.shape()[spectra.shape().size() - 2];
  const int64_t lines = given > 0 ? spectra.num_elements() / given : 0;
  const int parts = options.one_sided ? 1 : 2;
  Buffer samples =
      allocate_at(spectra.place(), lines * options.n * parts * static_cast<int64_t>(sizeof(T)));
  const FftJob job{options.one_sided ? Transform::kRealInverse : Transform::kInverse,
                   sizeof(T) == 4,
                   options.n,
                   lines,
                   options.scale / static_cast<double>(options.n),
                   options.n};
  if (lines > 0) fft(job, spectra, samples);
  DeviceCall call("spectral_synthesis", spectra.place());
  if (lines > 0) call.reads(samples);
  call.reads(window.buffer());
  T* const to = call.writes_as<T>(out);
  const int64_t elements = out.size_bytes() / (parts * static_cast<int64_t>(sizeof(T)));
  const SynthesisJob<T> work{lines > 0 ? samples.as<T>() : nullptr,
                             window.as<T>(),
                             lines > 0 ? segments : 0,
                             window.num_elements(),
                             options.n,
                             options.step,
                             options.first,
                             options.count,
                             elements};
  const auto launch = [&](auto kernel) {
    kernel<<<blocks_of(elements, kThreads), kThreads, 0,
             static_cast<cudaStream_t>(call.stream())>>>(work, to);
  };
  parts == 1 ? launch(overlap_kernel<1, T>) : launch(overlap_kernel<2, T>);
  call.finish(cudaGetLastError());
}

}  // namespace

void spectral_synthesis(const Tensor& spectra, const Tensor& window,
                        const SpectralSynthesis& options, Buffer& out) {
  if (spectra.dtype() == TypeId::kComplex64)
    run<float>(spectra, window, options, out);
  else
    run<double>(spectra, window, options, out);
}

}  // namespace hr::cuda
