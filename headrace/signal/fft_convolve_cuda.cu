// SPDX-License-Identifier: Apache-2.0
// Overlap-save on a CUDA device in one pass over the signal: a block of threads transforms two
// blocks of samples (as the real and the imaginary part of 2^13 complex numbers) in registers and
// shared memory, multiplies, and transforms back. Only 32-point columns cross the whole block of
// threads; the 256-point rows behind them belong to 16 lanes each. Nothing is ever sorted: the
// inverse takes the terms as the forward transform leaves them.
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/signal/fft_convolve_kernels.h"

#include <limits>
#include <type_traits>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kPoints = 8192;
constexpr int kThreads = 256;
constexpr int kColumn = 32;          // points of a thread: n = 256 a + thread, a < 32
constexpr int kRow = 16;             // the points of a row, 16 x 16
constexpr int64_t kMostTaps = 4096;  // of one pass; more are added up in several

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T re;
  T im;
};

/// exp(-2 pi i j k / 8192) for the columns as coarse[k / 4][j] fine[k % 4][j], and those of a row.
template <class T>
struct Factors {
  Pair<T> coarse[kColumn / 4][kThreads];
  Pair<T> fine[4][kThreads];
  Pair<T> row[kRow][kRow];
};

template <class T>
__device__ __forceinline__ Pair<T> multiply(Pair<T> a, Pair<T> b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}

/// cos(2 pi k / 32), k known when compiling.
template <class T>
__device__ __forceinline__ T cosine(int k) {
  constexpr double kCosines[] = {1,
                                 0.98078528040323044912618223613423903697,
                                 0.92387953251128675612818318939678828682,
                                 0.83146961230254523707878837761790575673,
                                 0.70710678118654752440084436210484903928,
                                 0.55557023301960222474283081394853287438,
                                 0.38268343236508977172845998403039886676,
                                 0.19509032201612826784828486847702224093,
                                 0};
  return static_cast<T>(k <= 8 ? kCosines[k] : -kCosines[16 - k]);
}

/// Times exp(-2 pi i k / 32), 0 <= k < 16.
template <class T>
__device__ __forceinline__ void turn(T& re, T& im, int k) {
  const T a = re;
  const T b = im;
  if (k == 0) return;
  if (k == 8) {
    re = b;
    im = -a;
  } else if (k == 4) {
    re = (a + b) * cosine<T>(4);
    im = (b - a) * cosine<T>(4);
  } else if (k == 12) {
    re = (b - a) * cosine<T>(4);
    im = -(a + b) * cosine<T>(4);
  } else {
    const T c = cosine<T>(k);
    const T s = k <= 8 ? cosine<T>(8 - k) : cosine<T>(k - 8);
    re = fma(a, c, b * s);
    im = fma(b, c, -(a * s));
  }
}

template <int kHalf, int R, class T>
__device__ __forceinline__ void stage(T (&re)[R], T (&im)[R]) {
#pragma unroll
  for (int first = 0; first < R; first += 2 * kHalf)
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      const int i = first + k;
      const int j = i + kHalf;
      const T x = re[i] - re[j];
      const T y = im[i] - im[j];
      re[i] += re[j];
      im[i] += im[j];
      re[j] = x;
      im[j] = y;
      turn(re[j], im[j], k * (16 / kHalf));
    }
  if constexpr (kHalf > 1) stage<kHalf / 2, R>(re, im);
}

/// R-point transform in registers; term k is left at place<R>(k). With the planes exchanged it is
/// the inverse one, times R.
template <int R, class T>
__device__ __forceinline__ void transform(T (&re)[R], T (&im)[R]) {
  stage<R / 2, R>(re, im);
}

template <int R>
__host__ __device__ constexpr int place(int k) {
  int reversed = 0;
  for (int bit = 1; bit < R; bit *= 2) reversed = 2 * reversed + ((k & bit) != 0 ? 1 : 0);
  return reversed;
}

/// Where point 16 b + c of row p lies in shared memory: neither threads with consecutive c nor
/// those with consecutive b meet in a bank.
__device__ __forceinline__ int slot(int p, int b, int c) {
  return p * 256 + ((c + 16 * (p & 1)) ^ (17 * b));
}

/// Multiplies term p of a column (where `index(p)` says) by exp(-2 pi i thread p / 8192).
template <class T, class Index>
__device__ __forceinline__ void turn_column(T (&re)[kColumn], T (&im)[kColumn],
                                            const Factors<T>& factors, const Index& index) {
  const int thread = static_cast<int>(threadIdx.x);
  Pair<T> fine[4];
#pragma unroll
  for (int k = 1; k < 4; ++k) fine[k] = factors.fine[k][thread];
#pragma unroll
  for (int group = 0; group < kColumn / 4; ++group) {
    const Pair<T> coarse = group == 0 ? Pair<T>{} : factors.coarse[group][thread];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (group == 0 && k == 0) continue;
      const Pair<T> factor = group == 0 ? fine[k] : k == 0 ? coarse : multiply(coarse, fine[k]);
      const int i = index(4 * group + k);
      const Pair<T> turned = multiply({re[i], im[i]}, factor);
      re[i] = turned.re;
      im[i] = turned.im;
    }
  }
}

/// The planes of a block in shared memory.
template <class T>
struct Planes {
  T re[kPoints];
  T im[kPoints];
};

/// Columns, already transformed and turned, to shared memory, and back.
template <bool kStore, class T>
__device__ __forceinline__ void move_column(T (&re)[kColumn], T (&im)[kColumn], Planes<T>& all) {
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int p = 0; p < kColumn; ++p) {
    const int i = slot(p, thread / 16, thread % 16);
    if (kStore) {
      all.re[i] = re[place<kColumn>(p)];
      all.im[i] = im[place<kColumn>(p)];
    } else {
      re[p] = all.re[i];
      im[p] = all.im[i];
    }
  }
}

template <bool kStore, class T, class Slot>
__device__ __forceinline__ void move_row(T (&re)[kRow], T (&im)[kRow], Planes<T>& all,
                                         const Slot& slot_of) {
#pragma unroll
  for (int k = 0; k < kRow; ++k) {
    const int i = slot_of(k);
    if (kStore) {
      all.re[i] = re[place<kRow>(k)];
      all.im[i] = im[place<kRow>(k)];
    } else {
      re[k] = all.re[i];
      im[k] = all.im[i];
    }
  }
}

/// Transforms row p over 16 lanes. Lane q then has terms q + 16 s of it, at place(s).
template <class T>
__device__ __forceinline__ void forward_row(T (&re)[kRow], T (&im)[kRow], int p, int lane,
                                            const Factors<T>& factors, Planes<T>& all) {
  move_row<false>(re, im, all, [&](int b) { return slot(p, b, lane); });
  transform<kRow>(re, im);
#pragma unroll
  for (int q = 1; q < kRow; ++q) {
    const int i = place<kRow>(q);
    const Pair<T> turned = multiply({re[i], im[i]}, factors.row[q][lane]);
    re[i] = turned.re;
    im[i] = turned.im;
  }
  move_row<true>(re, im, all, [&](int q) { return slot(p, q, lane); });
  __syncwarp();
  move_row<false>(re, im, all, [&](int c) { return slot(p, lane, c); });
  transform<kRow>(re, im);
}

/// The way back, times 256; terms s in order.
template <class T>
__device__ __forceinline__ void inverse_row(T (&re)[kRow], T (&im)[kRow], int p, int lane,
                                            const Factors<T>& factors, Planes<T>& all) {
  transform<kRow>(im, re);
#pragma unroll
  for (int c = 1; c < kRow; ++c) {
    const int i = place<kRow>(c);
    const Pair<T> turned = multiply({im[i], re[i]}, factors.row[c][lane]);
    im[i] = turned.re;
    re[i] = turned.im;
  }
  move_row<true>(re, im, all, [&](int c) { return slot(p, lane, c); });
  __syncwarp();
  move_row<false>(re, im, all, [&](int q) { return slot(p, q, lane); });
  transform<kRow>(im, re);
  move_row<true>(re, im, all, [&](int b) { return slot(p, b, lane); });
}

extern __shared__ __align__(16) unsigned char shared_bytes[];

/// Of one block of threads: the factors, and the spectrum of the taps divided by the points, term
/// s of task u (row u / 16, lane u % 16) at [s][u].
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    prepare_kernel(const T* __restrict__ taps, int num_taps, Factors<T>* factors,
                   Pair<T>* __restrict__ spectrum) {
  Planes<T>& all = *reinterpret_cast<Planes<T>*>(shared_bytes);
  const int thread = static_cast<int>(threadIdx.x);
  const auto root = [](int k, int n) {
    double s, c;
    sincospi(-2.0 * k / n, &s, &c);
    return Pair<T>{static_cast<T>(c), static_cast<T>(s)};
  };
  for (int k = 0; k < kColumn / 4; ++k) factors->coarse[k][thread] = root(4 * k * thread, kPoints);
  for (int k = 0; k < 4; ++k) factors->fine[k][thread] = root(k * thread, kPoints);
  factors->row[thread / 16][thread % 16] = root((thread / 16) * (thread % 16), 256);
  __syncthreads();
  T re[kColumn];
  T im[kColumn];
#pragma unroll
  for (int a = 0; a < kColumn; ++a) {
    const int n = 256 * a + thread;
    re[a] = n < num_taps ? taps[n] : T{0};
    im[a] = 0;
  }
  transform<kColumn>(re, im);
  turn_column(re, im, *factors, [](int p) { return place<kColumn>(p); });
  move_column<true>(re, im, all);
  __syncthreads();
#pragma unroll 1
  for (int task = thread; task < 2 * kThreads; task += kThreads) {
    T row_re[kRow];
    T row_im[kRow];
    forward_row(row_re, row_im, task / 16, task % 16, *factors, all);
#pragma unroll
    for (int s = 0; s < kRow; ++s)
      spectrum[s * 2 * kThreads + task] = {row_re[place<kRow>(s)] * (T{1} / kPoints),
                                           row_im[place<kRow>(s)] * (T{1} / kPoints)};
  }
}

/// Samples that are not finite, one bit each, of the two blocks.
struct Marks {
  unsigned bits[2][kPoints / 32];
};

/// Whether one of the samples n - num_taps + 1 ... n is marked.
__device__ bool reaches(const unsigned* bits, int n, int num_taps) {
  for (int i = n - num_taps + 1; i <= n;) {
    const unsigned word = bits[i / 32] >> (i % 32);
    if (word != 0) return i + __ffs(static_cast<int>(word)) - 1 <= n;
    i = (i / 32 + 1) * 32;
  }
  return false;
}

/// Samples of a block, from `first` of the signal on.
template <class T>
struct Stretch {
  const T* data;
  int64_t stride;
  int begin;  // of those that are inside the signal
  int end;

  __device__ Stretch(const View<T>& x, int64_t first)
      : data(x.data + first * x.stride),
        stride(x.stride),
        begin(static_cast<int>(min(max(-first, int64_t{0}), int64_t{kPoints}))),
        end(static_cast<int>(min(max(x.size - first, int64_t{0}), int64_t{kPoints}))) {}

  __device__ bool is_plain() const { return stride == 1 && begin == 0 && end == kPoints; }

  __device__ T operator[](int n) const { return n >= begin && n < end ? data[n * stride] : T{0}; }
};

template <class T>
__device__ __forceinline__ T mark_unless_finite(T value, unsigned* bits, int n) {
  if (value - value == T{0}) return value;
  atomicOr(bits + n / 32, 1u << (n % 32));
  return T{0};
}

/// The columns of two blocks, one the real and one the imaginary part. `careful`: samples that are
/// not finite are marked, and read as 0.
template <class T>
__device__ __forceinline__ void read_columns(const Stretch<T>& a, const Stretch<T>& b, bool careful,
                                             T (&re)[kColumn], T (&im)[kColumn], Planes<T>& all,
                                             Marks& marks) {
  const int thread = static_cast<int>(threadIdx.x);
  if (!careful && a.is_plain() && b.is_plain()) {
#pragma unroll
    for (int k = 0; k < kColumn; ++k) {
      re[k] = a.data[256 * k + thread];
      im[k] = b.data[256 * k + thread];
    }
    return;
  }
  if (careful) {
    for (int i = thread; i < 2 * kPoints / 32; i += kThreads) marks.bits[0][i] = 0;
    __syncthreads();
  }
#pragma unroll 1
  for (int n = thread; n < kPoints; n += kThreads) {
    all.re[n] = careful ? mark_unless_finite(a[n], marks.bits[0], n) : a[n];
    all.im[n] = careful ? mark_unless_finite(b[n], marks.bits[1], n) : b[n];
  }
#pragma unroll
  for (int k = 0; k < kColumn; ++k) {
    re[k] = all.re[256 * k + thread];
    im[k] = all.im[256 * k + thread];
  }
  __syncthreads();  // others put their columns here
}

/// Multiplies the transform of two blocks by that of the taps, row by row, and turns the rows back.
template <class T>
__device__ __forceinline__ void multiply_rows(const Factors<T>& factors,
                                              const Pair<T>* __restrict__ spectrum,
                                              Planes<T>& all) {
#pragma unroll 1
  for (int task = static_cast<int>(threadIdx.x); task < 2 * kThreads; task += kThreads) {
    T row_re[kRow];
    T row_im[kRow];
    T next_re[kRow];
    T next_im[kRow];
    forward_row(row_re, row_im, task / 16, task % 16, factors, all);
#pragma unroll
    for (int s = 0; s < kRow; ++s) {
      const Pair<T> product = multiply({row_re[place<kRow>(s)], row_im[place<kRow>(s)]},
                                       spectrum[s * 2 * kThreads + task]);
      next_re[s] = product.re;
      next_im[s] = product.im;
    }
    inverse_row(next_re, next_im, task / 16, task % 16, factors, all);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, sizeof(T) == 4 ? 2 : 1)
    convolve_kernel(View<T> x, const Factors<T>* __restrict__ factors_in,
                    const Pair<T>* __restrict__ spectrum, int num_taps, int64_t first_position,
                    int64_t num_outputs, bool adds, T* __restrict__ out) {
  const Factors<T>& factors = *factors_in;
  Planes<T>& all = *reinterpret_cast<Planes<T>*>(shared_bytes);
  Marks& marks = *reinterpret_cast<Marks*>(shared_bytes + sizeof(Planes<T>));
  const int thread = static_cast<int>(threadIdx.x);
  const int skipped = num_taps - 1;
  const int outputs = kPoints - skipped;  // of a block
  const int64_t base = int64_t{blockIdx.x} * 2 * outputs;
  const Stretch<T> a(x, first_position + base - skipped);
  const Stretch<T> b(x, first_position + base + outputs - skipped);
  T re[kColumn];
  T im[kColumn];
  bool careful = false;
  for (;;) {
    read_columns(a, b, careful, re, im, all, marks);
    transform<kColumn>(re, im);
    // Term 0 is the sum of the column: one that is not finite shows there.
    const bool odd = !(re[0] - re[0] == T{0}) || !(im[0] - im[0] == T{0});
    turn_column(re, im, factors, [](int p) { return place<kColumn>(p); });
    move_column<true>(re, im, all);
    if (!__syncthreads_or(odd) || careful) break;
    careful = true;
  }
  multiply_rows(factors, spectrum, all);
  __syncthreads();
  move_column<false>(re, im, all);
  turn_column(im, re, factors, [](int p) { return p; });
  transform<kColumn>(im, re);
  const int64_t left = num_outputs - base;
  T* const here = out + base - skipped + thread;
  if (!adds && !careful && left >= 2 * outputs) {
#pragma unroll
    for (int k = 0; k < kColumn; ++k) {
      if (256 * k + thread < skipped) continue;
      here[256 * k] = re[place<kColumn>(k)];
      here[256 * k + outputs] = im[place<kColumn>(k)];
    }
    return;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kColumn; ++k) {
    all.re[256 * k + thread] = re[place<kColumn>(k)];
    all.im[256 * k + thread] = im[place<kColumn>(k)];
  }
#pragma unroll 1
  for (int n = thread; n < kPoints; n += kThreads)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = n - skipped + half * outputs;
      if (n < skipped || i >= left) continue;
      T value = half == 0 ? all.re[n] : all.im[n];
      if (careful && reaches(marks.bits[half], n, num_taps))
        value = std::numeric_limits<T>::quiet_NaN();
      out[base + i] = adds ? out[base + i] + value : value;
    }
}

template <class Kernel>
void allow_shared(const Kernel& kernel, size_t bytes) {
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(bytes)) == cudaSuccess)
    return;
  cudaGetLastError();
  throw_error<DeviceError>("fft_convolve", "a block does not fit this device's shared memory",
                           {{"bytes", bytes}}, "move the values first: x.to('cpu')");
}

}  // namespace

void fft_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps, Buffer& out) {
  DeviceCall call("fft_convolve", signal.place());
  call.reads(signal.buffer());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  visit_floating(signal.dtype(), [&]<class T>(std::type_identity<T>) {
    const size_t planes = sizeof(Planes<T>);
    allow_shared(prepare_kernel<T>, planes);
    allow_shared(convolve_kernel<T>, planes + sizeof(Marks));
    std::vector<T> counting(static_cast<size_t>(job.num_taps));
    const int64_t stride = taps.is_contiguous() ? 1 : taps.strides()[0];
    for (int64_t k = 0; k < job.num_taps; ++k)
      counting[static_cast<size_t>(k)] = taps.as<T>()[(job.first_tap + k) * stride];
    const Buffer there =
        call.table(counting.data(), job.num_taps * static_cast<int64_t>(sizeof(T)));
    const Buffer factors = call.scratch(static_cast<int64_t>(sizeof(Factors<T>)));
    const Buffer spectrum = call.scratch(kPoints * static_cast<int64_t>(sizeof(Pair<T>)));
    auto* const roots = reinterpret_cast<Factors<T>*>(call.writes(factors));
    auto* const terms = reinterpret_cast<Pair<T>*>(call.writes(spectrum));
    T* const result = call.writes_as<T>(out) + job.first_output;
    const int64_t passes = (job.num_taps + kMostTaps - 1) / kMostTaps;
    const int64_t size = (job.num_taps + passes - 1) / passes;
    for (int64_t begin = 0; begin < job.num_taps; begin += size) {
      const auto count = static_cast<int>(std::min(size, job.num_taps - begin));
      prepare_kernel<T>
          <<<1, kThreads, planes, stream>>>(there.as<T>() + begin, count, roots, terms);
      const unsigned blocks = blocks_of(job.num_outputs, 2 * int64_t{kPoints - count + 1});
      convolve_kernel<T><<<blocks, kThreads, planes + sizeof(Marks), stream>>>(
          view_of<T>(signal), roots, terms, count, job.first_position - begin, job.num_outputs,
          begin > 0, result);
    }
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
