// SPDX-License-Identifier: Apache-2.0
// Value: what a plan node yields. Signature: what is known of it before it runs.
#pragma once
#include "headrace/algo/select/filter.h"
#include "headrace/base/error.h"
#include "headrace/data/column.h"
#include "headrace/data/scalar.h"
#include "headrace/data/table.h"
#include "headrace/data/tensor.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace hr {

/// What flows between plan nodes and operators.
using Value = std::variant<Column, Tensor, Scalar, Table>;

enum class Form : uint8_t { kColumn, kTensor, kTable };

inline constexpr int64_t kUnknown = -1;

/// Form, dtype and shape of a node's value, known when its line runs. A size that only the data can
/// tell is kUnknown; then `domain` names it: equal domains have equal row counts.
struct Signature {
  Form form = Form::kColumn;
  Dtype dtype{};
  Shape shape{};  ///< {rows} of a column or table; {} for a scalar
  bool nullable = false;
  uint64_t domain = 0;  ///< row domain of a frame's columns; 0 for free-standing arrays

  bool is_scalar() const { return form == Form::kTensor && shape.empty(); }

  /// Rows of the first dimension, kUnknown, or 1 for a scalar.
  int64_t rows() const { return shape.empty() ? 1 : shape[0]; }

  /// The same in an error message.
  Detail rows_detail(std::string_view name) const {
    return rows() == kUnknown ? Detail(name, "not known yet") : Detail(name, rows());
  }

  /// Same pass over the data: same sizes, known or named. One may be known before the other.
  bool same_rows(const Signature& other) const {
    if (rows() != kUnknown && other.rows() != kUnknown) return shape == other.shape;
    return domain != 0 && domain == other.domain && shape.size() == other.shape.size() &&
           std::equal(shape.begin() + 1, shape.end(), other.shape.begin() + 1);
  }
};

/// A new row domain, different from all others.
HR_API uint64_t new_domain();

/// The domain of what a fixed number of rows less leaves of `parent`: diff(x) and x[1:] are equally
/// long.
HR_API uint64_t shorter_domain(uint64_t parent, int64_t by);

HR_API Signature array_signature(Dtype dtype, Shape shape, uint64_t domain = 0);
HR_API Signature signature_of(const Value& value, uint64_t domain = 0);
HR_API int64_t value_bytes(const Value& value);
/// The element of a 0-d tensor.
Scalar scalar_of(const Tensor& tensor);

/// The mask that a column or tensor is, borrowed.
Mask mask_of(const Value& value);
/// The rows of a column or tensor where the mask is true.
Value filter(const Value& value, const Mask& mask);

/// Calls `visit` with each buffer of the value.
template <class F>
void for_each_buffer(const Value& value, F&& visit) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    visit(tensor->buffer());
  } else if (const auto* column = std::get_if<Column>(&value)) {
    visit(column->values_buffer());
    visit(column->validity_buffer());
    for (const Buffer& text : column->text_buffers()) visit(text);
    if (column->items()) for_each_buffer(*column->items(), visit);
    if (column->fields())
      for (const Column& each : *column->fields()) for_each_buffer(each, visit);
  } else if (const auto* table = std::get_if<Table>(&value)) {
    for (const Column& each : table->columns()) for_each_buffer(each, visit);
  }
}

}  // namespace hr
