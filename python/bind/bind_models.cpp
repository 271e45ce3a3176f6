// SPDX-License-Identifier: Apache-2.0
// Files of models.
#include "python/bind/bind.h"

#include "headrace/learn/model.h"
#include "headrace/learn/model_file.h"

#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

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

/// A model that few rows of NumPy go to by themselves, while what it was made of stays the same.
class FewRows {
 public:
  FewRows(hr::Model model, const std::vector<nb::dict>& dicts, const std::vector<nb::list>& lists,
          const std::vector<nb::object>& arrays)
      : model_(std::move(model)) {
    for (const nb::dict& dict : dicts) {
      Known known{dict, {}};
      for (const auto& [key, value] : dict)
        known.items.emplace_back(nb::borrow(key), nb::borrow(value));
      dicts_.push_back(std::move(known));
    }
    for (const nb::list& list : lists) {
      Listed known{list, {}};
      for (const nb::handle value : list) known.items.push_back(nb::borrow(value));
      lists_.push_back(std::move(known));
    }
    for (const nb::object& array : arrays) {
      const View view(array, PyBUF_STRIDES);
      if (!view.is_there() || !PyBuffer_IsContiguous(view.get(), 'A'))
        throw hr::UnsupportedError("predict: an attribute has no plain memory");
      const auto* const bytes = static_cast<const char*>(view.get()->buf);
      arrays_.push_back({array, {bytes, bytes + view.get()->len}, bytes});
    }
  }

  /// Writes what the model says of `x` to `out`. 1; 0: the rows are not such as it takes; -1: the
  /// model is no longer what this was made of.
  int predict(nb::handle x, nb::handle out) const {
    if (!is_same()) return -1;
    const View from(x, PyBUF_STRIDES | PyBUF_FORMAT), to(out, PyBUF_WRITABLE | PyBUF_ND);
    if (!from.is_there() || !to.is_there() || from.get()->ndim != 2) return 0;
    const std::string_view format = from.get()->format;
    if (format == "d") return run<double>(*from.get(), *to.get(), 1e100);
    return format == "f" ? run<float>(*from.get(), *to.get(), 1e15F) : 0;
  }

 private:
  struct Known {
    nb::dict dict;
    std::vector<std::pair<nb::object, nb::object>> items;
  };

  struct Listed {
    nb::list list;
    std::vector<nb::object> items;
  };

  struct Bytes {
    nb::object array;  // in a dict that is watched: its memory stays
    std::vector<char> copy;
    const char* at;
  };

  class View {
   public:
    View(nb::handle object, int flags) {
      is_there_ = PyObject_GetBuffer(object.ptr(), &view_, flags) == 0;
      if (!is_there_) PyErr_Clear();
    }
    ~View() {
      if (is_there_) PyBuffer_Release(&view_);
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    bool is_there() const { return is_there_; }
    const Py_buffer* get() const { return &view_; }

   private:
    Py_buffer view_{};
    bool is_there_;
  };

  bool is_same() const {
    for (const Known& known : dicts_) {
      if (PyDict_Size(known.dict.ptr()) != static_cast<Py_ssize_t>(known.items.size()))
        return false;
      for (const auto& [key, value] : known.items)
        if (PyDict_GetItemWithError(known.dict.ptr(), key.ptr()) != value.ptr()) return false;
    }
    for (const Listed& known : lists_) {
      if (PyList_Size(known.list.ptr()) != static_cast<Py_ssize_t>(known.items.size()))
        return false;
      for (size_t i = 0; i < known.items.size(); ++i)
        if (PyList_GetItem(known.list.ptr(), static_cast<Py_ssize_t>(i)) != known.items[i].ptr())
          return false;
    }
    return std::all_of(arrays_.begin(), arrays_.end(), [](const Bytes& array) {
      return std::equal(array.copy.begin(), array.copy.end(), array.at);
    });
  }

  /// Values beyond `most`, or NaN, are for the checks of Python.
  template <class T>
  int run(const Py_buffer& x, const Py_buffer& out, T most) const {
    const int64_t rows = x.shape[0], columns = x.shape[1];
    if (columns != model_.num_features() || rows == 0) return 0;
    std::vector<T> values(static_cast<size_t>(rows * columns));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        T value;
        std::memcpy(&value, static_cast<const char*>(x.buf) + i * x.strides[0] + j * x.strides[1],
                    sizeof value);
        if (!(value <= most && value >= -most)) return 0;
        values[static_cast<size_t>(i * columns + j)] = value;
      }
    const hr::Column made = model_.predict(values.data(), rows);
    const int64_t size = made.dtype().size_bytes();
    if (!made.dtype().is_real() || size * rows != out.len || size != out.itemsize) return 0;
    std::memcpy(out.buf, made.values_buffer().data() + made.offset() * size,
                static_cast<size_t>(out.len));
    return 1;
  }

  hr::Model model_;
  std::vector<Known> dicts_;
  std::vector<Listed> lists_;
  std::vector<Bytes> arrays_;
};

hr::Model model_of(const std::string& body, std::vector<hr::ModelArray> arrays) {
  hr::JsonFault fault;
  auto header = hr::Json::parse(body, fault);
  if (!header) throw hr::InvalidArgumentError("model_of: the header is not JSON");
  return hr::make_model({std::move(*header), std::move(arrays)}, "");
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
  nb::class_<FewRows>(m, "FewRows")
      .def(nb::init<hr::Model, const std::vector<nb::dict>&, const std::vector<nb::list>&,
                    const std::vector<nb::object>&>(),
           "model"_a, "dicts"_a, "lists"_a, "arrays"_a,
           nb::sig("def __init__(self, model: Model, dicts: collections.abc.Sequence["
                   "dict[str, typing.Any]], lists: collections.abc.Sequence[list[typing.Any]], "
                   "arrays: collections.abc.Sequence[object]) -> None"))
      .def("predict", &FewRows::predict, "x"_a, "out"_a);
  m.def("model_of", model_of, "body"_a, "arrays"_a,
        nb::sig("def model_of(body: str, arrays: list[Tensor | Column]) -> Model"));
  m.def("load_model", &hr::load_model, "path"_a, Unlocked());
  m.def("write_model_file", &hr::write_model_file, "path"_a, "body"_a, "arrays"_a, Unlocked());
  m.def("read_model_file", read_model_file, "path"_a,
        nb::sig("def read_model_file(path: str) -> tuple[str, list[Tensor | Column]]"));
}
