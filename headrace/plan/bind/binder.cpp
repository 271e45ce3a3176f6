// SPDX-License-Identifier: Apache-2.0
// The table of rules, and its reading.
#include "headrace/plan/bind/binder.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace hr {

namespace {

using Cast = BoundOperation::Cast;
using Result = BoundOperation::Result;
using Storage = BoundOperation::Storage;

// ---- the table ----------------------------------------------------------------------------------

using Set = uint32_t;  // of operations, or of kinds

// Operations that rules treat alike.
constexpr Set kAdd = 1, kSubtract = 2, kMultiply = 4, kDivide = 8, kFloorDivide = 16,
              kRemainder = 32, kPower = 64, kCompare = 128, kExtreme = 256, kChoose = 512,
              kSign = 1024;
constexpr Set kPick = kExtreme | kChoose;  // the result is one of the sides
constexpr Set kExact = kAdd | kSubtract | kMultiply | kFloorDivide | kRemainder | kCompare;

constexpr Set set_of(DtypeKind kind) {
  return Set{1} << static_cast<int>(kind);
}

constexpr Set kInteger = set_of(DtypeKind::kInteger), kFloat = set_of(DtypeKind::kFloat),
              kText = set_of(DtypeKind::kText), kTime = set_of(DtypeKind::kTime),
              kDuration = set_of(DtypeKind::kDuration), kDecimal = set_of(DtypeKind::kDecimal),
              kCalendar = set_of(DtypeKind::kCalendar), kNumber = kInteger | kFloat;
constexpr Set kNothing = 0;  // the operation has one side

struct Rule {
  Set operations;
  Set left, right;
  Storage storage;
  Cast cast;  // of the sides that it can be applied to; decimals become float64 in kNumbers
  Result result;
};

// Numbers with numbers are the evaluator's own (`result_dtype`).
// clang-format off
constexpr Rule kRules[] = {
    {kCompare | kAdd | kPick, kText, kText, Storage::kText, Cast::kNone, Result::kStorage},

    {kCompare, kTime, kTime, Storage::kNumbers, Cast::kClampedCounts, Result::kStorage},
    {kPick, kTime, kTime, Storage::kNumbers, Cast::kCounts, Result::kTime},
    {kSubtract, kTime, kTime, Storage::kNumbers, Cast::kCounts, Result::kDuration},
    {kAdd | kSubtract, kTime, kDuration, Storage::kNumbers, Cast::kCounts, Result::kTime},
    {kAdd, kDuration, kTime, Storage::kNumbers, Cast::kCounts, Result::kTime},
    {kAdd | kSubtract, kTime, kCalendar, Storage::kCalendar, Cast::kNone, Result::kTime},
    {kAdd, kCalendar, kTime, Storage::kCalendar, Cast::kNone, Result::kTime},

    {kCompare, kDuration, kDuration, Storage::kNumbers, Cast::kClampedCounts, Result::kStorage},
    {kAdd | kSubtract | kRemainder | kPick, kDuration, kDuration,
     Storage::kNumbers, Cast::kCounts, Result::kDuration},
    {kDivide | kFloorDivide, kDuration, kDuration,
     Storage::kNumbers, Cast::kCounts, Result::kStorage},
    {kMultiply | kDivide | kFloorDivide, kDuration, kNumber,
     Storage::kNumbers, Cast::kCounts, Result::kDuration},
    {kMultiply, kNumber, kDuration, Storage::kNumbers, Cast::kCounts, Result::kDuration},
    {kDivide, kDuration, kDecimal, Storage::kNumbers, Cast::kCounts, Result::kDuration},
    {kSign, kDuration, kNothing, Storage::kNumbers, Cast::kCounts, Result::kDuration},

    {kExact | kPick, kDecimal, kDecimal | kInteger,
     Storage::kDecimal, Cast::kDecimal, Result::kStorage},
    {kExact | kPick, kInteger, kDecimal, Storage::kDecimal, Cast::kDecimal, Result::kStorage},
    {kExact | kExtreme, kDecimal, kFloat, Storage::kNumbers, Cast::kFloat64, Result::kStorage},
    {kExact | kExtreme, kFloat, kDecimal, Storage::kNumbers, Cast::kFloat64, Result::kStorage},
    {kDivide | kPower, kDecimal, kDecimal | kNumber,
     Storage::kNumbers, Cast::kFloat64, Result::kStorage},
    {kDivide | kPower, kNumber, kDecimal, Storage::kNumbers, Cast::kFloat64, Result::kStorage},
    {kSign, kDecimal, kNothing, Storage::kDecimal, Cast::kNone, Result::kStorage},
};
// clang-format on

Set operation_set(Op op) {
  if (op_row(op).rule == OpRule::kCompare) return kCompare;
  switch (op) {
    case Op::kAdd:
      return kAdd;
    case Op::kSubtract:
      return kSubtract;
    case Op::kMultiply:
      return kMultiply;
    case Op::kDivide:
      return kDivide;
    case Op::kFloorDivide:
      return kFloorDivide;
    case Op::kRemainder:
      return kRemainder;
    case Op::kPower:
      return kPower;
    case Op::kMinimum:
    case Op::kMaximum:
      return kExtreme;
    case Op::kWhere:
    case Op::kFillNull:
      return kChoose;
    case Op::kNegative:
    case Op::kAbsolute:
      return kSign;
    default:
      return 0;
  }
}

bool is_column(const BindOperand& side) {
  return !side.literal;
}

bool is_number(const BindOperand& side) {
  return side.kind() == DtypeKind::kInteger || side.kind() == DtypeKind::kFloat;
}

bool is_column_of_times(const BindOperand& side) {
  return is_column(side) && !is_number(side);
}

const Rule* rule_of(Set operation, std::span<const BindOperand> sides) {
  const auto* const found = std::ranges::find_if(kRules, [&](const Rule& rule) {
    return (rule.operations & operation) && (rule.left & set_of(sides[0].kind())) &&
           (sides.size() < 2 ? rule.right == kNothing
                             : (rule.right & set_of(sides[1].kind())) != 0);
  });
  return found == std::end(kRules) ? nullptr : found;
}

// ---- errors -------------------------------------------------------------------------------------

std::string_view fix_of(DtypeKind kind) {
  switch (kind) {
    case DtypeKind::kText:
      return "pass a string, or convert the column with hr.to_numeric";
    case DtypeKind::kTime:
      return "pass a date or a time, or an ISO string";
    case DtypeKind::kDuration:
      return "pass a datetime.timedelta";
    case DtypeKind::kDecimal:
      return "pass a decimal or an integer";
    default:
      return "pass a number, or convert the column with astype('string')";
  }
}

[[noreturn]] void refuse(std::string_view op, const std::vector<Detail>& details,
                         std::string_view what, std::string_view fix) {
  std::string text(what);
  for (const Detail& each : details) {
    text += &each == details.data() ? ": " : ", ";
    text += std::string(each.name) + "=" + each.value;
  }
  throw_error<TypeMismatchError>(op, text, {}, fix);
}

// No rule for these: they are of different kinds, or the operation does not take the kind.
[[noreturn]] void refuse(Op op, std::string_view name, std::span<const BindOperand> sides) {
  const auto column = std::ranges::find_if(sides, is_column);
  if (column == sides.end())
    refuse(name, {detail_of(*sides[0].literal)}, "no operation of these values", "");
  std::vector<Detail> details;
  if (!column->name.empty()) details.emplace_back("column", column->name);
  details.emplace_back("dtype", column->dtype.name());
  if (column->kind() == DtypeKind::kNested)
    refuse(name, details, "the operation does not support lists and structs",
           column->dtype.is_struct()
               ? "use struct.field(name)"
               : "use explode() for a row per item, or list.len() and list.get()");
  if (column->kind() == DtypeKind::kCategory)
    refuse(name, details, "the operation does not support categories",
           "use astype with the dtype of the categories");
  for (const BindOperand& side : sides) {
    if (&side == &*column || side.kind() == column->kind() ||
        (is_number(side) && is_number(*column)))
      continue;
    if (side.literal) {
      details.push_back(detail_of(*side.literal));
      refuse(name, details, "the value does not match the column's dtype", fix_of(column->kind()));
    }
    if (!side.name.empty()) details.emplace_back("other", side.name);
    details.emplace_back("other_dtype", side.dtype.name());
    refuse(name, details, "the dtypes cannot be combined", "use astype on one of them");
  }
  std::vector<Operand> operands;
  for (const BindOperand& side : sides) {
    if (side.literal && std::holds_alternative<std::string>(*side.literal))
      throw_error<UnsupportedError>(
          name, "the operation does not support strings",
          {detail_of(*side.literal), {"type", "str"}},
          "use bool, int or float; strings and dates can be converted for pandas or Polars: "
          "to_pandas(), to_arrow()");
    operands.push_back({side.literal ? column->dtype : side.dtype});
  }
  result_dtype(op, operands);  // throws what the evaluator says of the dtype
  throw_error<InternalError>(name, "no rule for these dtypes");
}

// ---- times --------------------------------------------------------------------------------------

CountUnit unit_of(const BindOperand& side) {
  if (side.literal) {
    if (const auto* span = std::get_if<DurationLiteral>(side.literal))
      return coarsest_unit(span->nanoseconds);
    if (const auto* span = std::get_if<CalendarLiteral>(side.literal))
      return coarsest_unit(span->nanoseconds);
  }
  return count_unit(side.dtype);
}

// The zone that a result has: that of the first column. Throws unless all times have one, or none.
Dtype zoned_dtype(std::string_view op, Set operation, std::span<const BindOperand> sides) {
  const BindOperand* first = nullptr;
  for (const BindOperand& side : sides) {
    if (side.kind() != DtypeKind::kTime || side.literal) continue;
    if (!first) {
      first = &side;
    } else if (first->dtype.has_zone() != side.dtype.has_zone()) {
      throw_error<TypeMismatchError>(op, "cannot combine zoned and naive times",
                                     {{"left", first->dtype.name()}, {"right", side.dtype.name()}},
                                     "use dt.tz_localize(zone) on the naive ones");
    } else if ((operation & kPick) && first->dtype.zone() != side.dtype.zone()) {
      throw_error<TypeMismatchError>(op, "one column cannot hold two time zones",
                                     {{"left", first->dtype.name()}, {"right", side.dtype.name()}},
                                     "use dt.tz_convert on one side");
    }
  }
  for (const BindOperand& side : sides) {
    if (side.kind() != DtypeKind::kTime) continue;
    if (!first) first = &side;
    if (side.dtype.has_zone() && !first->dtype.has_zone())
      throw_error<TypeMismatchError>(op, "a zoned time cannot be combined with naive times",
                                     {detail_of(*side.literal)},
                                     "use replace(tzinfo=None) on the value, or "
                                     "dt.tz_localize(zone) on the column");
    if (first->dtype.has_zone() && !side.dtype.has_zone())
      throw_error<TypeMismatchError>(
          op, "a naive time cannot be combined with zoned times",
          {detail_of(*side.literal), {"zone", first->dtype.zone()}},
          "use replace(tzinfo=...) on the value, or dt.tz_localize(None) on the column");
  }
  return first ? first->dtype : Dtype();
}

void bind_counts(std::string_view op, Set operation, std::span<const BindOperand> sides,
                 BoundOperation& bound) {
  const bool times = std::ranges::any_of(
      sides, [](const BindOperand& side) { return side.kind() == DtypeKind::kTime; });
  // A date counts days; a duration counts seconds or what is finer.
  if (!times || bound.result == Result::kDuration) bound.unit = TimeUnit::kSecond;
  for (const BindOperand& side : sides)
    if (!is_number(side)) bound.unit = std::max(bound.unit, unit_of(side));
  // A span by a column of numbers is in microseconds, as `datetime.timedelta` is.
  if (bound.result == Result::kDuration && std::ranges::none_of(sides, is_column_of_times))
    bound.unit = std::max(bound.unit, CountUnit(TimeUnit::kMicro));
  const Dtype zoned = times ? zoned_dtype(op, operation, sides) : Dtype();
  if (bound.result == Result::kDuration)
    bound.dtype = Dtype::duration(*bound.unit);
  else if (bound.result == Result::kTime)
    bound.dtype = !bound.unit        ? Dtype(TypeId::kDate)
                  : zoned.has_zone() ? Dtype::timestamp(*bound.unit, zoned.zone())
                                     : Dtype::timestamp(*bound.unit);
}

// A decimal to a power that is a number of times that it is multiplied with itself.
bool is_exact_power(Op op, std::span<const BindOperand> sides) {
  if (op != Op::kPower || sides[0].kind() != DtypeKind::kDecimal || !sides[1].literal) return false;
  const auto* number = std::get_if<Scalar>(sides[1].literal);
  return number && number->dtype().is_integer() &&
         (number->dtype().is_unsigned() || number->as<int64_t>() >= 0);
}

// The rule's cast, if it can be applied to this kind.
Cast cast_of(const Rule& rule, DtypeKind kind) {
  const bool counts = rule.cast == Cast::kCounts || rule.cast == Cast::kClampedCounts;
  if (kind == DtypeKind::kTime || kind == DtypeKind::kDuration)
    return counts ? rule.cast : Cast::kNone;
  if (kind == DtypeKind::kInteger) return rule.cast == Cast::kDecimal ? rule.cast : Cast::kNone;
  const bool floats = kind == DtypeKind::kDecimal && rule.storage == Storage::kNumbers;
  return floats ? Cast::kFloat64 : Cast::kNone;
}

// Whether an operation reads truth values.
bool takes_truth(OpRule rule, std::span<const BindOperand> sides) {
  if (rule == OpRule::kLogical || rule == OpRule::kSelect) return true;
  return rule == OpRule::kBitwise &&
         std::ranges::all_of(sides, [](const BindOperand& side) { return side.dtype.is_bool(); });
}

BoundOperation bind_dtypes(Op op, std::span<const BindOperand> sides, std::string_view name) {
  if (std::ranges::all_of(sides, is_number) || op_row(op).rule == OpRule::kNullTest) return {};
  if (name.empty()) name = op_row(op).name;
  if (is_exact_power(op, sides)) return {.storage = Storage::kDecimal};
  const Set operation = operation_set(op);
  const Rule* const rule = rule_of(operation, sides);
  if (!rule) refuse(op, name, sides);
  BoundOperation bound{.storage = rule->storage, .result = rule->result};
  for (size_t i = 0; i < sides.size(); ++i) bound.casts[i] = cast_of(*rule, sides[i].kind());
  if (rule->result != Result::kStorage || rule->cast == Cast::kClampedCounts ||
      rule->cast == Cast::kCounts)
    bind_counts(name, operation, sides, bound);
  return bound;
}

}  // namespace

DtypeKind kind_of(Dtype dtype) {
  if (dtype.is_integer() || dtype.is_bool()) return DtypeKind::kInteger;
  if (dtype.has_text()) return DtypeKind::kText;
  if (dtype.is_temporal()) return DtypeKind::kTime;
  if (dtype.is_duration()) return DtypeKind::kDuration;
  if (dtype.is_nested()) return DtypeKind::kNested;
  if (dtype.is_category()) return DtypeKind::kCategory;
  return dtype.is_decimal() ? DtypeKind::kDecimal : DtypeKind::kFloat;
}

DtypeKind BindOperand::kind() const {
  if (!literal) return kind_of(dtype);
  if (std::holds_alternative<CalendarLiteral>(*literal)) return DtypeKind::kCalendar;
  const auto* decimal = std::get_if<DecimalLiteral>(literal);
  if (decimal) return decimal->is_integer ? DtypeKind::kInteger : DtypeKind::kDecimal;
  return kind_of(dtype);
}

std::optional<bool> result_of_missing(Op op, NullRule nulls) {
  const OpRule rule = op_row(op).rule;
  if (nulls == NullRule::kThreeValued || (rule != OpRule::kCompare && rule != OpRule::kTest))
    return {};
  return op == Op::kNotEqual;
}

BoundOperation bind(Op op, std::span<const BindOperand> sides, NullRule nulls,
                    std::string_view name) {
  BoundOperation bound = bind_dtypes(op, sides, name);
  bound.null_becomes = result_of_missing(op, nulls);
  bound.null_is_false = nulls == NullRule::kMissingIsFalse && takes_truth(op_row(op).rule, sides);
  return bound;
}

namespace {

// Of the bits of a set, in order.
constexpr std::string_view kOperationWords[] = {
    "+",           "-",      "*", "/", "//", "%", "**", "comparison", "minimum, maximum",
    "where, fill", "-x, abs"};
constexpr std::string_view kKindWords[] = {"integer",  "float",   "string",  "time",
                                           "duration", "decimal", "calendar"};
constexpr std::string_view kStorageWords[] = {"numbers", "strings", "decimals", "the calendar"};
constexpr std::string_view kCastWords[] = {"", "counts of the finest unit",
                                           "counts of the finest unit, limited to 64 bits",
                                           "integers become decimals", "decimals become float64"};
constexpr std::string_view kResultWords[] = {"", "time", "duration"};

std::string words_of(Set set, std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    if (set >> i & 1) text += (text.empty() ? "" : ", ") + std::string(words[i]);
  return text;
}

std::string_view word_of(auto value, std::span<const std::string_view> words) {
  return words[static_cast<size_t>(value)];
}

}  // namespace

std::vector<BindRule> bind_rules() {
  std::vector<BindRule> rules;
  for (const Rule& rule : kRules)
    rules.push_back({words_of(rule.operations, kOperationWords), words_of(rule.left, kKindWords),
                     words_of(rule.right, kKindWords),
                     std::string(word_of(rule.storage, kStorageWords)),
                     std::string(word_of(rule.cast, kCastWords)),
                     std::string(word_of(rule.result, kResultWords))});
  return rules;
}

int integer_digits(Dtype dtype) {
  if (dtype.is_bool()) return 1;
  constexpr int kDigits[] = {3, 5, 10, 20};
  return kDigits[std::countr_zero(static_cast<uint64_t>(dtype.size_bytes()))];
}

namespace {

Dtype common_decimal(std::span<const Dtype> dtypes) {
  int before = 0, scale = 0;
  for (const Dtype dtype : dtypes) {
    const int own = dtype.is_decimal() ? dtype.scale() : 0;
    const int digits = dtype.is_decimal() ? dtype.precision() : integer_digits(dtype);
    before = std::max(before, digits - own);
    scale = std::max(scale, own);
  }
  return Dtype::decimal(std::min(kMostDigits, before + scale), scale);
}

// Of timestamps, or of durations.
std::optional<Dtype> finest_unit(std::span<const Dtype> dtypes) {
  Dtype finest = dtypes[0];
  for (const Dtype dtype : dtypes) {
    if (!dtype.has_unit() || dtype.is_duration() != finest.is_duration() ||
        dtype.zone_number() != finest.zone_number())
      return {};
    if (dtype.unit() > finest.unit()) finest = dtype;
  }
  return finest;
}

}  // namespace

std::optional<Dtype> common_dtype(std::span<const Dtype> dtypes) {
  if (std::ranges::all_of(dtypes, [&](Dtype dtype) { return dtype == dtypes[0]; }))
    return dtypes[0];
  if (std::ranges::any_of(dtypes, &Dtype::is_category)) {
    std::vector<Dtype> items;
    for (const Dtype dtype : dtypes) items.push_back(dtype.is_category() ? dtype.item() : dtype);
    return common_dtype(items);
  }
  const auto all = [&](auto&& test) { return std::ranges::all_of(dtypes, test); };
  if (all([](Dtype dtype) { return kind_of(dtype) == DtypeKind::kText; })) return TypeId::kString;
  if (all([](Dtype dtype) { return dtype.has_unit(); })) return finest_unit(dtypes);
  if (all([](Dtype dtype) { return dtype.is_number(); })) {
    Dtype common = dtypes[0];
    for (const Dtype dtype : dtypes) common = promote(common, dtype);
    return common;
  }
  if (all([](Dtype dtype) { return dtype.is_decimal() || dtype.is_integer(); }))
    return common_decimal(dtypes);
  return {};
}

BoundKeys bind_keys(std::string_view name, Dtype left, Dtype right) {
  if (left == right) return {.dtype = left};
  if (left.is_category() || right.is_category())
    return bind_keys(name, left.is_category() ? left.item() : left,
                     right.is_category() ? right.item() : right);
  const BindOperand sides[] = {{.dtype = left}, {.dtype = right}};
  const DtypeKind kind = sides[0].kind();
  if (kind == sides[1].kind() && (kind == DtypeKind::kTime || kind == DtypeKind::kDuration))
    return {.are_counts = true, .unit = bind(Op::kEqual, sides, NullRule::kThreeValued, name).unit};
  if ((left.is_decimal() && right.is_floating()) || (left.is_floating() && right.is_decimal()))
    return {.dtype = TypeId::kFloat64};
  const Dtype both[] = {left, right};
  const std::optional<Dtype> common = common_dtype(both);
  if (!common)
    throw_error<TypeMismatchError>(name, "these dtypes cannot be compared",
                                   {{"left", left.name()}, {"right", right.name()}},
                                   "cast one of them with astype");
  return {.dtype = *common};
}

}  // namespace hr
