// SPDX-License-Identifier: Apache-2.0
// FftPlan: how a complex transform of one length is done, with its tables.
#pragma once
#include "headrace/memory/buffer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace hr {

/// Passes with fewer interleaved sequences run over butterflies and sequences together.
inline constexpr int64_t kNarrowStride = 8;

/// One pass of Stockham's algorithm: `count` butterflies of `radix` on each of `stride` interleaved
/// sequences.
struct FftPass {
  int64_t radix;
  int64_t stride;
  int64_t count;
  int64_t circle;    ///< where the roots of an odd butterfly begin in the tables
  int64_t twiddles;  ///< where the factors begin: radix - 1 rows of `row`

  bool is_narrow() const { return stride < kNarrowStride; }

  /// Length of a row of factors; a narrow pass has one a butterfly and sequence.
  int64_t row() const { return is_narrow() ? count * stride : count; }
};

/// A table of complex factors as two planes.
template <class T>
struct FactorTable {
  explicit FactorTable(int64_t count = 0);

  const T* re() const { return buffer.as<T>(); }

  const T* im() const { return buffer.as<T>() + size; }

  Buffer buffer;
  int64_t size;
};

/// A plan in T (float or double) for one length; immutable, shared by threads.
template <class T>
struct FftPlan {
  explicit FftPlan(int64_t length);

  /// Elements of scratch that a transform needs beside its own 2 n.
  int64_t scratch_size() const { return inner ? 2 * inner->n + inner->scratch_size() : 2 * n; }

  int64_t table_bytes() const { return factors.buffer.size_bytes() + kernel.buffer.size_bytes(); }

  int64_t n;
  std::vector<FftPass> passes;
  FactorTable<T> factors;  ///< (cos, -sin) for twiddles, (cos, sin) for circles

  // Bluestein's method, for lengths with a prime factor above 13: a convolution with a chirp, done
  // by a longer transform. `factors` is then the chirp exp(-pi i k^2 / n), `kernel` the transform
  // of its conjugate.
  std::shared_ptr<const FftPlan> inner;
  FactorTable<T> kernel;
};

/// exp(-2 pi i k / n) for 0 <= k <= n / 2, n even: joins the halves of a real transform.
template <class T>
struct HalfCircle {
  explicit HalfCircle(int64_t length);

  int64_t table_bytes() const { return factors.buffer.size_bytes(); }

  int64_t n;
  FactorTable<T> factors;
};

/// The plan for a length >= 1, made now or kept from an earlier call. Thread-safe.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n);
template <class T>
std::shared_ptr<const HalfCircle<T>> half_circle(int64_t n);

namespace cpu {
/// Transforms the planes `re` and `im` in place, forward; exchange them for the inverse direction.
/// `scratch` holds plan.scratch_size() elements.
template <class T>
void run_fft(const FftPlan<T>& plan, T* re, T* im, T* scratch);
}  // namespace cpu

}  // namespace hr
