// SPDX-License-Identifier: Apache-2.0
// The table of aggregates.
#include "headrace/algo/aggregate/aggregate.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/base/enum_names.h"
#include "headrace/base/error.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace hr {

namespace {

constexpr Accumulator kMoments[] = {Accumulator::kSum, Accumulator::kSquares, Accumulator::kCubes,
                                    Accumulator::kFourths};
constexpr Accumulator kPairs[] = {Accumulator::kSum, Accumulator::kOtherSum, Accumulator::kSquares,
                                  Accumulator::kOtherSquares, Accumulator::kCross};

template <Accumulator accumulator>
constexpr Accumulator kOnly[] = {accumulator};

constexpr std::span<const Accumulator> kNone;
constexpr std::span<const Accumulator> kFirstMoment{kMoments, 1}, kSecondMoment{kMoments, 2},
    kFourthMoment{kMoments, 4};
constexpr std::string_view kAllKinds = "biufmMOU";

using enum AggregateResult;
using enum AggregateInput;
using Of = Accumulator;

// clang-format off
constexpr AggregateRow kTable[] = {
    // aggregate, names of groups, arrays and cumulative ones; result, input, accumulators, ranked, rows, fewest values, decimals as floats;
    // kinds of columns, groups, windows, cumulative ones and across columns
    {Aggregate::kSum, "sum", "sum", "cumsum", kTotal, kValues, kOnly<Of::kSum>, false, RowUse::kNone, kMinCountValues, false,
     "biufm", "biufm", "biuf", "biufm", "biufm"},
    {Aggregate::kProduct, "prod", "prod", "cumprod", kTotal, kValues, kOnly<Of::kProduct>, false, RowUse::kNone, kMinCountValues, true,
     "biuf", "biuf", "", "biuf", "biuf"},
    {Aggregate::kMean, "mean", "mean", "", kMoment, kFloats, kFirstMoment, false, RowUse::kNone, 1, true,
     "biufmM", "biufmM", "biuf", "", "biufm"},
    {Aggregate::kVariance, "var", "var", "", kMoment, kFloats, kSecondMoment, false, RowUse::kNone, kDdofValues, true,
     "biuf", "biuf", "biuf", "", "biuf"},
    {Aggregate::kStd, "std", "std", "", kMoment, kFloats, kSecondMoment, false, RowUse::kNone, kDdofValues, true,
     "biufmM", "biufmM", "biuf", "", "biuf"},
    {Aggregate::kMin, "min", "min", "cummin", kValue, kValues, kOnly<Of::kMin>, false, RowUse::kNone, 1, false,
     kAllKinds, kAllKinds, "biuf", "iufmM", kAllKinds},
    {Aggregate::kMax, "max", "max", "cummax", kValue, kValues, kOnly<Of::kMax>, false, RowUse::kNone, 1, false,
     kAllKinds, kAllKinds, "biuf", "iufmM", kAllKinds},
    {Aggregate::kArgmin, "idxmin", "argmin", "", kInt64, kValues, kOnly<Of::kArgmin>, false, RowUse::kNumbers, 1, false,
     kAllKinds, kAllKinds, "", "", ""},
    {Aggregate::kArgmax, "idxmax", "argmax", "", kInt64, kValues, kOnly<Of::kArgmax>, false, RowUse::kNumbers, 1, false,
     kAllKinds, kAllKinds, "", "", ""},
    {Aggregate::kAny, "any", "any", "", kBool, kValues, kOnly<Of::kNonZero>, false, RowUse::kNone, 0, true,
     "biufm", "biufm", "", "", "biuf"},
    {Aggregate::kAll, "all", "all", "", kBool, kValues, kOnly<Of::kNonZero>, false, RowUse::kNone, 0, true,
     "biufm", "biufm", "", "", "biuf"},
    {Aggregate::kCount, "count", "count", "", kInt64, kPresence, kNone, false, RowUse::kNone, 0, false,
     kAllKinds, kAllKinds, "", "", ""},
    {Aggregate::kSem, "sem", "sem", "", kMoment, kFloats, kSecondMoment, false, RowUse::kNone, kDdofValues, true,
     "biuf", "biuf", "biuf", "", "biuf"},
    {Aggregate::kSkew, "skew", "skew", "", kMoment, kFloats, kFourthMoment, false, RowUse::kNone, 3, true,
     "biuf", "biuf", "biuf", "", "biuf"},
    {Aggregate::kKurtosis, "kurt", "kurt", "", kMoment, kFloats, kFourthMoment, false, RowUse::kNone, 4, true,
     "biuf", "biuf", "biuf", "", "biuf"},
    {Aggregate::kMode, "mode", "", "", kValue, kValues, kNone, true, RowUse::kNone, 1, false,
     kAllKinds, kAllKinds, "", "", ""},
    {Aggregate::kSize, "size", "", "", kInt64, kNoColumn, kNone, false, RowUse::kNone, 0, false,
     "", "biuf", "", "", ""},
    {Aggregate::kFirst, "first", "", "", kValue, kPresence, kOnly<Of::kFirst>, false, RowUse::kOrder, 1, false,
     "", kAllKinds, "biuf", "", ""},
    {Aggregate::kLast, "last", "", "", kValue, kPresence, kOnly<Of::kLast>, false, RowUse::kOrder, 1, false,
     "", kAllKinds, "biuf", "", ""},
    {Aggregate::kNunique, "nunique", "", "", kInt64, kValues, kNone, true, RowUse::kNone, 0, false,
     "", kAllKinds, "biuf", "", ""},
    {Aggregate::kMedian, "median", "", "", kFloat64, kFloats, kNone, true, RowUse::kNone, 1, true,
     "biufmM", "biufmM", "biuf", "", "biuf"},
    {Aggregate::kQuantile, "quantile", "", "", kFloat64, kFloats, kNone, true, RowUse::kNone, 1, true,
     "iufmM", "biufmM", "biuf", "", "biuf"},
    {Aggregate::kCorrelation, "corr", "", "", kFloat64, kFloats, kPairs, false, RowUse::kNone, 2, true,
     "iuf", "biuf", "", "", ""},
    {Aggregate::kLargest, "nlargest", "", "", kValue, kValues, kOnly<Of::kLargest>, false, RowUse::kNone, kRankValues, false,
     "", "biuf", "", "", ""},
    {Aggregate::kSmallest, "nsmallest", "", "", kValue, kValues, kOnly<Of::kSmallest>, false, RowUse::kNone, kRankValues, false,
     "", "biuf", "", "", ""},
    {Aggregate::kFirstRow, "first_row", "", "", kInt64, kNoColumn, kOnly<Of::kFirst>, false, RowUse::kNumbers, 1, false,
     "", "biuf", "", "", ""},
};
// clang-format on
static_assert([] {
  for (size_t k = 0; k < std::size(kTable); ++k)
    if (kTable[k].aggregate != static_cast<Aggregate>(k)) return false;
  return true;
}());

// NumPy's letter, but d for decimals, l for lists and structs, O for categories and U for strings.
char kind_of(Dtype dtype) {
  if (dtype.is_bool()) return 'b';
  if (dtype.is_signed()) return 'i';
  if (dtype.is_unsigned()) return 'u';
  if (dtype.is_floating()) return 'f';
  if (dtype.is_decimal()) return 'd';
  if (dtype.is_nested()) return 'l';
  if (dtype.is_duration()) return 'm';
  if (dtype.is_temporal()) return 'M';
  if (dtype.is_complex()) return 'c';
  return dtype.is_category() ? 'O' : 'U';
}

// What the kernels of a form take; Python makes numbers of times and durations for some.
bool takes(const AggregateRow& row, Dtype dtype, AggregateForm form) {
  const char kind = kind_of(dtype);
  const auto is_one_of = [&](std::string_view kinds) { return kinds.find(kind) != kinds.npos; };
  switch (form) {
    case AggregateForm::kColumn:
      return row.input == kPresence || is_one_of("biuf");
    case AggregateForm::kGroup:
      if (kind == 'l') return row.input == kPresence;
      if (kind == 'd' || (is_one_of("mM") && row.result == kValue)) return true;
      return is_one_of(row.groups) && !(row.decimals_as_floats && is_one_of("mM"));
    case AggregateForm::kRolling:
      return kind == 'd' ? !row.decimals_as_floats : is_one_of("iuf");
    case AggregateForm::kCumulative:
      return kind == 'd' ? !row.decimals_as_floats : is_one_of(row.cumulative);
  }
  return false;
}

[[noreturn]] void refuse(const AggregateRow& row, Dtype dtype, AggregateForm form) {
  switch (form) {
    case AggregateForm::kColumn:
      throw_error<TypeMismatchError>(
          row.array_name, "the values are not numbers", {{"dtype", dtype.name()}},
          dtype.is_temporal() || dtype.is_duration() ? "use astype('int64') first"
          : dtype.is_decimal()                       ? "use astype('float64') first"
                                                     : "select a numeric column");
    case AggregateForm::kGroup:
      throw_error<TypeMismatchError>(
          "groupby",
          dtype.is_complex()     ? "complex numbers cannot be aggregated"
          : dtype.is_nested()    ? "lists and structs cannot be aggregated this way"
          : row.result == kValue ? "the values are strings"
                                 : "the values are not numbers",
          {{"aggregate", row.name}, {"dtype", dtype.name()}},
          dtype.is_decimal() ? "use astype('float64') first"
                             : "select other columns, or another aggregate");
    case AggregateForm::kRolling:
      throw_error<TypeMismatchError>("rolling", "expected numbers", {{"dtype", dtype.name()}},
                                     "use astype, or leave the column out");
    case AggregateForm::kCumulative:
      break;
  }
  throw_error<TypeMismatchError>(row.cumulative_name, "expected numbers",
                                 {{"dtype", dtype.name()}});
}

Dtype result_dtype(AggregateResult result, Dtype dtype) {
  switch (result) {
    case kValue:
      return dtype;
    case kTotal:
      if (dtype.is_decimal()) return Dtype::decimal(kMostDigits, dtype.scale());
      if (dtype.is_duration() || dtype.is_floating()) return dtype;
      return dtype.is_unsigned() ? TypeId::kUInt64 : TypeId::kInt64;
    case kMoment:
      return dtype.is_floating() ? dtype : Dtype(TypeId::kFloat64);
    case kFloat64:
      return TypeId::kFloat64;
    case kInt64:
      return TypeId::kInt64;
    case kBool:
      return TypeId::kBool;
  }
  return dtype;
}

}  // namespace

int AggregateRow::passes() const {
  return std::any_of(accumulators.begin(), accumulators.end(), is_second) ? 2 : 1;
}

bool AggregateRow::has(Accumulator accumulator) const {
  return std::find(accumulators.begin(), accumulators.end(), accumulator) != accumulators.end();
}

bool AggregateRow::compares() const {
  using enum Accumulator;
  if (ranked && result == kValue) return true;
  return has(kMin) || has(kMax) || has(kArgmin) || has(kArgmax) || has(kLargest) || has(kSmallest);
}

bool AggregateRow::folds_values() const {
  using enum Accumulator;
  return !ranked && rows == RowUse::kNone && !has(kOtherSum) && !has(kLargest) && !has(kSmallest);
}

int64_t AggregateRow::fewest_values(int64_t min_count, int64_t ddof, int64_t rank) const {
  if (fewest == kMinCountValues) return min_count;
  if (fewest == kDdofValues) return ddof + 1;
  return fewest == kRankValues ? rank + 1 : fewest;
}

std::span<const AggregateRow> aggregate_rows() {
  return kTable;
}

const AggregateRow& aggregate_row(Aggregate aggregate) {
  return kTable[static_cast<size_t>(aggregate)];
}

bool has_form(Aggregate aggregate, AggregateForm form) {
  if (static_cast<size_t>(aggregate) >= std::size(kTable)) return false;
  const AggregateRow& row = aggregate_row(aggregate);
  switch (form) {
    case AggregateForm::kColumn:
      return !row.array_name.empty();
    case AggregateForm::kGroup:
      return !row.groups.empty();
    case AggregateForm::kRolling:
      return !row.windows.empty();
    case AggregateForm::kCumulative:
      return !row.cumulative_name.empty();
  }
  return false;
}

std::string_view aggregate_name(Aggregate aggregate, AggregateForm form) {
  const AggregateRow& row = aggregate_row(aggregate);
  if (form == AggregateForm::kCumulative) return row.cumulative_name;
  return form == AggregateForm::kColumn ? row.array_name : row.name;
}

Aggregate aggregate_from_name(std::string_view name, AggregateForm form) {
  constexpr std::pair<std::string_view, std::string_view> kWhere[] = {
      {"reduce", "reduction"},
      {"groupby", "aggregate"},
      {"rolling", "aggregate"},
      {"cumulative", "running result"}};
  std::vector<std::string_view> names;
  for (const AggregateRow& row : kTable) {
    if (!has_form(row.aggregate, form)) continue;
    const std::string_view own = aggregate_name(row.aggregate, form);
    if (own == name) return row.aggregate;
    if (row.aggregate != Aggregate::kFirstRow) names.push_back(own);  // not of users
  }
  const auto& [op, key] = kWhere[static_cast<size_t>(form)];
  find_name(op, key, name, names);
  return {};  // find_name has thrown
}

Dtype aggregate_dtype(Aggregate aggregate, Dtype dtype, AggregateForm form) {
  if (!has_form(aggregate, form))
    throw_error<UnsupportedError>(
        "aggregate", "this form is not supported",
        {{"aggregate", static_cast<int64_t>(aggregate)}, {"form", static_cast<int64_t>(form)}});
  const AggregateRow& row = aggregate_row(aggregate);
  if (row.input == AggregateInput::kNoColumn) return TypeId::kInt64;
  if (!takes(row, dtype, form)) refuse(row, dtype, form);
  if (dtype.is_decimal() && row.decimals_as_floats) dtype = TypeId::kFloat64;
  return result_dtype(row.result, dtype);
}

}  // namespace hr
