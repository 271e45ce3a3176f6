// SPDX-License-Identifier: Apache-2.0
// Arrays of any rank: layout, elements by positions, order along an axis, complex numbers.
#include "python/bind/tensor.h"

#include "headrace/tensor/broadcast_view.h"
#include "headrace/tensor/complex_elementwise.h"
#include "headrace/tensor/complex_function.h"
#include "headrace/tensor/complex_parts.h"
#include "headrace/tensor/cumulative_axis.h"
#include "headrace/tensor/element_index.h"
#include "headrace/tensor/iota.h"
#include "headrace/tensor/slice_update.h"
#include "headrace/tensor/sort_axis.h"

namespace {

using hr::NodePtr;

NodePtr slice_update(const NodePtr& array, const NodePtr& value,
                     const std::vector<std::tuple<int64_t, int64_t, int64_t>>& items) {
  std::vector<hr::ViewItem> views;
  for (const auto& [begin, step, count] : items) views.push_back({begin, step, count});
  return hr::slice_update(array, value, std::move(views));
}

}  // namespace

void bind_tensor(nb::module_& m) {
  m.def("broadcast_in_dim", &hr::broadcast_in_dim, "array"_a, "shape"_a, "axes"_a, Unlocked());
  m.def(
      "iota",
      [](int64_t count, const std::optional<NodePtr>& near) {
        return hr::iota(count, near.value_or(nullptr));
      },
      "count"_a, "near"_a.none(), Unlocked(), "The numbers below `count`, where `near` is.");
  m.def("concatenate", &hr::concatenate, "arrays"_a, "axis"_a, Unlocked());
  m.def("slice_update", &slice_update, "array"_a, "value"_a, "items"_a, Unlocked(),
        "`items` as of view.");
  m.def("gather_elements", &hr::gather_elements, "array"_a, "indices"_a, Unlocked());
  m.def("scatter_elements", &hr::scatter_elements, "array"_a, "indices"_a, "values"_a, Unlocked());
  m.def("sort_last_axis", &hr::sort_last_axis, "array"_a, "descending"_a, Unlocked());
  m.def("argsort_last_axis", &hr::argsort_last_axis, "array"_a, "descending"_a, Unlocked());
  m.def("search_sorted", &hr::search_sorted, "line"_a, "values"_a, "right"_a, Unlocked());
  m.def(
      "cumulative_axis",
      [](bool product, const NodePtr& array, int64_t axis, bool initial) {
        return hr::cumulative_axis(product ? hr::Running::kProduct : hr::Running::kSum, array, axis,
                                   initial);
      },
      "product"_a, "array"_a, "axis"_a, "initial"_a, Unlocked());
  m.def("real_part", &hr::real_part, "array"_a, Unlocked());
  m.def("imaginary_part", &hr::imaginary_part, "array"_a, Unlocked());
  m.def("complex_from_parts", &hr::complex_from_parts, "real"_a, "imaginary"_a, Unlocked());
  m.def(
      "complex_function",
      [](std::string_view name, const NodePtr& array) {
        return hr::complex_function(hr::complex_function_from_name(name), array);
      },
      "name"_a, "array"_a, Unlocked());
  m.def("conjugate", &hr::conjugate, "array"_a, Unlocked());
  m.def(
      "complex_cast",
      [](const NodePtr& input, std::string_view dtype) {
        return hr::complex_cast(input, hr::dtype_from_name(dtype));
      },
      "input"_a, "dtype"_a, Unlocked());
}
