// SPDX-License-Identifier: Apache-2.0
// Nodes of element-wise operations and reductions: what they give is checked at their line.
#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/base/error.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/view.h"

#include <algorithm>

namespace hr {

namespace {

/// One element-wise operation; that of a cast stands in the node's signature.
struct Elementwise final : OperatorOf<Elementwise> {
  Op op = Op::kCast;

  NodeKind kind() const override { return NodeKind::kElementwise; }

  std::string_view name() const override { return op_row(op).name; }

  Op operation() const override { return op; }

  RowLineage lineage() const override { return RowLineage::kRowwise; }

  int64_t rowwise_inputs() const override { return op_row(op).operands; }

  Value execute(std::span<const Value>) const override {
    throw_error<InternalError>(name(), "the evaluator runs element-wise operations");
  }

  static auto parameters(auto& self) { return std::tie(self.op); }
};

// Rows and domain that the operands share. Unknown sizes fit only their own domain.
void combine_rows(std::string_view op, Signature& result, const std::vector<NodePtr>& inputs) {
  const Signature* named = nullptr;
  const Shape* shape = nullptr;  // of the last operand that has dimensions
  bool unknown = false, alike = true;
  for (const NodePtr& input : inputs) {
    const Signature& each = input->signature();
    if (each.form == Form::kTable)
      throw_error<TypeMismatchError>(op, "a table cannot be an operand", {}, "select a column");
    if (each.form == Form::kColumn) result.form = Form::kColumn;
    if (each.shape.empty()) continue;
    alike &= !shape || *shape == each.shape;
    shape = &each.shape;
    unknown |= each.rows() == kUnknown;
    if (each.domain == 0) continue;
    if (named && named->domain != each.domain)
      throw_error<InvalidArgumentError>(
          op, "the operands have different rows",
          {named->rows_detail("rows"), each.rows_detail("other_rows")},
          named->rows() == 1 || each.rows() == 1
              ? "take the value of the one row with item(), or merge or join the frames first"
              : "match labels with align, or bring them into one frame with merge or join first");
    named = &each;
  }
  if (named) result.domain = named->domain;
  if (!unknown) {
    if (!alike) {
      std::vector<Shape> shapes;
      for (const NodePtr& input : inputs) shapes.push_back(input->signature().shape);
      result.shape = broadcast_shape(op, shapes);
    } else if (shape) {
      result.shape = *shape;
    }
    if (result.form == Form::kColumn && result.shape.size() != 1)
      throw_error<InvalidArgumentError>(op, "a column has one dimension",
                                        {{"dimensions", result.shape.size()}});
    if (named && result.rows() != named->rows())
      throw_error<InvalidArgumentError>(op, "the operands have different rows",
                                        {{"rows", named->rows()}, {"other_rows", result.rows()}});
    return;
  }
  for (const NodePtr& input : inputs) {
    const Signature& each = input->signature();
    if (each.shape.empty()) continue;
    if (named && each.same_rows(*named)) {
      if (result.shape.empty() || each.rows() != kUnknown) result.shape = each.shape;
      continue;
    }
    throw_error<InvalidArgumentError>(
        op, "lengths known only after evaluation must come from one source",
        {each.rows_detail("rows")}, "evaluate one operand first (len() does), or join them");
  }
}

// An `&` as the test on one side, of the rows that the other side leaves; null where there is none,
// and on a device, whose kernels test all rows.
NodePtr narrowed_test(const std::vector<NodePtr>& inputs) {
  const Signature &left = inputs[0]->signature(), &right = inputs[1]->signature();
  for (const Signature* each : {&left, &right})
    if (each->form != Form::kColumn || !each->dtype.is_bool() || each->nullable) return nullptr;
  if (!left.same_rows(right) || left.domain != right.domain) return nullptr;
  if (inputs[0]->fields().place.is_gpu() || inputs[1]->fields().place.is_gpu()) return nullptr;
  for (const size_t test : {1, 0}) {
    const Node::Fields& fields = inputs[test]->fields();
    const PredicatePtr predicate = predicate_of(fields);
    std::vector<NodePtr> own = held_inputs(*inputs[test]);
    if (!predicate || own.empty()) continue;
    NodePtr where = inputs[1 - test];
    if (is_masked(fields)) {
      where = elementwise(Op::kBitwiseAnd, {own.back(), where});
      own.pop_back();
    }
    return apply_predicate(predicate, fields.signature, std::move(own), where);
  }
  return nullptr;
}

struct Recode final : OperatorOf<Recode> {
  Dtype dtype{};

  std::string_view name() const override { return "astype"; }

  std::string arguments() const override { return std::string(dtype.name()); }

  // Codes follow the order in which the values come, so those of some rows are others.
  RowLineage lineage() const override {
    return dtype.is_category() ? RowLineage::kOwn : RowLineage::kRowwise;
  }

  Value execute(std::span<const Value> inputs) const override {
    const auto& column = std::get<Column>(inputs[0]);
    return dtype.is_category() ? dictionary_encode(column) : dictionary_decode(column);
  }

  static auto parameters(auto& self) { return std::tie(self.dtype); }
};

// Values as categories or categories as values.
NodePtr recode_node(const NodePtr& input, Dtype dtype) {
  Signature signature = input->signature();
  signature.nullable |= signature.dtype.is_floating();  // NaN is no category
  signature.dtype = dtype;
  return apply_operator(Recode::make(dtype), std::move(signature), {input});
}

}  // namespace

OperatorPtr elementwise_operator(Op operation) {
  static const std::vector<OperatorPtr> shared = [] {
    std::vector<OperatorPtr> all;
    for (int op = 0; op <= static_cast<int>(Op::kWhere); ++op)
      all.push_back(Elementwise::make(static_cast<Op>(op)));
    return all;
  }();
  return shared[static_cast<size_t>(operation)];
}

Value ReductionOperator::execute(std::span<const Value>) const {
  throw_error<InternalError>(name(), "the evaluator runs reductions");
}

NodePtr elementwise(Op operation, std::vector<NodePtr> inputs) {
  const OpRow& row = op_row(operation);
  std::vector<Operand> operands;
  Signature signature;
  signature.form = Form::kTensor;
  for (const NodePtr& input : inputs) {
    const auto* scalar = input->is_ready() ? std::get_if<Scalar>(&input->value()) : nullptr;
    operands.push_back({input->signature().dtype, scalar && scalar->is_weak() ? scalar : nullptr});
    signature.nullable |= input->signature().nullable;
  }
  signature.dtype = result_dtype(operation, operands);
  combine_rows(row.name, signature, inputs);
  if (operation == Op::kIsNull) signature.nullable = false;
  if (operation == Op::kFillNull) signature.nullable = inputs[1]->signature().nullable;
  if (NodePtr known = folded_node(operation, signature, inputs)) return known;
  if (operation == Op::kBitwiseAnd || operation == Op::kLogicalAnd)
    if (NodePtr test = narrowed_test(inputs)) return test;
  return apply_operator(elementwise_operator(operation), std::move(signature), std::move(inputs));
}

NodePtr cast(const NodePtr& input, Dtype dtype) {
  const Signature from = input->signature();
  if (from.dtype == dtype) return input;
  if (from.form == Form::kColumn && from.dtype.is_category() && !dtype.is_category())
    return cast(recode_node(input, from.dtype.item()), dtype);
  if (from.form == Form::kColumn && dtype.is_category() && dtype.item() == from.dtype)
    return recode_node(input, dtype);
  const bool from_time = from.dtype.is_temporal() || from.dtype.is_duration();
  const bool to_time = dtype.is_temporal() || dtype.is_duration();
  if (from.form != Form::kTable && from_time && dtype.is_real())
    return cast(retype(input, from.dtype.storage()), dtype);
  if (to_time && !(from.form == Form::kTensor && (dtype.is_date() || dtype.has_zone())) &&
      from.dtype.is_integer() && promote(from.dtype, dtype.storage()) == dtype.storage())
    return retype(cast(input, dtype.storage()), dtype);
  if (from.form == Form::kTable || !from.dtype.is_number() || !dtype.is_number())
    throw_error<TypeMismatchError>(
        "astype", "no conversion between these dtypes",
        {{"from", from.dtype.name()}, {"to", dtype.name()}},
        from_time || to_time
            ? "dates, timestamps and durations go to and from integers of their width, or to pandas"
            : "");
  if (NodePtr known = folded_cast(input, dtype)) return known;
  Signature signature = from;
  signature.dtype = dtype;
  return apply_operator(elementwise_operator(Op::kCast), std::move(signature), {input});
}

NodePtr values_of_categories(const NodePtr& input) {
  const Dtype dtype = input->signature().dtype;
  return dtype.is_category() && !dtype.has_text() ? cast(input, dtype.item()) : input;
}

NodePtr literal(const Scalar& value) {
  return lazy_value(value, "scalar");
}

NodePtr reduce(Aggregate reduction, const NodePtr& input, ReduceOptions options) {
  const Signature& from = input->signature();
  if (from.form == Form::kTable)
    throw_error<TypeMismatchError>(aggregate_name(reduction, AggregateForm::kColumn),
                                   "a table cannot be reduced", {}, "select a column");
  auto made = std::make_shared<ReductionOperator>();
  made->reduction = reduction;
  made->options = options;
  Signature signature;
  signature.form = Form::kTensor;
  signature.dtype = aggregate_dtype(reduction, from.dtype, AggregateForm::kColumn);
  return apply_operator(std::move(made), std::move(signature), {input});
}

}  // namespace hr
