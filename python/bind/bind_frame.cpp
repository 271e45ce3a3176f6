// SPDX-License-Identifier: Apache-2.0
// Deferred operations on rows.
#include "python/bind/bind.h"

#include "headrace/frame/dates.h"
#include "headrace/frame/nodes.h"
#include "headrace/frame/rank.h"
#include "headrace/frame/strings.h"
#include "headrace/frame/text.h"

using hr::NodePtr;

void bind_frame(nb::module_& m) {
  m.def("select", &hr::select_node, "rows"_a, "mask"_a, Unlocked());
  m.def("take", &hr::take_node, "rows"_a, "positions"_a, Unlocked());
  m.def("concat", &hr::concat_node, "columns"_a, Unlocked());
  m.def("shift", &hr::shift_node, "column"_a, "periods"_a, Unlocked());
  m.def(
      "compare_text",
      [](std::string_view op, const NodePtr& column, const std::string& text) {
        return hr::compare_text_node(hr::op_from_name(op), column, text);
      },
      "op"_a, "column"_a, "text"_a, Unlocked());
  m.def(
      "compare_text",
      [](std::string_view op, const NodePtr& left, const NodePtr& right) {
        return hr::compare_text_node(hr::op_from_name(op), left, right);
      },
      "op"_a, "left"_a, "right"_a, Unlocked());
  m.def("choose_text", &hr::choose_text_node, "condition"_a, "yes"_a, "no"_a, Unlocked());
  m.def(
      "date_field",
      [](const NodePtr& column, std::string_view field) {
        return hr::date_field_node(column, hr::date_field_from_name(field));
      },
      "column"_a, "field"_a, Unlocked());
  m.def(
      "test_text",
      [](std::string_view test, const NodePtr& column, const std::string& pattern) {
        return hr::test_text_node(hr::text_test_from_name(test), column, pattern);
      },
      "test"_a, "column"_a, "pattern"_a, Unlocked());
  m.def("slice_text", &hr::slice_text_node, "column"_a, "begin"_a, "end"_a, Unlocked());
  m.def("text_length", &hr::text_length_node, "column"_a, Unlocked());
  m.def(
      "cumulate",
      [](std::string_view name, const NodePtr& column) {
        return hr::cumulate_node(hr::cumulation_from_name(name), column);
      },
      "name"_a, "column"_a, Unlocked());
  m.def(
      "rank",
      [](const NodePtr& column, std::string_view method, bool descending) {
        return hr::rank_node(column, hr::rank_method_from_name(method), descending);
      },
      "column"_a, "method"_a, "descending"_a, Unlocked());
  m.def("quantile", &hr::quantile_node, "column"_a, "q"_a, Unlocked());
  m.def(
      "reduction_axis",
      [](std::string_view kind, const NodePtr& array, int64_t axis, int64_t ddof) {
        return hr::reduction_axis_node(hr::reduction_from_name(kind), array, axis, {.ddof = ddof});
      },
      "kind"_a, "array"_a, "axis"_a, "ddof"_a, Unlocked());
  m.def(
      "repeat",
      [](const NodePtr& like, bool value) { return hr::repeat_node(like, hr::Scalar(value)); },
      "like"_a, nb::arg("value").noconvert(), Unlocked());
  m.def(
      "repeat",
      [](const NodePtr& like, int64_t value) { return hr::repeat_node(like, hr::Scalar(value)); },
      "like"_a, nb::arg("value").noconvert(), Unlocked());
  m.def(
      "repeat",
      [](const NodePtr& like, double value) { return hr::repeat_node(like, hr::Scalar(value)); },
      "like"_a, nb::arg("value").noconvert(), Unlocked());
  m.def(
      "repeat",
      [](const NodePtr& like, const std::string& text) { return hr::repeat_node(like, text); },
      "like"_a, "value"_a, Unlocked());
}
