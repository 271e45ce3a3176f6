// SPDX-License-Identifier: Apache-2.0
// What is known of element-wise values before anything runs.
#include "headrace/plan/graph/constants.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/plan/eval/evaluate.h"
#include "headrace/plan/graph/node_fields.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <cstring>

namespace hr {

std::optional<Scalar> constant_of(const NodePtr& node) {
  const Node::Fields& fields = node->fields();
  if (fields.constant) return fields.constant;
  if (!node->is_ready()) return {};
  if (const auto* scalar = std::get_if<Scalar>(&node->value())) return *scalar;
  const auto* tensor = std::get_if<Tensor>(&node->value());
  if (!tensor || !tensor->shape().empty() || !tensor->buffer().place().is_host() ||
      !tensor->dtype().is_number())
    return {};
  return scalar_of(*tensor);
}

// ---- columns of one value ---------------------------------------------------------------------

namespace {

template <class Repeat>
NodePtr repeated(const NodePtr& like, Dtype dtype, std::shared_ptr<Repeat> op) {
  Signature signature = like->signature();
  if (signature.form == Form::kTable || signature.shape.empty())
    throw_error<TypeMismatchError>("assign", "expected a column or an array with rows");
  signature.form = Form::kColumn;
  signature.dtype = dtype;
  signature.nullable = false;
  op->rows = signature.rows();
  const bool known = op->rows != kUnknown;
  if (known) op->domain = signature.domain;
  const NodePtr made = apply_operator(std::move(op), std::move(signature),
                                      known ? std::vector<NodePtr>{} : std::vector{like});
  const Place place = place_of(like);
  return !known || place == made->fields().place ? made : to_place(made, place);
}

template <class T>
Column repeat_value(Dtype dtype, T value, int64_t rows) {
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(T)));
  if (rows > 0) {
    T* out = buffer.mutable_as<T>();
    parallel_morsels(
        rows, [&](Morsel morsel) { std::fill(out + morsel.begin, out + morsel.end, value); });
  }
  if (dtype.is_string()) return Column::strings(rows, std::move(buffer), {});
  return Column(dtype, rows, std::move(buffer));
}

Column repeat_bool(bool value, int64_t rows) {
  Buffer buffer = Buffer::allocate_zeroed((rows + 7) / 8);
  if (value && rows > 0) {
    std::memset(buffer.mutable_data(), 0xFF, static_cast<size_t>((rows + 7) / 8));
    if (rows % 8)
      buffer.mutable_as<uint8_t>()[rows / 8] = static_cast<uint8_t>((1u << (rows % 8)) - 1);
  }
  return Column(TypeId::kBool, rows, std::move(buffer));
}

/// One value in each row, made when the rows of its input are known, where that is; the input goes
/// when they are known before.
struct Repeat : Operator {
  int64_t rows = kUnknown;
  uint64_t domain = 0;

  std::string_view name() const override { return "assign"; }

  std::string arguments() const override { return "one value"; }

  RowLineage lineage() const override {
    return rows == kUnknown ? RowLineage::kRowwise : RowLineage::kOwn;
  }

  Value execute(std::span<const Value> inputs) const override {
    return column(inputs.empty() ? rows : signature_of(inputs[0]).rows());
  }

  virtual Column column(int64_t count) const = 0;
};

struct RepeatNumber final : OperatorOf<RepeatNumber, Repeat> {
  Scalar value{};

  std::optional<Scalar> constant() const override { return value; }

  Column column(int64_t count) const override {
    if (value.dtype().is_bool()) return repeat_bool(value.as<bool>(), count);
    return visit_real(value.dtype(), [&]<class T>(std::type_identity<T>) {
      return repeat_value(value.dtype(), value.as<T>(), count);
    });
  }

  static auto parameters(auto& self) { return std::tie(self.rows, self.domain, self.value); }
};

struct RepeatString final : OperatorOf<RepeatString, Repeat> {
  std::string text{};

  Column column(int64_t count) const override {
    StringView view{};
    view.size = static_cast<uint32_t>(text.size());
    if (text.size() <= sizeof view.inlined) {
      std::memcpy(view.inlined, text.data(), text.size());
      return repeat_value(TypeId::kString, view, count);
    }
    Buffer bytes = Buffer::allocate(static_cast<int64_t>(text.size()));
    std::memcpy(bytes.mutable_data(), text.data(), text.size());
    std::memcpy(view.indirect.prefix, text.data(), 4);
    const Column views = repeat_value(TypeId::kString, view, count);
    return Column::strings(count, views.values_buffer(), {bytes});
  }

  static auto parameters(auto& self) { return std::tie(self.rows, self.domain, self.text); }
};

}  // namespace

NodePtr repeat(const NodePtr& like, const Scalar& value) {
  auto op = std::make_shared<RepeatNumber>();
  op->value = value;
  return repeated(like, value.dtype(), std::move(op));
}

NodePtr repeat(const NodePtr& like, const std::string& text) {
  if (text.size() > static_cast<size_t>(INT32_MAX))
    throw_error<InvalidArgumentError>("assign", "the string is too long", {{"bytes", text.size()}});
  auto op = std::make_shared<RepeatString>();
  op->text = text;
  return repeated(like, TypeId::kString, std::move(op));
}

// ---- operations ---------------------------------------------------------------------------------

namespace {

using Known = std::vector<std::optional<Scalar>>;

bool has_rows_of(const NodePtr& node, const Signature& result) {
  const Signature own = node->signature();
  return own.form == result.form && own.domain == result.domain && own.shape == result.shape;
}

// A value over memory that others may write to is copied by the operation.
bool stands_for(const NodePtr& node, const Signature& result) {
  return node->signature().dtype == result.dtype && has_rows_of(node, result) &&
         !node->fields().live;
}

// The value in all rows; null where there is no node for it.
NodePtr of_constant(const Signature& result, const std::vector<NodePtr>& inputs,
                    const Scalar& value) {
  if (value.is_null()) return nullptr;
  if (result.is_scalar()) {
    NodePtr made = value.dtype().is_bool()
                       ? lazy_value(scalar_tensor(value.as<bool>()), "scalar")
                       : visit_real(value.dtype(), [&]<class T>(std::type_identity<T>) {
                           return lazy_value(scalar_tensor(value.as<T>()), "scalar");
                         });
    share_marks(made, inputs);
    return made;
  }
  if (result.form != Form::kColumn) return nullptr;
  const auto like = std::find_if(inputs.begin(), inputs.end(),
                                 [&](const NodePtr& each) { return has_rows_of(each, result); });
  if (like == inputs.end()) return nullptr;
  NodePtr made = repeat(*like, value);
  share_marks(made, inputs);
  return made;
}

// A program of constants gives what the evaluator would give in each row.
std::optional<Scalar> value_of(Program& program, int value) {
  if (program.nullable(value)) return {};
  program.add_tensor(value);
  return scalar_of(std::get<Tensor>(evaluate(program, {}, Shape{})[0]));
}

std::optional<Scalar> converted(const Scalar& value, Dtype dtype) {
  Program program;
  return value_of(program, program.cast(program.constant(value), dtype));
}

std::optional<Scalar> computed(Op op, Dtype result, const Known& known) {
  if (op == Op::kPower && result.is_integer()) return {};  // a negative power is an error in a row
  Program program;
  std::vector<int> operands;
  for (const auto& each : known) operands.push_back(program.constant(*each));
  return value_of(program, program.apply(op, operands));
}

/// An operation with some known operands.
class Fold {
 public:
  Fold(Op op, const Signature& result, const std::vector<NodePtr>& inputs, const Known& known)
      : op_(op), result_(result), inputs_(inputs), known_(known) {}

  NodePtr node() const {
    const bool bools = result_.dtype.is_bool(), floats = result_.dtype.is_floating();
    switch (op_) {
      case Op::kBitwiseAnd:
        return bools ? by_truth(false) : nullptr;
      case Op::kLogicalAnd:
        return by_truth(false);
      case Op::kLogicalOr:
        return by_truth(true);
      case Op::kBitwiseOr:
        return bools ? by_truth(true) : without(0);
      case Op::kAdd:  // -0.0 + 0.0 is 0.0
        return floats ? nullptr : without(0);
      case Op::kLogicalXor:
      case Op::kBitwiseXor:
        return without(0);
      case Op::kMultiply:
        return without(1);
      case Op::kSubtract:
        return !floats && is(1, 0) ? kept(0) : nullptr;
      case Op::kLeftShift:
      case Op::kRightShift:
        return is(1, 0) ? kept(0) : nullptr;
      case Op::kFloorDivide:
        return !floats && is(1, 1) ? kept(0) : nullptr;
      case Op::kDivide:
      case Op::kPower:
        return is(1, 1) ? kept(0) : nullptr;
      case Op::kAbsolute:
        return bools || result_.dtype.is_unsigned() ? kept(0) : nullptr;
      case Op::kFloor:
      case Op::kCeil:
      case Op::kTrunc:
        return floats ? nullptr : kept(0);
      case Op::kNegative:
      case Op::kInvert:
      case Op::kLogicalNot:
        return undone();
      case Op::kIsNull:
        return may_miss(0) ? nullptr : of_constant(result_, inputs_, Scalar(false));
      case Op::kFillNull:
        return may_miss(0) ? nullptr : kept(0);
      case Op::kWhere:
        return chosen();
      default:
        return nullptr;
    }
  }

 private:
  bool is(size_t input, double number) const {
    return known_[input] && !known_[input]->is_null() && known_[input]->as<double>() == number;
  }

  bool may_miss(size_t input) const { return !has_no_nulls(inputs_[input]); }

  NodePtr kept(size_t input) const {
    return stands_for(inputs_[input], result_) ? inputs_[input] : nullptr;
  }

  // One operand, where the other is the number that changes nothing.
  NodePtr without(double number) const {
    return is(1, number) ? kept(0) : is(0, number) ? kept(1) : nullptr;
  }

  // Kleene's logic: an operand with this truth decides, also next to null; the other leaves the
  // rest.
  NodePtr by_truth(bool deciding) const {
    for (const size_t k : {1, 0}) {
      if (!known_[k] || known_[k]->is_null()) continue;
      if ((known_[k]->as<double>() != 0) == deciding)
        return of_constant(result_, inputs_, Scalar(deciding));
      return kept(1 - k);
    }
    return nullptr;
  }

  NodePtr undone() const {
    const Op own = inputs_[0]->fields().operation();
    if (own != Op::kNegative && own != Op::kInvert && own != Op::kLogicalNot) return nullptr;
    const std::vector<NodePtr> held = held_inputs(*inputs_[0]);
    const NodePtr inner = held.empty() ? nullptr : held[0];
    const bool same = inner && (own == op_ || result_.dtype.is_bool());
    return same && stands_for(inner, result_) ? inner : nullptr;
  }

  NodePtr chosen() const {
    if (!known_[0] || known_[0]->is_null()) return nullptr;
    const size_t place = known_[0]->as<double>() != 0 ? 1 : 2;
    if (stands_for(inputs_[place], result_)) return inputs_[place];
    if (known_[place])
      if (const auto value = converted(*known_[place], result_.dtype))
        return of_constant(result_, inputs_, *value);
    const bool converts = has_rows_of(inputs_[place], result_) && !inputs_[place]->fields().live;
    return converts ? cast(inputs_[place], result_.dtype) : nullptr;
  }

  Op op_;
  const Signature& result_;
  const std::vector<NodePtr>& inputs_;
  const Known& known_;
};

}  // namespace

NodePtr folded_node(Op op, const Signature& result, std::vector<NodePtr>& inputs) {
  Known known;
  for (const NodePtr& input : inputs) known.push_back(constant_of(input));
  const bool all = std::all_of(known.begin(), known.end(), [](const auto& each) { return each; });
  if (all) {
    if (const auto value = computed(op, result.dtype, known))
      if (NodePtr made = of_constant(result, inputs, *value)) return made;
  } else if (NodePtr made = Fold(op, result, inputs, known).node()) {
    return made;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool others_have_rows = std::any_of(inputs.begin(), inputs.end(), [&](const auto& each) {
      return !each->fields().constant && has_rows_of(each, result);
    });
    if (inputs[i]->fields().constant && others_have_rows) {
      NodePtr plain = literal(*known[i]);
      share_marks(plain, std::span(&inputs[i], 1));
      inputs[i] = std::move(plain);
    }
  }
  return nullptr;
}

NodePtr folded_cast(const NodePtr& input, Dtype dtype) {
  const auto known = constant_of(input);
  if (!known) return nullptr;
  const auto value = converted(*known, dtype);
  Signature result = input->signature();
  result.dtype = dtype;
  return value ? of_constant(result, {input}, *value) : nullptr;
}

// ---- rows ---------------------------------------------------------------------------------------

NodePtr all_or_none(const Signature& result, const NodePtr& rows, bool all) {
  if (all) return rows->fields().live ? nullptr : in_domain(rows, result.domain);
  const Dtype dtype = result.dtype;
  if (dtype.is_category())  // its words are known when it is there
    return rows->is_ready() ? in_domain(slice(rows, 0, 0), result.domain) : nullptr;
  Shape shape = result.shape;
  shape[0] = 0;
  if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size == kUnknown; }))
    return nullptr;
  Buffer none = Buffer::allocate(0);
  if (result.form == Form::kTensor)
    return lazy_value(Tensor(dtype, shape, std::move(none)), rows->detail(), result.domain);
  return lazy_value(dtype.is_string() ? Column::strings(0, std::move(none), {})
                                      : Column(dtype, 0, std::move(none)),
                    rows->detail(), result.domain);
}

}  // namespace hr
