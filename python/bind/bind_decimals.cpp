// SPDX-License-Identifier: Apache-2.0
// Decimals: lazy operations on columns of them.
#include "python/bind/bind.h"

#include "headrace/functions/decimal/decimal_arithmetic.h"

using hr::NodePtr;

void bind_decimals(nb::module_& m) {
  m.def("decimal_to_float", &hr::decimal_to_float, "column"_a, Unlocked());
  m.def("decimal_round", lazy(&hr::decimal_round), "column"_a, "digits"_a, Unlocked());
}
