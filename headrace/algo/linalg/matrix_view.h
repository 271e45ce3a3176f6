// SPDX-License-Identifier: Apache-2.0
// A matrix in memory, by strides, and its parts.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>
#include <type_traits>

namespace hr {

/// Element (i, j) is `data[i * row_stride + j * column_stride]`. Owns nothing.
template <class T>
struct MatrixView {
  T* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride = 1;

  T& operator()(int64_t i, int64_t j) const { return data[i * row_stride + j * column_stride]; }

  MatrixView transposed() const { return {data, columns, rows, column_stride, row_stride}; }

  MatrixView block(int64_t i, int64_t j, int64_t num_rows, int64_t num_columns) const {
    return {data + i * row_stride + j * column_stride, num_rows, num_columns, row_stride,
            column_stride};
  }

  operator MatrixView<const T>() const  // NOLINT(google-explicit-constructor)
    requires(!std::is_const_v<T>)
  {
    return {data, rows, columns, row_stride, column_stride};
  }
};

/// A matrix of any real dtype, to be read only.
struct AnyMatrix {
  Dtype dtype;
  const std::byte* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  template <class T>
  AnyMatrix(const MatrixView<T>& x)  // NOLINT(google-explicit-constructor)
      : dtype(dtype_of<std::remove_const_t<T>>()),
        data(reinterpret_cast<const std::byte*>(x.data)),
        rows(x.rows),
        columns(x.columns),
        row_stride(x.row_stride),
        column_stride(x.column_stride) {}

  /// The last two dimensions of a tensor, from element `offset` of its memory.
  explicit AnyMatrix(const Tensor& x, int64_t offset = 0)
      : dtype(x.dtype()),
        data(x.data() + offset * x.dtype().size_bytes()),
        rows(x.shape()[x.shape().size() - 2]),
        columns(x.shape().back()),
        row_stride(x.strides()[x.shape().size() - 2]),
        column_stride(x.strides().back()) {}

  AnyMatrix block(int64_t i, int64_t j, int64_t num_rows, int64_t num_columns) const {
    AnyMatrix part = *this;
    part.data += (i * row_stride + j * column_stride) * dtype.size_bytes();
    part.rows = num_rows;
    part.columns = num_columns;
    return part;
  }

  AnyMatrix transposed() const {
    AnyMatrix turned = *this;
    std::swap(turned.rows, turned.columns);
    std::swap(turned.row_stride, turned.column_stride);
    return turned;
  }
};

/// The types of a loop that converts.
template <class F, class T>
struct Conversion {
  using From = F;
  using To = T;
};

}  // namespace hr
