// SPDX-License-Identifier: Apache-2.0
// Transforms on a CUDA device of lengths that are powers of two: a line in registers and shared
// memory, read and written once; a long one as a matrix, columns first, then rows.
#include "headrace/data/device_launch.h"
#include "headrace/data/shared_memory.h"
#include "headrace/signal/fft_device.h"
#include "headrace/signal/fft_kernels.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace hr::cuda {

namespace {

constexpr int kMostThreads = 1024;
constexpr int kFewThreads = 256;

/// Lines (o, c) of a job: element e lies at o * outer + e * step + c * inner.
struct Lines {
  int64_t outer;
  int64_t step;
  int64_t inner;

  __device__ int64_t within(int64_t c, int64_t e) const { return e * step + c * inner; }
};

struct LinesJob {
  const std::byte* in;
  TypeId dtype;
  std::byte* out;
  int n;
  int together;  // lines of a block of threads
  int64_t lines;
  int64_t inner;  // lines of a row
  Lines from;
  Lines to;
  int64_t length;  // what lies behind it in a row of the source is zero
  int64_t terms;   // what lies behind it in a row of the result is not written
  int64_t mirror;  // the source has the first half of this many numbers; 0: all of them
  int64_t turn;    // result e of line c is multiplied by exp(-2 pi i e c / turn); 0: it is not
  double scale;
  bool backward_in;  // planes exchanged, which turns the transform round
  bool backward_out;
  bool real_out;
};

template <class T>
__device__ Complex<T> value_at(const std::byte* data, TypeId dtype, int64_t i) {
  switch (dtype) {
    case TypeId::kComplex128: {
      const auto* const x = reinterpret_cast<const double*>(data) + 2 * i;
      return {static_cast<T>(x[0]), static_cast<T>(x[1])};
    }
    case TypeId::kComplex64: {
      const auto* const x = reinterpret_cast<const float*>(data) + 2 * i;
      return {static_cast<T>(x[0]), static_cast<T>(x[1])};
    }
    case TypeId::kFloat64:
      return {static_cast<T>(reinterpret_cast<const double*>(data)[i]), T{0}};
    case TypeId::kFloat32:
      return {static_cast<T>(reinterpret_cast<const float*>(data)[i]), T{0}};
    case TypeId::kInt8:
      return {static_cast<T>(reinterpret_cast<const int8_t*>(data)[i]), T{0}};
    case TypeId::kInt16:
      return {static_cast<T>(reinterpret_cast<const int16_t*>(data)[i]), T{0}};
    case TypeId::kInt32:
      return {static_cast<T>(reinterpret_cast<const int32_t*>(data)[i]), T{0}};
    case TypeId::kInt64:
      return {static_cast<T>(reinterpret_cast<const int64_t*>(data)[i]), T{0}};
    case TypeId::kUInt16:
      return {static_cast<T>(reinterpret_cast<const uint16_t*>(data)[i]), T{0}};
    case TypeId::kUInt32:
      return {static_cast<T>(reinterpret_cast<const uint32_t*>(data)[i]), T{0}};
    case TypeId::kUInt64:
      return {static_cast<T>(reinterpret_cast<const uint64_t*>(data)[i]), T{0}};
    default:
      return {static_cast<T>(reinterpret_cast<const uint8_t*>(data)[i]), T{0}};
  }
}

template <class T>
__device__ Complex<T> exchanged(Complex<T> z, bool yes) {
  return yes ? Complex<T>{z.im, z.re} : z;
}

template <class T>
__device__ Complex<T> load(const LinesJob& job, int64_t o, int64_t c, int64_t e) {
  const int64_t i = job.from.within(c, e);
  const std::byte* const row = job.in;
  const int64_t first = o * job.from.outer;
  if (job.mirror == 0)
    return i < job.length ? value_at<T>(row, job.dtype, first + i) : Complex<T>{0, 0};
  const bool is_turned = 2 * i > job.mirror;
  const int64_t at = is_turned ? job.mirror - i : i;
  if (at >= job.length) return {0, 0};
  Complex<T> z = value_at<T>(row, job.dtype, first + at);
  if (at == 0 || 2 * at == job.mirror) z.im = 0;
  if (is_turned) z.im = -z.im;
  return z;
}

template <class T>
__device__ void store(const LinesJob& job, int64_t o, int64_t c, int64_t e, Complex<T> z) {
  const int64_t i = job.to.within(c, e);
  if (i >= job.terms) return;
  if (job.turn > 0) {
    double sine, cosine;
    sincospi(-2.0 * static_cast<double>(e * c) / static_cast<double>(job.turn), &sine, &cosine);
    const T re = static_cast<T>(cosine), im = static_cast<T>(sine);
    z = {z.re * re - z.im * im, z.re * im + z.im * re};
  }
  z = exchanged(z, job.backward_out);
  const T scale = static_cast<T>(job.scale);
  T* const to = reinterpret_cast<T*>(job.out);
  const int64_t at = o * job.to.outer + i;
  if (job.real_out) {
    to[at] = z.re * scale;
  } else {
    to[2 * at] = z.re * scale;
    to[2 * at + 1] = z.im * scale;
  }
}

extern __shared__ __align__(16) unsigned char fft_shared[];

template <class T>
__global__ void __launch_bounds__(kMostThreads)
    lines_kernel(const __grid_constant__ LinesJob job, const Complex<T>* __restrict__ roots) {
  const int thread = static_cast<int>(threadIdx.x);
  const int threads_of_line = job.n / kFftOwn;
  // Neighbouring threads read what lies side by side: columns, or the elements of a row.
  const bool by_lines = job.from.step != 1 || job.to.step != 1;
  const int own = by_lines ? thread % job.together : thread / threads_of_line;
  const int j = by_lines ? thread / job.together : thread % threads_of_line;
  const int64_t line = int64_t{blockIdx.x} * job.together + own;
  const int64_t o = line / job.inner, c = line - o * job.inner;
  const bool inside = line < job.lines;
  T* const re = reinterpret_cast<T*>(fft_shared) + 2 * own * fft_plane(job.n);
  T* const im = re + fft_plane(job.n);
  Complex<T> a[kFftOwn];
#pragma unroll
  for (int q = 0; q < kFftOwn; ++q)
    a[q] = inside ? exchanged(load<T>(job, o, c, j + q * threads_of_line), job.backward_in)
                  : Complex<T>{0, 0};
  fft_line(a, j, job.n, roots, re, im);
  if (!inside) return;
#pragma unroll
  for (int q = 0; q < kFftOwn; ++q) store<T>(job, o, c, j + q * threads_of_line, a[q]);
}

template <class T>
void run(DeviceCall& call, LinesJob job, int device) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const Buffer room = call.scratch(job.n * static_cast<int64_t>(sizeof(Complex<T>)));
  auto* const roots = call.writes_as<Complex<T>>(room);
  fft_roots_kernel<T><<<blocks_of(job.n, kFewThreads), kFewThreads, 0, stream>>>(job.n, roots);
  const int bytes = 2 * fft_plane(job.n) * static_cast<int>(sizeof(T));
  const int threads = job.n / kFftOwn;
  const bool by_lines = job.from.step != 1 || job.to.step != 1;
  const int wanted = std::max(by_lines ? 8 : 1, kFewThreads / threads);
  job.together =
      std::max(1, std::min({wanted, kMostThreads / threads, shared_bytes_of(device) / bytes}));
  cudaFuncSetAttribute(lines_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       job.together * bytes);
  lines_kernel<T><<<blocks_of(job.lines, job.together), threads * job.together,
                    job.together * bytes, stream>>>(job, roots);
}

/// Numbers of the first factor of a long transform.
int64_t first_factor(int64_t n) {
  return int64_t{1} << (std::bit_width(static_cast<uint64_t>(n)) - 1) / 2;
}

template <class T>
void transform_rows(DeviceCall& call, const FftJob& job, const Tensor& x, const Buffer& out) {
  const int64_t n = job.n, length = x.shape().back();
  const bool inverse =
      job.transform == Transform::kInverse || job.transform == Transform::kRealInverse;
  const bool real_out = job.transform == Transform::kRealInverse;
  const int64_t terms = job.transform == Transform::kRealForward ? n / 2 + 1 : n;
  LinesJob lines{x.data(),
                 x.dtype().id(),
                 call.writes(out),
                 static_cast<int>(n),
                 1,
                 job.rows,
                 1,
                 {length, 1, 0},
                 {job.pitch, 1, 0},
                 std::min(length, n),
                 terms,
                 real_out ? n : 0,
                 0,
                 job.scale,
                 inverse,
                 inverse,
                 real_out};
  if (real_out) lines.length = std::min(length, n / 2 + 1);
  if (n <= kMostFftLine) return run<T>(call, lines, x.place().index);
  const int64_t n1 = first_factor(n), n2 = n / n1;
  const Buffer room = call.scratch(job.rows * n * static_cast<int64_t>(sizeof(Complex<T>)));
  LinesJob columns = lines;
  columns.out = call.writes(room);
  columns.n = static_cast<int>(n1);
  columns.lines = job.rows * n2;
  columns.inner = n2;
  columns.from = {length, n2, 1};
  columns.to = {n, n2, 1};
  columns.terms = n;
  columns.turn = n;
  columns.scale = 1;
  columns.backward_out = false;
  columns.real_out = false;
  run<T>(call, columns, x.place().index);
  LinesJob rows = lines;
  rows.in = columns.out;
  rows.dtype = std::is_same_v<T, float> ? TypeId::kComplex64 : TypeId::kComplex128;
  rows.n = static_cast<int>(n2);
  rows.lines = job.rows * n1;
  rows.inner = n1;
  rows.from = {n, 1, n2};
  rows.to = {job.pitch, n1, 1};
  rows.length = n;
  rows.mirror = 0;
  rows.backward_in = false;
  run<T>(call, rows, x.place().index);
}

template <class T>
void transform_columns(DeviceCall& call, const FftColumnsJob& job, const std::byte* in,
                       const Buffer& out) {
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < job.shape.size(); ++d) {
    if (d < job.axis) outer *= job.shape[d];
    if (d > job.axis) inner *= job.shape[d];
  }
  const int64_t n = job.shape[job.axis];
  const Lines lines{n * inner, inner, 1};
  std::byte* const to = call.writes(out);
  run<T>(call,
         {in ? in : to, std::is_same_v<T, float> ? TypeId::kComplex64 : TypeId::kComplex128, to,
          static_cast<int>(n), 1, outer * inner, inner, lines, lines, INT64_MAX, INT64_MAX, 0, 0,
          job.scale, job.inverse, job.inverse, false},
         out.place().index);
}

}  // namespace

void fft(const FftJob& job, const Tensor& x, Buffer& out) {
  DeviceCall call("fft", x.place());
  call.reads(x.buffer());
  if (job.in_float)
    transform_rows<float>(call, job, x, out);
  else
    transform_rows<double>(call, job, x, out);
  call.finish(cudaGetLastError());
}

void fft_columns(const FftColumnsJob& job, const Tensor* from, bool in_float, const Buffer& out) {
  DeviceCall call("fftn", out.place());
  if (from) call.reads(from->buffer());
  const std::byte* const in = from ? from->data() : nullptr;
  if (in_float)
    transform_columns<float>(call, job, in, out);
  else
    transform_columns<double>(call, job, in, out);
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
