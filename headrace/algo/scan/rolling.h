// SPDX-License-Identifier: Apache-2.0
// Aggregates of the rows around each row: rolling sums, means, medians, ...
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/scan/segments.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace hr {

/// The window of all rows up to each one.
inline constexpr int64_t kAllRows = int64_t{1} << 62;

struct RollingOptions {
  int64_t window = 1;       ///< rows, at least 1
  int64_t min_periods = 1;  ///< null where fewer values are there
  /// The row stands in the middle of its window (of an even one, behind the middle), else at its
  /// end.
  bool center = false;
  int64_t ddof = 1;  ///< of variance and std: null for this many values and fewer

  static auto parameters(auto& self) {
    return std::tie(self.window, self.min_periods, self.center, self.ddof);
  }
};

/// Throws InvalidArgumentError for a window below 1, a negative ddof, and min_periods that is
/// negative or above the window.
HR_API void check_rolling(RollingOptions options);

/// For each row the aggregate of the values in its window that are neither null nor NaN, within
/// its segment; null where they are too few. Null of no value, but for sums. A sum of decimals that
/// has more than 38 digits throws InvalidArgumentError.
///
/// Segments are cut into blocks as long as the window; a window is the end of one block and the
/// beginning of the next, and both are folded from the border outwards, so nothing is subtracted:
/// no value that left a window leaves an error in it (van Herk, "A fast algorithm for local minimum
/// and maximum filters", 1992). About 2 ns a row and core for any window, of variances 10, of
/// medians a search in the window and a move of half of it. Windows of more than 2^17 rows need
/// memory for one window a thread.
HR_API Column rolling(const Column& column, Aggregate aggregate, RollingOptions options,
                      const Segments& segments);

}  // namespace hr
