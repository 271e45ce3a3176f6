// SPDX-License-Identifier: Apache-2.0
// Bound operations as nodes of the rooms below.
#include "headrace/frame/apply.h"

#include "headrace/base/civil_date.h"
#include "headrace/functions/cast/float_to_int.h"
#include "headrace/functions/decimal/decimal_arithmetic.h"
#include "headrace/functions/strings/categories.h"
#include "headrace/functions/strings/string_compare.h"
#include "headrace/functions/strings/string_transform.h"
#include "headrace/functions/temporal/calendar.h"
#include "headrace/functions/temporal/checked_counts.h"
#include "headrace/functions/temporal/timezone.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/plan/graph/view.h"
#include "headrace/relational/rows/row_nodes.h"
#include "headrace/tensor/complex_elementwise.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace hr {

namespace {

using Cast = BoundOperation::Cast;
using Result = BoundOperation::Result;
using Storage = BoundOperation::Storage;

const NodePtr* node_of(const ApplyOperand& operand) {
  return std::get_if<NodePtr>(&operand.value);
}

Dtype dtype_of(const Literal& literal) {
  if (const auto* number = std::get_if<Scalar>(&literal)) return number->dtype();
  if (const auto* time = std::get_if<TimeLiteral>(&literal)) return time->dtype;
  if (std::holds_alternative<std::string>(literal)) return TypeId::kString;
  if (std::holds_alternative<DecimalLiteral>(literal)) return Dtype::decimal(kMostDigits, 0);
  return TypeId::kDuration;
}

BindOperand bind_operand(const ApplyOperand& operand) {
  if (const NodePtr* node = node_of(operand))
    return {.dtype = (*node)->signature().dtype, .name = operand.name};
  const auto& literal = std::get<Literal>(operand.value);
  return {.dtype = dtype_of(literal), .literal = &literal};
}

// ---- sides as nodes -----------------------------------------------------------------------------

double number_of(std::string_view digits) {
  double number = std::numeric_limits<double>::quiet_NaN();
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem == std::errc::result_out_of_range) number = digits[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  return number;
}

// A number, or a decimal as a float; of a condition anything may be given.
NodePtr number_node(const ApplyOperand& operand) {
  if (const NodePtr* node = node_of(operand)) return *node;
  const auto& value = std::get<Literal>(operand.value);
  if (const auto* number = std::get_if<Scalar>(&value)) return literal(*number);
  const auto* decimal = std::get_if<DecimalLiteral>(&value);
  if (!decimal)
    throw_error<TypeMismatchError>("where", "the condition must be bool", {detail_of(value)});
  if (decimal->is_integer)
    throw_error<InvalidArgumentError>("scalar", "an integer of more than 64 bits", {},
                                      "use a float");
  return literal(Scalar::weak(number_of(decimal->digits)));
}

// The literal as an integer of the unit, which its own divides.
NodePtr count_node(Int128 nanoseconds, CountUnit unit, bool clamp) {
  constexpr Int128 kLeast = std::numeric_limits<int64_t>::min();
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  const Int128 count = floor_divide(nanoseconds, Int128{nanoseconds_per(unit)});
  if (!clamp && (count < kLeast || count > kMost))
    throw_error<InvalidArgumentError>("scalar", "an integer of more than 64 bits", {},
                                      "use astype with a coarser unit on the column");
  return literal(Scalar::weak(static_cast<int64_t>(std::clamp(count, kLeast, kMost))));
}

NodePtr side_node(const ApplyOperand& operand, Cast how, CountUnit unit) {
  const NodePtr* node = node_of(operand);
  const bool clamp = how == Cast::kClampedCounts;
  if (how == Cast::kFloat64 && node) return decimal_cast(*node, TypeId::kFloat64);
  if (how == Cast::kNone || how == Cast::kFloat64) return number_node(operand);
  if (node) return counts_of_unit(*node, unit, clamp);
  const auto& value = std::get<Literal>(operand.value);
  if (const auto* time = std::get_if<TimeLiteral>(&value))
    return count_node(time->nanoseconds, unit, clamp);
  return count_node(std::get<DurationLiteral>(value).nanoseconds, unit, clamp);
}

// ---- numbers and counts -------------------------------------------------------------------------

NodePtr whole_number(const NodePtr& number) {
  const Signature& signature = number->signature();
  if (!signature.dtype.is_floating()) return number;
  return signature.form == Form::kColumn ? float_to_int(number, TypeId::kInt64)
                                         : cast(number, TypeId::kInt64);
}

// A quotient cut towards zero, as NumPy has it of durations.
NodePtr truncated_quotient(const NodePtr& counts, const NodePtr& by) {
  const NodePtr zero = literal(Scalar::weak(int64_t{0}));
  const NodePtr lower = elementwise(Op::kFloorDivide, {counts, by});
  const NodePtr rest =
      elementwise(Op::kSubtract, {counts, elementwise(Op::kMultiply, {lower, by})});
  const NodePtr is_below = elementwise(Op::kBitwiseXor, {elementwise(Op::kLess, {counts, zero}),
                                                         elementwise(Op::kLess, {by, zero})});
  const NodePtr up =
      elementwise(Op::kBitwiseAnd, {elementwise(Op::kNotEqual, {rest, zero}), is_below});
  return elementwise(Op::kAdd, {lower, cast(up, TypeId::kInt64)});
}

NodePtr or_null(const NodePtr& test, const NodePtr& counts) {
  return elementwise(Op::kWhere, {test, counts, literal(Scalar::null(counts->signature().dtype))});
}

NodePtr is_not_zero(const NodePtr& counts) {
  return elementwise(Op::kNotEqual, {counts, literal(Scalar::weak(int64_t{0}))});
}

// Null where a duration is divided by zero.
NodePtr by_no_zero(const NodePtr& quotient, const NodePtr& by) {
  const auto* number = by->is_ready() ? std::get_if<Scalar>(&by->value()) : nullptr;
  return number && number->as<double>() != 0 ? quotient : or_null(is_not_zero(by), quotient);
}

// A duration times or by a number, cut towards zero where the number is a float, and null where it
// is NaN.
NodePtr scaled_duration(Op op, const NodePtr& left, const NodePtr& right) {
  const bool divides = op != Op::kMultiply;
  if (divides && !right->signature().dtype.is_floating())
    return by_no_zero(op == Op::kDivide ? truncated_quotient(left, right)
                                        : elementwise(Op::kFloorDivide, {left, right}),
                      right);
  const NodePtr exact = elementwise(divides ? Op::kDivide : op, {left, right});
  if (!exact->signature().dtype.is_floating()) return exact;
  const NodePtr known = or_null(elementwise(Op::kIsFinite, {exact}), exact);
  return elementwise(op == Op::kFloorDivide ? Op::kFloor : Op::kTrunc, {known});
}

bool is_number(const NodePtr& node) {
  return node->signature().dtype.is_number();
}

// Numbers, by the rules of the evaluator; but logic of a bool with an integer is bool in columns.
NodePtr apply_evaluator(Op op, std::vector<NodePtr> inputs) {
  bool is_logic = false;
  if (op_row(op).rule == OpRule::kBitwise && inputs.size() == 2) {
    const auto dtype = [&](size_t i) { return inputs[i]->signature().dtype; };
    is_logic = dtype(0).is_bool() != dtype(1).is_bool() &&
               std::ranges::any_of(inputs, [](const NodePtr& input) {
                 return input->signature().form == Form::kColumn;
               });
  }
  const NodePtr result = elementwise(op, std::move(inputs));
  return is_logic ? cast(result, TypeId::kBool) : result;
}

NodePtr apply_numbers(Op op, const BoundOperation& bound, std::span<const ApplyOperand> before,
                      std::span<const ApplyOperand> sides, bool scales) {
  std::vector<NodePtr> inputs;
  for (const ApplyOperand& operand : before) inputs.push_back(number_node(operand));
  for (size_t i = 0; i < sides.size(); ++i)
    inputs.push_back(side_node(sides[i], bound.casts[i], bound.unit));
  if (bound.result == Result::kStorage) return apply_evaluator(op, std::move(inputs));
  const bool adds = op == Op::kAdd || op == Op::kSubtract;
  for (NodePtr& input : inputs) {  // days are kept in 32 bits, factors may be in fewer
    const Dtype dtype = input->signature().dtype;
    if ((adds || scales) && dtype.is_integer() && dtype.size_bytes() < 8)
      input = cast(input, TypeId::kInt64);
    else if (scales && dtype.is_floating())
      input = cast(input, TypeId::kFloat64);
  }
  // Years of microseconds do not end; those of nanoseconds end in 2262.
  NodePtr result = bound.unit == TimeUnit::kNano && inputs.size() == 2
                       ? checked_counts(op, inputs[0], inputs[1])
                       : nullptr;
  if (!result)
    result = scales ? scaled_duration(op, inputs[0], inputs[1]) : elementwise(op, inputs);
  if (op == Op::kRemainder)  // by nothing all is left, as in pandas
    result = elementwise(Op::kWhere, {is_not_zero(inputs[1]), result, inputs[0]});
  return retype(cast(whole_number(result), bound.dtype.storage()), bound.dtype);
}

// ---- times by the calendar ----------------------------------------------------------------------

NodePtr apply_calendar(Op op, const BoundOperation& bound, std::span<const ApplyOperand> sides) {
  const NodePtr* column = node_of(sides[0]);
  const auto& span = std::get<CalendarLiteral>(std::get<Literal>(sides[column ? 1 : 0].value));
  NodePtr times = column ? *column : std::get<NodePtr>(sides[1].value);
  const Dtype own = times->signature().dtype;
  if (count_unit(own) != bound.unit)
    times = retype(counts_of_unit(times, bound.unit, false), bound.dtype);
  if (own.has_zone()) times = local_times(times);
  const int64_t sign = op == Op::kSubtract ? -1 : 1;
  const Int128 units = sign * (span.nanoseconds / nanoseconds_per(bound.unit));
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  if (units < -kMost || units > kMost)
    throw_error<InvalidArgumentError>("add_months", "the offset exceeds the dtype's range",
                                      {{"months", span.months}, {"dtype", bound.dtype.name()}},
                                      "pass fewer months");
  const NodePtr moved = add_months(times, sign * span.months, static_cast<int64_t>(units));
  if (!own.has_zone()) return moved;
  return localize(moved, bound.dtype, Ambiguous::kRaise, Nonexistent::kRaise);
}

// ---- strings ------------------------------------------------------------------------------------

const std::string& text_of(const ApplyOperand& operand) {
  return std::get<std::string>(std::get<Literal>(operand.value));
}

NodePtr compare_sides(Op op, const ApplyOperand& left, const ApplyOperand& right) {
  if (!node_of(left)) return compare_text(op_row(op).swapped, *node_of(right), text_of(left));
  if (!node_of(right)) return compare_text(op, *node_of(left), text_of(right));
  return compare_text(op, *node_of(left), *node_of(right));
}

NodePtr text_where(const NodePtr& condition, const ApplyOperand& yes, const ApplyOperand& no) {
  const auto piece = [](const ApplyOperand& side) {
    return node_of(side) ? TextPiece(*node_of(side)) : TextPiece(text_of(side));
  };
  return string_where(condition, piece(yes), piece(no));
}

NodePtr apply_text(Op op, std::span<const ApplyOperand> before,
                   std::span<const ApplyOperand> sides) {
  if (op_row(op).rule == OpRule::kCompare) return compare_sides(op, sides[0], sides[1]);
  if (op == Op::kFillNull)
    return text_where(elementwise(Op::kIsNull, {std::get<NodePtr>(sides[0].value)}), sides[1],
                      sides[0]);
  if (op == Op::kWhere) return text_where(number_node(before[0]), sides[0], sides[1]);
  if (op == Op::kAdd) {
    std::vector<TextPiece> pieces;
    for (const ApplyOperand& side : sides)
      pieces.push_back(node_of(side) ? TextPiece(*node_of(side)) : TextPiece(text_of(side)));
    return concatenate_text(pieces);
  }
  const Op test = op == Op::kMinimum ? Op::kLess : Op::kGreater;
  return text_where(compare_sides(test, sides[0], sides[1]), sides[0], sides[1]);
}

// ---- decimals -----------------------------------------------------------------------------------

DecimalSide decimal_side(std::string_view op, const ApplyOperand& operand) {
  if (const NodePtr* node = node_of(operand)) {
    const Signature& signature = (*node)->signature();
    if (signature.dtype.is_decimal()) return *node;
    if (signature.form == Form::kColumn)
      return decimal_cast(*node, Dtype::decimal(integer_digits(signature.dtype), 0));
    throw_error<TypeMismatchError>(op, "cannot combine a decimal column with this array",
                                   {{"other", signature.dtype.name()}},
                                   "use decimals, integers or floats");
  }
  const auto& value = std::get<Literal>(operand.value);
  if (const auto* decimal = std::get_if<DecimalLiteral>(&value)) {
    if (std::isfinite(number_of(decimal->digits)) || decimal->digits.size() > 300)
      return decimal_from_text(decimal->digits);
    throw_error<TypeMismatchError>(op, "the value is not a finite decimal", {detail_of(value)});
  }
  const auto& number = std::get<Scalar>(value);
  return decimal_from_text(number.dtype().is_signed() ? std::to_string(number.as<int64_t>())
                                                      : std::to_string(number.as<uint64_t>()));
}

NodePtr decimal_power(const DecimalSide& base, uint64_t exponent) {
  const auto times = [](const DecimalSide& a, const DecimalSide& b) {
    return decimal_arithmetic(Op::kMultiply, a, b);
  };
  if (exponent == 0)
    return decimal_arithmetic(Op::kAdd, times(base, decimal_from_text("0")),
                              decimal_from_text("1"));
  if (exponent == 1) return std::get<NodePtr>(base);
  const NodePtr half = decimal_power(base, exponent / 2);
  const NodePtr square = times(half, half);
  return exponent % 2 ? times(square, base) : square;
}

NodePtr fill_decimal(const ApplyOperand& column, const ApplyOperand& value) {
  const std::string_view name = op_row(Op::kFillNull).name;
  const auto& own = std::get<NodePtr>(column.value);
  const NodePtr filled = decimal_where(elementwise(Op::kIsNull, {own}), decimal_side(name, value),
                                       decimal_side(name, column));
  const Dtype dtype = own->signature().dtype;
  if (filled->signature().dtype == dtype) return filled;
  const Detail given = node_of(value)
                           ? Detail("value_dtype", (*node_of(value))->signature().dtype.name())
                           : detail_of(std::get<Literal>(value.value));
  throw_error<TypeMismatchError>(name, "the value has more digits than the dtype",
                                 {given, {"dtype", dtype.name()}},
                                 "use astype to add digits first");
}

NodePtr apply_decimal(Op op, std::span<const ApplyOperand> before,
                      std::span<const ApplyOperand> sides) {
  const std::string_view name = op_row(op).name;
  if (sides.size() == 1) return decimal_sign(op, std::get<NodePtr>(sides[0].value));
  if (op == Op::kFillNull) return fill_decimal(sides[0], sides[1]);
  if (op == Op::kPower)
    return decimal_power(decimal_side(name, sides[0]),
                         std::get<Scalar>(std::get<Literal>(sides[1].value)).as<uint64_t>());
  const DecimalSide left = decimal_side(name, sides[0]), right = decimal_side(name, sides[1]);
  if (op == Op::kWhere) return decimal_where(number_node(before[0]), left, right);
  return decimal_arithmetic(op, left, right);
}

// ---- operands -----------------------------------------------------------------------------------

// Numbers and bools on all sides: the evaluator knows the rules.
bool all_numbers(std::span<const ApplyOperand> operands) {
  return std::ranges::all_of(operands, [](const ApplyOperand& operand) {
    const NodePtr* node = node_of(operand);
    return node ? is_number(*node)
                : std::holds_alternative<Scalar>(std::get<Literal>(operand.value));
  });
}

// A number that a node holds becomes a literal, and a string next to times the time that it is.
std::vector<ApplyOperand> read_literals(std::span<const ApplyOperand> operands) {
  std::vector<ApplyOperand> read(operands.begin(), operands.end());
  const std::optional<Dtype> times = dtype_of_times(operands);
  for (ApplyOperand& operand : read) {
    if (const NodePtr* node = node_of(operand)) {
      if (!(*node)->is_ready()) continue;
      if (const auto* number = std::get_if<Scalar>(&(*node)->value())) {
        const Scalar held = *number;
        operand.value = Literal(held);
      }
      continue;
    }
    const auto* text = std::get_if<std::string>(&std::get<Literal>(operand.value));
    if (!times || !text) continue;
    if (const auto time = time_from_text(*text, *times)) operand.value = Literal(*time);
  }
  return read;
}

bool is_missing(const ApplyOperand& operand) {
  const auto* value = std::get_if<Literal>(&operand.value);
  const auto* number = value ? std::get_if<Scalar>(value) : nullptr;
  return number && (number->is_null() || std::isnan(number->as<double>()));
}

// A missing value to choose becomes nulls of the other side's dtype; NaN stays where there are
// numbers.
std::vector<ApplyOperand> with_nulls(std::span<const ApplyOperand> operands) {
  std::vector<ApplyOperand> read(operands.begin(), operands.end());
  for (const size_t i : {1, 2}) {
    const ApplyOperand& other = read[3 - i];
    const NodePtr* node = node_of(other);
    if (!is_missing(read[i]) || is_missing(other)) continue;
    NodePtr like = node ? *node : nullptr;
    if (const auto* value = std::get_if<Literal>(&other.value))
      if (const auto* text = std::get_if<std::string>(value))
        like = repeat(number_node(read[0]), *text);
    const bool is_null = std::get<Scalar>(std::get<Literal>(read[i].value)).is_null();
    if (like && like->signature().form == Form::kColumn && (is_null || !is_number(like)))
      read[i].value = shift(like, int64_t{1} << 62);
    else if (is_null)
      throw_error<TypeMismatchError>(op_row(Op::kWhere).name, "a missing value needs a column", {},
                                     "pass a series as the other value");
  }
  return read;
}

// ---- categories of other than strings -----------------------------------------------------------

bool is_category(const ApplyOperand& operand) {
  const NodePtr* node = node_of(operand);
  return node && (*node)->signature().dtype.is_category() && !(*node)->signature().dtype.has_text();
}

// A literal as their values are kept; null where it cannot be one of them.
std::optional<Scalar> stored_literal(Dtype item, const Literal& value) {
  if (const auto* number = std::get_if<Scalar>(&value); number && item.is_number()) return *number;
  std::optional<Int128> nanoseconds;
  const auto* text = std::get_if<std::string>(&value);
  const std::optional<TimeLiteral> read =
      text && item.is_temporal() ? time_from_text(*text, item) : std::nullopt;
  if (const auto* time = std::get_if<TimeLiteral>(&value); time || read)
    nanoseconds = read ? read->nanoseconds : time->nanoseconds;
  if (const auto* span = std::get_if<DurationLiteral>(&value)) nanoseconds = span->nanoseconds;
  const std::optional<CountUnit> unit = count_unit(item);
  if (!nanoseconds || !unit || *nanoseconds % nanoseconds_per(*unit) != 0) return {};
  return Scalar(static_cast<int64_t>(*nanoseconds / nanoseconds_per(*unit)));
}

bool has_stored_literal(std::span<const ApplyOperand> sides) {
  const size_t at = node_of(sides[0]) ? 1 : 0;
  const auto* value = std::get_if<Literal>(&sides[at].value);
  return value && stored_literal((*node_of(sides[1 - at]))->signature().dtype.item(), *value);
}

// Ordered categories compare by their order, with one of them or with a column of the same.
NodePtr compare_order(Op op, const ApplyOperand& left, const ApplyOperand& right) {
  if (!is_category(left)) return compare_order(op_row(op).swapped, right, left);
  const NodePtr& column = *node_of(left);
  if (const NodePtr* other = node_of(right)) return compare_text(op, column, *other);
  const auto& value = std::get<Literal>(right.value);
  const std::optional<Scalar> stored = stored_literal(column->signature().dtype.item(), value);
  if (!stored)
    throw_error<TypeMismatchError>(op_row(op).name, "the value is not one of the categories",
                                   {detail_of(value)}, "use astype with their dtype");
  return compare_category(op, column, *stored);
}

// By the null rule.
NodePtr without_nulls(const NodePtr& node, bool value) {
  if (!node->signature().nullable) return node;
  return elementwise(Op::kFillNull, {node, literal(Scalar::weak(value))});
}

void make_null_false(std::span<ApplyOperand> operands) {
  for (ApplyOperand& operand : operands)
    if (const NodePtr* node = node_of(operand); node && is_number(*node))
      operand.value = without_nulls(*node, false);
}

NodePtr apply_bound(Op op, const BoundOperation& bound, std::span<const ApplyOperand> before,
                    std::span<const ApplyOperand> sides) {
  switch (bound.storage) {
    case Storage::kText:
      return apply_text(op, before, sides);
    case Storage::kDecimal:
      return apply_decimal(op, before, sides);
    case Storage::kCalendar:
      return apply_calendar(op, bound, sides);
    case Storage::kNumbers:
      break;
  }
  const bool scales = bound.result == Result::kDuration && sides.size() == 2 &&
                      (bound.casts[0] == Cast::kCounts) != (bound.casts[1] == Cast::kCounts);
  return apply_numbers(op, bound, before, sides, scales);
}

bool is_complex(const ApplyOperand& operand) {
  const NodePtr* node = node_of(operand);
  return node && (*node)->signature().dtype.is_complex();
}

NodePtr apply_known(Op op, std::span<const ApplyOperand> operands, NullRule nulls) {
  if (std::ranges::any_of(operands, is_complex)) {
    std::vector<NodePtr> inputs;
    for (const ApplyOperand& operand : operands) inputs.push_back(number_node(operand));
    return complex_elementwise(op, inputs);
  }
  if (std::ranges::any_of(operands, is_category)) {
    const OpRule rule = op_row(op).rule;
    const bool orders = op != Op::kEqual && op != Op::kNotEqual;
    if (rule == OpRule::kCompare && (orders || has_stored_literal(operands))) {
      const NodePtr result = compare_order(op, operands[0], operands[1]);
      const std::optional<bool> missing = result_of_missing(op, nulls);
      return missing ? without_nulls(result, *missing) : result;
    }
    if (rule == OpRule::kCompare || op == Op::kWhere || op == Op::kFillNull) {
      std::vector<ApplyOperand> values(operands.begin(), operands.end());
      for (ApplyOperand& value : values)
        if (is_category(value)) value.value = values_of_categories(*node_of(value));
      return apply_known(op, values, nulls);
    }
  }
  if (nulls != NullRule::kMissingIsFalse && all_numbers(operands)) {
    std::vector<NodePtr> inputs;
    inputs.reserve(operands.size());
    for (const ApplyOperand& operand : operands) inputs.push_back(number_node(operand));
    const NodePtr result = apply_evaluator(op, std::move(inputs));
    const std::optional<bool> missing = result_of_missing(op, nulls);
    return missing ? without_nulls(result, *missing) : result;
  }
  std::vector<ApplyOperand> read = read_literals(operands);
  const std::span<ApplyOperand> all(read);
  const size_t condition = op == Op::kWhere && all.size() == 3 ? 1 : 0;
  const auto before = all.first(condition), sides = all.subspan(condition);
  if (sides.empty() || sides.size() > 2)
    throw_error<InvalidArgumentError>(op_row(op).name, "wrong number of operands",
                                      {{"operands", operands.size()}});
  std::vector<BindOperand> kinds;
  for (const ApplyOperand& side : sides) kinds.push_back(bind_operand(side));
  const BoundOperation bound = bind(op, kinds, nulls);
  if (bound.null_is_false) make_null_false(condition ? before : sides);
  const NodePtr result = apply_bound(op, bound, before, sides);
  return bound.null_becomes ? without_nulls(result, *bound.null_becomes) : result;
}

}  // namespace

std::optional<Dtype> dtype_of_times(std::span<const ApplyOperand> operands) {
  std::optional<Dtype> durations;
  for (const ApplyOperand& operand : operands) {
    const NodePtr* node = node_of(operand);
    if (!node) continue;
    const Dtype dtype = (*node)->signature().dtype;
    if (dtype.is_temporal()) return dtype;
    if (dtype.is_duration() && !durations) durations = dtype;
  }
  return durations;
}

NodePtr apply(Op op, std::span<const ApplyOperand> operands, NullRule nulls) {
  const bool misses = op == Op::kWhere && operands.size() == 3 &&
                      is_missing(operands[1]) != is_missing(operands[2]);
  return misses ? apply_known(op, with_nulls(operands), nulls) : apply_known(op, operands, nulls);
}

std::vector<NodePtr> comparable_counts(std::string_view name, const NodePtr& left,
                                       const NodePtr& right) {
  const BindOperand sides[] = {{.dtype = left->signature().dtype},
                               {.dtype = right->signature().dtype}};
  const DtypeKind kind = sides[0].kind();
  if (kind != sides[1].kind() || (kind != DtypeKind::kTime && kind != DtypeKind::kDuration))
    return {};
  const BoundOperation bound = bind(Op::kEqual, sides, NullRule::kThreeValued, name);
  return {counts_of_unit(left, bound.unit, true), counts_of_unit(right, bound.unit, true)};
}

}  // namespace hr
