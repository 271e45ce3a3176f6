// SPDX-License-Identifier: Apache-2.0
// Aggregates of the rows around each row: rolling sums, means, medians, ...
#pragma once
#include "headrace/algo/aggregate/aggregate.h"
#include "headrace/algo/reduce/quantile.h"
#include "headrace/algo/scan/segments.h"
#include "headrace/algo/scan/window_bounds.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <string_view>
#include <tuple>

namespace hr {

/// The window of all rows up to each one.
inline constexpr int64_t kAllRows = int64_t{1} << 62;

struct RollingOptions {
  int64_t window = 1;       ///< rows, at least 1; of times: how long it lasts, in their unit
  int64_t min_periods = 1;  ///< null where fewer values are there
  /// The row stands in the middle of its window (of an even one, behind the middle), else at its
  /// end.
  bool center = false;
  int64_t ddof = 1;  ///< of variance and std: null for this many values and fewer
  Closed closed = Closed::kRight;
  double quantile = 0.5;
  Interpolation interpolation = Interpolation::kLinear;

  static auto parameters(auto& self) {
    return std::tie(self.window, self.min_periods, self.center, self.ddof, self.closed,
                    self.quantile, self.interpolation);
  }
};

/// Throws InvalidArgumentError for a window below 1, a negative ddof, a quantile outside [0, 1],
/// and min_periods that is negative or, of rows, above the window.
HR_API void check_rolling(const RollingOptions& options, bool of_rows = true);

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

/// The same of windows with the given bounds, whose `window`, `center` and `closed` are not read:
/// each is the end of what was folded backwards and the beginning of what was folded since ("two
/// stacks"). About twice the time.
HR_API Column rolling_between(const Column& column, Aggregate aggregate,
                              const RollingOptions& options, const WindowBounds& bounds);

/// Covariances with `ddof`, or Pearson's correlations, of the rows of each window where both
/// float64 columns have a value; null where they are too few.
HR_API Column rolling_pairs(const Column& x, const Column& y, bool correlation,
                            const RollingOptions& options, const WindowBounds& bounds);

/// The place of the last value of each window among all of it, from 1 on; ties have the mean of
/// theirs
/// ("average"), or the least ("min") or the greatest one ("max").
enum class WindowRank : uint8_t { kAverage, kMin, kMax };
HR_API Column rolling_rank(const Column& column, WindowRank ties, bool descending, bool as_share,
                           const RollingOptions& options, const WindowBounds& bounds);

}  // namespace hr
