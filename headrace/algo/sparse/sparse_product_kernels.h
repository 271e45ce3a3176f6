// SPDX-License-Identifier: Apache-2.0
// Kernels of the product of some rows of a sparse matrix.
#pragma once
#include "headrace/algo/sparse/sparse_entries.h"

namespace hr::cpu {

/// Where the entries of rows lie, and what they are multiplied with: rows of `width`
/// numbers, one for each column of the matrix.
template <class Index, class Number>
struct SparseProduct {
  using Value = Number;

  const Sparse* matrix;
  const Index* index;
  const Number* number;
  const Number* dense;
  int64_t width;
  Number* out;
};

/// Rows of `product.out`. `Number` is float, double or uint64_t.
template <class Index, class Number>
void sparse_times_vector(const SparseProduct<Index, Number>& product, RowRange rows);
template <class Index, class Number>
void sparse_times_matrix(const SparseProduct<Index, Number>& product, RowRange rows);

}  // namespace hr::cpu
