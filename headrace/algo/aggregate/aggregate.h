// SPDX-License-Identifier: Apache-2.0
// The table of aggregates: what each one needs and gives, and the forms in which it exists.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/dtype.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hr {

/// Kernels of CUDA devices know the first twelve by their numbers.
enum class Aggregate : uint8_t {
  kSum,
  kProduct,
  kMean,
  kVariance,
  kStd,
  kMin,
  kMax,
  kArgmin,  ///< the row of the minimum, the first of equals
  kArgmax,
  kAny,
  kAll,
  kCount,     ///< values that are neither null nor, where NaN is skipped, NaN
  kSem,       ///< standard error of the mean
  kSkew,      ///< sample skewness
  kKurtosis,  ///< excess kurtosis of a sample
  kMode,      ///< the most frequent value, the least of several
  kSize,      ///< rows; takes no column
  kFirst,     ///< the first value that is not missing
  kLast,
  kNunique,  ///< distinct values, missing ones left out
  kMedian,
  kQuantile,     ///< linear between ranks
  kCorrelation,  ///< of two columns, over the rows where both are there (Pearson's)
  kLargest,      ///< the value with `rank` from the maximum, not of strings
  kSmallest,
  kFirstRow,  ///< the first row of the group; takes no column
};

/// What is kept of values while they are read. States of rows that follow each other merge: sums
/// add, products multiply, extremes compare, the first or last row stays.
enum class Accumulator : uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kNonZero,  ///< counts values other than 0
  kFirst,    ///< the first row
  kLast,     ///< the last row
  kArgmin,   ///< the first row of the minimum
  kArgmax,
  kLargest,  ///< the `top` greatest values of the input, greatest first
  kSmallest,
  kSquares,   ///< sums of squared deviations from the mean, in groups next to those of deviations
  kCubes,     ///< sums of cubed deviations
  kFourths,   ///< of their fourth powers
  kOtherSum,  ///< of a second column
  kOtherSquares,
  kCross,  ///< sums of products of both deviations
};

/// Accumulators that need means take a second pass over the rows.
constexpr bool is_second(Accumulator accumulator) {
  using enum Accumulator;
  return accumulator == kSquares || accumulator == kCubes || accumulator == kFourths ||
         accumulator == kOtherSquares || accumulator == kCross;
}

enum class AggregateForm : uint8_t {
  kColumn,      ///< of a whole column, an array or an axis
  kGroup,       ///< of the rows of each group
  kRolling,     ///< of the window of each row
  kCumulative,  ///< of all rows up to each one
};

/// The dtype of the result.
enum class AggregateResult : uint8_t {
  kValue,   ///< the column's
  kTotal,   ///< integers and bools in 64 bits, decimals in 38 digits, else the column's
  kMoment,  ///< the floating column's, else float64
  kFloat64,
  kInt64,
  kBool,
};

/// What is read of a column.
enum class AggregateInput : uint8_t {
  kNoColumn,
  kPresence,  ///< which values are there
  kValues,    ///< values as they are
  kFloats,    ///< values as float64, decimals too
};

/// How an aggregate depends on where its rows stand.
enum class RowUse : uint8_t {
  kNone,
  kOrder,    ///< on their order
  kNumbers,  ///< the result is a row's number
};

/// Fewest values for a result that is not null, where a request says how many.
inline constexpr int8_t kMinCountValues = -1;  ///< min_count
inline constexpr int8_t kDdofValues = -2;      ///< one more than ddof
inline constexpr int8_t kRankValues = -3;      ///< one more than rank

/// Kinds of dtypes are NumPy's letters, where U are strings, O categories and f decimals too; empty
/// for a form that does not exist.
struct AggregateRow {
  Aggregate aggregate;
  std::string_view name;             ///< of groups and windows
  std::string_view array_name;       ///< NumPy's for a whole column
  std::string_view cumulative_name;  ///< empty if there is no cumulative form
  AggregateResult result;
  AggregateInput input;
  std::span<const Accumulator> accumulators;  ///< none: rows are counted, or `ranked`
  bool ranked;                                ///< needs all values of a group together
  RowUse rows;
  /// Fewest values, which neither are null nor NaN, for a result that is not null.
  int8_t fewest;
  bool decimals_as_floats;
  std::string_view columns;     ///< kinds of a frame's columns that it reduces as a whole
  std::string_view groups;      ///< in groups
  std::string_view windows;     ///< in rolling windows
  std::string_view cumulative;  ///< cumulatively
  std::string_view across;      ///< along rows of a frame

  int passes() const;
  bool has(Accumulator accumulator) const;
  /// Whether values are compared: strings and decimals are replaced by their places in order.
  bool compares() const;
  /// Whether it folds value by value, and keeps nothing of rows and of other values.
  bool folds_values() const;
  /// Fewest values for a result that is not null.
  int64_t fewest_values(int64_t min_count, int64_t ddof, int64_t rank = 0) const;
};

HR_API std::span<const AggregateRow> aggregate_rows();
HR_API const AggregateRow& aggregate_row(Aggregate aggregate);

/// Whether `reduce`, `group_by`, `rolling` or `cumulative` have it.
HR_API bool has_form(Aggregate aggregate, AggregateForm form);
/// "sum", "idxmin"; of whole columns "argmin"; of cumulative ones "cumsum".
HR_API std::string_view aggregate_name(Aggregate aggregate, AggregateForm form);
/// Throws InvalidArgumentError for an unknown name, listing those of the form.
HR_API Aggregate aggregate_from_name(std::string_view name, AggregateForm form);

/// Dtype of an aggregate of values of `dtype`, as the table says. Throws TypeMismatchError for
/// dtypes that this form does not support, UnsupportedError for a form that does not exist.
HR_API Dtype aggregate_dtype(Aggregate aggregate, Dtype dtype, AggregateForm form);

}  // namespace hr
