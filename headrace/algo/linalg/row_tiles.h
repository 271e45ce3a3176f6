// SPDX-License-Identifier: Apache-2.0
// One reader of rows for what learns from them: a tensor of any strides, columns of a table, or
// values that are computed as they are read.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace hr {

/// How a tile lies in memory.
enum class TileForm {
  kRows,    ///< row after row: value j of row i at `out[i * columns + j]`
  kPoints,  ///< points in lanes: the values of one column side by side, at `out[j * count + i]`
};

/// Rows of a matrix, read without a copy of it. Reading converts, subtracts and scales in one step.
/// Holds its buffers; any number of threads may read.
class HR_API RowTiles {
 public:
  /// Gives `count` rows from `first` on, in the form of points, as float64.
  using Compute = std::function<void(int64_t first, int64_t count, double* out)>;

  /// [rows, columns] of any strides. Throws TypeMismatchError unless it holds real numbers of two
  /// dimensions.
  explicit RowTiles(const Tensor& x);

  /// Matrices side by side. Throws InvalidArgumentError for different numbers of rows.
  explicit RowTiles(std::vector<Tensor> parts);

  /// Columns of one length. Throws InvalidArgumentError for nulls and for other lengths,
  /// TypeMismatchError for strings and bools.
  explicit RowTiles(const std::vector<Column>& columns);

  /// Rows of an expression that is never made whole.
  RowTiles(int64_t rows, int64_t columns, Compute compute);

  int64_t rows() const { return rows_; }

  int64_t columns() const { return columns_; }

  /// The matrices side by side; none of rows that are computed.
  const std::vector<Tensor>& parts() const { return parts_; }

  /// Where the rows are; on a CUDA device kernels read them.
  Place place() const { return parts_.empty() ? host : parts_[0].place(); }

  /// `(x - shift[j]) * scale[j]` of `count` rows from `first` on; null: without. T is float or
  /// double; float64 inside.
  template <class T>
  void read(int64_t first, int64_t count, TileForm form, const double* shift, const double* scale,
            T* out) const;

 private:
  int64_t rows_;
  int64_t columns_;
  std::vector<Tensor> parts_;  ///< one matrix, or the columns
  Compute compute_;
};

}  // namespace hr
