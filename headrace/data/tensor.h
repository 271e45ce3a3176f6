// SPDX-License-Identifier: Apache-2.0
// Tensor: n dimensions over one buffer, in DLPack's layout.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/data/column.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <vector>

namespace hr {

using Shape = std::vector<int64_t>;

/// Number of elements of a shape; throws InvalidArgumentError when it overflows or a size is
/// negative.
HR_API int64_t num_elements(const Shape& shape);

/// Strides in elements of a shape whose last dimension lies contiguous.
HR_API Shape row_major(const Shape& shape);

/// Immutable numbers with strides (in elements, may be negative or zero). A bool is one byte.
/// No nulls, no strings.
class HR_API Tensor {
 public:
  /// An empty 1-D float64 tensor.
  Tensor() : shape_{0}, strides_{1} {}

  /// Row-major (C) contiguous over `buffer` from `byte_offset`.
  Tensor(Dtype dtype, Shape shape, Buffer buffer, int64_t byte_offset = 0);
  /// Any strides; the caller has checked that every element lies inside the buffer.
  Tensor(Dtype dtype, Shape shape, Shape strides, Buffer buffer, int64_t byte_offset);

  Dtype dtype() const { return dtype_; }

  const Shape& shape() const { return shape_; }

  const Shape& strides() const { return strides_; }

  int64_t num_dimensions() const { return static_cast<int64_t>(shape_.size()); }

  int64_t num_elements() const { return num_elements_; }

  Place place() const { return buffer_.place(); }

  const Buffer& buffer() const { return buffer_; }

  int64_t byte_offset() const { return byte_offset_; }

  const std::byte* data() const { return buffer_.data() + byte_offset_; }

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  /// Element [0] of a 0-d or 1-element tensor.
  template <class T>
  T item() const {
    return as<T>()[0];
  }

  bool is_contiguous() const { return contiguous_; }

 private:
  Dtype dtype_;
  Shape shape_;
  Shape strides_;
  Buffer buffer_;
  int64_t byte_offset_ = 0;
  int64_t num_elements_ = 0;
  bool contiguous_ = true;
};

/// The same bytes seen as a 1-D tensor. Throws InvalidArgumentError for nulls (fill_null or dropna
/// first) and TypeMismatchError for strings and bools (a bitmap has no tensor form: use astype).
HR_API Tensor as_tensor(const Column& column);

/// The same bytes seen as a column. Throws TypeMismatchError unless 1-D, contiguous, and real.
HR_API Column as_column(const Tensor& tensor);

/// A C-contiguous tensor: `tensor` itself, or one copy that the ledger shows under `op`.
HR_API Tensor contiguous(const Tensor& tensor, std::string_view op);

/// A 0-d tensor of one value.
template <class T>
Tensor scalar_tensor(T value) {
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(sizeof(T)));
  *buffer.mutable_as<T>() = value;
  return Tensor(dtype_of<T>(), Shape{}, std::move(buffer));
}

}  // namespace hr
