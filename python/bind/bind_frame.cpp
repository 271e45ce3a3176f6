// SPDX-License-Identifier: Apache-2.0
// Deferred operations on rows.
#include "python/bind/bind.h"

#include "headrace/frame/nodes.h"

using hr::NodePtr;

void bind_frame(nb::module_& m) {
  m.def("select", &hr::select_node, "rows"_a, "mask"_a, Unlocked());
  m.def("take", &hr::take_node, "rows"_a, "positions"_a, Unlocked());
  m.def("concat", &hr::concat_node, "columns"_a, Unlocked());
  m.def("shift", &hr::shift_node, "column"_a, "periods"_a, Unlocked());
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
