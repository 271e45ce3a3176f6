// SPDX-License-Identifier: Apache-2.0
// Orthogonal factors by Householder reflections.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/base/api.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hr {

enum class QrMode { kReduced, kComplete, kR };

struct Qr {
  Tensor q;  ///< [..., rows, min(rows, columns)], complete: [..., rows, rows]; empty for kR
  Tensor
      r;  ///< upper triangular, [..., min(rows, columns), columns], complete: [..., rows, columns]
};

/// A = Q R of one matrix or of a stack, by reflections in blocks of 32 (Schreiber and Van Loan
/// 1989), with LAPACK's signs. Float64 inside; float32 for float32, else float64. The same bits for
/// any number of threads. NaN spreads. Throws TypeMismatchError unless `a` is real and has two or
/// more dimensions.
HR_API Qr qr(const Tensor& a, QrMode mode = QrMode::kReduced);

/// An orthonormal basis [rows, columns] of the columns of a matrix with at least as many rows, by
/// Cholesky's factor of its Gram matrix, twice (Fukaya and others 2014), and by reflections where
/// that factor does not exist. Its signs are not those of `qr`.
HR_API Tensor tall_q(const Tensor& a);

/// A reflection that turns `x` into (x[0], 0, ..., 0): its vector is 1 and what replaces the rest.
/// The factor of the reflection.
double reflect(double* x, int64_t count);

/// The factors of a matrix whose columns are the rows of `columns`: R on and above its diagonal,
/// reflections beyond it.
class Reflections {
 public:
  /// Works in place; rows of `columns` lie contiguous.
  explicit Reflections(const MatrixView<double>& columns);

  /// The same with the column of the largest rest first at each step (Businger and Golub 1965), so
  /// that no entry of a row of R is larger than its first. Column `i` of R is `order[i]`.
  Reflections(const MatrixView<double>& columns, std::vector<int64_t>& order);

  /// Of vectors and factors that are there: H = I - factor v v^T, where v is 1 and what follows the
  /// diagonal.
  Reflections(const MatrixView<double>& columns, Buffer factors)
      : columns_(columns), factors_(std::move(factors)) {}

  int64_t count() const { return std::min(columns_.rows, columns_.columns); }

  /// Entry of R.
  double r(int64_t i, int64_t j) const { return i <= j ? columns_(j, i) : 0; }

  /// Multiplies each row of `rows`, taken as a column, by Q.
  void apply(const MatrixView<double>& rows) const;

  /// The first columns of Q, as `rows`.
  void make_basis(const MatrixView<double>& rows) const;

 private:
  MatrixView<double> columns_;
  Buffer factors_;  // of each reflection

  void apply_block(int64_t begin, int64_t end, bool turned, const MatrixView<double>& rows) const;
};

}  // namespace hr
