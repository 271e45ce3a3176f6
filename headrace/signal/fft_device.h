// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: a transform of 2^k numbers, 8 or more, in the registers of n / 8 threads
// (Stockham's algorithm by passes of 8; N. Govindaraju and others, SC 2008).
#pragma once
#include "headrace/signal/fft_math.h"

#include <cstdint>

namespace hr::cuda {

/// Numbers of each thread: thread j has elements j + q n / 8.
inline constexpr int kFftOwn = 8;

/// Where element i of a line lies in a plane of shared memory: no two threads meet in a bank.
__device__ __forceinline__ int fft_slot(int i) {
  return i + (i >> 4);
}

/// Numbers of a plane for a line.
__host__ __device__ constexpr int fft_plane(int n) {
  return n + n / 16 + 1;
}

template <class T>
__device__ __forceinline__ Complex<T> fused_times(Complex<T> a, Complex<T> b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}

/// One pass of radix R; `before`: the product of the radices before.
template <int R, class T>
__device__ __forceinline__ void fft_pass(Complex<T> (&a)[kFftOwn], int j, int n, int before,
                                         const Complex<T>* __restrict__ roots) {
  constexpr int kButterflies = kFftOwn / R;
  const int step = n / (before * R);
#pragma unroll
  for (int m = 0; m < kButterflies; ++m) {
    const int place = (j + m * (n / kFftOwn)) & (before - 1);
    Complex<T> own[R];
    own[0] = a[m];
    const Complex<T> first = before == 1 ? Complex<T>{1, 0} : roots[place * step];
    Complex<T> root = first;
#pragma unroll
    for (int r = 1; r < R; ++r) {  // powers of one root: others would be read all over the table
      own[r] = fused_times(a[m + kButterflies * r], root);
      if (r + 1 < R) root = fused_times(root, first);
    }
    butterfly<R>(own, static_cast<const T*>(nullptr), static_cast<const T*>(nullptr));
#pragma unroll
    for (int r = 0; r < R; ++r) a[m + kButterflies * r] = own[r];
  }
}

/// The results of that pass to their places, and each thread's numbers for the next.
template <int R, class T>
__device__ __forceinline__ void fft_exchange(Complex<T> (&a)[kFftOwn], int j, int n, int before,
                                             T* re, T* im) {
  constexpr int kButterflies = kFftOwn / R;
  __syncthreads();
#pragma unroll
  for (int m = 0; m < kButterflies; ++m) {
    const int b = j + m * (n / kFftOwn);
    const int place = b & (before - 1);
    const int first = (b - place) * R + place;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int slot = fft_slot(first + r * before);
      re[slot] = a[m + kButterflies * r].re;
      im[slot] = a[m + kButterflies * r].im;
    }
  }
  __syncthreads();
#pragma unroll
  for (int q = 0; q < kFftOwn; ++q) {
    const int slot = fft_slot(j + q * (n / kFftOwn));
    a[q] = {re[slot], im[slot]};
  }
}

/// Transforms the numbers of a line, in order before and after. All threads of the block call it;
/// `re` and `im` are the line's planes in shared memory, roots[k] is exp(-2 pi i k / n).
template <class T>
__device__ void fft_line(Complex<T> (&a)[kFftOwn], int j, int n,
                         const Complex<T>* __restrict__ roots, T* re, T* im) {
  int before = 1;
  for (; before * 8 <= n; before *= 8) {
    if (before > 1) fft_exchange<8>(a, j, n, before / 8, re, im);
    fft_pass<8>(a, j, n, before, roots);
  }
  if (before == n) return;
  fft_exchange<8>(a, j, n, before / 8, re, im);
  if (before * 4 == n)
    fft_pass<4>(a, j, n, before, roots);
  else
    fft_pass<2>(a, j, n, before, roots);
}

/// Of one block or more: the roots of a line of n.
template <class T>
__global__ void fft_roots_kernel(int n, Complex<T>* __restrict__ roots) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= n) return;
  double s, c;
  sincospi(-2.0 * k / n, &s, &c);
  roots[k] = {static_cast<T>(c), static_cast<T>(s)};
}

}  // namespace hr::cuda
