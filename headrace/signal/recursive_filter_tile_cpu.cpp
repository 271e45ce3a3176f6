// SPDX-License-Identifier: Apache-2.0
// Tiles of recursive filters: 16 stretches of samples run side by side in the lanes of vectors.
// Each lane sees the operations of the plain recurrence, whatever the width of a vector.
#define HWY_TARGET_INCLUDE "headrace/signal/recursive_filter_tile_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_vectors.h"
//
#include "headrace/signal/recursive_filter_kernels.h"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

using cpu::has_feedback;
using cpu::kFilterLanes;
constexpr int64_t kLanes = kFilterLanes;

/// The samples of each row, sample by sample; rows that lie backwards in memory when `reversed`.
void pack_tile(const double* const* rows, bool reversed, int64_t count, double* tile) {
  constexpr int64_t V = kWidth<double>;
  const int64_t whole = count - count % V;
  for (int64_t lane = 0; lane < kLanes; lane += V) {
    for (int64_t t = 0; t < whole; t += V) {
      Vector<double> x[V];
      load_transposed<double>([&](int64_t u) { return rows[lane + u] + t; }, x);
#pragma GCC unroll 8
      for (int64_t u = 0; u < V; ++u)
        store(x[u], tile + (reversed ? count - 1 - t - u : t + u) * kLanes + lane);
    }
    for (int64_t t = whole; t < count; ++t)
      for (int64_t u = lane; u < lane + V; ++u)
        tile[(reversed ? count - 1 - t : t) * kLanes + u] = rows[u][t];
  }
}

/// Undoes `pack_tile`.
void unpack_tile(const double* tile, bool reversed, int64_t count, double* const* rows) {
  constexpr int64_t V = kWidth<double>;
  const int64_t whole = count - count % V;
  for (int64_t lane = 0; lane < kLanes; lane += V) {
    for (int64_t t = 0; t < whole; t += V) {
      Vector<double> x[V];
#pragma GCC unroll 8
      for (int64_t u = 0; u < V; ++u)
        x[u] = load(tile + (reversed ? count - 1 - t - u : t + u) * kLanes + lane);
      transpose<double>(x);
#pragma GCC unroll 8
      for (int64_t u = 0; u < V; ++u) store(x[u], rows[lane + u] + t);
    }
    for (int64_t t = whole; t < count; ++t)
      for (int64_t u = lane; u < lane + V; ++u)
        rows[u][t] = tile[(reversed ? count - 1 - t : t) * kLanes + u];
  }
}

/// One section of `order` over a tile in place. `groups` vectors at a time hide the latency of the
/// recurrence, as far as their states fit in registers.
/// Without feedback what is not finite leaves the state again.
template <int64_t order, int64_t groups>
void filter_tile(const double* b, const double* a, int64_t count, double* tile, double* state) {
  constexpr int64_t V = kWidth<double>;
  const bool feedback = has_feedback(order, a);
  for (int64_t lane = 0; lane < kLanes; lane += groups * V) {
    Vector<double> z[order][groups];
#pragma GCC unroll 8
    for (int64_t i = 0; i < order; ++i)
#pragma GCC unroll 4
      for (int64_t g = 0; g < groups; ++g) z[i][g] = load(state + i * kLanes + lane + g * V);
    for (int64_t t = 0; t < count; ++t) {
      double* at = tile + t * kLanes + lane;
      Vector<double> x[groups];
      Vector<double> y[groups];
#pragma GCC unroll 4
      for (int64_t g = 0; g < groups; ++g) {
        x[g] = load(at + g * V);
        y[g] = z[0][g] + x[g] * b[0];
        store(y[g], at + g * V);
        if (!feedback) y[g] = Vector<double>{};
      }
#pragma GCC unroll 8
      for (int64_t i = 0; i + 1 < order; ++i)
#pragma GCC unroll 4
        for (int64_t g = 0; g < groups; ++g)
          z[i][g] = z[i + 1][g] + x[g] * b[i + 1] - y[g] * a[i + 1];
#pragma GCC unroll 4
      for (int64_t g = 0; g < groups; ++g) z[order - 1][g] = x[g] * b[order] - y[g] * a[order];
    }
#pragma GCC unroll 8
    for (int64_t i = 0; i < order; ++i)
#pragma GCC unroll 4
      for (int64_t g = 0; g < groups; ++g) store(z[i][g], state + i * kLanes + lane + g * V);
  }
}

void filter_tile_of_any_order(const double* b, const double* a, int64_t order, int64_t count,
                              double* tile, double* state) {
  constexpr int64_t V = kWidth<double>;
  const bool feedback = has_feedback(order, a);
  for (int64_t t = 0; t < count; ++t)
    for (int64_t lane = 0; lane < kLanes; lane += V) {
      double* at = tile + t * kLanes + lane;
      double* z = state + lane;
      const Vector<double> x = load(at);
      Vector<double> y = order == 0 ? x * b[0] : load(z) + x * b[0];
      store(y, at);
      if (!feedback) y = Vector<double>{};
      for (int64_t i = 0; i + 1 < order; ++i)
        store(load(z + (i + 1) * kLanes) + x * b[i + 1] - y * a[i + 1], z + i * kLanes);
      if (order > 0) store(x * b[order] - y * a[order], z + (order - 1) * kLanes);
    }
}

void filter_tile_by_order(const double* b, const double* a, int64_t order, int64_t count,
                          double* tile, double* state) {
  constexpr int64_t all = std::min<int64_t>(4, kLanes / kWidth<double>);
  switch (order) {
    case 1:
      return filter_tile<1, all>(b, a, count, tile, state);
    case 2:
      return filter_tile<2, all>(b, a, count, tile, state);
    case 3:
      return filter_tile<3, 2>(b, a, count, tile, state);
    case 4:
      return filter_tile<4, 2>(b, a, count, tile, state);
    case 5:
      return filter_tile<5, 2>(b, a, count, tile, state);
    case 6:
      return filter_tile<6, 2>(b, a, count, tile, state);
    case 7:
      return filter_tile<7, 1>(b, a, count, tile, state);
    case 8:
      return filter_tile<8, 1>(b, a, count, tile, state);
    default:
      return filter_tile_of_any_order(b, a, order, count, tile, state);
  }
}

/// All sections; `state` holds kLanes numbers for each number of a line's state.
void filter_tile_by_sections(const FilterSections& sections, int64_t count, double* tile,
                             double* state) {
  const int64_t order = sections.order;
  for (int64_t s = 0; s < sections.count(); ++s)
    filter_tile_by_order(sections.numerators.data() + s * (order + 1),
                         sections.denominators.data() + s * (order + 1), order, count, tile,
                         state + s * order * kLanes);
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

void pack_tile(const double* const* rows, bool reversed, int64_t count, double* tile) {
  HR_SIMD(pack_tile)(rows, reversed, count, tile);
}

void unpack_tile(const double* tile, bool reversed, int64_t count, double* const* rows) {
  HR_SIMD(unpack_tile)(tile, reversed, count, rows);
}

void filter_tile(const FilterSections& sections, int64_t count, double* tile, double* state) {
  HR_SIMD(filter_tile_by_sections)(sections, count, tile, state);
}

}  // namespace hr::cpu
#endif
