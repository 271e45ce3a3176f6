// SPDX-License-Identifier: Apache-2.0
// As-of joins: for each row the nearest row of another table in the order of a key.
#pragma once
#include "headrace/base/api.h"
#include "headrace/plan/graph/node.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace hr {

enum class AsofDirection : uint8_t {
  kBackward,  ///< the last row whose key is not greater
  kForward,   ///< the first one whose key is not less
  kNearest,   ///< the nearer of both, of two as near the one backward
};

/// "backward", "forward", "nearest"; throws InvalidArgumentError for another word.
HR_API AsofDirection asof_direction_from_name(std::string_view name);

struct AsofOptions {
  AsofDirection direction = AsofDirection::kBackward;
  bool allow_exact = true;      ///< whether an equal key matches
  bool has_tolerance = false;   ///< whether keys may be at most `tolerance` apart
  double tolerance = 0;         ///< of numbers
  int64_t tolerance_nanos = 0;  ///< of times

  static auto parameters(auto& self) {
    return std::tie(self.direction, self.allow_exact, self.has_tolerance, self.tolerance,
                    self.tolerance_nanos);
  }
};

/// The right row, int64, for each left row; -1 for none. Both keys are numbers, or times or
/// durations of any unit, and rise. Rows match only where all keys `by` are equal, as those of a
/// join (null is equal to null). About 5 ns a row and core without `by`; with them 15 ns where a
/// table of their values has no more entries than there are rows, else both sides are sorted by
/// them. Throws TypeMismatchError for keys that do not compare; on evaluation InvalidArgumentError
/// for a key that is missing or out of order, with its side and row.
HR_API NodePtr asof_rows(const NodePtr& left, const NodePtr& right,
                         const std::vector<NodePtr>& left_by, const std::vector<NodePtr>& right_by,
                         const AsofOptions& options);

/// The values of right rows in the order of left ones; null for -1.
HR_API NodePtr asof_values(const NodePtr& column, const NodePtr& rows);

}  // namespace hr
