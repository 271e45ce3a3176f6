// SPDX-License-Identifier: Apache-2.0
// Decimals: lazy operations on columns of them.
#include "python/bind/bind.h"

#include "headrace/functions/decimal/decimal_arithmetic.h"

#include <nanobind/stl/variant.h>

using hr::NodePtr;

namespace {

using Side = std::variant<NodePtr, std::string>;

hr::DecimalSide side_of(const Side& side) {
  if (const auto* node = std::get_if<NodePtr>(&side)) return *node;
  return hr::decimal_from_text(std::get<std::string>(side));
}

}  // namespace

void bind_decimals(nb::module_& m) {
  m.def(
      "decimal",
      [](std::string_view op, const Side& left, const Side& right) {
        return hr::decimal_arithmetic(hr::op_from_name(op), side_of(left), side_of(right));
      },
      "op"_a, "left"_a, "right"_a, Unlocked());
  m.def(
      "decimal_where",
      [](const NodePtr& condition, const Side& yes, const Side& no) {
        return hr::decimal_where(condition, side_of(yes), side_of(no));
      },
      "condition"_a, "yes"_a, "no"_a, Unlocked());
  m.def(
      "decimal_sign",
      [](std::string_view op, const NodePtr& column) {
        return hr::decimal_sign(hr::op_from_name(op), column);
      },
      "op"_a, "column"_a, Unlocked());
  m.def("decimal_round", lazy(&hr::decimal_round), "column"_a, "digits"_a, Unlocked());
  m.def(
      "decimal_cast",
      [](const NodePtr& column, std::string_view dtype) {
        return hr::decimal_cast(column, hr::dtype_from_name(dtype));
      },
      "column"_a, "dtype"_a, Unlocked());
  m.def("decimal_reduction", lazy(&hr::decimal_reduction), "kind"_a, "column"_a, Unlocked());
}
