// SPDX-License-Identifier: Apache-2.0
// Group-by: one row for each distinct key, with aggregates of the rows that have it.
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/reduce/quantile.h"
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace hr {

/// The most values of a group that kLargest and kSmallest keep.
inline constexpr int64_t kMostTop = 1024;

struct AggregateRequest {
  Aggregate aggregate = Aggregate::kSize;
  int64_t column = -1;  ///< of the values given; -1: none
  int64_t other = -1;   ///< the second one of a correlation
  double quantile = 0.5;
  Interpolation interpolation = Interpolation::kLinear;  ///< of a quantile
  int64_t ddof = 1;
  int64_t min_count = 0;  ///< sum and prod of fewer values are null
  int64_t rank = 0;       ///< of kLargest and kSmallest; at most kMostTop - 1
  /// NaN is a value, the greatest one: of aggregates whose result is floating, for columns without
  /// nulls.
  bool nan_is_value = false;

  static auto parameters(auto& self) {
    return std::tie(self.aggregate, self.column, self.other, self.quantile, self.interpolation,
                    self.ddof, self.min_count, self.rank, self.nan_is_value);
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
  bool in_chains = false;    ///< a group's rows are one run

  static auto parameters(auto& self) {
    return std::tie(self.order, self.drop_missing, self.in_chains);
  }
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
