// SPDX-License-Identifier: Apache-2.0
// Views of arrays.
#include "headrace/plan/graph/view.h"

#include "headrace/base/error.h"
#include "headrace/exchange/strided.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>

namespace hr {

namespace {

void require_array(const char* op, const NodePtr& node) {
  if (node->signature().form != Form::kTensor)
    throw_error<TypeMismatchError>(op, "supported by arrays only", {}, "use to_array() first");
}

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ")";
}

// ---- operators: each shares the memory of its input ---------------------------------------------

struct View final : OperatorOf<View> {
  std::vector<ViewItem> items{};
  Shape shape{};

  std::string_view name() const override { return "getitem"; }

  std::string arguments() const override { return shape_text(shape); }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& tensor = std::get<Tensor>(inputs[0]);
    Shape sizes, strides;
    int64_t element = 0;
    for (size_t d = 0; d < items.size(); ++d) {
      element += items[d].begin * tensor.strides()[d];
      if (items[d].step == 0) continue;
      sizes.push_back(items[d].count == kUnknown ? tensor.shape()[d] : items[d].count);
      strides.push_back(tensor.strides()[d] * items[d].step);
    }
    if (num_elements(sizes) == 0) element = 0;
    return Tensor(tensor.dtype(), sizes, strides, tensor.buffer(),
                  tensor.byte_offset() + element * tensor.dtype().size_bytes());
  }

  static auto parameters(auto& self) { return std::tie(self.items, self.shape); }
};

struct Transpose final : OperatorOf<Transpose> {
  std::vector<int64_t> axes{};

  std::string_view name() const override { return "transpose"; }

  std::string arguments() const override { return shape_text(axes); }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& tensor = std::get<Tensor>(inputs[0]);
    Shape sizes, strides;
    for (const int64_t axis : axes) {
      sizes.push_back(tensor.shape()[static_cast<size_t>(axis)]);
      strides.push_back(tensor.strides()[static_cast<size_t>(axis)]);
    }
    return Tensor(tensor.dtype(), sizes, strides, tensor.buffer(), tensor.byte_offset());
  }

  static auto parameters(auto& self) { return std::tie(self.axes); }
};

struct Reshape final : OperatorOf<Reshape> {
  Shape shape{};

  std::string_view name() const override { return "reshape"; }

  std::string arguments() const override { return shape_text(shape); }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    Tensor tensor = std::get<Tensor>(inputs[0]);
    if (!tensor.is_contiguous()) {
      const auto copy = [](std::span<const Value> there) -> std::vector<Value> {
        return {contiguous(std::get<Tensor>(there[0]), "reshape")};
      };
      const auto none = [](std::span<const Value>) { return std::string(); };
      tensor = std::get<Tensor>(
          dispatch_to_place(name(), none, {inputs.begin(), inputs.end()}, copy)[0]);
    }
    if (tensor.num_elements() != num_elements(shape))
      throw_error<InvalidArgumentError>(
          "reshape", "the number of elements differs",
          {{"from", shape_text(tensor.shape())}, {"to", shape_text(shape)}});
    return Tensor(tensor.dtype(), shape, tensor.buffer(), tensor.byte_offset());
  }

  static auto parameters(auto& self) { return std::tie(self.shape); }
};

struct ToSeries final : OperatorOf<ToSeries> {
  std::string_view name() const override { return "to_series"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return column_of("to_series", std::get<Tensor>(inputs[0]));
  }
};

struct ToArray final : OperatorOf<ToArray> {
  std::string_view name() const override { return "to_array"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return as_tensor(std::get<Column>(inputs[0]));
  }
};

struct Retype final : OperatorOf<Retype> {
  Dtype dtype{};

  std::string_view name() const override { return "astype"; }

  std::string arguments() const override { return std::string(dtype.name()); }

  int passes() const override { return 0; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  bool is_monotonic() const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    if (const auto* column = std::get_if<Column>(&inputs[0])) return column->with_dtype(dtype);
    const auto& tensor = std::get<Tensor>(inputs[0]);
    return Tensor(dtype, tensor.shape(), tensor.strides(), tensor.buffer(), tensor.byte_offset());
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

}  // namespace

NodePtr strided_view(const NodePtr& array, std::vector<ViewItem> items) {
  require_array("getitem", array);
  Signature signature = array->signature();
  if (items.size() != signature.shape.size())
    throw_error<InvalidArgumentError>(
        "getitem", "expected one item per dimension",
        {{"items", items.size()}, {"dimensions", signature.shape.size()}});
  Shape shape;
  for (size_t d = 0; d < items.size(); ++d) {
    const ViewItem& item = items[d];
    const int64_t size = signature.shape[d];
    if (item.count == kUnknown && size == kUnknown) {
      shape.push_back(kUnknown);
      continue;
    }
    const int64_t last = item.begin + (item.count - 1) * item.step;
    if (item.count < 0 ||
        (item.count > 0 && (item.begin < 0 || item.begin >= size || last < 0 || last >= size)))
      throw_error<InvalidArgumentError>(
          "getitem", "elements out of range",
          {{"begin", item.begin}, {"count", item.count}, {"size", size}});
    if (item.step != 0) shape.push_back(item.count);
  }
  signature.shape = shape;
  if (shape.empty() || shape[0] != kUnknown) signature.domain = 0;
  return apply_operator(View::make(std::move(items), std::move(shape)), std::move(signature),
                        {array});
}

NodePtr transpose(const NodePtr& array, std::vector<int64_t> axes) {
  require_array("transpose", array);
  Signature signature = array->signature();
  const Shape& shape = array->signature().shape;
  Shape sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = axes.size() == shape.size();
  for (size_t i = 0; permutation && i < sorted.size(); ++i)
    permutation = sorted[i] == static_cast<int64_t>(i);
  if (!permutation)
    throw_error<InvalidArgumentError>("transpose", "the axes are not a permutation",
                                      {{"axes", shape_text(axes)}, {"dimensions", shape.size()}});
  for (size_t d = 0; d < axes.size(); ++d) signature.shape[d] = shape[static_cast<size_t>(axes[d])];
  if (!axes.empty() && axes[0] != 0) signature.domain = 0;
  return apply_operator(Transpose::make(std::move(axes)), std::move(signature), {array});
}

NodePtr reshape(const NodePtr& array, Shape shape) {
  require_array("reshape", array);
  Signature signature = array->signature();
  const int64_t count = num_elements(shape);
  const bool known = std::none_of(signature.shape.begin(), signature.shape.end(),
                                  [](int64_t size) { return size == kUnknown; });
  if (known && num_elements(signature.shape) != count)
    throw_error<InvalidArgumentError>(
        "reshape", "the number of elements differs",
        {{"from", shape_text(signature.shape)}, {"to", shape_text(shape)}});
  signature.shape = shape;
  signature.domain = 0;
  return apply_operator(Reshape::make(std::move(shape)), std::move(signature), {array});
}

NodePtr as_column(const NodePtr& array) {
  Signature signature = array->signature();
  if (signature.form == Form::kColumn) return array;
  const bool times = signature.dtype.has_unit();
  if (signature.shape.size() != 1 || !(signature.dtype.is_real() || times))
    throw_error<TypeMismatchError>(
        "to_series", "only a 1-D array of numbers, times or durations can be a column",
        {{"shape", shape_text(signature.shape)}, {"dtype", signature.dtype.name()}});
  signature.form = Form::kColumn;
  signature.nullable = times;  // NaT becomes null
  return apply_operator(ToSeries::make(), std::move(signature), {array});
}

NodePtr as_tensor(const NodePtr& column) {
  Signature signature = column->signature();
  if (signature.form == Form::kTensor) return column;
  signature.form = Form::kTensor;
  signature.nullable = false;
  if (column->is_ready()) {
    NodePtr made = lazy_value(as_tensor(std::get<Column>(column->value())), column->detail(),
                              signature.domain, column->fields().live);
    share_marks(made, std::span(&column, 1));
    return made;
  }
  const Dtype dtype = signature.dtype;
  if (dtype.has_zone() || (!dtype.is_real() && !dtype.has_unit()))
    throw_error<TypeMismatchError>("to_array", "the dtype cannot be an array",
                                   {{"dtype", dtype.name()}},
                                   dtype.is_category()  ? "use cat.codes"
                                   : dtype.is_date()    ? "use astype('int32')"
                                   : dtype.is_decimal() ? "use astype('float64')"
                                   : dtype.has_zone()   ? "use dt.tz_convert(None) for UTC"
                                                        : "");
  return apply_operator(ToArray::make(), std::move(signature), {column});
}

NodePtr retype(const NodePtr& input, Dtype dtype) {
  Signature signature = input->signature();
  if (signature.form == Form::kTable || signature.dtype.storage() != dtype.storage() ||
      dtype.is_category() || (signature.form == Form::kTensor && dtype.has_zone()))
    throw_error<TypeMismatchError>("astype", "the dtypes differ in layout",
                                   {{"from", signature.dtype.name()}, {"to", dtype.name()}});
  if (signature.dtype == dtype) return input;
  signature.dtype = dtype;
  return apply_operator(Retype::make(dtype), std::move(signature), {input});
}

}  // namespace hr
