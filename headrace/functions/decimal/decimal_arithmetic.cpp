// SPDX-License-Identifier: Apache-2.0
// Element-wise work on decimals.
#include "headrace/functions/decimal/decimal_arithmetic.h"

#include "headrace/base/enum_names.h"
#include "headrace/functions/strings/string_builder.h"
#include "headrace/plan/graph/view.h"
#include "headrace/plan/optimize/zone_map.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace hr {

namespace {

// A side while it runs: a column, or one value for all rows.
class Side {
 public:
  Side(const Column* column, const DecimalValue& value)
      : column_(column),
        value_(value.units),
        scale_(column ? column->dtype().scale() : value.dtype.scale()),
        values_(column ? column->values<Int128>().data() : nullptr),
        valid_(column ? column->validity() : nullptr) {}

  Int128 operator[](int64_t row) const { return values_ ? values_[row] : value_; }

  bool is_null(int64_t row) const { return valid_ && !get_bit(valid_, column_->offset() + row); }

  bool nullable() const { return valid_ != nullptr; }

  int scale() const { return scale_; }

  void add_touch(std::vector<BufferAccess>& accesses) const {
    if (column_) accesses.push_back(reads(*column_));
  }

 private:
  const Column* column_;
  Int128 value_;
  int scale_;
  const Int128* values_;
  const uint8_t* valid_;
};

Dtype dtype_of(const DecimalSide& side) {
  const auto* node = std::get_if<NodePtr>(&side);
  return node ? (*node)->signature().dtype : std::get<DecimalValue>(side).dtype;
}

void check_side(std::string_view op, const DecimalSide& side) {
  const auto* node = std::get_if<NodePtr>(&side);
  if (!dtype_of(side).is_decimal() || (node && (*node)->signature().form != Form::kColumn))
    throw_error<TypeMismatchError>(op, "expected a decimal column",
                                   {{"dtype", dtype_of(side).name()}},
                                   "use astype('decimal128(38, 2)') or other digits");
}

// The inputs of a node: the sides that are columns.
struct Sides {
  std::vector<NodePtr> inputs;
  Signature signature;

  Sides(std::string_view op, std::initializer_list<const DecimalSide*> sides) {
    for (const DecimalSide* side : sides) {
      check_side(op, *side);
      const auto* node = std::get_if<NodePtr>(side);
      if (!node) continue;
      if (inputs.empty())
        signature = (*node)->signature();
      else
        check_same_rows(op, inputs[0], *node);
      signature.nullable |= (*node)->signature().nullable;
      if (signature.domain == 0) signature.domain = (*node)->signature().domain;
      inputs.push_back(*node);
    }
    if (inputs.empty()) throw_error<InternalError>(op, "neither operand is a column");
  }
};

// What an operator keeps of a side: its value, or none of a column, which is the next input.
using KeptSide = std::optional<DecimalValue>;

KeptSide kept(const DecimalSide& side) {
  const auto* value = std::get_if<DecimalValue>(&side);
  return value ? KeptSide(*value) : std::nullopt;
}

Side side_at(std::span<const Value> inputs, const KeptSide& value, size_t& at) {
  if (value) return {nullptr, *value};
  return {&std::get<Column>(inputs[at++]), {}};
}

[[noreturn]] void refuse_result(std::string_view op, int64_t row, Dtype dtype) {
  throw_error<InvalidArgumentError>(op, "a result does not fit the digits of its dtype",
                                    {{"row", row}, {"dtype", dtype.name()}},
                                    "use astype with fewer digits, or astype('float64'), first");
}

// `make(row, &units)` of each row that is not null; false for what does not fit.
template <class IsNull, class Make>
Column decimals_of(std::string_view op, int64_t rows, Dtype dtype,
                   std::vector<BufferAccess> accesses, bool nullable, IsNull&& null, Make&& make) {
  Buffer buffer = Buffer::allocate_spillable(16 * rows);
  Buffer validity;
  if (rows > 0) {
    auto* const out = buffer.mutable_as<Int128>();
    accesses.push_back(writes(buffer, 16));
    parallel_morsels(rows, accesses, [&](Morsel morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        Int128 units = 0;
        if (!null(row) && (!make(row, &units) || !has_digits(units, dtype.precision())))
          refuse_result(op, row, dtype);
        out[row] = units;
      }
    });
    if (nullable) validity = bits_of(rows, {}, [&](int64_t row) { return !null(row); });
  }
  return Column(dtype, rows, std::move(buffer), std::move(validity), nullable ? -1 : 0);
}

bool is_comparison(Op op) {
  return op_row(op).rule == OpRule::kCompare;
}

bool compute(Op op, Int128 a, Int128 b, Int128* out) {
  switch (op) {
    case Op::kAdd:
      return !__builtin_add_overflow(a, b, out);
    case Op::kSubtract:
      return !__builtin_sub_overflow(a, b, out);
    case Op::kMultiply:
      return !__builtin_mul_overflow(a, b, out);
    case Op::kFloorDivide:
      *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
      return true;
    case Op::kRemainder:
      *out = a % b;
      if (*out != 0 && (a < 0) != (b < 0)) *out += b;
      return true;
    case Op::kMinimum:
      *out = std::min(a, b);
      return true;
    default:
      *out = std::max(a, b);
      return true;
  }
}

Column run_binary(Op op, const Side& a, const Side& b, int64_t rows, Dtype dtype) {
  std::vector<BufferAccess> accesses;
  a.add_touch(accesses);
  b.add_touch(accesses);
  const bool nullable = a.nullable() || b.nullable();
  const auto null = [&](int64_t row) { return a.is_null(row) || b.is_null(row); };
  if (is_comparison(op)) {
    Buffer bits = bits_of(rows, accesses, [&](int64_t row) {
      return !null(row) && holds(op, compare_decimals(a[row], a.scale(), b[row], b.scale()));
    });
    return bool_column(rows, std::move(bits), nullable, null);
  }
  const int scale = op == Op::kMultiply ? 0 : std::max(a.scale(), b.scale());
  const int up_a = std::max(0, scale - a.scale()), up_b = std::max(0, scale - b.scale());
  const bool divides = op == Op::kFloorDivide || op == Op::kRemainder;
  return decimals_of(
      op_row(op).name, rows, dtype, std::move(accesses), nullable, null,
      [&](int64_t row, Int128* out) {
        Int128 x, y;
        if (divides && b[row] == 0)
          throw_error<InvalidArgumentError>(op_row(op).name, "division by zero", {{"row", row}},
                                            "use where(divisor != 0) on the divisor first");
        return scale_up(a[row], up_a, &x) && scale_up(b[row], up_b, &y) && compute(op, x, y, out);
      });
}

Dtype capped(std::string_view op, int precision, int scale, Dtype left, Dtype right) {
  if (scale > kMostDigits)
    throw_error<TypeMismatchError>(op, "more than 38 digits after the decimal point",
                                   {{"left", left.name()}, {"right", right.name()}},
                                   "use astype with fewer digits, or astype('float64'), first");
  return Dtype::decimal(std::min(precision, kMostDigits), scale);
}

}  // namespace

DecimalValue decimal_from_text(std::string_view text) {
  DecimalText made = parse_decimal(text.data(), text.data() + text.size());
  Int128 units = 0;
  if (!made.good || made.scale > kMostDigits ||
      !scale_up(made.units, std::max(0, -made.scale), &units) || !has_digits(units, kMostDigits))
    throw_error<InvalidArgumentError>("decimal", "not a decimal of at most 38 digits",
                                      {{"value", text.substr(0, 60)}});
  const int scale = std::max(0, made.scale);
  int precision = std::max(1, scale);
  while (!has_digits(units, precision)) ++precision;
  return {units, Dtype::decimal(precision, scale)};
}

Dtype decimal_result(Op op, Dtype left, Dtype right) {
  const std::string_view name = op_row(op).name;
  if (op == Op::kMultiply)
    return capped(name, left.precision() + right.precision(), left.scale() + right.scale(), left,
                  right);
  const int scale = std::max(left.scale(), right.scale());
  const int whole = right.precision() - right.scale();
  if (op == Op::kFloorDivide)
    return capped(name, std::max(1, left.precision() - left.scale() + right.scale()), 0, left,
                  right);
  if (op == Op::kRemainder) return capped(name, std::max(1, whole + scale), scale, left, right);
  const int before = std::max(left.precision() - left.scale(), whole);
  const bool grows = op == Op::kAdd || op == Op::kSubtract;
  return capped(name, before + scale + grows, scale, left, right);
}

namespace {

struct DecimalBinary final : OperatorOf<DecimalBinary> {
  Op op = Op::kAdd;
  Dtype dtype{};  // of the result
  KeptSide left{};
  KeptSide right{};

  std::string_view name() const override { return op_row(op).name; }

  std::string arguments() const override { return std::string(dtype.name()); }

  // A row that is not there must not raise what arithmetic may.
  RowLineage lineage() const override {
    return is_comparison(op) ? RowLineage::kRowwise : RowLineage::kOwn;
  }

  int64_t rowwise_inputs() const override { return is_comparison(op) ? !left + !right : 0; }

  NodePtr may_be_true(std::span<const NodePtr>, const NodePtr& least,
                      const NodePtr& most) const override {
    if (!is_comparison(op) || !right) return nullptr;
    return may_compare(op, least, most, [this](Op each, const NodePtr& bound) {
      return decimal_arithmetic(each, bound, *right);
    });
  }

  Value execute(std::span<const Value> inputs) const override {
    size_t at = 0;
    const Side a = side_at(inputs, left, at), b = side_at(inputs, right, at);
    return run_binary(op, a, b, std::get<Column>(inputs[0]).num_rows(), dtype);
  }

  static auto parameters(auto& self) {
    return std::tie(self.op, self.dtype, self.left, self.right);
  }
};

}  // namespace

NodePtr decimal_arithmetic(Op op, const DecimalSide& left, const DecimalSide& right) {
  const std::string name(op_row(op).name);
  constexpr Op kOps[] = {Op::kAdd,         Op::kSubtract,  Op::kMultiply, Op::kMinimum,
                         Op::kFloorDivide, Op::kRemainder, Op::kMaximum};
  if (!is_comparison(op) && std::ranges::find(kOps, op) == std::end(kOps))
    throw_error<TypeMismatchError>(
        name, "the operation does not support decimals",
        {{"left", dtype_of(left).name()}, {"right", dtype_of(right).name()}},
        "use astype('float64') first");
  Sides sides(name, {&left, &right});
  const Dtype dtype = is_comparison(op) ? Dtype(TypeId::kBool)
                                        : decimal_result(op, dtype_of(left), dtype_of(right));
  sides.signature.dtype = dtype;
  return apply_operator(DecimalBinary::make(op, dtype, kept(left), kept(right)),
                        std::move(sides.signature), std::move(sides.inputs));
}

namespace {

// `make(value, &units)` of each value of a column; its dtype stays.
template <class Make>
Column decimals_of_each(std::string_view op, const Column& in, Make&& make) {
  const Side side(&in, {});
  return decimals_of(
      op, in.num_rows(), in.dtype(), {reads(in)}, side.nullable(),
      [&](int64_t row) { return side.is_null(row); },
      [&](int64_t row, Int128* out) { return make(side[row], out); });
}

struct DecimalSign final : OperatorOf<DecimalSign> {
  Op op = Op::kNegative;

  std::string_view name() const override { return op_row(op).name; }

  Value execute(std::span<const Value> inputs) const override {
    const bool absolute = op == Op::kAbsolute;
    return decimals_of_each(name(), std::get<Column>(inputs[0]), [=](Int128 value, Int128* out) {
      return absolute && value >= 0 ? (*out = value, true)
                                    : !__builtin_sub_overflow(Int128{0}, value, out);
    });
  }

  static auto parameters(auto& self) { return std::tie(self.op); }
};

struct DecimalRound final : OperatorOf<DecimalRound> {
  int digits = 0;  // fewer than the column has behind the point

  std::string_view name() const override { return "round"; }

  std::string arguments() const override { return std::to_string(digits); }

  Value execute(std::span<const Value> inputs) const override {
    const auto& in = std::get<Column>(inputs[0]);
    const int dropped = in.dtype().scale() - digits;
    return decimals_of_each(name(), in, [=](Int128 value, Int128* out) {
      return scale_up(scale_down(value, dropped), dropped, out);
    });
  }

  static auto parameters(auto& self) { return std::tie(self.digits); }
};

}  // namespace

NodePtr decimal_sign(Op op, const NodePtr& column) {
  check_side(op_row(op).name, column);
  return apply_operator(DecimalSign::make(op), column->signature(), {column});
}

NodePtr decimal_round(const NodePtr& column, int digits) {
  check_side("round", column);
  if (digits >= column->signature().dtype.scale()) return column;
  return apply_operator(DecimalRound::make(digits), column->signature(), {column});
}

namespace {

struct DecimalWhere final : OperatorOf<DecimalWhere> {
  Dtype dtype{};  // of the result
  KeptSide yes{};
  KeptSide no{};

  std::string_view name() const override { return "where"; }

  std::string arguments() const override { return std::string(dtype.name()); }

  Value execute(std::span<const Value> inputs) const override {
    const auto& wanted = std::get<Column>(inputs[0]);
    size_t at = 1;
    const Side a = side_at(inputs, yes, at), b = side_at(inputs, no, at);
    std::vector<BufferAccess> accesses{reads(wanted)};
    a.add_touch(accesses);
    b.add_touch(accesses);
    const Nulls unknown(wanted);
    const auto null = [&](int64_t row) {
      return unknown(row) || (wanted.bit(row) ? a : b).is_null(row);
    };
    return decimals_of(name(), wanted.num_rows(), dtype, std::move(accesses),
                       unknown.any() || a.nullable() || b.nullable(), null,
                       [&](int64_t row, Int128* out) {
                         const Side& side = wanted.bit(row) ? a : b;
                         return scale_up(side[row], dtype.scale() - side.scale(), out);
                       });
  }

  static auto parameters(auto& self) { return std::tie(self.dtype, self.yes, self.no); }
};

}  // namespace

NodePtr decimal_where(const NodePtr& condition, const DecimalSide& yes, const DecimalSide& no) {
  constexpr std::string_view kOp = "where";
  if (!condition->signature().dtype.is_bool())
    throw_error<TypeMismatchError>(kOp, "the condition must be bool",
                                   {{"dtype", condition->signature().dtype.name()}});
  const NodePtr test = as_column(condition);
  check_side(kOp, yes);
  check_side(kOp, no);
  Signature signature = test->signature();
  std::vector<NodePtr> inputs{test};
  for (const DecimalSide* side : {&yes, &no})
    if (const auto* node = std::get_if<NodePtr>(side)) {
      check_same_rows(kOp, test, *node);
      signature.nullable |= (*node)->signature().nullable;
      if (signature.domain == 0) signature.domain = (*node)->signature().domain;
      inputs.push_back(*node);
    }
  const Dtype dtype = decimal_result(Op::kWhere, dtype_of(yes), dtype_of(no));
  signature.dtype = dtype;
  return apply_operator(DecimalWhere::make(dtype, kept(yes), kept(no)), std::move(signature),
                        std::move(inputs));
}

}  // namespace hr
