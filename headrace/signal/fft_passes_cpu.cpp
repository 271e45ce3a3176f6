// SPDX-License-Identifier: Apache-2.0
// Passes of Stockham's algorithm over planes of real and imaginary parts. Plain loops that the
// compiler puts in vectors; every level does the same operations on each element.
#define HWY_TARGET_INCLUDE "headrace/signal/fft_passes_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/signal/fft_math.h"
#include "headrace/signal/fft_plan.h"

#include <algorithm>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Planes that one pass reads and the ones that it writes.
template <class T>
struct Planes {
  const T* in_re;
  const T* in_im;
  T* out_re;
  T* out_im;
};

/// Many interleaved sequences: the inner loop runs over them with one set of factors.
template <int R, class T>
void wide_pass(const FftPass& pass, const FactorTable<T>& factors, const Planes<T>& planes) {
  const int64_t s = pass.stride;
  const int64_t m = pass.count;
  const T* cosines = factors.re() + pass.circle;
  const T* sines = factors.im() + pass.circle;
  for (int64_t p = 0; p < m; ++p) {
    T twiddle_re[R];
    T twiddle_im[R];
    for (int k = 1; k < R; ++k) {
      twiddle_re[k] = factors.re()[pass.twiddles + (k - 1) * m + p];
      twiddle_im[k] = factors.im()[pass.twiddles + (k - 1) * m + p];
    }
    const T* __restrict in_re = planes.in_re + s * p;
    const T* __restrict in_im = planes.in_im + s * p;
    T* __restrict out_re = planes.out_re + s * R * p;
    T* __restrict out_im = planes.out_im + s * R * p;
#pragma GCC ivdep
    for (int64_t q = 0; q < s; ++q) {
      Complex<T> a[R];
#pragma GCC unroll 16
      for (int j = 0; j < R; ++j) a[j] = {in_re[q + s * m * j], in_im[q + s * m * j]};
      butterfly<R>(a, cosines, sines);
      out_re[q] = a[0].re;
      out_im[q] = a[0].im;
#pragma GCC unroll 16
      for (int k = 1; k < R; ++k) {
        const Complex<T> product = a[k] * Complex<T>{twiddle_re[k], twiddle_im[k]};
        out_re[q + s * k] = product.re;
        out_im[q + s * k] = product.im;
      }
    }
  }
}

/// Few interleaved sequences: butterflies of all of them side by side, then stored where they
/// belong.
template <int R, class T>
void narrow_pass(const FftPass& pass, const FactorTable<T>& factors, const Planes<T>& planes) {
  constexpr int64_t block = 64;
  const int64_t s = pass.stride;
  const int64_t total = pass.count * s;
  const T* cosines = factors.re() + pass.circle;
  const T* sines = factors.im() + pass.circle;
  const int64_t step = block / s * s;
  for (int64_t first = 0; first < total; first += step) {
    const int64_t width = std::min(step, total - first);
    const T* __restrict in_re = planes.in_re + first;
    const T* __restrict in_im = planes.in_im + first;
    const T* __restrict twiddle_re = factors.re() + pass.twiddles + first;
    const T* __restrict twiddle_im = factors.im() + pass.twiddles + first;
    T re[R][block];
    T im[R][block];
#pragma GCC ivdep
    for (int64_t t = 0; t < width; ++t) {
      Complex<T> a[R];
#pragma GCC unroll 16
      for (int j = 0; j < R; ++j) a[j] = {in_re[t + total * j], in_im[t + total * j]};
      butterfly<R>(a, cosines, sines);
      re[0][t] = a[0].re;
      im[0][t] = a[0].im;
#pragma GCC unroll 16
      for (int k = 1; k < R; ++k) {
        const Complex<T> product =
            a[k] * Complex<T>{twiddle_re[(k - 1) * total + t], twiddle_im[(k - 1) * total + t]};
        re[k][t] = product.re;
        im[k][t] = product.im;
      }
    }
    T* out_re = planes.out_re + first * R;
    T* out_im = planes.out_im + first * R;
    for (int64_t begin = 0; begin < width; begin += s)
      for (int k = 0; k < R; ++k)
        for (int64_t q = 0; q < s; ++q) {
          *out_re++ = re[k][begin + q];
          *out_im++ = im[k][begin + q];
        }
  }
}

template <int R, class T>
void pass_of_radix(const FftPass& pass, const FactorTable<T>& factors, const Planes<T>& planes) {
  if (pass.is_narrow())
    narrow_pass<R>(pass, factors, planes);
  else
    wide_pass<R>(pass, factors, planes);
}

template <class T>
void run_pass(const FftPass& pass, const FactorTable<T>& factors, const Planes<T>& planes) {
  switch (pass.radix) {
    case 2:
      return pass_of_radix<2>(pass, factors, planes);
    case 3:
      return pass_of_radix<3>(pass, factors, planes);
    case 4:
      return pass_of_radix<4>(pass, factors, planes);
    case 5:
      return pass_of_radix<5>(pass, factors, planes);
    case 7:
      return pass_of_radix<7>(pass, factors, planes);
    case 8:
      return pass_of_radix<8>(pass, factors, planes);
    case 11:
      return pass_of_radix<11>(pass, factors, planes);
    default:
      return pass_of_radix<13>(pass, factors, planes);
  }
}

template <class T>
void run_passes(const FftPlan<T>& plan, T* re, T* im, T* scratch) {
  T* other_re = scratch;
  T* other_im = scratch + plan.n;
  T* now_re = re;
  T* now_im = im;
  for (const FftPass& pass : plan.passes) {
    run_pass<T>(pass, plan.factors, {now_re, now_im, other_re, other_im});
    std::swap(now_re, other_re);
    std::swap(now_im, other_im);
  }
  if (now_re != re) {
    std::copy(now_re, now_re + plan.n, re);
    std::copy(now_im, now_im + plan.n, im);
  }
}

/// a[i] = a[i] * b[i].
template <class T>
void multiply(int64_t count, T* __restrict re, T* __restrict im, const T* __restrict by_re,
              const T* __restrict by_im) {
  for (int64_t i = 0; i < count; ++i) {
    const Complex<T> product = Complex<T>{re[i], im[i]} * Complex<T>{by_re[i], by_im[i]};
    re[i] = product.re;
    im[i] = product.im;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// X[k] = c[k] sum over j of (x[j] c[j]) conj(c[k - j]), the sum by transforms of length
/// plan.inner.
template <class T>
void run_bluestein(const FftPlan<T>& plan, T* re, T* im, T* scratch) {
  const int64_t n = plan.n;
  const int64_t length = plan.inner->n;
  T* long_re = scratch;
  T* long_im = scratch + length;
  T* rest = scratch + 2 * length;
  HR_SIMD(multiply<T>)(n, re, im, plan.factors.re(), plan.factors.im());
  std::fill(std::copy(re, re + n, long_re), long_re + length, T{0});
  std::fill(std::copy(im, im + n, long_im), long_im + length, T{0});
  run_fft(*plan.inner, long_re, long_im, rest);
  HR_SIMD(multiply<T>)(length, long_re, long_im, plan.kernel.re(), plan.kernel.im());
  run_fft(*plan.inner, long_im, long_re, rest);  // planes exchanged: the inverse
  std::copy(long_re, long_re + n, re);
  std::copy(long_im, long_im + n, im);
  HR_SIMD(multiply<T>)(n, re, im, plan.factors.re(), plan.factors.im());
}

}  // namespace

template <class T>
void run_fft(const FftPlan<T>& plan, T* re, T* im, T* scratch) {
  if (plan.inner)
    run_bluestein(plan, re, im, scratch);
  else
    HR_SIMD(run_passes<T>)(plan, re, im, scratch);
}

template void run_fft(const FftPlan<float>&, float*, float*, float*);
template void run_fft(const FftPlan<double>&, double*, double*, double*);

}  // namespace hr::cpu
#endif
