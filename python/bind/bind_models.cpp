// SPDX-License-Identifier: Apache-2.0
// Files of models.
#include "python/bind/bind.h"

#include "headrace/learn/model.h"
#include "headrace/learn/model_file.h"

#include <nanobind/stl/variant.h>

namespace {

// The header as JSON, and the arrays that it numbers.
nb::tuple read_model_file(const std::string& path) {
  std::string header;
  std::vector<hr::ModelArray> arrays;
  {
    const GilReleased unlocked;
    hr::ModelFile file = hr::read_model_file(path);
    header = file.header.text();
    arrays = std::move(file.arrays);
  }
  return nb::make_tuple(header, std::move(arrays));
}

}  // namespace

void bind_models(nb::module_& m) {
  // What C++ programs use, for the tests that compare it with Python.
  nb::class_<hr::Model>(m, "Model")
      .def("predict", nb::overload_cast<const hr::Table&>(&hr::Model::predict, nb::const_),
           "rows"_a, Unlocked())
      .def("predict", nb::overload_cast<const hr::Tensor&>(&hr::Model::predict, nb::const_),
           "rows"_a, Unlocked())
      .def("transform", nb::overload_cast<const hr::Table&>(&hr::Model::transform, nb::const_),
           "rows"_a, Unlocked())
      .def("transform", nb::overload_cast<const hr::Tensor&>(&hr::Model::transform, nb::const_),
           "rows"_a, Unlocked());
  m.def("load_model", &hr::load_model, "path"_a, Unlocked());
  m.def("write_model_file", &hr::write_model_file, "path"_a, "body"_a, "arrays"_a, Unlocked());
  m.def("read_model_file", read_model_file, "path"_a,
        nb::sig("def read_model_file(path: str) -> tuple[str, list[Tensor | Column]]"));
}
