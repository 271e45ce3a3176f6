// SPDX-License-Identifier: Apache-2.0
// Deferred operations on rows.
#include "python/bind/bind.h"

#include "headrace/frame/apply.h"
#include "headrace/frame/series.h"
#include "headrace/functions/strings/categories.h"
#include "headrace/functions/strings/string_methods.h"
#include "headrace/functions/strings/string_regex.h"
#include "headrace/plan/graph/constants.h"
#include "headrace/relational/aggregate/correlation.h"
#include "headrace/relational/order/rank.h"
#include "headrace/relational/order/rowwise_quantile.h"
#include "headrace/relational/rows/row_nodes.h"

#include <nanobind/stl/variant.h>

#include <algorithm>
#include <optional>
#include <span>

using hr::NodePtr;

namespace {

// Around a call that makes nodes of `Series.str`.
struct MarkedText {
  bool is_marked = (mark("str"), true);
  GilReleased released{};
};

using TextCall = nb::call_guard<MarkedText>;

// Columns whose nodes run when they are made run together in groups of this size.
constexpr size_t kColumnsTogether = 1024;

// What `make` gives for each column.
template <class Make>
std::vector<NodePtr> of_columns(std::span<const NodePtr> columns, Make&& make) {
  std::vector<NodePtr> made;
  made.reserve(columns.size());
  while (!columns.empty()) {
    hr::HeldRuns held;
    const auto some = columns.first(std::min(kColumnsTogether, columns.size()));
    for (const NodePtr& column : some) {
      made.push_back(make(column));
      held.add(made.back());
    }
    held.run();
    columns = columns.subspan(some.size());
  }
  return made;
}

// `values`: one for each column, or one for all.
std::vector<NodePtr> elementwise_columns(std::string_view op, const std::vector<NodePtr>& columns,
                                         const std::vector<NodePtr>& values) {
  size_t place = 0;
  const auto value = [&] { return values.size() == 1 ? values[0] : values.at(place++); };
  if (op == "isna")
    return of_columns(columns, [](const NodePtr& column) { return hr::Series(column).isna(); });
  if (op == "fillna")
    return of_columns(columns,
                      [&](const NodePtr& column) { return hr::Series(column).fillna(value()); });
  const hr::Op operation = hr::op_from_name(op);
  return of_columns(columns, [&](const NodePtr& column) {
    const hr::ApplyOperand sides[] = {{column}, {value()}};
    return hr::apply(operation, sides, hr::NullRule::kPlainComparisons);
  });
}

std::vector<NodePtr> reduce_columns(std::string_view kind, const std::vector<NodePtr>& columns,
                                    int64_t ddof) {
  const hr::Aggregate aggregate = hr::aggregate_from_name(kind, hr::AggregateForm::kColumn);
  const hr::ReduceOptions options{.skip_nan = true, .empty_is_null = true, .ddof = ddof};
  return of_columns(columns,
                    [&](const NodePtr& column) { return hr::reduce(aggregate, column, options); });
}

}  // namespace

void bind_frame(nb::module_& m) {
  m.def("elementwise_columns", elementwise_columns, "op"_a, "columns"_a,
        "values"_a = std::vector<NodePtr>(), Unlocked());
  m.def("reduce_columns", reduce_columns, "kind"_a, "columns"_a, "ddof"_a, Unlocked());
  m.def("stack", &hr::stack, "values"_a, Unlocked());
  m.def("filter", lazy(&hr::filter), "rows"_a, "mask"_a, Unlocked());
  m.def(
      "filter_columns",
      [](const std::vector<hr::NodePtr>& columns, const hr::NodePtr& mask) {
        std::vector<hr::NodePtr> kept;
        for (const hr::NodePtr& column : columns) kept.push_back(hr::filter(column, mask));
        return kept;
      },
      "columns"_a, "mask"_a, Unlocked());
  m.def("take", lazy(&hr::take), "rows"_a, "positions"_a, Unlocked());
  m.def("concat", lazy(&hr::concat), "columns"_a, Unlocked());
  m.def("shift", lazy(&hr::shift), "column"_a, "periods"_a, Unlocked());
  m.def("diff_rows", lazy(&hr::diff_rows), "column"_a, "periods"_a, Unlocked());
  m.def("fill_missing", lazy(&hr::fill_missing), "column"_a, "backward"_a, Unlocked());
  m.def("row_total", lazy(&hr::row_total), "columns"_a, "counts"_a, Unlocked());
  m.def("not_at", lazy(&hr::not_at), "rows"_a, "positions"_a, Unlocked());
  m.def(
      "test_text",
      [](std::string_view test, const NodePtr& column, const std::vector<std::string>& patterns) {
        return hr::test_text_any(hr::text_test_from_name(test), column, patterns);
      },
      "test"_a, "column"_a, "patterns"_a, TextCall());
  m.def(
      "change_case",
      [](std::string_view wanted, const NodePtr& column) {
        return hr::change_case(hr::letter_case_from_name(wanted), column);
      },
      "wanted"_a, "column"_a, TextCall());
  m.def(
      "change_text",
      [](std::string_view change, const NodePtr& column, int64_t size, const std::string& fill,
         std::optional<int64_t> begin, std::optional<int64_t> end) {
        return hr::change_text(hr::text_change_from_name(change), column, {size, fill, begin, end});
      },
      "change"_a, "column"_a, "size"_a = 0, "fill"_a = "", "begin"_a = nb::none(),
      "end"_a = nb::none(), TextCall());
  m.def(
      "test_characters",
      [](std::string_view test, const NodePtr& column) {
        return hr::test_characters(hr::character_test_from_name(test), column);
      },
      "test"_a, "column"_a, TextCall());
  m.def("text_position", lazy(&hr::text_position), "column"_a, "part"_a, "begin"_a, "end"_a,
        "last"_a, TextCall());
  m.def(
      "strip_text",
      [](const NodePtr& column, bool left, bool right, const std::optional<std::string>& gone) {
        return hr::strip_characters(column, {left, right}, gone);
      },
      "column"_a, "left"_a, "right"_a, "gone"_a, TextCall());
  m.def("remove_prefix", &hr::remove_prefix, "column"_a, "prefix"_a, TextCall());
  m.def("remove_suffix", &hr::remove_suffix, "column"_a, "suffix"_a, TextCall());
  m.def("concatenate_text", lazy(&hr::concatenate_text), "pieces"_a, TextCall());
  m.def(
      "contains_pattern",
      [](const NodePtr& column, const std::string& pattern, std::string flags, bool is_regex) {
        return hr::contains_pattern(column, pattern, {is_regex, std::move(flags)});
      },
      "column"_a, "pattern"_a, "flags"_a, "is_regex"_a, TextCall());
  m.def(
      "test_regex",
      [](std::string_view op, const NodePtr& column, const std::string& pattern,
         const std::string& flags) {
        return hr::test_regex(hr::regex_anchor_from_name(op), column,
                              hr::regex_pattern(std::string(op), pattern, flags));
      },
      "op"_a, "column"_a, "pattern"_a, "flags"_a, TextCall());
  m.def(
      "replace_pattern",
      [](const NodePtr& column, const std::string& pattern, std::string flags, bool is_regex,
         const std::string& fresh, int64_t most) {
        return hr::replace_pattern(column, pattern, fresh, most, {is_regex, std::move(flags)});
      },
      "column"_a, "pattern"_a, "flags"_a, "is_regex"_a, "fresh"_a, "most"_a, TextCall());
  m.def(
      "extract_regex",
      [](const NodePtr& column, const std::string& pattern, const std::string& flags) {
        return hr::extract_regex(column, hr::regex_pattern("extract", pattern, flags));
      },
      "column"_a, "pattern"_a, "flags"_a, TextCall());
  m.def(
      "slice_text",
      [](const NodePtr& column, std::optional<int64_t> begin, std::optional<int64_t> end,
         int64_t step) { return hr::slice_text(column, hr::TextSlice{begin, end, step}); },
      "column"_a, "begin"_a, "end"_a, "step"_a, TextCall());
  m.def("character_at", lazy(&hr::character_at), "column"_a, "position"_a, TextCall());
  m.def("text_length", lazy(&hr::text_length), "column"_a, TextCall());
  m.def(
      "set_categories",
      [](const NodePtr& column, const NodePtr& values, bool ordered) {
        mark("set_categories");
        const GilReleased released;
        return hr::set_categories(column, values, ordered);
      },
      "column"_a, "values"_a, "ordered"_a);
  m.def(
      "sorted_categories",
      [](const NodePtr& column) {
        mark("astype");
        const GilReleased released;
        return hr::sorted_categories(column);
      },
      "column"_a);
  m.def(
      "rename_categories",
      [](const NodePtr& column, const NodePtr& values) {
        mark("rename_categories");
        const GilReleased released;
        return hr::rename_categories(column, values);
      },
      "column"_a, "values"_a);
  m.def("ordered_categories", lazy(&hr::ordered_categories), "column"_a, Unlocked());
  m.def(
      "cumulative",
      [](std::string_view name, const NodePtr& column) {
        return hr::cumulative(hr::aggregate_from_name(name, hr::AggregateForm::kCumulative),
                              column);
      },
      "name"_a, "column"_a, Unlocked());
  m.def(
      "rank",
      [](const NodePtr& column, std::string_view method, bool descending) {
        return hr::rank(column, hr::rank_method_from_name(method), descending);
      },
      "column"_a, "method"_a, "descending"_a, Unlocked());
  m.def(
      "row_quantile",
      [](const std::vector<NodePtr>& columns, double q, std::string_view interpolation) {
        return hr::row_quantile(columns, q, hr::interpolation_from_name(interpolation));
      },
      "columns"_a, "q"_a, "interpolation"_a, Unlocked());
  m.def("correlation", lazy(&hr::correlation), "columns"_a, Unlocked());
  m.def("covariance", lazy(&hr::covariance), "columns"_a, "ddof"_a, Unlocked());
  m.def(
      "reduction_axis",
      [](std::string_view kind, const NodePtr& array, int64_t axis, int64_t ddof) {
        return hr::reduce_axis(hr::aggregate_from_name(kind, hr::AggregateForm::kColumn), array,
                               axis, {.ddof = ddof});
      },
      "kind"_a, "array"_a, "axis"_a, "ddof"_a, Unlocked());
  m.def(
      "repeat", [](const NodePtr& like, bool value) { return hr::repeat(like, hr::Scalar(value)); },
      "like"_a, nb::arg("value").noconvert(), Unlocked());
  m.def(
      "repeat",
      [](const NodePtr& like, int64_t value) { return hr::repeat(like, hr::Scalar(value)); },
      "like"_a, nb::arg("value").noconvert(), Unlocked());
  m.def(
      "repeat",
      [](const NodePtr& like, double value) { return hr::repeat(like, hr::Scalar(value)); },
      "like"_a, nb::arg("value").noconvert(), Unlocked());
  m.def(
      "repeat", [](const NodePtr& like, const std::string& text) { return hr::repeat(like, text); },
      "like"_a, "value"_a, Unlocked());
}
