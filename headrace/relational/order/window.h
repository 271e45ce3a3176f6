// SPDX-License-Identifier: Apache-2.0
// Functions of each row and its neighbours: of all rows, or within groups.
#pragma once
#include "headrace/algo/scan/cumulative.h"
#include "headrace/algo/scan/ewm.h"
#include "headrace/algo/scan/rolling.h"
#include "headrace/plan/graph/node.h"
#include "headrace/relational/order/rank.h"

#include <string>
#include <variant>
#include <vector>

namespace hr {

struct RollingFunction {
  Aggregate aggregate = Aggregate::kSum;
  RollingOptions options{};

  static auto parameters(auto& self) { return std::tie(self.aggregate, self.options); }
};

/// Of a column and another one.
struct RollingPairFunction {
  bool correlation = false;  ///< else the covariance
  RollingOptions options{};

  static auto parameters(auto& self) { return std::tie(self.correlation, self.options); }
};

struct RollingRankFunction {
  WindowRank ties = WindowRank::kAverage;
  bool descending = false;
  bool as_share = false;
  RollingOptions options{};

  static auto parameters(auto& self) {
    return std::tie(self.ties, self.descending, self.as_share, self.options);
  }
};

struct EwmFunction {
  EwmOptions options{};

  static auto parameters(auto& self) { return std::tie(self.options); }
};

struct CumulativeFunction {
  Aggregate aggregate = Aggregate::kSum;

  static auto parameters(auto& self) { return std::tie(self.aggregate); }
};

struct ShiftFunction {
  int64_t periods = 1;

  static auto parameters(auto& self) { return std::tie(self.periods); }
};

struct RankFunction {
  RankMethod method = RankMethod::kAverage;
  bool descending = false;

  static auto parameters(auto& self) { return std::tie(self.method, self.descending); }
};

/// The place of the row in its group, from 0 on.
struct RowNumberFunction {
  static auto parameters(auto&) { return std::tie(); }
};

using WindowFunction =
    std::variant<RollingFunction, RollingPairFunction, RollingRankFunction, EwmFunction,
                 CumulativeFunction, ShiftFunction, RankFunction, RowNumberFunction>;

/// What a function reads besides its columns; null where it needs none.
struct WindowInputs {
  NodePtr other{};  ///< the second column of pairs
  NodePtr times{};  ///< int64: windows are spans of time, see `windows_of_spans`
};

/// A rolling or exponentially weighted function over all rows; bools count as 0 and 1.
HR_API NodePtr rolling(const NodePtr& column, const WindowFunction& function,
                       const WindowInputs& more = {});

/// The function of each row within the rows that share its keys, in their order: a table with a
/// column for each of `columns`, of their rows and order. Rows with a missing key get null where
/// `drop_missing`, else null and NaN are keys. Costs a sort by the keys and one of positions; the
/// function itself walks over sorted rows.
/// Throws InvalidArgumentError when keys and columns differ in rows, TypeMismatchError as the
/// function of a whole column does.
HR_API NodePtr window_function(const std::vector<NodePtr>& keys,
                               const std::vector<NodePtr>& columns, const WindowFunction& function,
                               bool drop_missing, const WindowInputs& more = {});

}  // namespace hr
