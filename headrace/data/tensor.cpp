// SPDX-License-Identifier: Apache-2.0
// Tensor: checks, views between columns and tensors.
#include "headrace/data/tensor.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/memory/log/ledger.h"

namespace hr {

int64_t num_elements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0)
      throw_error<InvalidArgumentError>("shape", "a size is negative", {{"size", size}});
    count = checked_multiply("shape", count, size);
  }
  return count;
}

Shape row_major(const Shape& shape) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i] > 0 ? shape[i] : 1;
  }
  return strides;
}

Tensor::Tensor(Dtype dtype, Shape shape, Buffer buffer, int64_t byte_offset)
    : Tensor(dtype, shape, row_major(shape), std::move(buffer), byte_offset) {
  const int64_t needed = checked_add("tensor", byte_offset,
                                     checked_multiply("tensor", num_elements_, dtype.size_bytes()));
  if (buffer_.size_bytes() < needed)
    throw_error<InternalError>("tensor", "the buffer is shorter than the shape",
                               {{"bytes", buffer_.size_bytes()}, {"needed", needed}});
}

Tensor::Tensor(Dtype dtype, Shape shape, Shape strides, Buffer buffer, int64_t byte_offset)
    : dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      buffer_(std::move(buffer)),
      byte_offset_(byte_offset),
      num_elements_(hr::num_elements(shape_)) {
  const Shape packed = row_major(shape_);
  for (size_t i = 0; i < shape_.size(); ++i)
    if (shape_[i] > 1 && strides_[i] != packed[i]) contiguous_ = false;
  if (num_elements_ == 0) contiguous_ = true;
}

Tensor as_tensor(const Column& column) {
  const Dtype dtype = column.dtype();
  if (dtype.is_string() || dtype.is_bool() || dtype.is_date() || dtype.is_category() ||
      dtype.has_zone() || dtype.is_decimal() || dtype.is_nested())
    throw_error<TypeMismatchError>("as_tensor", "the dtype cannot be held in a tensor",
                                   {{"dtype", dtype.name()}},
                                   dtype.is_bool()      ? "use astype('uint8')"
                                   : dtype.is_date()    ? "use astype('int32')"
                                   : dtype.is_decimal() ? "use astype('float64')"
                                   : dtype.has_zone()   ? "use dt.tz_convert(None) for UTC"
                                   : dtype.is_struct()  ? "select a field: struct.field(name)"
                                   : dtype.is_nested()  ? "use explode() first"
                                   : dtype.is_string()  ? "select a numeric column"
                                                        : "use cat.codes");
  if (column.null_count() > 0)
    throw_error<InvalidArgumentError>("as_tensor", "the column has nulls",
                                      {{"nulls", column.null_count()}},
                                      "use fillna or dropna first");
  return Tensor(column.dtype(), {column.num_rows()}, column.values_buffer(),
                column.offset() * column.dtype().size_bytes());
}

Column as_column(const Tensor& tensor) {
  const int64_t width = tensor.dtype().size_bytes();
  if (tensor.num_dimensions() != 1 || !tensor.is_contiguous() || !tensor.dtype().is_real() ||
      tensor.byte_offset() % width != 0)
    throw_error<TypeMismatchError>(
        "as_column", "only a 1-D contiguous array of numbers can be a column",
        {{"dimensions", tensor.num_dimensions()}, {"dtype", tensor.dtype().name()}});
  return Column(tensor.dtype(), tensor.num_elements(), tensor.buffer(), {}, 0,
                tensor.byte_offset() / width);
}

Tensor contiguous(const Tensor& tensor, std::string_view op) {
  if (tensor.is_contiguous()) return tensor;
  const int64_t width = tensor.dtype().size_bytes();
  const int64_t bytes = tensor.num_elements() * width;
  const Place place = tensor.place();
  record_copy(op, "not contiguous", bytes, false, place, place);
  Buffer buffer = allocate_at(place, bytes);
  copy_strided(op, tensor, buffer, 0, row_major(tensor.shape()));
  return Tensor(tensor.dtype(), tensor.shape(), std::move(buffer));
}

}  // namespace hr
