// SPDX-License-Identifier: Apache-2.0
// Sparse: a matrix of few entries, in compressed rows (CSR).
#pragma once
#include "headrace/data/tensor.h"

namespace hr {

/// Immutable entries over shared tensors, in SciPy's layout: entries indptr[r] to indptr[r + 1] of
/// `indices` (their columns) and `data` (their values) are row r's, in any order; a column may be
/// there twice, its values then add up. `indptr` may begin above 0: rows of a larger matrix.
class HR_API Sparse {
 public:
  /// The empty matrix of float64.
  Sparse();

  /// `indptr` and `indices` are int32 or int64, `data` float32, float64 or int64; all are 1-D,
  /// contiguous and on the host. Throws TypeMismatchError and InvalidArgumentError otherwise, also
  /// for lengths that do not fit. What the entries say is not read here: `check_entries`
  /// (algo/sparse) does that for matrices of others.
  Sparse(int64_t rows, int64_t columns, Tensor indptr, Tensor indices, Tensor data);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  Dtype dtype() const { return data_.dtype(); }

  const Tensor& indptr() const { return indptr_; }
  const Tensor& indices() const { return indices_; }
  const Tensor& data() const { return data_; }

  /// Those of the entries alone, when `indptr` begins above 0 or ends early.
  Tensor entry_indices() const { return entries_of(indices_); }
  Tensor entry_data() const { return entries_of(data_); }

  /// Where the entries of a row begin; `rows()` for the end of the last one.
  int64_t row_begin(int64_t row) const {
    return wide_ ? static_cast<const int64_t*>(pointers_)[row]
                 : static_cast<const int32_t*>(pointers_)[row];
  }

  int64_t num_entries() const { return row_begin(rows_) - row_begin(0); }

  /// The same places with other values, one for each element of `data()`.
  Sparse with_data(Tensor data) const;

  /// Rows [begin, begin + count), which are there; shares all tensors.
  Sparse slice(int64_t begin, int64_t count) const;

 private:
  Tensor entries_of(const Tensor& part) const;

  int64_t rows_ = 0;
  int64_t columns_ = 0;
  Tensor indptr_;
  Tensor indices_;
  Tensor data_;
  const void* pointers_;  // of indptr_, which copies share
  bool wide_ = true;
};

}  // namespace hr
