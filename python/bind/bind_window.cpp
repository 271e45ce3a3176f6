// SPDX-License-Identifier: Apache-2.0
// Deferred windows over rows and within groups.
#include "python/bind/bind.h"

#include "headrace/relational/order/window.h"

using hr::NodePtr;

namespace {

hr::RollingFunction rolling_of(std::string_view aggregate, int64_t window, int64_t min_periods,
                               bool center, int64_t ddof) {
  return {hr::aggregate_from_name(aggregate, hr::AggregateForm::kRolling),
          {window, min_periods, center, ddof}};
}

}  // namespace

void bind_window(nb::module_& m) {
  m.attr("ALL_ROWS") = hr::kAllRows;
  m.def(
      "rolling",
      [](const NodePtr& column, std::string_view aggregate, int64_t window, int64_t min_periods,
         bool center, int64_t ddof) {
        return hr::rolling(column, rolling_of(aggregate, window, min_periods, center, ddof));
      },
      "column"_a, "aggregate"_a, "window"_a, "min_periods"_a, "center"_a, "ddof"_a, Unlocked());
  m.def(
      "group_rolling",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         std::string_view aggregate, int64_t window, int64_t min_periods, bool center,
         int64_t ddof) {
        return hr::window_function(
            keys, columns, rolling_of(aggregate, window, min_periods, center, ddof), drop_missing);
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "aggregate"_a, "window"_a, "min_periods"_a,
      "center"_a, "ddof"_a, Unlocked());
  m.def(
      "group_cumulative",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         std::string_view name) {
        return hr::window_function(
            keys, columns,
            hr::CumulativeFunction{hr::aggregate_from_name(name, hr::AggregateForm::kCumulative)},
            drop_missing);
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "name"_a, Unlocked());
  m.def(
      "group_shift",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         int64_t periods) {
        return hr::window_function(keys, columns, hr::ShiftFunction{periods}, drop_missing);
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "periods"_a, Unlocked());
  m.def(
      "group_rank",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         std::string_view method, bool descending) {
        return hr::window_function(keys, columns,
                                   hr::RankFunction{hr::rank_method_from_name(method), descending},
                                   drop_missing);
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "method"_a, "descending"_a, Unlocked());
  m.def(
      "group_places",
      [](const std::vector<NodePtr>& keys, bool drop_missing) {
        return hr::window_function(keys, {keys.at(0)}, hr::RowNumberFunction{}, drop_missing);
      },
      "keys"_a, "drop_missing"_a, Unlocked());
}
