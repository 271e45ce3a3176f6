// SPDX-License-Identifier: Apache-2.0
// Direct sums for few taps. A vector of the signal that begins k samples before an output vector is
// also what a later output needs for a tap that is later by as much: taps are taken in the order 0,
// S, 2S, 3S, 1, S + 1, ... (S samples fill 64 bytes), so that few loads, which cross cache lines,
// serve many products. Each element sees the same operations at every level.
#define HWY_TARGET_INCLUDE "headrace/signal/fft_convolve_direct_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/base/simd_vectors.h"
#include "headrace/exec/workers.h"
#include "headrace/signal/fft_convolve_input.h"
#include "headrace/signal/fft_convolve_kernels.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

/// Output vectors that are summed at a time, and the taps for each of them.
constexpr int64_t kSums = 8;
constexpr int64_t kTapsAtATime = 4;
/// Samples between these taps.
template <class T>
inline constexpr int64_t kStep = 64 / static_cast<int64_t>(sizeof(T));

/// Keeps a vector in a register: g++ would load it anew for each product.
template <class Vec>
__attribute__((always_inline)) inline void hold(Vec& x) {
#if HWY_TARGET == HWY_AVX3 && defined(__x86_64__)
  asm("" : "+v"(x));
#else
  static_cast<void>(x);  // with 16 registers there is no room
#endif
}

/// sum[u] += taps[k + q S] x[u - k - q S] for q = 0 ... Q - 1, then the next k, up to `last`.
template <int64_t Q, class T>
__attribute__((always_inline)) inline void add_taps(int64_t first, int64_t last, const T* taps,
                                                    const T* x, Vector<T>* sum) {
  constexpr int64_t S = kStep<T>;
  constexpr int64_t V = kWidth<T>;
  constexpr int64_t window = kSums + (Q - 1) * (S / V);
  for (int64_t k = first; k < last; ++k) {
    Vector<T> part[window];
#pragma GCC unroll 32
    for (int64_t j = 0; j < window; ++j) {
      part[j] = load(x - k - (Q - 1) * S + j * V);
      hold(part[j]);
    }
#pragma GCC unroll 4
    for (int64_t q = 0; q < Q; ++q) {
      const T tap = taps[k + q * S];
#pragma GCC unroll 8
      for (int64_t u = 0; u < kSums; ++u) sum[u] += part[u + (Q - 1 - q) * (S / V)] * tap;
    }
  }
}

/// out[i] = sum over k of taps[k] x[i - k]; Q = number of the last taps that are S apart.
template <int64_t Q, class T>
void sum_taps(int64_t num_taps, const T* taps, const T* x, int64_t count, T* out) {
  constexpr int64_t S = kStep<T>;
  constexpr int64_t V = kWidth<T>;
  const int64_t whole = num_taps - num_taps % (kTapsAtATime * S);
  for (int64_t i = 0; i < count; i += kSums * V) {
    Vector<T> sum[kSums] = {};
    for (int64_t k = 0; k < whole; k += kTapsAtATime * S)
      add_taps<kTapsAtATime>(0, S, taps + k, x + i - k, sum);
    if constexpr (Q > 0) {
      const int64_t longer = num_taps - whole - (Q - 1) * S;
      add_taps<Q>(0, longer, taps + whole, x + i - whole, sum);
      if constexpr (Q > 1) add_taps<Q - 1>(longer, S, taps + whole, x + i - whole, sum);
    }
#pragma GCC unroll 8
    for (int64_t u = 0; u < kSums; ++u) store(sum[u], out + i + u * V);
  }
}

/// `count` is a multiple of kDirectTile.
template <class T>
void sum_any_taps(int64_t num_taps, const T* taps, const T* x, int64_t count, T* out) {
  constexpr int64_t S = kStep<T>;
  switch ((num_taps % (kTapsAtATime * S) + S - 1) / S) {
    case 0:
      return sum_taps<0>(num_taps, taps, x, count, out);
    case 1:
      return sum_taps<1>(num_taps, taps, x, count, out);
    case 2:
      return sum_taps<2>(num_taps, taps, x, count, out);
    case 3:
      return sum_taps<3>(num_taps, taps, x, count, out);
    default:
      return sum_taps<4>(num_taps, taps, x, count, out);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

namespace {

/// Outputs that the widest vectors sum at a time.
template <class T>
inline constexpr int64_t kDirectTile = 8 * 64 / static_cast<int64_t>(sizeof(T));

/// Outputs of a block of the signal.
constexpr int64_t kDirectRows = 8192;

template <class T>
void direct(const ConvolveJob& job, const StridedView<T>& signal, const StridedView<T>& all_taps,
            Buffer& result) {
  T* const out = result.mutable_as<T>() + job.first_output;
  T taps[kMostDirectTaps];
  fetch(all_taps, job.first_tap, job.num_taps, taps);
  const int64_t before = job.num_taps - 1;
  static_assert(kDirectRows % kDirectTile<T> == 0);
  const auto sum_block = [&](int64_t begin, int64_t count) {
    const int64_t whole = count / kDirectTile<T> * kDirectTile<T>;
    const int64_t first = job.first_position + begin - before;
    {
      T block[kDirectRows + kMostDirectTaps];
      const T* x = fetch_or_borrow(signal, first, whole + before, block);
      HR_SIMD(sum_any_taps<T>)(job.num_taps, taps, x + before, whole, out + begin);
    }
    if (whole == count) return;
    T block[kDirectTile<T> + kMostDirectTaps];
    T sums[kDirectTile<T>];
    fetch(signal, first + whole, kDirectTile<T> + before, block);
    HR_SIMD(sum_any_taps<T>)(job.num_taps, taps, block + before, kDirectTile<T>, sums);
    std::copy(sums, sums + count - whole, out + begin + whole);
  };
  parallel_morsels(job.num_outputs, accesses_of(job, signal, result), [&](Morsel morsel) {
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kDirectRows)
      sum_block(begin, std::min(kDirectRows, morsel.end - begin));
  });
}

}  // namespace

void direct_convolve(const ConvolveJob& job, const Tensor& signal, const Tensor& taps,
                     Buffer& out) {
  visit_floating(signal.dtype(), [&]<class T>(std::type_identity<T>) {
    direct(job, StridedView<T>(signal), StridedView<T>(taps), out);
  });
}

}  // namespace hr::cpu
#endif
