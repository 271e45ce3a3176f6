// SPDX-License-Identifier: Apache-2.0
// Deferred operations on rows.
#include "headrace/relational/rows/row_nodes.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/reduce/quantile.h"
#include "headrace/algo/reduce/reduce_axis.h"
#include "headrace/algo/scan/diff.h"
#include "headrace/algo/scan/fill_missing.h"
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/plan/bind/binder.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/unique_keys.h"
#include "headrace/plan/graph/view.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

namespace hr {

namespace {

void require_rows(std::string_view op, const NodePtr& node) {
  if (node->signature().form == Form::kTable || node->signature().shape.empty())
    throw_error<TypeMismatchError>(op, "expected a column or an array with rows");
}

const Tensor& tensor(const Value& value) {
  return std::get<Tensor>(value);
}

Tensor positions_of(const Value& value) {
  if (const auto* column = std::get_if<Column>(&value)) return as_tensor(*column);
  return tensor(value);
}

struct Take final : OperatorOf<Take> {
  std::string_view name() const override { return "take"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_strided(inputs[0]);
  }

  RowLineage lineage() const override { return RowLineage::kTaken; }

  Value execute(std::span<const Value> inputs) const override {
    const Tensor where = positions_of(inputs[1]);
    if (const auto* column = std::get_if<Column>(&inputs[0])) return gather(*column, where);
    return gather(tensor(inputs[0]), where);
  }
};

struct Concat final : OperatorOf<Concat> {
  Dtype dtype{};

  std::string_view name() const override { return "concat"; }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    const DictionaryPtr& first = std::get<Column>(inputs[0]).dictionary();
    for (const Value& input : inputs)
      if (std::get<Column>(input).dictionary() != first)
        return "categories with different dictionaries have no kernel for CUDA";
    return {};
  }

  RowLineage lineage() const override { return RowLineage::kConcatenated; }

  Value execute(std::span<const Value> inputs) const override {
    std::vector<Column> parts;
    for (const Value& value : inputs) parts.push_back(std::get<Column>(value));
    return concatenate("concat", dtype, parts);
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

struct Stack final : OperatorOf<Stack> {
  Dtype dtype{};

  std::string_view name() const override { return "stack"; }

  Value execute(std::span<const Value> inputs) const override {
    const auto rows = static_cast<int64_t>(inputs.size());
    if (dtype.is_bool()) {
      Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
      auto* const out = bits.mutable_as<uint8_t>();
      for (size_t i = 0; i < inputs.size(); ++i)
        if (tensor(inputs[i]).item<bool>()) out[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
      return Column(dtype, rows, std::move(bits));
    }
    const int64_t width = dtype.size_bytes();
    Buffer values = Buffer::allocate(rows * width);
    std::byte* out = values.mutable_data();
    for (const Value& input : inputs) {
      std::memcpy(out, std::get<Tensor>(input).data(), static_cast<size_t>(width));
      out += width;
    }
    return Column(dtype, rows, std::move(values));
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

Dtype dtype_of_all(std::string_view op, const std::vector<NodePtr>& nodes) {
  if (nodes.empty()) throw_error<InvalidArgumentError>(op, "no columns to concatenate");
  std::vector<Dtype> dtypes;
  dtypes.reserve(nodes.size());
  for (const NodePtr& node : nodes) dtypes.push_back(node->signature().dtype);
  if (const std::optional<Dtype> common = common_dtype(dtypes)) return *common;
  size_t at = 1;
  while (common_dtype(std::span(dtypes).first(at + 1))) ++at;
  throw_error<TypeMismatchError>(op, "columns of these dtypes cannot be concatenated",
                                 {{"dtype", dtypes[0].name()}, {"other", dtypes[at].name()}},
                                 "cast one of them with astype");
}

// A mask without the fills that make its nulls false, which a filter does anyway: the optimizer
// then finds the comparisons themselves.
NodePtr condition_of(const NodePtr& mask, int most_levels = 64) {
  const Node::Fields& fields = mask->fields();
  if (most_levels == 0 || mask->is_ready() || fields.kind() != NodeKind::kElementwise) return mask;
  const std::vector<NodePtr> inputs = held_inputs(*mask);
  if (inputs.size() != 2) return mask;
  switch (fields.operation()) {
    case Op::kFillNull: {
      const std::optional<Scalar> filled = constant_of(inputs[1]);
      const bool is_false = filled && !filled->is_null() && !filled->as<bool>();
      return is_false ? condition_of(inputs[0], most_levels - 1) : mask;
    }
    case Op::kBitwiseAnd:
    case Op::kBitwiseOr: {
      const NodePtr left = condition_of(inputs[0], most_levels - 1),
                    right = condition_of(inputs[1], most_levels - 1);
      const bool same = left == inputs[0] && right == inputs[1];
      return same ? mask : elementwise(fields.operation(), {left, right});
    }
    default:
      return mask;
  }
}

}  // namespace

NodePtr filter(const NodePtr& rows, const NodePtr& picking) {
  require_rows("getitem", rows);
  const NodePtr mask = condition_of(picking);
  const Signature& picked = mask->signature();
  Signature signature = rows->signature();
  if (!picked.dtype.is_bool() || picked.shape.size() != 1)
    throw_error<TypeMismatchError>(
        "getitem", "the mask must be a 1-D bool array",
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
  return masked_rows(std::move(signature), rows, mask);
}

NodePtr take(const NodePtr& rows, const NodePtr& positions) {
  require_rows("take", rows);
  const Signature& at = positions->signature();
  if (!at.dtype.is_integer() || at.shape.size() != 1)
    throw_error<TypeMismatchError>("take", "positions must be 1-D integers",
                                   {{"dtype", at.dtype.name()}, {"dimensions", at.shape.size()}});
  Signature signature = rows->signature();
  signature.shape[0] = at.rows();
  // The part of a table that ran names the same rows as before.
  const bool named = at.rows() == kUnknown || positions->kind() == NodeKind::kPart;
  signature.domain = named ? at.domain : 0;
  return apply_operator(Take::make(), std::move(signature), {rows, positions});
}

NodePtr to_common_dtype(const NodePtr& column, Dtype dtype) {
  const Dtype own = column->signature().dtype;
  if (own == dtype) return column;
  if (own.is_category()) return to_common_dtype(cast(column, own.item()), dtype);
  if (dtype.is_decimal() || own.is_decimal()) return decimal_cast(column, dtype);
  if (dtype.has_unit()) return retype(rescale_unit(column, dtype.unit(), false), dtype);
  return cast(column, dtype);
}

NodePtr concat(const std::vector<NodePtr>& columns) {
  for (const NodePtr& column : columns) require_rows("concat", column);
  const Dtype dtype = dtype_of_all("concat", columns);
  std::vector<NodePtr> inputs;
  Signature signature = columns[0]->signature();
  signature.form = Form::kColumn;
  signature.dtype = dtype;
  signature.shape = {0};
  signature.domain = new_domain();
  for (const NodePtr& column : columns) {
    const Signature& own = column->signature();
    NodePtr input = own.form == Form::kTensor ? as_column(column) : column;
    inputs.push_back(to_common_dtype(input, dtype));
    signature.nullable |= own.nullable;
    signature.shape[0] = own.rows() == kUnknown || signature.shape[0] == kUnknown
                             ? kUnknown
                             : signature.shape[0] + own.rows();
  }
  return apply_operator(Concat::make(dtype), std::move(signature), std::move(inputs));
}

namespace {

struct Shift final : OperatorOf<Shift> {
  int64_t periods = 0;

  std::string_view name() const override { return "shift"; }

  std::string arguments() const override { return std::to_string(periods); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    const auto& from = std::get<Column>(inputs[0]);
    const int64_t rows = from.num_rows(), by = std::clamp(periods, -rows, rows);
    if (by == 0) return from;
    const Column nulls = null_rows(name(), from, std::abs(by));
    const Column kept = from.slice(std::max<int64_t>(-by, 0), rows - std::abs(by));
    return by > 0 ? concatenate(name(), from.dtype(), std::array{nulls, kept})
                  : concatenate(name(), from.dtype(), std::array{kept, nulls});
  }

  static auto parameters(auto& self) { return std::tie(self.periods); }
};

struct DiffRows final : OperatorOf<DiffRows> {
  int64_t periods = 0;

  std::string_view name() const override { return "diff"; }

  std::string arguments() const override { return std::to_string(periods); }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return diff(std::get<Column>(inputs[0]), periods);
  }

  static auto parameters(auto& self) { return std::tie(self.periods); }
};

// Of a function of each row and its neighbours: nulls where there is none.
NodePtr with_neighbours(std::string_view name, OperatorPtr op, const NodePtr& column) {
  require_rows(name, column);
  const Signature& own = column->signature();
  Signature signature = own;
  signature.form = Form::kColumn;
  signature.nullable = true;
  const NodePtr input = own.form == Form::kTensor ? as_column(column) : column;
  return apply_operator(std::move(op), std::move(signature), {input});
}

}  // namespace

NodePtr stack(const std::vector<NodePtr>& values) {
  Signature signature;
  signature.dtype = dtype_of_all("stack", values);
  signature.shape = {static_cast<int64_t>(values.size())};
  std::vector<NodePtr> inputs;
  inputs.reserve(values.size());
  for (const NodePtr& value : values) inputs.push_back(cast(value, signature.dtype));
  const OperatorPtr op = Stack::make(signature.dtype);
  return apply_operator(op, std::move(signature), std::move(inputs));
}

NodePtr shift(const NodePtr& column, int64_t periods) {
  return with_neighbours("shift", Shift::make(periods), column);
}

NodePtr diff_rows(const NodePtr& column, int64_t periods) {
  return with_neighbours("diff", DiffRows::make(periods), column);
}

namespace {

struct FillMissing final : OperatorOf<FillMissing> {
  bool backward = false;

  std::string_view name() const override { return backward ? "bfill" : "ffill"; }

  int passes() const override { return 2; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    return fill_missing(std::get<Column>(inputs[0]), backward);
  }

  static auto parameters(auto& self) { return std::tie(self.backward); }
};

// Bits of rows that are not at the positions of the second input; the first has the rows.
struct NotAt final : OperatorOf<NotAt> {
  std::string_view name() const override { return "duplicated"; }

  Value execute(std::span<const Value> inputs) const override {
    const int64_t rows = signature_of(inputs[0]).rows();
    const Tensor at = contiguous(positions_of(inputs[1]), name());
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
    auto* const out = bits.mutable_as<uint8_t>();
    std::fill_n(out, rows / 8, uint8_t{0xFF});
    for (int64_t row = rows - rows % 8; row < rows; ++row) set_bit(out, row, true);
    for (int64_t i = 0; i < at.num_elements(); ++i) set_bit(out, at.as<int64_t>()[i], false);
    return Column(TypeId::kBool, rows, std::move(bits));
  }
};

// Sums or counts over the columns of each row, a block of rows at a time.
struct RowTotal final : OperatorOf<RowTotal> {
  bool counts = false;
  int64_t columns = 0;

  std::string_view name() const override { return counts ? "count" : "sum"; }

  std::string arguments() const override { return "axis=1"; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return columns; }

  Value execute(std::span<const Value> inputs) const override {
    const int64_t rows = signature_of(inputs[0]).rows();
    Buffer out = Buffer::allocate_spillable(8 * rows);
    if (rows == 0) return Column(counts ? TypeId::kInt64 : TypeId::kFloat64, 0, std::move(out));
    std::vector<BufferAccess> accesses{writes(out, 8)};
    for (const Value& input : inputs) accesses.push_back(reads(std::get<Column>(input)));
    auto* const totals = out.mutable_as<double>();
    auto* const numbers = out.mutable_as<int64_t>();
    parallel_morsels(rows, accesses, [&](Morsel morsel) {
      for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
        const int64_t end = std::min(begin + kBlockRows, morsel.end);
        std::memset(numbers + begin, 0, static_cast<size_t>(8 * (end - begin)));
        for (const Value& input : inputs) {
          const auto& column = std::get<Column>(input);
          const double* const values = column.values<double>().data();
          const bool has_nulls = column.null_count() > 0;
          for (int64_t row = begin; row < end; ++row) {
            const bool is_there = values[row] == values[row] && !(has_nulls && column.is_null(row));
            if (counts)
              numbers[row] += is_there;
            else
              totals[row] += is_there ? values[row] : 0;
          }
        }
      }
    });
    return Column(counts ? TypeId::kInt64 : TypeId::kFloat64, rows, std::move(out));
  }

  static auto parameters(auto& self) { return std::tie(self.counts, self.columns); }
};

}  // namespace

NodePtr row_total(const std::vector<NodePtr>& columns, bool counts) {
  const std::string_view op = counts ? "count" : "sum";
  Signature signature = columns.at(0)->signature();
  for (const NodePtr& column : columns) {
    if (column->signature().dtype != TypeId::kFloat64 || column->signature().form != Form::kColumn)
      throw_error<TypeMismatchError>(op, "expected float64 columns",
                                     {{"dtype", column->signature().dtype.name()}});
    check_same_rows(op, columns[0], column);
    if (signature.domain == 0) signature.domain = column->signature().domain;
  }
  signature.dtype = counts ? TypeId::kInt64 : TypeId::kFloat64;
  signature.nullable = false;
  return apply_operator(RowTotal::make(counts, static_cast<int64_t>(columns.size())),
                        std::move(signature), columns);
}

NodePtr fill_missing(const NodePtr& column, bool backward) {
  require_rows(backward ? "bfill" : "ffill", column);
  const NodePtr input = column->signature().form == Form::kTensor ? as_column(column) : column;
  return apply_operator(FillMissing::make(backward), input->signature(), {input});
}

NodePtr not_at(const NodePtr& rows, const NodePtr& positions) {
  Signature signature = rows->signature();
  signature.form = Form::kColumn;
  signature.dtype = TypeId::kBool;
  signature.nullable = false;
  return apply_operator(NotAt::make(), std::move(signature),
                        {rows, cast(positions, TypeId::kInt64)});
}

namespace {

struct Cumulate final : OperatorOf<Cumulate> {
  Aggregate aggregate = Aggregate::kSum;
  Dtype dtype{};  // of the input

  std::string_view name() const override {
    return aggregate_name(aggregate, AggregateForm::kCumulative);
  }

  int passes() const override { return 2; }

  bool supports(Place place) const override {
    return dtype.is_number() || Operator::supports(place);
  }

  Value execute(std::span<const Value> inputs) const override {
    return cumulative(aggregate, std::get<Column>(inputs[0]));
  }

  static auto parameters(auto& self) { return std::tie(self.aggregate, self.dtype); }
};

}  // namespace

NodePtr cumulative(Aggregate aggregate, const NodePtr& column) {
  require_rows(aggregate_name(aggregate, AggregateForm::kCumulative), column);
  NodePtr input = column->signature().form == Form::kTensor ? as_column(column) : column;
  if (aggregate == Aggregate::kProduct) input = decimal_to_float(input);
  Signature signature = input->signature();
  const Dtype dtype = signature.dtype;
  signature.dtype = aggregate_dtype(aggregate, dtype, AggregateForm::kCumulative);
  return apply_operator(Cumulate::make(aggregate, dtype), std::move(signature), {input});
}

namespace {

struct Quantile final : OperatorOf<Quantile> {
  std::vector<double> q{};
  Interpolation interpolation = Interpolation::kLinear;

  std::string_view name() const override { return "quantile"; }

  int passes() const override { return 2; }

  bool supports(Place) const override { return true; }

  Value execute(std::span<const Value> inputs) const override {
    if (const auto* values = std::get_if<Column>(&inputs[0]))
      return quantile(*values, q, interpolation);
    return quantile(as_column(contiguous(tensor(inputs[0]), "quantile")), q, interpolation);
  }

  static auto parameters(auto& self) { return std::tie(self.q, self.interpolation); }
};

}  // namespace

NodePtr quantile(const NodePtr& column, std::vector<double> q, Interpolation interpolation) {
  require_rows("quantile", column);
  for (const double each : q)
    if (!(each >= 0 && each <= 1))
      throw_error<InvalidArgumentError>("quantile", "q is out of range", {{"q", each}},
                                        "pass 0 to 1");
  if (!column->signature().dtype.is_real() || column->signature().shape.size() != 1)
    throw_error<TypeMismatchError>("quantile", "expected 1-D numbers",
                                   {{"dtype", column->signature().dtype.name()}});
  const Dtype dtype =
      picks_values(interpolation) ? column->signature().dtype : Dtype(TypeId::kFloat64);
  Signature signature = array_signature(dtype, {static_cast<int64_t>(q.size())});
  return apply_operator(Quantile::make(std::move(q), interpolation), std::move(signature),
                        {column});
}

namespace {

struct AxisReduction final : OperatorOf<AxisReduction> {
  Aggregate reduction = Aggregate::kSum;
  int64_t axis = 0;
  ReduceOptions options{};

  std::string_view name() const override {
    return aggregate_name(reduction, AggregateForm::kColumn);
  }

  std::string arguments() const override { return "axis=" + std::to_string(axis); }

  bool supports(Place) const override { return true; }

  std::string why_unsupported(std::span<const Value> inputs) const override {
    return why_no_axis_kernel(tensor(inputs[0]), reduction, axis, options);
  }

  Value execute(std::span<const Value> inputs) const override {
    return reduce_axis(tensor(inputs[0]), reduction, axis, options);
  }

  static auto parameters(auto& self) { return std::tie(self.reduction, self.axis, self.options); }
};

}  // namespace

NodePtr reduce_axis(Aggregate reduction, const NodePtr& array, int64_t axis,
                    ReduceOptions options) {
  Signature signature = array->signature();
  const auto dimensions = static_cast<int64_t>(signature.shape.size());
  if (signature.form != Form::kTensor || axis < 0 || axis >= dimensions)
    throw_error<InvalidArgumentError>(aggregate_name(reduction, AggregateForm::kColumn),
                                      "the axis is out of range",
                                      {{"axis", axis}, {"dimensions", dimensions}});
  signature.shape.erase(signature.shape.begin() + axis);
  signature.dtype = aggregate_dtype(reduction, signature.dtype, AggregateForm::kColumn);
  if (axis == 0) signature.domain = 0;
  return apply_operator(AxisReduction::make(reduction, axis, options), std::move(signature),
                        {array});
}

namespace {

struct OrderedCategories final : OperatorOf<OrderedCategories> {
  std::string_view name() const override { return "as_ordered"; }

  int passes() const override { return 0; }

  Value execute(std::span<const Value> inputs) const override {
    return ordered_categories(std::get<Column>(inputs[0]));
  }
};

}  // namespace

NodePtr ordered_categories(const NodePtr& column) {
  const Signature& signature = column->signature();
  if (signature.form != Form::kColumn || !signature.dtype.is_category())
    throw_error<TypeMismatchError>("as_ordered", "expected a category column",
                                   {{"dtype", signature.dtype.name()}}, "use astype('category')");
  return apply_operator(OrderedCategories::make(), signature, {column});
}

}  // namespace hr
