// SPDX-License-Identifier: Apache-2.0
// Products, transposes and sums of places follow their definitions at every SIMD level and thread
// count. python/tests/test_sparse.py compares them with SciPy.
#include "headrace/algo/sparse/sparse_product.h"

#include "headrace/algo/random/random.h"
#include "headrace/algo/sparse/sparse_coordinates.h"
#include "headrace/algo/sparse/sparse_layout.h"
#include "headrace/algo/sparse/sparse_select.h"
#include "headrace/algo/sparse/sparse_transpose.h"
#include "headrace/algo/sparse/spgemm.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace hr {
namespace {

using namespace testing;
using SparseTest = SimdAndThreadsTest;

/// Random places, some of them twice.
Sparse random_sparse(int64_t rows, int64_t columns, int64_t entries) {
  const Dtype index = dtype_of<int64_t>();
  return canonical(sparse_from_coordinates(
      rows, columns, random_integers(entries, index, 0, static_cast<uint64_t>(rows), {1, 0}),
      random_integers(entries, index, 0, static_cast<uint64_t>(columns), {1, 1}),
      random_normal(entries, dtype_of<double>(), {1, 2})));
}

Sparse with_data_of_floats(const Sparse& matrix) {
  return transposed(matrix.with_data(
      tensor_of(std::vector<float>(static_cast<size_t>(matrix.data().num_elements())))));
}

std::vector<double> product_by_definition(const Sparse& matrix, const std::vector<double>& x) {
  std::vector<double> out;
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    double sums[4] = {};
    const int64_t begin = matrix.row_begin(row);
    for (int64_t k = begin; k < matrix.row_begin(row + 1); ++k)
      sums[(k - begin) % 4] +=
          matrix.data().as<double>()[k] * x[static_cast<size_t>(matrix.indices().as<int32_t>()[k])];
    out.push_back((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return out;
}

TEST_F(SparseTest, ProductsHaveTheOrderOfTheirSums) {
  for (const int64_t entries : {1, 64, 5000, 200'000}) {
    const Sparse matrix = random_sparse(700, 300, entries);
    const Tensor x = random_normal(300, dtype_of<double>(), {2, 0});
    const Tensor wide(dtype_of<double>(), {300, 45},
                      random_normal(300 * 45, dtype_of<double>(), {2, 1}).buffer());
    const Tensor expected = tensor_of(product_by_definition(matrix, values_of<double>(x)));
    const Tensor first = multiply(matrix, wide);
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (level > best_simd_level()) continue;
      set_simd_level(level);
      for (const int count : {1, 2, 4}) {
        set_threads(count);
        EXPECT_TRUE(same_bits(multiply(matrix, x), expected)) << entries;
        EXPECT_TRUE(same_bits(multiply(matrix, wide), first)) << entries;
      }
    }
  }
}

TEST_F(SparseTest, TransposeTwiceIsTheMatrix) {
  const Sparse matrix = random_sparse(900, 40, 300'000);
  for (const int count : {1, 4}) {
    set_threads(count);
    const Sparse again = transposed(transposed(matrix));
    EXPECT_TRUE(same_bits(again.data(), matrix.data()));
    EXPECT_TRUE(same_bits(again.indices(), matrix.indices()));
    EXPECT_TRUE(same_bits(again.indptr(), matrix.indptr()));
    EXPECT_TRUE(same_bits(to_dense(take_rows(matrix, tensor_of<int64_t>({5, 5}))),
                          to_dense(take_rows(matrix.slice(5, 1), tensor_of<int64_t>({0, 0})))));
  }
}

TEST_F(SparseTest, ProductsOfSparseMatricesAddInTheOrderOfTheLeftRow) {
  for (const int64_t columns : {1, 70, 30'000}) {
    const Sparse left = random_sparse(500, 300, 9000), right = random_sparse(300, columns, 4000);
    std::vector<double> expected(static_cast<size_t>(500 * columns), 0.0);
    for (int64_t row = 0; row < 500; ++row)
      for (int64_t k = left.row_begin(row); k < left.row_begin(row + 1); ++k) {
        const int64_t from = left.indices().as<int32_t>()[k];
        for (int64_t at = right.row_begin(from); at < right.row_begin(from + 1); ++at)
          expected[static_cast<size_t>(row * columns + right.indices().as<int32_t>()[at])] +=
              left.data().as<double>()[k] * right.data().as<double>()[at];
      }
    for (const SimdLevel level : {SimdLevel::kBase, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
      if (level > best_simd_level()) continue;
      set_simd_level(level);
      for (const int count : {1, 4}) {
        set_threads(count);
        const Sparse made = multiply(left, right);
        EXPECT_TRUE(is_canonical(made));
        EXPECT_EQ(values_of<double>(to_dense(made)), expected) << columns;
        const Tensor x = random_normal(500, dtype_of<double>(), {3, 0});
        EXPECT_TRUE(same_bits(multiply_transposed(left, x), multiply_transposed(left, x)));
      }
    }
  }
}

TEST(Sparse, RefusesWhatDoesNotFit) {
  const Sparse matrix = random_sparse(5, 4, 9);
  EXPECT_THROW(multiply(matrix, tensor_of<double>({1, 2})), InvalidArgumentError);
  EXPECT_THROW(multiply(matrix, tensor_of<float>({1, 2, 3, 4})), TypeMismatchError);
  EXPECT_THROW(multiply(matrix, matrix), InvalidArgumentError);
  EXPECT_THROW(multiply(matrix, with_data_of_floats(matrix)), TypeMismatchError);
  EXPECT_THROW(take_columns(matrix, tensor_of<int64_t>({-1})), InvalidArgumentError);
  EXPECT_THROW(take_rows(matrix, tensor_of<int64_t>({5})), InvalidArgumentError);
  EXPECT_THROW(check_entries(Sparse(1, 1, tensor_of<int64_t>({0, 1}), tensor_of<int32_t>({1}),
                                    tensor_of<double>({1.0}))),
               InvalidArgumentError);
}

}  // namespace
}  // namespace hr
