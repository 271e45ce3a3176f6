// SPDX-License-Identifier: Apache-2.0
// The table of operations, NumPy's dtype rules and the building of programs.
#include "headrace/plan/eval/expression.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string>

namespace hr {

namespace {

constexpr OpRow kRows[] = {
    {Op::kInput, "input", "", 0, OpRule::kLeaf},
    {Op::kConstant, "constant", "", 0, OpRule::kLeaf},
    {Op::kCast, "cast", "", 1, OpRule::kLeaf},
    {Op::kNegative, "negative", "-", 1, OpRule::kArithmetic},
    {Op::kAbsolute, "absolute", "", 1, OpRule::kArithmetic},
    {Op::kSquare, "square", "", 1, OpRule::kArithmetic},
    {Op::kSign, "sign", "", 1, OpRule::kArithmetic},
    {Op::kReciprocal, "reciprocal", "", 1, OpRule::kArithmetic},
    {Op::kSqrt, "sqrt", "", 1, OpRule::kFloating},
    {Op::kCbrt, "cbrt", "", 1, OpRule::kFloating},
    {Op::kExp, "exp", "", 1, OpRule::kFloating},
    {Op::kExp2, "exp2", "", 1, OpRule::kFloating},
    {Op::kExpm1, "expm1", "", 1, OpRule::kFloating},
    {Op::kLog, "log", "", 1, OpRule::kFloating},
    {Op::kLog2, "log2", "", 1, OpRule::kFloating},
    {Op::kLog10, "log10", "", 1, OpRule::kFloating},
    {Op::kLog1p, "log1p", "", 1, OpRule::kFloating},
    {Op::kSin, "sin", "", 1, OpRule::kFloating},
    {Op::kCos, "cos", "", 1, OpRule::kFloating},
    {Op::kTan, "tan", "", 1, OpRule::kFloating},
    {Op::kArcsin, "arcsin", "", 1, OpRule::kFloating},
    {Op::kArccos, "arccos", "", 1, OpRule::kFloating},
    {Op::kArctan, "arctan", "", 1, OpRule::kFloating},
    {Op::kSinh, "sinh", "", 1, OpRule::kFloating},
    {Op::kCosh, "cosh", "", 1, OpRule::kFloating},
    {Op::kTanh, "tanh", "", 1, OpRule::kFloating},
    {Op::kFloor, "floor", "", 1, OpRule::kRound},
    {Op::kCeil, "ceil", "", 1, OpRule::kRound},
    {Op::kRint, "rint", "", 1, OpRule::kFloating},
    {Op::kTrunc, "trunc", "", 1, OpRule::kRound},
    {Op::kIsNan, "isnan", "", 1, OpRule::kTest},
    {Op::kIsFinite, "isfinite", "", 1, OpRule::kTest},
    {Op::kIsInf, "isinf", "", 1, OpRule::kTest},
    {Op::kIsNull, "is_null", "", 1, OpRule::kNullTest},
    {Op::kLogicalNot, "logical_not", "", 1, OpRule::kLogical},
    {Op::kInvert, "invert", "~", 1, OpRule::kBitwise},
    {Op::kAdd, "add", "+", 2, OpRule::kArithmetic},
    {Op::kSubtract, "subtract", "-", 2, OpRule::kArithmetic},
    {Op::kMultiply, "multiply", "*", 2, OpRule::kArithmetic},
    {Op::kDivide, "divide", "/", 2, OpRule::kDivide},
    {Op::kFloorDivide, "floor_divide", "//", 2, OpRule::kArithmetic},
    {Op::kRemainder, "remainder", "%", 2, OpRule::kArithmetic},
    {Op::kPower, "power", "**", 2, OpRule::kArithmetic},
    {Op::kMinimum, "minimum", "", 2, OpRule::kArithmetic},
    {Op::kMaximum, "maximum", "", 2, OpRule::kArithmetic},
    {Op::kFmin, "fmin", "", 2, OpRule::kArithmetic},
    {Op::kFmax, "fmax", "", 2, OpRule::kArithmetic},
    {Op::kHypot, "hypot", "", 2, OpRule::kFloating},
    {Op::kArctan2, "arctan2", "", 2, OpRule::kFloating},
    {Op::kCopysign, "copysign", "", 2, OpRule::kFloating},
    {Op::kEqual, "equal", "==", 2, OpRule::kCompare, Op::kEqual, Op::kNotEqual},
    {Op::kNotEqual, "not_equal", "!=", 2, OpRule::kCompare, Op::kNotEqual, Op::kEqual},
    {Op::kLess, "less", "<", 2, OpRule::kCompare, Op::kGreater, Op::kGreaterEqual},
    {Op::kLessEqual, "less_equal", "<=", 2, OpRule::kCompare, Op::kGreaterEqual, Op::kGreater},
    {Op::kGreater, "greater", ">", 2, OpRule::kCompare, Op::kLess, Op::kLessEqual},
    {Op::kGreaterEqual, "greater_equal", ">=", 2, OpRule::kCompare, Op::kLessEqual, Op::kLess},
    {Op::kLogicalAnd, "logical_and", "", 2, OpRule::kLogical},
    {Op::kLogicalOr, "logical_or", "", 2, OpRule::kLogical},
    {Op::kLogicalXor, "logical_xor", "", 2, OpRule::kLogical},
    {Op::kBitwiseAnd, "bitwise_and", "&", 2, OpRule::kBitwise},
    {Op::kBitwiseOr, "bitwise_or", "|", 2, OpRule::kBitwise},
    {Op::kBitwiseXor, "bitwise_xor", "^", 2, OpRule::kBitwise},
    {Op::kLeftShift, "left_shift", "<<", 2, OpRule::kShift},
    {Op::kRightShift, "right_shift", ">>", 2, OpRule::kShift},
    {Op::kFillNull, "fill_null", "", 2, OpRule::kFill},
    {Op::kWhere, "where", "", 3, OpRule::kSelect},
};

constexpr bool rows_in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].op != static_cast<Op>(i)) return false;
  return kRows[std::size(kRows) - 1].op == Op::kWhere;
}
static_assert(rows_in_order());

struct Alias {
  std::string_view name;
  Op op;
};

constexpr Alias kAliases[] = {
    {"abs", Op::kAbsolute},
    {"true_divide", Op::kDivide},
    {"mod", Op::kRemainder},
    {"pow", Op::kPower},
    {"bitwise_not", Op::kInvert},
    {"bitwise_invert", Op::kInvert},
    {"asin", Op::kArcsin},
    {"acos", Op::kArccos},
    {"atan", Op::kArctan},
    {"atan2", Op::kArctan2},
    {"bitwise_left_shift", Op::kLeftShift},
    {"bitwise_right_shift", Op::kRightShift},
};

[[noreturn]] void refuse(Op op, Dtype dtype, std::string_view fix) {
  throw_error<TypeMismatchError>(op_row(op).name, "the operation does not support this dtype",
                                 {{"dtype", dtype.name()}}, fix);
}

// What to do with a column that takes no part in arithmetic and comparison.
std::string_view remedy(Dtype dtype) {
  if (dtype.is_temporal() || dtype.is_duration())
    return "use astype('int64') first, or to_pandas() or to_arrow()";
  if (dtype.is_decimal()) return "use astype('float64') first";
  if (dtype.is_category()) return "use cat.codes, or to_pandas() or to_arrow()";
  if (dtype.has_items()) return "use explode() for a row per item, or list.len() and list.get()";
  if (dtype.is_struct()) return "use struct.field(name)";
  return "use numbers or bools";
}

Dtype common_dtype(std::span<const Operand> operands) {
  bool has_strong = false;
  Dtype strong = TypeId::kBool, all = TypeId::kBool;
  bool weak_integer = false, weak_float = false;
  for (const Operand& operand : operands) {
    all = promote(all, operand.dtype);
    if (!operand.literal) {
      strong = has_strong ? promote(strong, operand.dtype) : operand.dtype;
      has_strong = true;
    } else {
      weak_integer |= operand.dtype.is_integer();
      weak_float |= operand.dtype.is_floating();
    }
  }
  if (!has_strong) return all;
  if (weak_float && !strong.is_floating()) return TypeId::kFloat64;
  if (weak_integer && strong.is_bool()) return TypeId::kInt64;
  return strong;
}

Dtype floating_dtype(Dtype dtype) {
  if (dtype.is_floating()) return dtype;
  return dtype.size_bytes() <= 2 ? TypeId::kFloat32 : TypeId::kFloat64;
}

/// The dtype that an operation's (last two, for where) operands are converted to.
Dtype operand_dtype(Op op, std::span<const Operand> operands) {
  const OpRow& row = op_row(op);
  if (static_cast<int>(operands.size()) != row.operands || row.rule == OpRule::kLeaf)
    throw_error<InvalidArgumentError>(row.name, "wrong number of operands",
                                      {{"operands", operands.size()}, {"expected", row.operands}});
  if (row.rule == OpRule::kNullTest) return operands[0].dtype;
  for (const Operand& operand : operands)
    if (!operand.dtype.is_number()) refuse(op, operand.dtype, remedy(operand.dtype));
  switch (row.rule) {
    case OpRule::kArithmetic: {
      const Dtype common = common_dtype(operands);
      if (!common.is_bool()) return common;
      if (op == Op::kNegative || op == Op::kSubtract || op == Op::kSign)
        refuse(op, common, "use logical_not or logical_xor, or cast to an integer");
      if (op == Op::kFloorDivide || op == Op::kRemainder || op == Op::kPower ||
          op == Op::kReciprocal || op == Op::kSquare)
        return TypeId::kInt8;
      return common;
    }
    case OpRule::kDivide: {
      const Dtype common = common_dtype(operands);
      return common.is_floating() ? common : Dtype(TypeId::kFloat64);
    }
    case OpRule::kFloating:
    case OpRule::kTest: {
      const Dtype common = common_dtype(operands);
      const bool all_weak = std::all_of(operands.begin(), operands.end(),
                                        [](const Operand& operand) { return operand.literal; });
      return all_weak ? Dtype(TypeId::kFloat64) : floating_dtype(common);
    }
    case OpRule::kBitwise: {
      const Dtype common = common_dtype(operands);
      if (common.is_floating()) refuse(op, common, "use integers or bools");
      return common;
    }
    case OpRule::kShift: {
      const Dtype common = common_dtype(operands);
      if (common.is_floating()) refuse(op, common, "use integers");
      return common.is_bool() ? Dtype(TypeId::kInt8) : common;
    }
    case OpRule::kLogical:
      return TypeId::kBool;
    case OpRule::kFill: {
      const Dtype common = common_dtype(operands);
      if (!operands[0].literal && common != operands[0].dtype)
        throw_error<TypeMismatchError>(
            row.name, "the value does not fit the dtype",
            {{"dtype", operands[0].dtype.name()}, {"value_dtype", operands[1].dtype.name()}},
            "use astype first");
      return common;
    }
    case OpRule::kSelect:
      return common_dtype(operands.subspan(1));
    default:
      return common_dtype(operands);
  }
}

Dtype result_of(OpRule rule, Dtype operand) {
  switch (rule) {
    case OpRule::kCompare:
    case OpRule::kTest:
    case OpRule::kNullTest:
    case OpRule::kLogical:
      return TypeId::kBool;
    default:
      return operand;
  }
}

std::string text_of(const Scalar& value) {
  return value.dtype().is_unsigned() ? std::to_string(value.as<uint64_t>())
                                     : std::to_string(value.as<int64_t>());
}

template <class T>
bool fits(const Scalar& value) {
  if (value.dtype().is_unsigned())
    return value.as<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max());
  const int64_t v = value.as<int64_t>();
  if constexpr (std::is_unsigned_v<T>)
    return v >= 0 && static_cast<uint64_t>(v) <= std::numeric_limits<T>::max();
  else
    return v >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           v <= static_cast<int64_t>(std::numeric_limits<T>::max());
}

bool literal_fits(const Scalar& value, Dtype dtype) {
  if (!dtype.is_integer() || !value.dtype().is_integer()) return true;
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) return fits<T>(value);
    return true;
  });
}

void check_literals(Op op, std::span<const Operand> operands, Dtype common) {
  if (op_row(op).rule == OpRule::kCompare) return;
  for (const Operand& operand : operands)
    if (operand.literal && !literal_fits(*operand.literal, common))
      throw_error<InvalidArgumentError>(
          op_row(op).name, "the literal does not fit the dtype of the other operand",
          {{"value", text_of(*operand.literal)}, {"dtype", common.name()}},
          "cast the other operand to a wider dtype");
}

Scalar convert_scalar(const Scalar& value, Dtype dtype) {
  if (value.is_null()) return Scalar::null(dtype);
  if (dtype.is_bool())
    return Scalar(value.dtype().is_floating() ? value.as<double>() != 0
                                              : value.as<uint64_t>() != 0);
  return visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      if (value.dtype().is_floating()) {
        const double v = value.as<double>();  // as the cast kernels
        return Scalar(static_cast<T>(v >= -0x1p63 && v < 0x1p63
                                         ? static_cast<int64_t>(v)
                                         : std::numeric_limits<int64_t>::min()));
      }
    return Scalar(value.as<T>());
  });
}

size_t at(int value) {
  return static_cast<size_t>(value);
}

bool same_scalar(const Scalar& a, const Scalar& b) {
  if (a.dtype() != b.dtype() || a.is_null() != b.is_null() || a.is_weak() != b.is_weak())
    return false;
  if (a.dtype().is_floating())
    return std::bit_cast<uint64_t>(a.as<double>()) == std::bit_cast<uint64_t>(b.as<double>());
  return a.as<uint64_t>() == b.as<uint64_t>();
}

bool same_node(const Program::Node& a, const Program::Node& b) {
  return a.op == b.op && a.dtype == b.dtype && std::ranges::equal(a.operands, b.operands) &&
         a.input == b.input && a.nullable == b.nullable &&
         (a.op != Op::kConstant || same_scalar(a.constant, b.constant));
}

uint64_t hash_of(const Program::Node& node) {
  uint64_t hash = static_cast<uint64_t>(node.op) << 8 | static_cast<uint64_t>(node.dtype.id());
  const auto mix = [&](uint64_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  for (const int operand : node.operands) mix(static_cast<uint64_t>(operand));
  mix(static_cast<uint64_t>(node.input));
  if (node.op == Op::kConstant)
    mix(node.dtype.is_floating() ? std::bit_cast<uint64_t>(node.constant.as<double>())
                                 : node.constant.as<uint64_t>());
  return hash;
}

}  // namespace

const OpRow& op_row(Op op) {
  return kRows[static_cast<size_t>(op)];
}

Op op_from_name(std::string_view name) {
  for (const OpRow& row : kRows)
    if (row.name == name && row.rule != OpRule::kLeaf) return row.op;
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.op;
  throw_error<UnsupportedError>("expression", "no such element-wise operation", {{"name", name}},
                                "convert with to_numpy() first");
}

Dtype promote(Dtype a, Dtype b) {
  for (const Dtype d : {a, b})
    if (!d.is_number())
      throw_error<TypeMismatchError>("promote", "the dtype does not support arithmetic",
                                     {{"dtype", d.name()}}, remedy(d));
  if (a == b || b.is_bool()) return a;
  if (a.is_bool()) return b;
  if (a.is_floating() && b.is_floating()) return TypeId::kFloat64;
  if (b.is_floating()) std::swap(a, b);
  if (a.is_floating()) return b.size_bytes() <= 2 ? a : Dtype(TypeId::kFloat64);
  if (a.is_signed() == b.is_signed()) return a.size_bytes() >= b.size_bytes() ? a : b;
  if (b.is_signed()) std::swap(a, b);
  // signed a, unsigned b: the signed type that holds both
  if (a.size_bytes() > b.size_bytes()) return a;
  switch (b.size_bytes()) {
    case 1:
      return TypeId::kInt16;
    case 2:
      return TypeId::kInt32;
    case 4:
      return TypeId::kInt64;
    default:
      return TypeId::kFloat64;
  }
}

Dtype result_dtype(Op op, std::span<const Operand> operands) {
  const Dtype common = operand_dtype(op, operands);
  check_literals(op, operands, common);
  return result_of(op_row(op).rule, common);
}

Shape broadcast_shape(std::string_view op, std::span<const Shape> shapes) {
  size_t dimensions = 0;
  for (const Shape& shape : shapes) dimensions = std::max(dimensions, shape.size());
  Shape result(dimensions, 1);
  for (const Shape& shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& size = result[dimensions - shape.size() + i];
      if (shape[i] == size || shape[i] == 1) continue;
      if (size != 1) {
        std::string text;
        for (const Shape& s : shapes) {
          text += text.empty() ? "(" : " (";
          for (size_t k = 0; k < s.size(); ++k) text += (k ? ", " : "") + std::to_string(s[k]);
          text += ")";
        }
        throw_error<InvalidArgumentError>(op, "the shapes do not broadcast", {{"shapes", text}});
      }
      size = shape[i];
    }
  return result;
}

int Program::add(const Node& node) {
  const uint64_t hash = hash_of(node);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (same_node(nodes_[at(it->second)], node)) return it->second;
  const int value = static_cast<int>(nodes_.size());
  nodes_.push_back(node);
  known_.emplace(hash, value);
  return value;
}

int Program::input(int index, Dtype dtype, bool nullable) {
  num_inputs_ = std::max(num_inputs_, index + 1);
  Node node{Op::kInput, dtype};
  node.input = index;
  node.nullable = nullable;
  return add(node);
}

int Program::constant(const Scalar& value) {
  Node node{Op::kConstant, value.dtype()};
  node.constant = value;
  node.nullable = value.is_null();
  return add(node);
}

int Program::cast(int value, Dtype dtype) {
  const Node from = nodes_[at(value)];
  if (from.op == Op::kConstant) return constant(convert_scalar(from.constant, dtype));
  if (from.dtype == dtype) return value;
  for (const Dtype d : {from.dtype, dtype})
    if (!d.is_number())
      throw_error<TypeMismatchError>("astype", "the conversion is not element-wise arithmetic",
                                     {{"from", from.dtype.name()}, {"to", dtype.name()}},
                                     remedy(d));
  Node node{Op::kCast, dtype};
  node.operands[0] = value;
  node.nullable = from.nullable;
  return add(node);
}

// No value of the integers reaches the literal: a comparison with their limit says the same.
int Program::compare_with_literal(Op op, int value, const Scalar& literal) {
  const Dtype dtype = nodes_[at(value)].dtype;
  const bool above = literal.dtype().is_unsigned() || literal.as<int64_t>() > 0;
  const bool always =
      op == Op::kNotEqual || (above ? op == Op::kLess || op == Op::kLessEqual
                                    : op == Op::kGreater || op == Op::kGreaterEqual);
  const int limit = constant(visit_real(
      dtype, []<class T>(std::type_identity<T>) { return Scalar(std::numeric_limits<T>::max()); }));
  const int operands[] = {value, limit};
  return apply(always ? Op::kLessEqual : Op::kGreater, operands);
}

// A signed value against an unsigned one of 64 bits, exactly: what is below zero becomes the
// minimum that gives the same answer, and both are compared unsigned.
int Program::compare_signs(Op op, int integer, int natural) {
  const int wide = cast(integer, TypeId::kInt64);
  const auto raise = [&](int64_t least, int64_t add_one) {
    const int bounds[] = {wide, constant(Scalar(least))};
    const int sum[] = {apply(Op::kMaximum, bounds), constant(Scalar(add_one))};
    return cast(add_one ? apply(Op::kAdd, sum) : sum[0], TypeId::kUInt64);
  };
  // x <= y and x > y of max(x, 0); x < y as x + 1 <= y.
  const bool strict = op == Op::kLess || op == Op::kGreaterEqual;
  const int operands[] = {strict ? raise(-1, 1) : raise(0, 0), natural};
  if (op == Op::kLess || op == Op::kLessEqual) return apply(Op::kLessEqual, operands);
  if (op == Op::kGreater || op == Op::kGreaterEqual) return apply(Op::kGreater, operands);
  const int both[] = {compare_signs(Op::kLessEqual, integer, natural),
                      compare_signs(Op::kGreaterEqual, integer, natural)};
  const int equal = apply(Op::kLogicalAnd, both);
  return op == Op::kEqual ? equal : apply(Op::kLogicalNot, {&equal, 1});
}

int Program::apply(Op op, std::span<const int> values) {
  const OpRow& row = op_row(op);
  Operand operands[3];
  if (values.size() <= 3)
    for (size_t i = 0; i < values.size(); ++i) {
      const Node& node = nodes_[at(values[i])];
      const bool literal = node.op == Op::kConstant && node.constant.is_weak();
      operands[i] = {node.dtype, literal ? &node.constant : nullptr};
    }
  const Dtype common = operand_dtype(op, {operands, values.size()});
  check_literals(op, {operands, values.size()}, common);
  if (op == Op::kIsNull && !nullable(values[0])) return constant(Scalar(false));
  if (op == Op::kFillNull && !nullable(values[0])) return values[0];
  if (row.rule == OpRule::kRound && !common.is_floating()) return values[0];
  if (op == Op::kAbsolute && (common.is_unsigned() || common.is_bool())) return values[0];
  if (row.rule == OpRule::kCompare) {
    for (const int i : {0, 1})
      if (operands[i].literal && !operands[1 - i].literal &&
          !literal_fits(*operands[i].literal, common)) {
        const Scalar literal = *operands[i].literal;  // a cast may move the nodes
        return compare_with_literal(i ? op : op_row(op).swapped, cast(values[at(1 - i)], common),
                                    literal);
      }
    if (common.is_floating() && operands[0].dtype.is_integer() && operands[1].dtype.is_integer())
      return operands[0].dtype.is_signed()
                 ? compare_signs(op, values[0], values[1])
                 : compare_signs(op_row(op).swapped, values[1], values[0]);
  }
  if (op == Op::kPower && common.is_floating()) {
    const Node& exponent = nodes_[at(values[1])];
    if (exponent.op == Op::kConstant && !exponent.constant.is_null()) {
      const double e = exponent.constant.as<double>();
      const int base = cast(values[0], common);
      if (e == 2) return apply(Op::kSquare, {&base, 1});
      if (e == 1) return base;
      if (e == 0.5) return apply(Op::kSqrt, {&base, 1});
      if (e == -1) return apply(Op::kReciprocal, {&base, 1});
    }
  }
  Node node{op, result_of(row.rule, common)};
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_condition = row.rule == OpRule::kSelect && i == 0;
    node.operands[i] = cast(values[i], is_condition ? Dtype(TypeId::kBool) : common);
    node.nullable |= nullable(node.operands[i]);
  }
  if (op == Op::kIsNull) node.nullable = false;
  if (op == Op::kFillNull) node.nullable = nullable(node.operands[1]);
  return add(node);
}

int Program::add_column(int value) {
  outputs_.push_back({OutputKind::kColumn, value, {}, {}});
  return static_cast<int>(outputs_.size()) - 1;
}

int Program::add_tensor(int value) {
  if (nullable(value))
    throw_error<InvalidArgumentError>("expression", "an array cannot hold nulls", {},
                                      "use fillna or dropna first");
  outputs_.push_back({OutputKind::kTensor, value, {}, {}});
  return static_cast<int>(outputs_.size()) - 1;
}

int Program::add_block(int value) {
  outputs_.push_back({OutputKind::kBlock, value, {}, {}});
  return static_cast<int>(outputs_.size()) - 1;
}

int Program::add_reduction(int value, Aggregate reduction, ReduceOptions options) {
  aggregate_dtype(reduction, dtype(value), AggregateForm::kColumn);
  outputs_.push_back({OutputKind::kReduction, value, reduction, options});
  return static_cast<int>(outputs_.size()) - 1;
}

}  // namespace hr
