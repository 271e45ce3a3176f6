// SPDX-License-Identifier: Apache-2.0
// Group-by: one row for each distinct key, with aggregates of the rows that have it.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace hr {

enum class Aggregate : uint8_t {
  kSum,
  kProduct,
  kMean,
  kVariance,
  kStd,
  kMin,
  kMax,
  kCount,  ///< values that are neither null nor NaN
  kSize,   ///< rows; takes no column
  kFirst,  ///< the first value that is not missing
  kLast,
  kAny,
  kAll,
  kNunique,  ///< distinct values, missing ones left out
  kMedian,
  kQuantile,  ///< linear between ranks
  kArgmin,    ///< the row of the minimum, the first of equals
  kArgmax,
  kCorrelation,  ///< of two columns, over the rows where both are there (Pearson's)
  kLargest,      ///< the value with `rank` from the maximum, not of strings
  kSmallest,
  kFirstRow,  ///< the first row of the group; takes no column
};

/// "sum", "prod", "mean", "var", "std", "min", "max", "count", "size", "first", "last", "any",
/// "all", "nunique", "median", "quantile", "idxmin", "idxmax", "corr", "nlargest", "nsmallest",
/// "first_row".
HR_API std::string_view aggregate_name(Aggregate aggregate);
/// Throws InvalidArgumentError for an unknown word, naming the known ones.
HR_API Aggregate aggregate_from_name(std::string_view name);

/// Dtype of an aggregate of values of `dtype`: as `reduction_dtype` says; count, size, nunique and
/// rows int64; median, quantile and corr float64; min, max, first and last the dtype. Of decimals
/// sums have 38 digits, and the rest of arithmetic is that of float64. Throws TypeMismatchError
/// naming the aggregate for unsupported dtypes: arithmetic wants numbers or bools, sums
/// durations too; all others but the n largest and smallest of strings support everything but
/// complex numbers.
HR_API Dtype aggregate_dtype(Aggregate aggregate, Dtype dtype);

/// The most values of a group that kLargest and kSmallest keep.
inline constexpr int64_t kMostTop = 1024;

struct AggregateRequest {
  Aggregate aggregate = Aggregate::kSize;
  int64_t column = -1;  ///< of the values given; -1: none
  int64_t other = -1;   ///< the second one of a correlation
  double quantile = 0.5;
  int64_t ddof = 1;
  int64_t min_count = 0;  ///< sum and prod of fewer values are null
  int64_t rank = 0;       ///< of kLargest and kSmallest; at most kMostTop - 1

  static auto parameters(auto& self) {
    return std::tie(self.aggregate, self.column, self.other, self.quantile, self.ddof,
                    self.min_count, self.rank);
  }
};

enum class GroupOrder : uint8_t {
  kSorted,     ///< by the keys, as NormalizeOptions::ordered says
  kFirstSeen,  ///< by their first rows
  kAny,        ///< whatever is cheapest, the same in each run
};

struct GroupOptions {
  GroupOrder order = GroupOrder::kSorted;
  bool drop_missing = true;  ///< leave out rows with null or NaN in a key; else these are keys

  static auto parameters(auto& self) { return std::tie(self.order, self.drop_missing); }
};

struct Grouped {
  std::vector<Column> keys{};
  std::vector<Column> values{};  ///< one a request
};

/// Groups the rows of `keys` and folds `values`, all of equal length; missing values (null, NaN)
/// take no part. An aggregate of no value is null (sum 0, prod 1, count 0, any false, all true), a
/// variance of too few values too. Float sums add in row order within a run of rows, runs in order;
/// how many runs there are depends on rows and keys alone: the same bits for any number of threads
/// and any limit. Variances take a second pass around the means. Cost: one pass for all aggregates
/// together, where there are few groups; else the rows are split into partitions first, which spill
/// under a limit. Throws TypeMismatchError, InvalidArgumentError for unequal lengths.
HR_API Grouped group_by(const std::vector<Column>& keys, const std::vector<Column>& values,
                        const std::vector<AggregateRequest>& requests, GroupOptions options = {});

}  // namespace hr
