// SPDX-License-Identifier: Apache-2.0
// Kernels of the product of some rows with a sparse matrix.
#pragma once
#include "headrace/algo/sparse/sparse_entries.h"

namespace hr::cpu {

/// Which columns a row of the product has: a bit each, a bit for 64 of those words, and how many
/// columns stand before each word. All bits are 0 between rows.
struct RowBits {
  uint64_t* words;
  uint64_t* groups;
  uint32_t* before;
};

template <class Index, class Number>
struct SparseMatrices {
  using Value = Number;

  const Sparse* left;
  const Index* left_index;
  const Number* left_number;
  const Sparse* right;
  const Index* right_index;
  const Number* right_number;
  const std::byte* right_begin;  // to be asked for in advance
  int64_t right_begin_width;
};

/// What is known of each row of the product before its columns are read one by one.
struct RowWindows {
  int64_t* products;  ///< their number, at [row + 1]
  int64_t* counts;    ///< entries, at [row + 1]
  int64_t* firsts;    ///< the first column, where all columns are neighbours; else one of these:

  static constexpr int64_t kUnknown = -1, kFew = -2;
};

/// Finds them, but counts only of rows of few products (kFew) or of neighbouring columns: whether
/// those are all rows.
template <class Index, class Number>
bool find_windows(const SparseMatrices<Index, Number>& matrices, RowRange rows, RowWindows windows);

/// The number of entries in each row of the product that is kUnknown.
template <class Index, class Number>
void count_products(const SparseMatrices<Index, Number>& matrices, RowRange rows, RowBits bits,
                    RowWindows windows);

/// The same, and the product, whose row r begins at entry begins[r].
template <class Index, class Number, class Out>
struct SparseSums : SparseMatrices<Index, Number> {
  using OutIndex = Out;

  const int64_t* begins;
  const int64_t* products;  // those before each row
  const int64_t* firsts;
  Out* index;
  Number* number;
};

/// The entries of rows. `Number` is float, double or uint64_t.
template <class Index, class Number, class Out>
void add_products(const SparseSums<Index, Number, Out>& sums, RowRange rows, RowBits bits);

}  // namespace hr::cpu
