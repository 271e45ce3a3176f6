// SPDX-License-Identifier: Apache-2.0
// Butterflies: discrete Fourier transforms of 2 to 31 numbers with exponent -2 pi i j k / R.
#pragma once
#include "headrace/base/api.h"

#include <type_traits>

namespace hr {

// Always inline: the caller's SIMD level is then theirs too. T is a number or a vector of them.
#define HR_BUTTERFLY __attribute__((always_inline)) HR_BOTH inline

#ifdef __CUDACC__  // which unrolls loops of a known length unasked
#define HR_UNROLL(count)
#else
#define HR_PRAGMA(words) _Pragma(#words)
#define HR_UNROLL(count) HR_PRAGMA(GCC unroll count)
#endif

template <class T>
struct Complex {
  T re;
  T im;
};

template <class T>
HR_BUTTERFLY Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}

template <class T>
HR_BUTTERFLY Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}

/// g++ 12 fuses the products of a real and an imaginary part side by side with their sum, whatever
/// -ffp-contract says, where the level has such instructions; so single products are hidden.
template <class T>
HR_BUTTERFLY T apart(T product) {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_floating_point_v<T>) asm("" : "+x"(product));
#endif
  return product;
}

/// a (re + i im).
template <class T, class S>
HR_BUTTERFLY Complex<T> times(Complex<T> a, S re, S im) {
  return {a.re * re - apart(a.im * im), a.re * im + apart(a.im * re)};
}

template <class T>
HR_BUTTERFLY Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return times(a, b.re, b.im);
}

/// -i a.
template <class T>
HR_BUTTERFLY Complex<T> turn(Complex<T> a) {
  return {a.im, -a.re};
}

template <class T>
HR_BUTTERFLY void butterfly2(Complex<T>& a, Complex<T>& b) {
  const Complex<T> sum = a + b;
  b = a - b;
  a = sum;
}

template <class T>
HR_BUTTERFLY void butterfly4(Complex<T>& a, Complex<T>& b, Complex<T>& c, Complex<T>& d) {
  butterfly2(a, c);
  butterfly2(b, d);
  d = turn(d);
  butterfly2(a, b);
  butterfly2(c, d);
  const Complex<T> swap = b;  // order of the results: 0, 1, 2, 3
  b = c;
  c = swap;
}

/// Transforms `a[0 ... R - 1]` in place. `cosines` and `sines` of 2 pi j / R, j < R, are read for
/// odd R only; S is the number type.
template <int R, class S, class T>
HR_BUTTERFLY void butterfly(Complex<T>* a, const S* cosines, const S* sines) {
  if constexpr (R == 2) {
    butterfly2(a[0], a[1]);
  } else if constexpr (R == 4) {
    butterfly4(a[0], a[1], a[2], a[3]);
  } else if constexpr (R == 8) {
    constexpr S half_root = static_cast<S>(0.70710678118654752440);
    butterfly4(a[0], a[2], a[4], a[6]);
    butterfly4(a[1], a[3], a[5], a[7]);
    a[3] = {(a[3].re + a[3].im) * half_root, (a[3].im - a[3].re) * half_root};
    a[5] = turn(a[5]);
    a[7] = {(a[7].im - a[7].re) * half_root, -((a[7].re + a[7].im) * half_root)};
    const Complex<T> even[4] = {a[0], a[2], a[4], a[6]};
    const Complex<T> odd[4] = {a[1], a[3], a[5], a[7]};
    HR_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      a[k] = even[k] + odd[k];
      a[k + 4] = even[k] - odd[k];
    }
  } else {
    // Pairs j and R - j share their cosines; the sines differ in sign.
    constexpr int half = R / 2;
    Complex<T> sum[half];
    Complex<T> difference[half];
    Complex<T> total = a[0];
    HR_UNROLL(16)
    for (int j = 0; j < half; ++j) {
      sum[j] = a[j + 1] + a[R - 1 - j];
      difference[j] = a[j + 1] - a[R - 1 - j];
      total = total + sum[j];
    }
    const Complex<T> first = a[0];
    a[0] = total;
    HR_UNROLL(16)
    for (int k = 1; k <= half; ++k) {
      Complex<T> even = {first.re + sum[0].re * cosines[k], first.im + sum[0].im * cosines[k]};
      Complex<T> odd = {difference[0].re * sines[k], difference[0].im * sines[k]};
      HR_UNROLL(16)
      for (int j = 1; j < half; ++j) {
        const int turns = (j + 1) * k % R;
        even = {even.re + sum[j].re * cosines[turns], even.im + sum[j].im * cosines[turns]};
        odd = {odd.re + difference[j].re * sines[turns], odd.im + difference[j].im * sines[turns]};
      }
      a[k] = even + turn(odd);
      a[R - k] = even - turn(odd);
    }
  }
}

inline constexpr int kLargestRadix = 31;

/// As `butterfly`, for an odd radix up to kLargestRadix that is known at run time.
template <class S, class T>
HR_BUTTERFLY void odd_butterfly(int radix, Complex<T>* a, const S* cosines, const S* sines) {
  const int half = radix / 2;
  Complex<T> sum[kLargestRadix / 2];
  Complex<T> difference[kLargestRadix / 2];
  const Complex<T> first = a[0];
  for (int j = 0; j < half; ++j) {
    sum[j] = a[j + 1] + a[radix - 1 - j];
    difference[j] = a[j + 1] - a[radix - 1 - j];
    a[0] = a[0] + sum[j];
  }
  for (int k = 1; k <= half; ++k) {
    Complex<T> even = {first.re + sum[0].re * cosines[k], first.im + sum[0].im * cosines[k]};
    Complex<T> odd = {difference[0].re * sines[k], difference[0].im * sines[k]};
    int turns = k;
    for (int j = 1; j < half; ++j) {
      turns += k;
      if (turns >= radix) turns -= radix;
      even = {even.re + sum[j].re * cosines[turns], even.im + sum[j].im * cosines[turns]};
      odd = {odd.re + difference[j].re * sines[turns], odd.im + difference[j].im * sines[turns]};
    }
    a[k] = even + turn(odd);
    a[radix - k] = even - turn(odd);
  }
}

/// Terms k and half - k of a transform of `half` numbers, which were the even and odd elements of a
/// real row as real and imaginary parts, become those of the row's transform. `root` is
/// exp(-pi i k / half); `scale` is on twice the result.
template <class T, class C, class S>
HR_BUTTERFLY void rfft_join(Complex<T>& a, Complex<T>& b, C root, S scale) {
  const Complex<T> even{a.re + b.re, a.im - b.im};
  const Complex<T> odd = times(Complex<T>{a.im + b.im, b.re - a.re}, root.re, root.im);
  a = {(even.re + odd.re) * scale, (even.im + odd.im) * scale};
  b = {(even.re - odd.re) * scale, (odd.im - even.im) * scale};
}

/// Undoes `rfft_join`; the result is twice as large.
template <class T, class C>
HR_BUTTERFLY void irfft_split(Complex<T>& a, Complex<T>& b, C root) {
  const Complex<T> even{a.re + b.re, a.im - b.im};
  const Complex<T> odd = times(Complex<T>{a.re - b.re, a.im + b.im}, root.re, -root.im);
  a = {even.re - odd.im, even.im + odd.re};
  b = {even.re + odd.im, odd.re - even.im};
}

#undef HR_BUTTERFLY
#undef HR_UNROLL

}  // namespace hr
