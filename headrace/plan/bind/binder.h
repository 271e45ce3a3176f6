// SPDX-License-Identifier: Apache-2.0
// The binder: what an operation means for operands of these dtypes. One table of rules says which
// storage it runs on, how each side is cast to it, and what the result is; no operator is made
// here.
#pragma once
#include "headrace/plan/bind/literal.h"
#include "headrace/plan/eval/expression.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Dtypes that operations treat alike. A calendar span is a literal only.
enum class DtypeKind : uint8_t {
  kInteger,  ///< bools too
  kFloat,    ///< complex numbers too
  kText,     ///< strings and categories of strings
  kTime,     ///< dates and timestamps
  kDuration,
  kDecimal,
  kCalendar,
  kNested,    ///< lists, structs and maps
  kCategory,  ///< of other than strings: their values have a kind
};

HR_API DtypeKind kind_of(Dtype dtype);

/// What comparisons, tests and logical operations make of a missing operand, and `where` of a
/// missing condition.
enum class NullRule : uint8_t {
  /// Null, unless the other operand decides (false and null is false): SQL.
  kThreeValued,
  /// Comparisons and tests are false, but `!=` is true, as of NaN; logical operations as by the
  /// first rule: frames and series, as in pandas.
  kPlainComparisons,
  /// The same, and a missing truth value counts as false: masks and conditions.
  kMissingIsFalse,
};

/// What a comparison or test of a missing operand gives; nothing: null, and other operations.
HR_API std::optional<bool> result_of_missing(Op op, NullRule nulls);

/// A side of an operation: a column or array of a dtype, or a literal. `name` is for errors.
struct BindOperand {
  Dtype dtype;
  const Literal* literal = nullptr;
  std::string_view name = {};

  HR_API DtypeKind kind() const;
};

struct BoundOperation {
  /// What computes it.
  enum class Storage : uint8_t {
    kNumbers,   ///< the evaluator of numbers; times and durations as their counts
    kText,      ///< the functions of strings
    kDecimal,   ///< the exact functions of decimals
    kCalendar,  ///< the calendar, by months
  };

  /// Of a side, before.
  enum class Cast : uint8_t {
    kNone,
    kCounts,         ///< to integers of the common unit; what does not fit is an error with its row
    kClampedCounts,  ///< the same, but limited to 64 bits, which keeps comparisons right
    kDecimal,        ///< an integer to the decimal with all its digits
    kFloat64,
  };

  /// What the storage's result becomes.
  enum class Result : uint8_t { kStorage, kTime, kDuration };

  Storage storage = Storage::kNumbers;
  std::array<Cast, 2> casts{};
  CountUnit unit{};                    ///< of counts
  Result result = Result::kStorage;    ///< kStorage: the dtype is the storage's
  Dtype dtype{};                       ///< of times and durations that result
  bool null_is_false = false;          ///< in the operands, of `where` in the condition
  std::optional<bool> null_becomes{};  ///< in the result
};

/// Binds an element-wise operation to its one or two sides (of `where` and `fill_null` those that
/// are chosen from). Throws TypeMismatchError, with the dtypes and what to do, for kinds that the
/// operation does not take together. `name`: the operation in errors; by default its own.
HR_API BoundOperation bind(Op op, std::span<const BindOperand> sides, NullRule nulls,
                           std::string_view name = {});

/// A rule of the binder in words, for documentation.
struct BindRule {
  std::string operations{};
  std::string left{};
  std::string right{};  ///< empty for operations with one side
  std::string storage{};
  std::string cast{};
  std::string result{};
};

/// All rules, in the order in which they are searched.
HR_API std::vector<BindRule> bind_rules();

/// Digits that hold all values of an integer dtype or bool.
HR_API int integer_digits(Dtype dtype);

/// The dtype of rows of these dtypes put together: numbers as `promote` has them, the finest unit
/// of times of one zone and of durations, all digits of decimals and integers, strings for strings
/// and categories of them; of other categories as of their values, unless all are the same. None
/// for others.
HR_API std::optional<Dtype> common_dtype(std::span<const Dtype> dtypes);

/// What `==` makes of two keys: counts of `unit`, limited to 64 bits, or values of `dtype`.
struct BoundKeys {
  bool are_counts = false;
  CountUnit unit{};
  Dtype dtype{};
};

/// Binds the keys of a join or of a set: times are instants, decimals next to floats float64.
/// Throws TypeMismatchError, naming both dtypes, for keys that do not compare.
HR_API BoundKeys bind_keys(std::string_view name, Dtype left, Dtype right);

}  // namespace hr
