// SPDX-License-Identifier: Apache-2.0
// From nodes to one program of the evaluator.
#include "headrace/plan/execute/fused_pass.h"

#include "headrace/base/error.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/plan/eval/evaluate_filtered.h"
#include "headrace/plan/execute/fused_inputs.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/fingerprint.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/slices.h"
#include "headrace/plan/optimize/input_fusion.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace hr {

namespace {

constexpr int64_t kWidestNumber = 8;

void store(const Scalar& scalar, std::byte* out) {
  const auto put = [&](auto value) { std::memcpy(out, &value, sizeof value); };
  if (scalar.dtype().is_bool()) return put(scalar.as<bool>());
  visit_real(scalar.dtype(), [&]<class T>(std::type_identity<T>) {
    if (!scalar.is_null()) return put(scalar.as<T>());
    if constexpr (std::is_floating_point_v<T>) return put(std::numeric_limits<T>::quiet_NaN());
    throw_error<InvalidArgumentError>("reduce", "no values, and the dtype has no NaN",
                                      {{"dtype", scalar.dtype().name()}}, "check count() first");
  });
}

}  // namespace

void make_tensors(std::vector<Value>& values) {
  const auto is_number = [](const Value& value) { return std::holds_alternative<Scalar>(value); };
  const int64_t count = std::ranges::count_if(values, is_number);
  if (count == 0) return;
  Buffer buffer = Buffer::allocate(kWidestNumber * count);
  std::byte* const out = buffer.mutable_data();
  int64_t offset = 0;
  for (Value& value : values) {
    if (!is_number(value)) continue;
    const Scalar number = std::get<Scalar>(value);
    store(number, out + offset);
    value = Tensor(number.dtype(), Shape{}, buffer, offset);
    offset += kWidestNumber;
  }
}

namespace {

// Equal for two views of one column.
using ColumnKey = std::tuple<std::string_view, int64_t, int64_t, const void*, const void*>;

std::optional<ColumnKey> key_of(const Value& value) {
  const auto* column = std::get_if<Column>(&value);
  if (!column || column->num_rows() == 0) return {};
  return ColumnKey(column->dtype().name(), column->num_rows(), column->offset(),
                   identity_of(column->values_buffer()),
                   column->null_count() == 0 ? nullptr : identity_of(column->validity_buffer()));
}

class ProgramBuilder {
 public:
  /// `rows`: picked rows are those that they are picked of; null where there are none.
  explicit ProgramBuilder(const RowPass* rows = nullptr) : rows_(rows) {}

  int value_of(const NodePtr& node) {
    if (const auto it = values_.find(node.get()); it != values_.end()) return it->second;
    const int value = node->is_ready() ? read(node) : compute(node);
    values_.emplace(node.get(), value);
    return value;
  }

  void add_output(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    if (fields.kind() == NodeKind::kReduction) {
      const auto& op = static_cast<const ReductionOperator&>(*fields.op);
      program_.add_reduction(value_of(fields.inputs[0]), op.reduction, op.options);
      partial_.resize(program_.outputs().size(), op.partial);
    } else if (fields.signature.form == Form::kColumn) {
      program_.add_column(value_of(node));
    } else {
      program_.add_tensor(value_of(node));
    }
    partial_.resize(program_.outputs().size());
  }

  std::vector<Value> run(const Shape& shape) const {
    return dispatch_to_place(
        "evaluate",
        [&](std::span<const Value> inputs) { return why_unsupported(program_, inputs, shape); },
        inputs_,
        [&](std::span<const Value> inputs) {
          return evaluate_supported(program_, inputs, shape, partial_);
        });
  }

  /// The same over the rows that a mask picks.
  std::vector<Value> run_picked(const Value& mask) const {
    std::vector<Value> read = inputs_;
    read.push_back(mask);
    const auto columns = [](std::span<const Value> where) { return where.first(where.size() - 1); };
    return dispatch_to_place(
        "evaluate",
        [&](std::span<const Value> where) {
          return why_unsupported(program_, columns(where), Shape{signature_of(mask).rows()});
        },
        std::move(read),
        [&](std::span<const Value> where) {
          return evaluate(program_, columns(where), mask_of(where.back()));
        });
  }

  /// The same over the rows for which `mask`, of another program, is true.
  std::vector<Value> run_filtered(const NodePtr& mask) const {
    ProgramBuilder filter;
    const int value = filter.value_of(mask);
    const int64_t rows = filter.rows();
    const auto on_host = [](const Value& input) { return place_of(input).is_host(); };
    if (!std::ranges::all_of(inputs_, on_host) || !std::ranges::all_of(filter.inputs_, on_host) ||
        !takes_filter(program_, inputs_, rows)) {
      filter.add_output(mask);
      return run_picked(filter.run(Shape{rows})[0]);
    }
    filter.program_.add_block(value);
    return evaluate_filtered({filter.program_, filter.inputs_, rows}, program_, inputs_);
  }

  Program& program() { return program_; }

  const std::vector<Value>& inputs() const { return inputs_; }

  /// Size of the first dimension, which only the inputs know when the signature does not.
  int64_t rows() const {
    for (const Value& input : inputs_)
      if (const int64_t rows = signature_of(input).rows(); rows != 1) return rows;
    return 1;
  }

 private:
  int read(const NodePtr& node) {
    const Value& value = node->value();
    if (const auto* scalar = std::get_if<Scalar>(&value)) return program_.constant(*scalar);
    // A 0-d array takes part as a constant.
    if (const auto* tensor = std::get_if<Tensor>(&value); tensor && tensor->shape().empty())
      return program_.constant(scalar_of(std::get<Tensor>(to_place(value, host))));
    auto place = static_cast<int>(inputs_.size());
    if (const auto key = key_of(value)) place = places_.try_emplace(*key, place).first->second;
    if (place == static_cast<int>(inputs_.size())) inputs_.push_back(value);
    const Signature signature = signature_of(value);
    return program_.input(place, signature.dtype, signature.nullable);
  }

  int compute(const NodePtr& node) {
    const Node::Fields& fields = node->fields();
    const RowLineage lineage = fields.lineage();
    if (rows_ && (lineage == RowLineage::kFiltered || lineage == RowLineage::kSame))
      return value_of(fields.inputs[0]);
    std::vector<int> operands;
    for (const NodePtr& input : fields.inputs) operands.push_back(value_of(input));
    if (fields.operation() == Op::kCast) return program_.cast(operands[0], fields.signature.dtype);
    return program_.apply(fields.operation(), operands);
  }

  const RowPass* rows_;
  Program program_;
  std::vector<bool> partial_;  // by output
  std::vector<Value> inputs_;
  std::unordered_map<const Node*, int> values_;
  std::map<ColumnKey, int> places_;  // of inputs
};

std::string has_no_kernel(std::span<const Value>) {
  return kNoKernel;
}

}  // namespace

std::vector<Value> run_fused_pass(const PlanStep& step) {
  ProgramBuilder builder(step.rows.get());
  for (const NodePtr& node : step.outputs) builder.add_output(node);
  if (step.rows) {
    const NodePtr& mask = step.rows->mask;
    std::vector<Value> values = step.rows->computes_mask && !mask->is_ready()
                                    ? builder.run_filtered(mask)
                                    : builder.run_picked(mask->value());
    make_tensors(values);
    return values;
  }
  const NodePtr& first = step.outputs[0];
  Shape shape = (first->kind() == NodeKind::kReduction ? first->fields().inputs[0] : first)
                    ->signature()
                    .shape;
  if (!shape.empty() && shape[0] == kUnknown) shape[0] = builder.rows();
  std::vector<Value> values = builder.run(shape);
  make_tensors(values);
  return values;
}

Table run_row_pass(const PlanStep& step, const std::vector<bool>& wanted,
                   const PlaceWork& in_slices) {
  const NodePtr& table = step.outputs[0];
  const Node::Fields& fields = table->fields();
  const TableOperator& op = fields.table();
  const RowPass& pass = *step.rows;
  ProgramBuilder builder(&pass);
  RowInputs inputs;
  inputs.keys = op.fused_keys;
  inputs.given.resize(fields.inputs.size());
  inputs.computed.assign(fields.inputs.size(), -1);
  for (const int64_t place : pass.values) {
    const auto at = static_cast<size_t>(place);
    inputs.computed[at] = builder.value_of(fields.inputs[at]);
  }
  // What is read, in one list that goes where the data are.
  std::vector<Value> read = builder.inputs();
  std::vector<size_t> places;
  const std::unordered_set<int64_t> keys(inputs.keys.begin(), inputs.keys.end());
  std::unordered_set<const Node*> reads;
  for (const NodePtr& input : step.inputs) reads.insert(input.get());
  for (size_t i = 0; i < fields.inputs.size(); ++i) {
    NodePtr node = fields.inputs[i];
    const bool is_key = keys.contains(static_cast<int64_t>(i));
    if (is_key && pass.inside.contains(node.get())) node = picked_of(node)->fields().inputs[0];
    if (!is_key && (inputs.computed[i] >= 0 || !reads.contains(node.get()))) continue;
    read.push_back(node->value());
    places.push_back(i);
  }
  if (pass.mask) read.push_back(pass.mask->value());
  inputs.program = std::move(builder.program());
  const size_t columns = builder.inputs().size();
  const auto take = [&](std::span<const Value> where) {
    inputs.values.assign(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(columns));
    for (size_t i = 0; i < places.size(); ++i) inputs.given[places[i]] = where[columns + i];
    if (pass.mask) inputs.mask = where.back();
    inputs.rows = signature_of(inputs.given[static_cast<size_t>(inputs.keys[0])]).rows();
  };
  std::vector<Value> made;
  if (std::any_of(read.begin(), read.end(),
                  [](const Value& value) { return place_of(value).is_gpu(); })) {
    // A device has kernels for what the table would compute, and what they leave is less to copy.
    const auto limits = [&](std::span<const Value> where) {
      take(where);
      return inputs.why_unsupported();
    };
    made =
        dispatch_to_place("evaluate", limits, std::move(read), [&](std::span<const Value> where) {
          take(where);
          return inputs.made();
        });
    const auto own_limits = [&](std::span<const Value> where) {
      return op.supports(cuda_place()) ? op.why_unsupported(where) : kNoKernel;
    };
    made = dispatch_or_slice(
        table->op(), own_limits, std::move(made),
        [&](std::span<const Value> where) -> std::vector<Value> {
          return {op.execute(wanted, where, fields.of_table->state.get())};
        },
        in_slices);
  } else {
    PlaceWork made_in_slices;
    if (in_slices)
      made_in_slices = [&](std::span<const Value> here) {
        take(here);
        return in_slices(inputs.made());
      };
    made = dispatch_or_slice(
        table->op(), has_no_kernel, std::move(read),
        [&](std::span<const Value> where) -> std::vector<Value> {
          take(where);
          return {op.execute_fused(wanted, inputs)};
        },
        made_in_slices);
  }
  return std::get<Table>(std::move(made[0]));
}

}  // namespace hr
