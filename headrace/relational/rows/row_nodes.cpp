// SPDX-License-Identifier: Apache-2.0
// Deferred operations on rows.
#include "headrace/relational/rows/row_nodes.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/reduce/quantile.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/plan/graph/view.h"
#include "headrace/plan/optimize/unique_keys.h"

#include <algorithm>

namespace hr {

namespace {

void require_rows(const char* op, const NodePtr& node) {
  if (node->signature().form == Form::kTable || node->signature().shape.empty())
    throw_error<TypeMismatchError>(op, "a column or an array with rows is wanted");
}

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

Tensor positions_of(const Value& value) {
  if (const auto* column = std::get_if<Column>(&value)) return as_tensor(*column);
  return tensor(value);
}

}  // namespace

NodePtr filter_node(const NodePtr& rows, const NodePtr& mask) {
  require_rows("getitem", rows);
  const Signature& picked = mask->signature();
  Signature signature = rows->signature();
  if (!picked.dtype.is_bool() || picked.shape.size() != 1)
    throw_error<TypeMismatchError>(
        "getitem", "a mask is bool and has one dimension",
        {{"dtype", picked.dtype.name()}, {"dimensions", picked.shape.size()}});
  const bool both_known = picked.rows() != kUnknown && signature.rows() != kUnknown;
  if (both_known ? picked.rows() != signature.rows() : picked.domain != signature.domain)
    throw_error<InvalidArgumentError>("getitem", "mask and rows have different lengths or frames",
                                      {picked.rows_detail("mask"), signature.rows_detail("rows")});
  if (picked.domain != 0 && signature.domain != 0 && picked.domain != signature.domain)
    throw_error<InvalidArgumentError>("getitem", "mask and rows belong to different frames",
                                      {picked.rows_detail("mask"), signature.rows_detail("rows")},
                                      "bring them into one frame with merge or join first");
  signature.shape[0] = kUnknown;
  signature.domain = picked_domain(mask);
  return picked_node(std::move(signature), rows, mask);
}

NodePtr take_node(const NodePtr& rows, const NodePtr& positions) {
  require_rows("take", rows);
  const Signature& at = positions->signature();
  if (!at.dtype.is_integer() || at.shape.size() != 1)
    throw_error<TypeMismatchError>("take", "positions are integers in one dimension",
                                   {{"dtype", at.dtype.name()}, {"dimensions", at.shape.size()}});
  Signature signature = rows->signature();
  signature.shape[0] = at.rows();
  // The part of a table that ran names the same rows as before.
  const bool named = at.rows() == kUnknown || positions->kind() == NodeKind::kPart;
  signature.domain = named ? at.domain : 0;
  NodePtr made = operator_node(
      "take", "", signature, {rows, positions}, 1,
      [](std::span<const Value> inputs) -> Value {
        const Tensor where = positions_of(inputs[1]);
        if (const auto* column = std::get_if<Column>(&inputs[0])) return gather(*column, where);
        return gather(tensor(inputs[0]), where);
      },
      nullptr, true);
  return with_traits(std::move(made),
                     {.same = "take", .takes = true, .unique = keys_at(rows, positions)});
}

NodePtr concat_node(const std::vector<NodePtr>& columns) {
  if (columns.empty()) throw_error<InvalidArgumentError>("concat", "there is nothing to join");
  std::vector<NodePtr> inputs;
  Dtype dtype = columns[0]->signature().dtype;
  for (const NodePtr& column : columns) {
    require_rows("concat", column);
    const Dtype other = column->signature().dtype;
    if (other == dtype) continue;
    const auto is_number = [](Dtype each) { return each.is_real() || each.is_bool(); };
    if (!is_number(dtype) || !is_number(other))
      throw_error<TypeMismatchError>("concat", "columns of these dtypes do not go together",
                                     {{"dtype", dtype.name()}, {"other", other.name()}},
                                     "cast one of them with astype");
    dtype = promote(dtype, other);
  }
  Signature signature = columns[0]->signature();
  signature.form = Form::kColumn;
  signature.dtype = dtype;
  signature.shape = {0};
  signature.domain = new_domain();
  for (const NodePtr& column : columns) {
    const Signature& own = column->signature();
    NodePtr input = own.form == Form::kTensor ? as_column_node(column) : column;
    inputs.push_back(own.dtype == dtype ? input : cast_node(input, dtype));
    signature.nullable |= own.nullable;
    signature.shape[0] = own.rows() == kUnknown || signature.shape[0] == kUnknown
                             ? kUnknown
                             : signature.shape[0] + own.rows();
  }
  NodePtr made = operator_node("concat", "", signature, std::move(inputs), 1,
                               [dtype](std::span<const Value> values) -> Value {
                                 std::vector<Column> parts;
                                 for (const Value& value : values)
                                   parts.push_back(std::get<Column>(value));
                                 return concatenate("concat", dtype, parts);
                               });
  return with_traits(std::move(made), {.concats = true});
}

NodePtr shift_node(const NodePtr& column, int64_t periods) {
  require_rows("shift", column);
  const Signature& own = column->signature();
  Signature signature = own;
  signature.form = Form::kColumn;
  signature.nullable = true;
  const NodePtr input = own.form == Form::kTensor ? as_column_node(column) : column;
  return operator_node("shift", std::to_string(periods), signature, {input}, 1,
                       [periods](std::span<const Value> values) -> Value {
                         const auto& from = std::get<Column>(values[0]);
                         const int64_t rows = from.num_rows(),
                                       by = std::clamp(periods, -rows, rows);
                         Buffer at = Buffer::allocate_spillable(8 * rows);
                         if (rows > 0) {
                           int64_t* const out = at.mutable_as<int64_t>();
                           parallel_morsels(rows, {writes(at, 8)}, [&](Morsel morsel) {
                             for (int64_t row = morsel.begin; row < morsel.end; ++row)
                               out[row] = row - by < 0 || row - by >= rows ? -1 : row - by;
                           });
                         }
                         return gather_or_null(from, Tensor(TypeId::kInt64, {rows}, std::move(at)));
                       });
}

NodePtr cumulative_node(Cumulation cumulation, const NodePtr& column) {
  const std::string name(cumulation_name(cumulation));
  require_rows(name.c_str(), column);
  NodePtr input = column->signature().form == Form::kTensor ? as_column_node(column) : column;
  if (cumulation == Cumulation::kProduct) input = decimal_to_float(input);
  Signature signature = input->signature();
  const bool on_device = signature.dtype.is_real() || signature.dtype.is_bool();
  signature.dtype = cumulation_dtype(cumulation, signature.dtype);
  return operator_node(
      name, "", signature, {input}, 2,
      [cumulation](std::span<const Value> values) -> Value {
        return cumulative(cumulation, std::get<Column>(values[0]));
      },
      nullptr, on_device);
}

NodePtr quantile_node(const NodePtr& column, std::vector<double> q, Interpolation interpolation) {
  require_rows("quantile", column);
  for (const double each : q)
    if (!(each >= 0 && each <= 1))
      throw_error<InvalidArgumentError>("quantile", "q is out of range", {{"q", each}},
                                        "pass 0 to 1");
  if (!column->signature().dtype.is_real() || column->signature().shape.size() != 1)
    throw_error<TypeMismatchError>("quantile", "numbers in one dimension are wanted",
                                   {{"dtype", column->signature().dtype.name()}});
  const Dtype dtype =
      picks_values(interpolation) ? column->signature().dtype : Dtype(TypeId::kFloat64);
  const Signature signature = array_signature(dtype, {static_cast<int64_t>(q.size())});
  return operator_node("quantile", "", signature, {column}, 2,
                       [q = std::move(q), interpolation](std::span<const Value> inputs) -> Value {
                         if (const auto* values = std::get_if<Column>(&inputs[0]))
                           return quantile(*values, q, interpolation);
                         return quantile(as_column(contiguous(tensor(inputs[0]), "quantile")), q,
                                         interpolation);
                       });
}

NodePtr reduction_axis_node(Reduction reduction, const NodePtr& array, int64_t axis,
                            ReduceOptions options) {
  Signature signature = array->signature();
  const auto dimensions = static_cast<int64_t>(signature.shape.size());
  if (signature.form != Form::kTensor || axis < 0 || axis >= dimensions)
    throw_error<InvalidArgumentError>(reduction_name(reduction), "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", dimensions}});
  signature.shape.erase(signature.shape.begin() + axis);
  signature.dtype = reduction_dtype(reduction, signature.dtype);
  if (axis == 0) signature.domain = 0;
  return operator_node(std::string(reduction_name(reduction)), "axis=" + std::to_string(axis),
                       signature, {array}, 1, [=](std::span<const Value> inputs) -> Value {
                         return reduce_axis(tensor(inputs[0]), reduction, axis, options);
                       });
}

NodePtr ordered_categories_node(const NodePtr& column) {
  const Signature& signature = column->signature();
  if (signature.form != Form::kColumn || !signature.dtype.is_category())
    throw_error<TypeMismatchError>("as_ordered", "a column of categories is wanted",
                                   {{"dtype", signature.dtype.name()}}, "use astype('category')");
  return operator_node("as_ordered", "", signature, {column}, 0,
                       [](std::span<const Value> inputs) -> Value {
                         return ordered_categories(std::get<Column>(inputs[0]));
                       });
}

}  // namespace hr
