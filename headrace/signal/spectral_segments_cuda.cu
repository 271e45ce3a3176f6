// SPDX-License-Identifier: Apache-2.0
// Spectra of segments on a CUDA device: each in the registers of n / 8 threads, from the signal to
// its results. Means add up in an order that the data alone decide.
#include "headrace/data/device_launch.h"
#include "headrace/signal/fft_device.h"
#include "headrace/signal/spectral_segments_kernels.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kMostParts = 512;  // of a row, whose sums are added up last

template <class T>
struct SegmentsJob {
  const T* x;
  const T* y;  // or null
  const T* window;
  T* out;
  T* sums;  // of a mean, by part
  int64_t rows;
  int64_t size;  // samples of a row
  int64_t other_size;
  int64_t first;
  int64_t step;
  int64_t segments;
  int64_t part;   // segments of a part
  int64_t parts;  // of a row
  int length;
  int n;
  int terms;
  int together;
  bool is_complex;
  bool centred;
  bool one_sided;
  Spectrum spectrum;
  T scale;

  __device__ T factor(int k) const {
    const bool mirrored = spectrum != Spectrum::kTerms && one_sided && k > 0 && 2 * k != n;
    return mirrored ? 2 * scale : scale;
  }
};

/// The sum over the threads of a line.
template <class T>
__device__ T line_sum(T own, int j, int threads, T* room) {
  __syncthreads();
  room[j] = own;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (j < half) room[j] += room[j + half];
  }
  __syncthreads();
  return room[0];
}

/// The terms of one segment.
template <class T>
__device__ void transform(const SegmentsJob<T>& job, const T* signal, int64_t size, int64_t row,
                          int64_t segment, bool inside, int j, const Complex<T>* roots, T* re,
                          T* im, Complex<T> (&a)[kFftOwn]) {
  const int threads = job.n / kFftOwn;
  const int64_t begin = job.first + segment * job.step;
  Complex<T> sum{0, 0};
#pragma unroll
  for (int q = 0; q < kFftOwn; ++q) {
    const int e = j + q * threads;
    const int64_t i = begin + e;
    a[q] = {0, 0};
    if (!inside || e >= job.length || i < 0 || i >= size) continue;
    const int64_t at = row * size + i;
    a[q] = job.is_complex ? Complex<T>{signal[2 * at], signal[2 * at + 1]}
                          : Complex<T>{signal[at], T{0}};
    sum = sum + a[q];
  }
  if (job.centred) {
    sum.re = line_sum(sum.re, j, threads, re) / static_cast<T>(job.length);
    if (job.is_complex) sum.im = line_sum(sum.im, j, threads, re) / static_cast<T>(job.length);
  } else {
    sum = {0, 0};
  }
#pragma unroll
  for (int q = 0; q < kFftOwn; ++q) {
    const int e = j + q * threads;
    const T weight = e < job.length ? job.window[e] : T{0};
    a[q] = {(a[q].re - sum.re) * weight, (a[q].im - sum.im) * weight};
  }
  fft_line(a, j, job.n, roots, re, im);
}

/// The result of a term without its factor.
template <class T>
__device__ Complex<T> result_of(const SegmentsJob<T>& job, Complex<T> x, Complex<T> y) {
  if (job.spectrum == Spectrum::kPower) return {x.re * x.re + x.im * x.im, T{0}};
  if (job.spectrum == Spectrum::kCross)
    return {x.re * y.re + x.im * y.im, x.re * y.im - x.im * y.re};
  return x;
}

extern __shared__ __align__(16) unsigned char segments_shared[];

template <class T, bool kCross, bool kMean>
__global__ void __launch_bounds__(512) segments_kernel(const __grid_constant__ SegmentsJob<T> job,
                                                       const Complex<T>* __restrict__ roots) {
  const int threads = job.n / kFftOwn;
  const int own = static_cast<int>(threadIdx.x) / threads;
  const int j = static_cast<int>(threadIdx.x) % threads;
  T* const re = reinterpret_cast<T*>(segments_shared) + 2 * own * fft_plane(job.n);
  T* const im = re + fft_plane(job.n);
  const int64_t row = blockIdx.x / job.parts, part = blockIdx.x % job.parts;
  const int64_t end = min(job.segments, (part + 1) * job.part);
  const bool real_out = job.spectrum == Spectrum::kPower;
  Complex<T> sums[kFftOwn];
#pragma unroll
  for (int q = 0; q < kFftOwn; ++q) sums[q] = {0, 0};
  for (int64_t first = part * job.part; first < end; first += job.together) {
    const int64_t segment = first + own;
    const bool inside = segment < end;
    Complex<T> x[kFftOwn];
    Complex<T> y[kFftOwn];
    transform(job, job.x, job.size, row, segment, inside, j, roots, re, im, x);
    if constexpr (kCross)
      transform(job, job.y, job.other_size, row, segment, inside, j, roots, re, im, y);
    if (!inside) continue;
#pragma unroll
    for (int q = 0; q < kFftOwn; ++q) {
      const int k = j + q * threads;
      if (k >= job.terms) continue;
      const Complex<T> made = result_of(job, x[q], kCross ? y[q] : x[q]);
      if constexpr (kMean) {
        sums[q] = sums[q] + made;
        continue;
      }
      const T by = job.factor(k);
      const int64_t at = (row * job.segments + segment) * job.terms + k;
      if (real_out) {
        job.out[at] = made.re * by;
      } else {
        job.out[2 * at] = made.re * by;
        job.out[2 * at + 1] = made.im * by;
      }
    }
  }
  if constexpr (kMean) {
    // Segments side by side in order.
    __syncthreads();
#pragma unroll
    for (int q = 0; q < kFftOwn; ++q) {
      re[j + q * threads] = sums[q].re;
      im[j + q * threads] = sums[q].im;
    }
    __syncthreads();
    const T* const all = reinterpret_cast<const T*>(segments_shared);
    for (int k = static_cast<int>(threadIdx.x); k < job.terms; k += static_cast<int>(blockDim.x)) {
      Complex<T> total{0, 0};
      for (int line = 0; line < job.together; ++line) {
        total.re += all[2 * line * fft_plane(job.n) + k];
        total.im += all[(2 * line + 1) * fft_plane(job.n) + k];
      }
      T* const to = job.sums + 2 * (int64_t{blockIdx.x} * job.terms + k);
      to[0] = total.re;
      to[1] = total.im;
    }
  }
}

template <class T>
__global__ void mean_kernel(const __grid_constant__ SegmentsJob<T> job) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= job.rows * job.terms) return;
  const int64_t row = i / job.terms;
  const auto k = static_cast<int>(i - row * job.terms);
  Complex<T> total{0, 0};
  for (int64_t part = 0; part < job.parts; ++part) {
    const T* const from = job.sums + 2 * ((row * job.parts + part) * job.terms + k);
    total.re += from[0];
    total.im += from[1];
  }
  const T by = job.factor(k), count = static_cast<T>(job.segments);
  if (job.spectrum == Spectrum::kPower) {
    job.out[i] = total.re * by / count;
  } else {
    job.out[2 * i] = total.re * by / count;
    job.out[2 * i + 1] = total.im * by / count;
  }
}

template <class T>
void run(DeviceCall& call, const Tensor& x, const Tensor* y, const Tensor& window,
         const SpectralSegments& options, const Buffer& out) {
  SegmentsJob<T> job{};
  job.x = x.as<T>();
  job.y = y ? y->as<T>() : nullptr;
  job.window = window.as<T>();
  job.out = call.writes_as<T>(out);
  job.size = x.shape().back();
  job.rows = 1;
  for (size_t d = 0; d + 1 < x.shape().size(); ++d) job.rows *= x.shape()[d];
  job.other_size = y ? y->shape().back() : 0;
  job.first = options.first;
  job.step = options.step;
  job.segments = options.segments;
  job.length = static_cast<int>(window.num_elements());
  job.n = static_cast<int>(options.n);
  job.terms = static_cast<int>(num_terms(options));
  job.is_complex = x.dtype().is_complex();
  job.centred = options.detrend == Detrend::kConstant;
  job.one_sided = options.one_sided;
  job.spectrum = options.spectrum;
  job.scale = static_cast<T>(options.scale);
  const int threads = job.n / kFftOwn;
  job.together = std::max(1, kThreads / threads);
  const int64_t least = options.mean ? (job.segments + kMostParts - 1) / kMostParts : 1;
  job.part = std::max<int64_t>(least, job.together);
  job.part = (job.part + job.together - 1) / job.together * job.together;
  job.parts = (job.segments + job.part - 1) / job.part;
  const Buffer sums = call.scratch(
      options.mean ? job.rows * job.parts * job.terms * 2 * static_cast<int64_t>(sizeof(T)) : 0);
  job.sums = call.writes_as<T>(sums);
  const Buffer room = call.scratch(job.n * static_cast<int64_t>(sizeof(Complex<T>)));
  auto* const roots = call.writes_as<Complex<T>>(room);
  const auto stream = static_cast<cudaStream_t>(call.stream());
  fft_roots_kernel<T><<<blocks_of(job.n, kThreads), kThreads, 0, stream>>>(job.n, roots);
  const int bytes = 2 * fft_plane(job.n) * job.together * static_cast<int>(sizeof(T));
  const auto launch = [&](auto kernel) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<static_cast<unsigned>(job.rows * job.parts), threads * job.together, bytes, stream>>>(
        job, roots);
  };
  if (y && options.mean)
    launch(segments_kernel<T, true, true>);
  else if (y)
    launch(segments_kernel<T, true, false>);
  else if (options.mean)
    launch(segments_kernel<T, false, true>);
  else
    launch(segments_kernel<T, false, false>);
  if (options.mean)
    mean_kernel<T><<<blocks_of(job.rows * job.terms, kThreads), kThreads, 0, stream>>>(job);
}

}  // namespace

void spectral_segments(const Tensor& x, const Tensor* y, const Tensor& window,
                       const SpectralSegments& options, const Buffer& out) {
  DeviceCall call("spectral_segments", x.place());
  call.reads(x.buffer());
  if (y) call.reads(y->buffer());
  call.reads(window.buffer());
  if (x.dtype() == TypeId::kFloat32 || x.dtype() == TypeId::kComplex64)
    run<float>(call, x, y, window, options, out);
  else
    run<double>(call, x, y, window, options, out);
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
