// SPDX-License-Identifier: Apache-2.0
// Decimals: lazy operations on columns of them.
#include "python/bind/bind.h"

#include "headrace/functions/decimal/decimal_arithmetic.h"

using hr::NodePtr;

void bind_decimals(nb::module_& m) {
  m.def("decimal_round", lazy(&hr::decimal_round), "column"_a, "digits"_a, Unlocked());
  m.def("decimal_reduction", lazy(&hr::decimal_reduction), "kind"_a, "column"_a, Unlocked());
}
