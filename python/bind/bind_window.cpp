// SPDX-License-Identifier: Apache-2.0
// Deferred windows over rows and within groups.
#include "python/bind/bind.h"

#include "headrace/relational/order/window.h"
#include "headrace/relational/order/window_frame.h"

using hr::NodePtr;

namespace {

hr::RollingOptions options_of(int64_t window, int64_t min_periods, bool center, int64_t ddof,
                              std::string_view closed, double quantile,
                              std::string_view interpolation) {
  return {window,
          min_periods,
          center,
          ddof,
          hr::closed_from_name(closed),
          quantile,
          hr::interpolation_from_name(interpolation)};
}

hr::WindowRank window_rank_of(std::string_view method) {
  return method == "min"   ? hr::WindowRank::kMin
         : method == "max" ? hr::WindowRank::kMax
                           : hr::WindowRank::kAverage;
}

// Of no keys the rows are one segment, and each column is a node of its own.
std::vector<NodePtr> windows(const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns,
                             const hr::WindowFunction& function, bool drop_missing,
                             const hr::WindowInputs& more) {
  std::vector<NodePtr> made;
  if (keys.empty()) {
    for (const NodePtr& column : columns) made.push_back(hr::rolling(column, function, more));
    return made;
  }
  const NodePtr table = hr::window_function(keys, columns, function, drop_missing, more);
  for (size_t k = 0; k < columns.size(); ++k)
    made.push_back(hr::in_domain(hr::table_column(table, static_cast<int64_t>(k)),
                                 columns[k]->signature().domain));
  return made;
}

}  // namespace

void bind_window(nb::module_& m) {
  m.attr("ALL_ROWS") = hr::kAllRows;
  nb::class_<hr::RollingOptions>(m, "RollingOptions")
      .def(
          "__init__",
          [](hr::RollingOptions* made, int64_t window, int64_t min_periods, bool center,
             int64_t ddof, std::string_view closed, double quantile,
             std::string_view interpolation) {
            new (made) hr::RollingOptions(
                options_of(window, min_periods, center, ddof, closed, quantile, interpolation));
          },
          "window"_a, "min_periods"_a, "center"_a, "ddof"_a, "closed"_a, "quantile"_a,
          "interpolation"_a);
  m.def(
      "rolling",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         const std::optional<NodePtr>& times, std::string_view aggregate,
         const hr::RollingOptions& options) {
        const hr::RollingFunction function{
            hr::aggregate_from_name(aggregate, hr::AggregateForm::kRolling), options};
        return windows(keys, columns, function, drop_missing, {{}, times.value_or(nullptr)});
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "times"_a, "aggregate"_a, "options"_a, Unlocked());
  m.def(
      "rolling_pairs",
      [](const std::vector<NodePtr>& keys, const NodePtr& x, const NodePtr& y, bool drop_missing,
         const std::optional<NodePtr>& times, bool correlation, const hr::RollingOptions& options) {
        return windows(keys, {x}, hr::RollingPairFunction{correlation, options}, drop_missing,
                       {y, times.value_or(nullptr)})[0];
      },
      "keys"_a, "x"_a, "y"_a, "drop_missing"_a, "times"_a, "correlation"_a, "options"_a,
      Unlocked());
  m.def(
      "rolling_rank",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         const std::optional<NodePtr>& times, std::string_view method, bool descending,
         bool as_share, const hr::RollingOptions& options) {
        const hr::RollingRankFunction function{window_rank_of(method), descending, as_share,
                                               options};
        return windows(keys, columns, function, drop_missing, {{}, times.value_or(nullptr)});
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "times"_a, "method"_a, "descending"_a, "as_share"_a,
      "options"_a, Unlocked());
  m.def(
      "ewm",
      [](const std::vector<NodePtr>& keys, const std::vector<NodePtr>& columns, bool drop_missing,
         const std::optional<NodePtr>& other, const std::optional<NodePtr>& times,
         std::string_view statistic, double decay, int64_t min_periods, bool adjust, bool ignore_na,
         bool bias, double half_life) {
        const hr::EwmFunction function{{hr::ewm_statistic_from_name(statistic), decay, min_periods,
                                        adjust, ignore_na, bias, half_life}};
        return windows(keys, columns, function, drop_missing,
                       {other.value_or(nullptr), times.value_or(nullptr)});
      },
      "keys"_a, "columns"_a, "drop_missing"_a, "other"_a, "times"_a, "statistic"_a, "decay"_a,
      "min_periods"_a, "adjust"_a, "ignore_na"_a, "bias"_a, "half_life"_a, Unlocked());
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
  m.def(
      "window_frame",
      [](std::string_view function, const NodePtr& begins, const NodePtr& ends,
         const NodePtr& values) {
        return hr::window_frame(hr::frame_function_from_name(function), begins, ends, values);
      },
      "function"_a, "begins"_a, "ends"_a, "values"_a, Unlocked());
}
