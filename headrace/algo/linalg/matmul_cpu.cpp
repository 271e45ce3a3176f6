// SPDX-License-Identifier: Apache-2.0
// Packs panels and multiplies them in tiles that stay in registers.
#define HWY_TARGET_INCLUDE "headrace/algo/linalg/matmul_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/base/simd_fused.h"
//
#include "headrace/base/simd_vectors.h"
//
#include "headrace/algo/linalg/matmul_kernels.h"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Of the registers, sums take 24 of 32, or 12 of 16.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = 8;
#endif
constexpr int kTileVectors = 2;
constexpr int64_t kIntegerColumns = 8;
constexpr int64_t kPanelsAtOnce = 4;
constexpr int64_t kFetchAhead = 16;  // steps of a left panel: 88 to 98 GFLOP/s on AVX-512

template <class T>
constexpr int64_t tile_columns() {
  if constexpr (std::is_integral_v<T>)
    return kIntegerColumns;
  else
    return kTileVectors * static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
}

int64_t tile_rows() {
  return kTileRows;
}

template <class T>
int64_t tile_width() {
  return tile_columns<T>();
}

/// The lanes of `sum` that `columns` has, to `to` on.
template <class D, class V, class T>
HWY_INLINE void put(D tag, V sum, int64_t columns, T* to, Update update) {
  if (columns >= static_cast<int64_t>(hn::MaxLanes(tag))) {
    if (update == Update::kAdd) sum = hn::Add(hn::LoadU(tag, to), sum);
    if (update == Update::kSubtract) sum = hn::Sub(hn::LoadU(tag, to), sum);
    hn::StoreU(sum, tag, to);
  } else if (columns > 0) {
    const auto there = hn::FirstN(tag, static_cast<size_t>(columns));
    if (update == Update::kAdd) sum = hn::Add(hn::MaskedLoad(there, tag, to), sum);
    if (update == Update::kSubtract) sum = hn::Sub(hn::MaskedLoad(there, tag, to), sum);
    hn::BlendedStore(sum, there, tag, to);
  }
}

/// A tile of the result, and how much of it there is.
template <class T>
struct Tile {
  T* out;
  int64_t stride;
  int64_t rows;
  int64_t columns;
  Update update;
};

/// The products of `kRows` rows of a panel with `kVectors` vectors of columns.
template <class T, int kRows, int kVectors>
HWY_INLINE void multiply_tile(const T* left, const T* right, int64_t depth, const Tile<T>& tile) {
  const hn::ScalableTag<T> tag;
  constexpr auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  hn::Vec<decltype(tag)> sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = hn::Zero(tag);
      __builtin_prefetch(tile.out + i * tile.stride + v * lanes, 1);
    }
  for (int64_t k = 0; k < depth; ++k) {
    if constexpr (kTileRows * sizeof(T) > 64) {  // narrower panels stay in the L1 cache
      __builtin_prefetch(left + kFetchAhead * kTileRows);
      __builtin_prefetch(left + kFetchAhead * kTileRows + 64 / sizeof(T));
    }
    hn::Vec<decltype(tag)> columns[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(tag, right + v * lanes);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const auto row = hn::Set(tag, left[i]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[i][v] = fused(row, columns[v], sums[i][v]);
    }
    left += kTileRows;
    right += tile_columns<T>();
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i)
    if (i < tile.rows)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        put(tag, sums[i][v], tile.columns - v * lanes, tile.out + i * tile.stride + v * lanes,
            tile.update);
}

/// With no more rows than are needed, about.
template <class T, int kVectors>
void multiply_rows(const T* left, const T* right, int64_t depth, const Tile<T>& tile) {
  if (tile.rows == 1)
    multiply_tile<T, 1, kVectors>(left, right, depth, tile);
  else if (tile.rows == 2)
    multiply_tile<T, 2, kVectors>(left, right, depth, tile);
  else if (tile.rows <= 4)
    multiply_tile<T, 4, kVectors>(left, right, depth, tile);
  else if (tile.rows <= 8 && kTileRows > 8)
    multiply_tile<T, std::min(8, kTileRows), kVectors>(left, right, depth, tile);
  else
    multiply_tile<T, kTileRows, kVectors>(left, right, depth, tile);
}

/// Integers, by a loop that the compiler turns into vectors.
void multiply_rows(const uint64_t* left, const uint64_t* right, int64_t depth, uint64_t* out) {
  std::fill(out, out + kTileRows * kIntegerColumns, 0);
  for (int64_t k = 0; k < depth; ++k, left += kTileRows, right += kIntegerColumns)
    for (int64_t i = 0; i < kTileRows; ++i)
      for (int64_t j = 0; j < kIntegerColumns; ++j)
        out[i * kIntegerColumns + j] += left[i] * right[j];
}

template <class T>
HWY_INLINE void put_part(const T* tile, const MatrixView<T>& out, Update update) {
  const int64_t step = out.column_stride;
  for (int64_t i = 0; i < out.rows; ++i, tile += tile_columns<T>()) {
    T* to = &out(i, 0);
    if (update == Update::kSet && step == 1)
      for (int64_t j = 0; j < out.columns; ++j) to[j] = tile[j];
    else if (update == Update::kSet)
      for (int64_t j = 0; j < out.columns; ++j) to[j * step] = tile[j];
    else if (update == Update::kAdd)
      for (int64_t j = 0; j < out.columns; ++j) to[j * step] += tile[j];
    else
      for (int64_t j = 0; j < out.columns; ++j) to[j * step] -= tile[j];
  }
}

template <class T>
void multiply_packed(const T* left, const T* right, int64_t depth, const MatrixView<T>& out,
                     Update update) {
  constexpr int64_t width = tile_columns<T>();
  T tile[kTileRows * width];
  for (int64_t j = 0; j < out.columns; j += width, right += width * depth) {
    const int64_t columns = std::min(width, out.columns - j);
    const T* panel = left;
    for (int64_t i = 0; i < out.rows; i += kTileRows, panel += kTileRows * depth) {
      const int64_t rows = std::min<int64_t>(kTileRows, out.rows - i);
      if constexpr (std::is_integral_v<T>) {
        multiply_rows(panel, right, depth, tile);
      } else {
        const bool direct = out.column_stride == 1;
        const Tile<T> to = direct ? Tile<T>{&out(i, j), out.row_stride, rows, columns, update}
                                  : Tile<T>{tile, width, rows, columns, Update::kSet};
        if (2 * columns <= width)
          multiply_rows<T, 1>(panel, right, depth, to);
        else
          multiply_rows<T, kTileVectors>(panel, right, depth, to);
        if (direct) continue;
      }
      put_part(tile, out.block(i, j, rows, columns), update);
    }
  }
}

/// The product of small matrices without packing, of kSmallColumns columns at most.
template <class T>
void multiply_small(const MatrixView<const T>& a, const MatrixView<const T>& b,
                    const MatrixView<T>& out, Update update) {
  for (int64_t i = 0; i < out.rows; ++i) {
    T sums[cpu::kSmallColumns] = {};
    for (int64_t k = 0; k < a.columns; ++k) {
      const T left = a(i, k);
      const T* right = &b(k, 0);
      if (b.column_stride == 1)
        for (int64_t j = 0; j < out.columns; ++j) sums[j] = std::fma(left, right[j], sums[j]);
      else
        for (int64_t j = 0; j < out.columns; ++j)
          sums[j] = std::fma(left, right[j * b.column_stride], sums[j]);
    }
    for (int64_t j = 0; j < out.columns; ++j) {
      T& to = out(i, j);
      to = update == Update::kSet ? sums[j] : update == Update::kAdd ? to + sums[j] : to - sums[j];
    }
  }
}

/// How far on rows of `stride` elements are fetched, in steps of `group` rows, beyond which none is
/// used: processors follow few streams within short rows, and fetch long ones themselves.
template <class T>
int64_t fetched_ahead(int64_t stride, int64_t group) {
  constexpr int64_t kPage = 4096 / static_cast<int64_t>(sizeof(T));
  const int64_t length = std::max<int64_t>(1, std::abs(stride));
  return length > kPage ? 0 : stride * std::max(group, 2 * kPage / length);
}

/// A panel of whole rows that lie contiguous: squares of them are turned in registers.
template <class T>
void pack_rows(const T* x, int64_t depth, int64_t row_stride, int64_t width, T* to) {
  constexpr int64_t side = kWidth<T>;
  const int64_t ahead = fetched_ahead<T>(row_stride, width);
  const auto turn = [&](int64_t k) {
    for (int64_t first = 0; first < width; first += side) {
      // The last square may take rows again.
      const int64_t i = std::max<int64_t>(0, std::min(first, width - side));
      const T* from = x + i * row_stride + k;
      if (ahead != 0)
#pragma GCC unroll 16
        for (int64_t row = 0; row < side; ++row)
          __builtin_prefetch(from + row * row_stride + ahead);
      Vector<T> square[side];
      load_transposed<T>(
          [&](int64_t row) { return from + std::min(row, width - 1 - i) * row_stride; }, square);
#pragma GCC unroll 16
      for (int64_t row = 0; row < side; ++row) store<T>(square[row], to + (k + row) * width + i);
    }
  };
  // What a panel narrower than a square writes too much, the next step replaces.
  const int64_t last = depth - side - (width < side ? 1 : 0);
  int64_t k = 0;
  for (; k <= last; k += side) turn(k);
  if (k < depth && last >= 0 && width >= side) {  // columns again
    turn(last);
    return;
  }
  for (; k < depth; ++k)
    for (int64_t i = 0; i < width; ++i) to[k * width + i] = x[k + i * row_stride];
}

/// Whole panels of rows that lie side by side, a few at once: lines are read in longer pieces.
template <class T, int64_t kRows>
void pack_columns(const T* x, int64_t panels, int64_t depth, int64_t stride, T* to) {
  for (int64_t first = 0; first < panels; first += kPanelsAtOnce) {
    const int64_t count = std::min(kPanelsAtOnce, panels - first);
    const T* from = x + first * kRows;
    T* line = to + first * kRows * depth;
    for (int64_t k = 0; k < depth; ++k, from += stride, line += kRows)
      for (int64_t panel = 0; panel < count; ++panel)
        __builtin_memcpy(line + panel * kRows * depth, from + panel * kRows, kRows * sizeof(T));
  }
}

#if HWY_TARGET == HWY_SCALAR
template <class T>
void multiply_vector(const MatrixView<const T>& a, const T* x, const MatrixView<T>& out,
                     Update update) {
  for (int64_t i = 0; i < out.rows; ++i)
    for (int64_t begin = 0; begin < a.columns; begin += kSumBlock) {
      const int64_t end = std::min(a.columns, begin + kSumBlock);
      T sum = 0;
      for (int64_t k = begin; k < end; ++k) sum = std::fma(a(i, k), x[k], sum);
      T& to = out(i, 0);
      const bool set = begin == 0 && update == Update::kSet;
      to = set ? sum : update == Update::kSubtract ? to - sum : to + sum;
    }
}
#else
/// Rows `i` on, as many as two vectors have lanes: squares of the matrix are turned in registers.
/// What lies `ahead` elements on is fetched meanwhile.
template <class T>
HWY_INLINE void multiply_rows(const MatrixView<const T>& a, int64_t i, const T* x, T* sums,
                              int64_t begin, int64_t end, int64_t ahead) {
  const hn::ScalableTag<T> tag;
  constexpr int64_t side = kWidth<T>;
  const T* rows[2] = {&a(i, 0), &a(i + side, 0)};
  auto upper = hn::Zero(tag), lower = hn::Zero(tag);
  for (int64_t k = begin; k < end; k += side) {
    // The last square ends at the last column and begins with some again.
    const int64_t first = std::min(k, end - side);
    if (ahead != 0)
#pragma GCC unroll 32
      for (int64_t row = 0; row < 2 * side; ++row)
        __builtin_prefetch(rows[0] + row * a.row_stride + k + ahead);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {  // two squares at once have no room in the registers
      Vector<T> square[side];
      const T* from = rows[half] + first;
      load_transposed<T>([&](int64_t row) { return from + row * a.row_stride; }, square);
      auto& sum = half == 0 ? upper : lower;
#pragma GCC unroll 16
      for (int64_t step = 0; step < side; ++step) {
        if (first + step < k) continue;
        auto column = hn::Zero(tag);
        __builtin_memcpy(static_cast<void*>(&column), &square[step], sizeof column);
        sum = fused(column, hn::Set(tag, x[first + step]), sum);
      }
    }
  }
  hn::StoreU(upper, tag, sums);
  hn::StoreU(lower, tag, sums + side);
}

template <class T>
void multiply_vector(const MatrixView<const T>& a, const T* x, const MatrixView<T>& out,
                     Update update) {
  constexpr int64_t group = 2 * kWidth<T>;
  const int64_t ahead = fetched_ahead<T>(a.row_stride, group);
  const bool whole = out.rows >= group && a.columns >= kWidth<T>;
  T sums[group];
  for (int64_t i = 0; i < out.rows; i += group) {
    const int64_t rows = std::min(group, out.rows - i);
    const int64_t first = whole ? std::min(i, out.rows - group) : i;  // some again
    for (int64_t begin = 0; begin < a.columns; begin += kSumBlock) {
      const int64_t end = std::min(a.columns, begin + kSumBlock);
      if (whole) {
        multiply_rows(a, first, x, sums, begin, end, ahead);
      } else {
        for (int64_t row = 0; row < rows; ++row) {
          sums[row] = 0;
          for (int64_t k = begin; k < end; ++k)
            sums[row] = std::fma(a(i + row, k), x[k], sums[row]);
        }
      }
      const bool set = begin == 0 && update == Update::kSet;
      for (int64_t row = 0; row < rows; ++row) {
        const T sum = sums[i - first + row];
        T& to = out(i + row, 0);
        to = set ? sum : update == Update::kSubtract ? to - sum : to + sum;
      }
    }
  }
}
#endif

template <class Pair>
void pack_panels(const typename Pair::From* from, int64_t rows, int64_t depth, int64_t row_stride,
                 int64_t stride, int64_t width, typename Pair::To* to) {
  using T = typename Pair::To;
  for (int64_t first = 0; first < rows; first += width, to += width * depth) {
    const int64_t count = std::min(width, rows - first);
    const auto* x = from + first * row_stride;
    if constexpr (std::is_same_v<typename Pair::From, T> && std::is_floating_point_v<T>) {
      if (stride == 1 && row_stride != 1 && count == width && 2 * width >= kWidth<T>) {
        pack_rows(x, depth, row_stride, width, to);
        continue;
      }
      if (row_stride == 1 && count == width && (width == kTileRows || width == tile_columns<T>())) {
        const int64_t panels = (rows - first) / width;
        if (width == kTileRows)
          pack_columns<T, kTileRows>(x, panels, depth, stride, to);
        else
          pack_columns<T, tile_columns<T>()>(x, panels, depth, stride, to);
        first += (panels - 1) * width;
        to += (panels - 1) * width * depth;
        continue;
      }
    }
    if (count < width) std::fill(to, to + width * depth, T{});
    if (row_stride == 1)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < count; ++i) to[k * width + i] = static_cast<T>(x[k * stride + i]);
    else
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < count; ++i)
          to[k * width + i] = static_cast<T>(x[k * stride + i * row_stride]);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

template <class T>
int64_t left_width() {
  return HR_SIMD(tile_rows)();
}

template <class T>
int64_t right_width() {
  return HR_SIMD(tile_width<T>)();
}

template <class T>
void pack(const AnyMatrix& x, int64_t width, T* to) {
  visit_real(x.dtype, [&]<class F>(std::type_identity<F>) {
    using Pair = Conversion<F, T>;
    const auto* from = reinterpret_cast<const F*>(x.data);
    HR_SIMD(pack_panels<Pair>)
    (from, x.rows, x.columns, x.row_stride, x.column_stride, width, to);
  });
}

template <class T>
void multiply_packed(const T* left, const T* right, int64_t depth, const MatrixView<T>& out,
                     Update update) {
  HR_SIMD(multiply_packed<T>)(left, right, depth, out, update);
}

template <class T>
void multiply_small(const MatrixView<const T>& a, const MatrixView<const T>& b,
                    const MatrixView<T>& out, Update update) {
  HR_SIMD(multiply_small<T>)(a, b, out, update);
}

template void multiply_small(const MatrixView<const float>&, const MatrixView<const float>&,
                             const MatrixView<float>&, Update);
template void multiply_small(const MatrixView<const double>&, const MatrixView<const double>&,
                             const MatrixView<double>&, Update);

template <class T>
void multiply_vector(const MatrixView<const T>& a, const T* x, const MatrixView<T>& out,
                     Update update) {
  HR_SIMD(multiply_vector<T>)(a, x, out, update);
}

template void multiply_vector(const MatrixView<const float>&, const float*,
                              const MatrixView<float>&, Update);
template void multiply_vector(const MatrixView<const double>&, const double*,
                              const MatrixView<double>&, Update);

#define HR_MATMUL_OF(T)                              \
  template int64_t left_width<T>();                  \
  template int64_t right_width<T>();                 \
  template void pack(const AnyMatrix&, int64_t, T*); \
  template void multiply_packed(const T*, const T*, int64_t, const MatrixView<T>&, Update);
HR_MATMUL_OF(float)
HR_MATMUL_OF(double)
HR_MATMUL_OF(uint64_t)

}  // namespace hr::cpu

#endif
