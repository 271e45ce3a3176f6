// SPDX-License-Identifier: Apache-2.0
// Deferred group-by.
#include "python/bind/bind.h"

#include "headrace/algo/aggregate/aggregate_binding.h"
#include "headrace/algo/reduce/reduce_state.h"
#include "headrace/frame/aggregates.h"

using hr::NodePtr;

namespace {

// name, aggregate, values, second values, q, ddof, min_count, interpolation, nan_is_value
using GroupWords = std::tuple<std::string, std::string, std::optional<NodePtr>,
                              std::optional<NodePtr>, double, int64_t, int64_t, std::string, bool>;

hr::GroupColumn column_of(const GroupWords& words) {
  const auto& [name, aggregate, values, other, q, ddof, min_count, interpolation, nan_is_value] =
      words;
  hr::GroupColumn column{name, {}, values.value_or(nullptr), other.value_or(nullptr)};
  column.request.aggregate = hr::aggregate_from_name(aggregate, hr::AggregateForm::kGroup);
  column.request.quantile = q;
  column.request.interpolation = hr::interpolation_from_name(interpolation);
  column.request.ddof = ddof;
  column.request.min_count = min_count;
  column.request.nan_is_value = nan_is_value;
  return column;
}

std::vector<hr::GroupKey> keys_of(const std::vector<std::pair<std::string, NodePtr>>& keys) {
  std::vector<hr::GroupKey> made;
  for (const auto& [name, node] : keys) made.push_back({name, node});
  return made;
}

hr::GroupOptions options_of(std::string_view order, bool drop_missing) {
  return {order == "sorted"  ? hr::GroupOrder::kSorted
          : order == "first" ? hr::GroupOrder::kFirstSeen
                             : hr::GroupOrder::kAny,
          drop_missing};
}

// name, result, kinds of columns, groups, windows, cumulative ones and across columns
using Row = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                       std::string_view, std::string_view, std::string_view>;

std::vector<Row> aggregates() {
  constexpr std::string_view kResults[] = {"value", "total", "moment", "float64", "int64", "bool"};
  std::vector<Row> rows;
  for (const hr::AggregateRow& row : hr::aggregate_rows())
    rows.emplace_back(row.name, kResults[static_cast<size_t>(row.result)], row.columns, row.groups,
                      row.windows, row.cumulative, row.across);
  return rows;
}

// level, count, value, squares, cubes, fourths, integer, index, has_null
using PartWords = std::tuple<int, int64_t, double, double, double, double, uint64_t, int64_t, bool>;

PartWords words_of(const hr::PartialRun::Part& part) {
  const hr::ReducePartial& of = part.partial;
  return {part.level, of.count,   of.value, of.squares, of.cubes,
          of.fourths, of.integer, of.index, of.has_null};
}

hr::PartialRun::Part part_of(const PartWords& words) {
  const auto& [level, count, value, squares, cubes, fourths, integer, index, has_null] = words;
  return {level, {count, value, squares, cubes, fourths, integer, index, has_null}};
}

}  // namespace

void bind_group(nb::module_& m) {
  nb::class_<hr::ReduceState>(m, "ReduceState")
      .def(
          "__init__",
          [](hr::ReduceState* self, std::string_view kind, std::string_view dtype, int64_t ddof) {
            new (self) hr::ReduceState(hr::aggregate_from_name(kind, hr::AggregateForm::kColumn),
                                       hr::dtype_from_name(dtype),
                                       {.skip_nan = true, .empty_is_null = true, .ddof = ddof});
          },
          "kind"_a, "dtype"_a, "ddof"_a)
      .def("push", &hr::ReduceState::push, "rows"_a, Unlocked())
      .def("merge", &hr::ReduceState::merge, "later"_a)
      .def(
          "total",
          [](const hr::ReduceState& self, const hr::Column& rest) {
            return python_scalar([&] {
              const GilReleased unlocked;
              return self.total(rest);
            }());
          },
          "rest"_a)
      .def_prop_ro("rows", &hr::ReduceState::rows)
      .def("parts",
           [](const hr::ReduceState& self) {
             std::vector<PartWords> words;
             for (const hr::PartialRun::Part& part : self.parts()) words.push_back(words_of(part));
             return words;
           })
      .def(
          "restore",
          [](hr::ReduceState& self, int64_t rows, const std::vector<PartWords>& words) {
            std::vector<hr::PartialRun::Part> parts;
            for (const PartWords& each : words) parts.push_back(part_of(each));
            self.restore(rows, std::move(parts));
          },
          "rows"_a, "parts"_a);
  m.def("aggregates", aggregates);
  m.def(
      "aggregate_dtype",
      [](std::string_view kind, std::string_view dtype) {
        return dtype_name(
            hr::bind_aggregate(hr::aggregate_from_name(kind, hr::AggregateForm::kColumn),
                               hr::dtype_from_name(dtype), hr::AggregateForm::kColumn)
                .result);
      },
      "kind"_a, "dtype"_a);
  m.def(
      "column_reduction",
      [](std::string_view kind, const NodePtr& column, int64_t ddof) {
        mark(kind);
        const GilReleased released;
        return hr::aggregate_column(hr::aggregate_from_name(kind, hr::AggregateForm::kColumn),
                                    column, ddof);
      },
      "kind"_a, "column"_a, "ddof"_a);
  m.def(
      "quantile",
      [](const NodePtr& column, std::vector<double> q, std::string_view interpolation) {
        return hr::column_quantiles(column, std::move(q),
                                    hr::interpolation_from_name(interpolation));
      },
      "column"_a, "q"_a, "interpolation"_a, Unlocked());
  m.def("correlated_numbers", &hr::correlated_numbers, "column"_a, Unlocked());
  m.def(
      "group_by",
      [](const std::vector<std::pair<std::string, NodePtr>>& keys,
         const std::vector<GroupWords>& columns, std::string_view order, bool drop_missing) {
        std::vector<hr::GroupColumn> made;
        for (const GroupWords& words : columns) made.push_back(column_of(words));
        return hr::group_by(keys_of(keys), std::move(made), options_of(order, drop_missing));
      },
      "keys"_a, "columns"_a, "order"_a, "drop_missing"_a, Unlocked());
  m.def(
      "group_columns",
      [](const std::vector<std::pair<std::string, NodePtr>>& keys,
         const std::vector<GroupWords>& columns, std::string_view order, bool drop_missing) {
        std::vector<hr::GroupColumn> made;
        for (const GroupWords& words : columns) made.push_back(column_of(words));
        return hr::group_columns(keys_of(keys), std::move(made), options_of(order, drop_missing));
      },
      "keys"_a, "columns"_a, "order"_a, "drop_missing"_a, Unlocked());
  m.def("count_distinct", &hr::count_distinct, "column"_a, "drop_missing"_a, Unlocked());
  m.def(
      "group_top",
      [](const std::vector<std::pair<std::string, NodePtr>>& keys, const std::string& name,
         const NodePtr& values, int64_t count, bool largest, std::string_view order,
         bool drop_missing) {
        return hr::group_top(keys_of(keys), name, values, count, largest,
                             options_of(order, drop_missing));
      },
      "keys"_a, "name"_a, "values"_a, "count"_a, "largest"_a, "order"_a, "drop_missing"_a,
      Unlocked());
  m.def(
      "group_transform",
      [](const std::vector<NodePtr>& keys, const GroupWords& column, bool drop_missing) {
        return hr::transform_groups(keys, column_of(column), options_of("sorted", drop_missing));
      },
      "keys"_a, "column"_a, "drop_missing"_a, Unlocked());
}
