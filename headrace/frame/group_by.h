// SPDX-License-Identifier: Apache-2.0
// GroupBy: aggregates of the rows that share a key.
#pragma once
#include "headrace/base/api.h"
#include "headrace/relational/aggregate/aggregate_nodes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr {

class Frame;

/// One column of a result: an aggregate of a column, by the names that Python has for them ("sum",
/// "mean", "size", ...; see `aggregate_name`).
struct Aggregation {
  std::string name{};
  std::string column{};
  std::string aggregate{};
  double q = 0.5;         ///< of "quantile"
  int64_t ddof = 1;       ///< of "var" and "std"
  int64_t min_count = 0;  ///< "sum" and "prod" of fewer values are null
};

/// The rows of a frame by key, from `Frame::group_by`. Aggregates are lazy frames: the keys, then a
/// column each.
class HR_API GroupBy {
 public:
  GroupBy(const Frame& frame, const std::vector<std::string>& keys, GroupOptions options);

  /// All aggregates in one pass over the rows. Mean, median and quantile of dates, times and
  /// durations have their dtype, truncated; std is a duration. Throws ColumnNotFoundError for an
  /// unknown column, InvalidArgumentError for an unknown aggregate or a name that comes twice,
  /// TypeMismatchError for a dtype that an aggregate does not take.
  Frame agg(const std::vector<Aggregation>& aggregations) const;

  /// The number of rows of each group, in a column "size".
  Frame size() const;

 private:
  Frame made(std::vector<GroupColumn> columns) const;

  std::vector<std::string> names_{};  // of the frame
  std::vector<NodePtr> nodes_{};
  std::vector<GroupKey> keys_{};
  GroupOptions options_{};
};

}  // namespace hr
