// SPDX-License-Identifier: Apache-2.0
// The product of rows: four sums for a vector, which are lanes where columns follow each other;
// else the sums of several columns together.
#define HWY_TARGET_INCLUDE "headrace/algo/sparse/sparse_product_cpu.cpp"
#include "headrace/algo/sparse/sparse_product_kernels.h"
#include "headrace/base/simd_targets.h"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Vectors of 16 bytes have two lanes of 8.
template <class T>
constexpr bool has_four_lanes = hn::MaxLanes(hn::CappedTag<T, 4>()) == 4;

/// Whether four columns follow each other, as in a band.
template <class Index>
HR_INLINE bool are_in_turn(const Index* index) {
  constexpr hn::CappedTag<Index, 4> kTag;
  return hn::AllTrue(kTag, hn::Eq(hn::LoadU(kTag, index), hn::Iota(kTag, index[0])));
}
#endif

template <class Product>
void times_vector(const Product& product, RowRange rows) {
  const Sparse* const matrix = product.matrix;
  const auto* HWY_RESTRICT index = product.index;
  const auto* HWY_RESTRICT number = product.number;
  const auto* HWY_RESTRICT dense = product.dense;
  auto* HWY_RESTRICT out = product.out;
  int64_t k = matrix->row_begin(rows.begin);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t end = matrix->row_begin(row + 1);
    const auto product_at = [&](int64_t at) HWY_ATTR { return number[at] * dense[index[at]]; };
    // Four names, no array: one with a variable place would not be in registers.
    typename Product::Value first = 0, second = 0, third = 0, fourth = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_floating_point_v<typename Product::Value> &&
                  has_four_lanes<typename Product::Value> &&
                  has_four_lanes<std::decay_t<decltype(*index)>>) {
      if (k + 4 <= end && are_in_turn(index + k)) {
        constexpr hn::CappedTag<typename Product::Value, 4> kTag;
        auto sums = hn::Zero(kTag);
        do {
          const auto factors = hn::LoadU(kTag, dense + index[k]);
          sums = hn::Add(sums, hn::Mul(hn::LoadU(kTag, number + k), factors));
          k += 4;
        } while (k + 4 <= end && are_in_turn(index + k));
        typename Product::Value lanes[4];
        hn::StoreU(sums, kTag, lanes);
        first = lanes[0], second = lanes[1], third = lanes[2], fourth = lanes[3];
      }
    }
#endif
    for (; k + 4 <= end; k += 4) {
      first += product_at(k);
      second += product_at(k + 1);
      third += product_at(k + 2);
      fourth += product_at(k + 3);
    }
    if (k < end) first += product_at(k);
    if (k + 1 < end) second += product_at(k + 1);
    if (k + 2 < end) third += product_at(k + 2);
    k = end;
    out[row] = (first + second) + (third + fourth);
  }
}

/// Columns [first, first + kWidth) of one row.
template <int kWidth, class Product>
HR_INLINE void times_columns(const Product& product, int64_t row, int64_t first) {
  typename Product::Value sums[kWidth] = {};
  const int64_t end = product.matrix->row_begin(row + 1);
  for (int64_t k = product.matrix->row_begin(row); k < end; ++k) {
    const typename Product::Value factor = product.number[k];
    const typename Product::Value* HWY_RESTRICT from =
        product.dense + product.index[k] * product.width + first;
    for (int column = 0; column < kWidth; ++column) sums[column] += factor * from[column];
  }
  typename Product::Value* to = product.out + row * product.width + first;
  for (int column = 0; column < kWidth; ++column) to[column] = sums[column];
}

template <class Product>
void times_matrix(const Product& product, RowRange rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t first = 0;
    for (; first + 32 <= product.width; first += 32) times_columns<32>(product, row, first);
    for (; first + 8 <= product.width; first += 8) times_columns<8>(product, row, first);
    for (; first + 4 <= product.width; first += 4) times_columns<4>(product, row, first);
    for (; first < product.width; ++first) times_columns<1>(product, row, first);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

template <class Index, class Number>
void sparse_times_vector(const SparseProduct<Index, Number>& product, RowRange rows) {
  using Product = SparseProduct<Index, Number>;
  HR_SIMD(times_vector<Product>)(product, rows);
}

template <class Index, class Number>
void sparse_times_matrix(const SparseProduct<Index, Number>& product, RowRange rows) {
  using Product = SparseProduct<Index, Number>;
  HR_SIMD(times_matrix<Product>)(product, rows);
}

#define HR_SPARSE_PRODUCT(Index, Number)                                            \
  template void sparse_times_vector(const SparseProduct<Index, Number>&, RowRange); \
  template void sparse_times_matrix(const SparseProduct<Index, Number>&, RowRange);
HR_SPARSE_PRODUCT(int32_t, float)
HR_SPARSE_PRODUCT(int32_t, double)
HR_SPARSE_PRODUCT(int32_t, uint64_t)
HR_SPARSE_PRODUCT(int64_t, float)
HR_SPARSE_PRODUCT(int64_t, double)
HR_SPARSE_PRODUCT(int64_t, uint64_t)
#undef HR_SPARSE_PRODUCT

}  // namespace hr::cpu
#endif
