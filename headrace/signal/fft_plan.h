// SPDX-License-Identifier: Apache-2.0
// FftPlan: how a complex transform of one length is done, with its tables.
#pragma once
#include "headrace/memory/buffer/buffer.h"
#include "headrace/signal/fft_math.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace hr {

/// Sequences that are transformed side by side: 64 bytes. A block holds one element of each, first
/// the real, then the imaginary parts.
template <class T>
inline constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));

/// Numbers in a block.
template <class T>
inline constexpr int64_t kBlock = 2 * kLanes<T>;

/// One pass of Stockham's algorithm: `count` butterflies of `radix` on each of `stride` interleaved
/// sequences of blocks.
struct FftPass {
  int64_t radix;
  int64_t stride;
  int64_t count;
  int64_t circle;    ///< where cosines and sines of an odd butterfly begin in the factors
  int64_t twiddles;  ///< where the factors begin: radix - 1 pairs for each of `count`
};

/// A transform of kLanes sequences of blocks at once; the prime factors of `n` are at most 31.
template <class T>
struct LanePlan {
  explicit LanePlan(int64_t length = 1);

  int64_t n;
  std::vector<FftPass> passes;
  Buffer factors;
};

/// exp(-2 pi i k / n) for 0 <= k <= last as coarse[k / run] (1 + fine[k % run]): two small tables
/// instead of one of n, and less than an ulp from the exact root, since `fine` is small.
template <class T>
struct RootTable {
  explicit RootTable(int64_t n = 1, int64_t last = 0);

  Complex<T> coarse(int64_t k) const { return {data[k >> shift], data[coarse_im + (k >> shift)]}; }

  Complex<T> operator[](int64_t k) const {
    const Complex<T> c = coarse(k);
    const int64_t at = k & ((int64_t{1} << shift) - 1);
    return c + c * Complex<T>{data[fine_re + at], data[fine_im + at]};
  }

  Buffer buffer;
  const T* data;
  int shift;  ///< run = 2^shift, at least kLanes
  int64_t coarse_im;
  int64_t fine_re;
  int64_t fine_im;
};

/// A plan in T (float or double) for one length; immutable, shared by threads. One of:
/// - short: `rows` transforms kLanes rows side by side;
/// - long: a row is n1 x n2 numbers; kLanes columns at a time, then kLanes rows of the result;
/// - Bluestein's method, for lengths with a prime factor above 31: a convolution with a chirp, done
///   by `inner`, which is short or long.
template <class T>
struct FftPlan {
  explicit FftPlan(int64_t length);

  bool is_short() const { return inner ? inner->is_short() : n2 == 1; }

  int64_t table_bytes() const;

  int64_t n;
  int64_t n1 = 1;
  int64_t n2 = 1;
  LanePlan<T> columns;  ///< of n1: all of a short plan
  LanePlan<T> rows;     ///< of n2
  /// Column j of row k is multiplied by root j k: roots[j0 k] (1 + offsets[k][j - j0]), where j0 is
  /// the first column of a block.
  RootTable<double> roots;
  Buffer offsets;

  std::shared_ptr<const FftPlan> inner;
  Buffer chirp;   ///< exp(-pi i k^2 / n) in pairs
  Buffer kernel;  ///< the transform of its conjugate over inner->n, in pairs
};

/// exp(-2 pi i k / n) for 0 <= k <= n / 2, n even: joins the halves of a real transform.
template <class T>
struct HalfCircle {
  explicit HalfCircle(int64_t length) : n(length), roots(length, length / 2) {}

  int64_t table_bytes() const { return roots.buffer.size_bytes(); }

  int64_t n;
  RootTable<T> roots;
};

/// The plan for a length >= 1, made now or kept from an earlier call. Thread-safe.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n);
template <class T>
std::shared_ptr<const HalfCircle<T>> half_circle(int64_t n);

}  // namespace hr
