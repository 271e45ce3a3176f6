// SPDX-License-Identifier: Apache-2.0
// Passes of Stockham's algorithm over one short row, in planes of real and imaginary parts: vectors
// run along the row where its sequences are long enough. Each element sees the operations that it
// sees among other rows in lanes, so the bits are the same.
#define HWY_TARGET_INCLUDE "headrace/signal/fft_single_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/base/simd_vectors.h"
#include "headrace/signal/fft_batched.h"

#include <utility>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Where a butterfly reads and writes; the imaginary parts lie `plane` behind the real ones.
template <class T>
struct Places {
  const T* in;
  T* out;
  int64_t in_step;
  int64_t out_step;
  int64_t plane;
};

/// Butterflies of as many sequences as Vec holds, of one when `single`. Single ones fill a vector
/// too: g++ 12 fuses products of a real and an imaginary part side by side with their sums,
/// whatever -ffp-contract says, and the bits would differ between levels. R = 0: any odd radix.
template <class Vec, int R, bool last, bool single, class T>
__attribute__((always_inline)) inline void run_butterfly(int radix, const Places<T>& at, int64_t q,
                                                         const T* twiddles, const T* cosines) {
  Complex<Vec> a[R > 0 ? R : kLargestRadix];
#pragma GCC unroll 16
  for (int j = 0; j < radix; ++j) {
    const T* from = at.in + j * at.in_step + q;
    if constexpr (single) {
      a[j] = {broadcast(from[0]), broadcast(from[at.plane])};
    } else {
      __builtin_memcpy(&a[j].re, from, sizeof(Vec));
      __builtin_memcpy(&a[j].im, from + at.plane, sizeof(Vec));
    }
  }
  if constexpr (R > 0)
    butterfly<R>(a, cosines, cosines + radix);
  else
    odd_butterfly(radix, a, cosines, cosines + radix);
#pragma GCC unroll 16
  for (int k = 0; k < radix; ++k) {
    if constexpr (!last)
      if (k > 0) a[k] = times(a[k], twiddles[2 * k - 2], twiddles[2 * k - 1]);
    T* to = at.out + k * at.out_step + q;
    if constexpr (single) {
      to[0] = a[k].re[0];
      to[at.plane] = a[k].im[0];
    } else {
      __builtin_memcpy(to, &a[k].re, sizeof(Vec));
      __builtin_memcpy(to + at.plane, &a[k].im, sizeof(Vec));
    }
  }
}

template <class T>
struct HalfVectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes / 2)));
};

template <int R, bool last, class T>
void run_pass(const FftPass& pass, const T* factors, int64_t n, const T* in, T* out) {
  const int radix = R > 0 ? R : static_cast<int>(pass.radix);
  const int64_t s = pass.stride;
  const int64_t m = last ? 1 : pass.count;
  for (int64_t p = 0; p < m; ++p) {
    const T* twiddles = factors + pass.twiddles + p * 2 * (radix - 1);
    const Places<T> at{in + s * p, out + s * radix * p, s * m, s, n};
    int64_t q = 0;
    for (; q + kWidth<T> <= s; q += kWidth<T>)
      run_butterfly<Vector<T>, R, last, false>(radix, at, q, twiddles, factors + pass.circle);
    if constexpr (kWidth<T> >= 4)
      if (q + kWidth<T> / 2 <= s) {
        run_butterfly<typename HalfVectorOf<T>::type, R, last, false>(radix, at, q, twiddles,
                                                                      factors + pass.circle);
        q += kWidth<T> / 2;
      }
    for (; q < s; ++q)
      run_butterfly<Vector<T>, R, last, true>(radix, at, q, twiddles, factors + pass.circle);
  }
}

template <class T>
auto function_of(const FftPass& pass) {
  return cpu::visit_radix(pass.radix, [&]<int R>(std::integral_constant<int, R>) {
    return pass.count == 1 ? &run_pass<R, true, T> : &run_pass<R, false, T>;
  });
}

template <class T>
void run_alone(const LanePlan<T>& plan, bool exchanged, T scale, const T* in, T* out, T* work) {
  constexpr int64_t V = kWidth<T>;
  const int64_t n = plan.n;
  const int64_t first = exchanged ? n : 0;
  T* a = work;
  T* b = work + 2 * n;
  int64_t k = 0;
  for (; k + V <= n; k += V) {
    Vector<T> re = load(in + 2 * k);
    Vector<T> im = load(in + 2 * k + V);
    split_pairs<T>(re, im);
    store(re, a + first + k);
    store(im, a + n - first + k);
  }
  for (; k < n; ++k) {
    a[first + k] = in[2 * k];
    a[n - first + k] = in[2 * k + 1];
  }
  const T* factors = plan.factors.template as<T>();
  for (const FftPass& pass : plan.passes) {
    function_of<T>(pass)(pass, factors, n, a, b);
    std::swap(a, b);
  }
  for (k = 0; k + V <= n; k += V) {
    Vector<T> re = load(a + first + k) * scale;
    Vector<T> im = load(a + n - first + k) * scale;
    join_pairs<T>(re, im);
    store(re, out + 2 * k);
    store(im, out + 2 * k + V);
  }
  for (; k < n; ++k) {
    out[2 * k] = a[first + k] * scale;
    out[2 * k + 1] = a[n - first + k] * scale;
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class T>
void run_alone(const LanePlan<T>& plan, bool exchanged, T scale, const T* in, T* out, T* work) {
  HR_SIMD(run_alone<T>)(plan, exchanged, scale, in, out, work);
}

template void run_alone(const LanePlan<float>&, bool, float, const float*, float*, float*);
template void run_alone(const LanePlan<double>&, bool, double, const double*, double*, double*);

}  // namespace hr::cpu
#endif
