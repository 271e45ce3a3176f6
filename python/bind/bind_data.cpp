// SPDX-License-Identifier: Apache-2.0
// Columns, tensors and tables as Python values.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"
#include "python/bind/times.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/exchange/numpy_datetime.h"
#include "headrace/exchange/strided.h"
#include "headrace/plan/eval/value.h"

#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace {

nb::object python_decimal(hr::Dtype dtype, const std::byte* data) {
  hr::Int128 units;
  std::memcpy(&units, data, sizeof units);
  char text[hr::kMaxDecimal];
  const char* const end = hr::write_decimal(units, dtype.scale(), text);
  return nb::module_::import_("decimal").attr("Decimal")(
      nb::str(text, static_cast<size_t>(end - text)));
}

// One element at `data`; bools here are bytes.
nb::object python_number(hr::Dtype dtype, const std::byte* data) {
  const auto* address = reinterpret_cast<const void*>(data);
  switch (dtype.id()) {
    case hr::TypeId::kBool:
      return nb::bool_(*static_cast<const uint8_t*>(address) != 0);
    case hr::TypeId::kComplex64: {
      const auto value = *static_cast<const std::complex<float>*>(address);
      return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
    }
    case hr::TypeId::kComplex128: {
      const auto value = *static_cast<const std::complex<double>*>(address);
      return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
    }
    case hr::TypeId::kDecimal:
      return python_decimal(dtype, data);
    case hr::TypeId::kDate:
      return python_time(dtype, *static_cast<const int32_t*>(address));
    case hr::TypeId::kTimestamp:
    case hr::TypeId::kDuration: {
      const int64_t value = *static_cast<const int64_t*>(address);
      return value == hr::kNotATime ? nb::none() : python_time(dtype, value);
    }
    default:
      return hr::visit_real(dtype, [&](auto type) -> nb::object {
        return nb::cast(*static_cast<const typename decltype(type)::type*>(address));
      });
  }
}

nb::object python_text(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void check_row(int64_t row, int64_t rows) {
  if (row < 0 || row >= rows) throw nb::index_error("row out of range");
}

// A new object for each row of a number column; the dtype is checked once.
template <class T>
PyObject* python_number_of(T value) {
  if constexpr (std::is_floating_point_v<T>) return PyFloat_FromDouble(static_cast<double>(value));
  if constexpr (std::is_unsigned_v<T>) return PyLong_FromUnsignedLongLong(value);
  return PyLong_FromLongLong(static_cast<int64_t>(value));
}

// Rows [begin, begin + rows).
nb::list column_list(const hr::Column& column, int64_t begin, int64_t rows) {
  const nb::list result = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(rows)));
  const auto fill = [&](auto&& make) {
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = begin + row;
      PyObject* value = column.is_null(at) ? nb::none().release().ptr() : make(at);
      if (!value) throw nb::python_error();
      PyList_SetItem(result.ptr(), static_cast<Py_ssize_t>(row), value);
    }
  };
  const hr::Dtype dtype = column.dtype();
  if (dtype.is_floating() || dtype.is_integer())
    hr::visit_real(dtype, [&](auto type) {
      const auto* values = column.values<typename decltype(type)::type>().data();
      fill([&](int64_t row) { return python_number_of(values[row]); });
    });
  else
    fill([&](int64_t row) { return python_element(column, row).release().ptr(); });
  return result;
}

nb::object tensor_list(const hr::Tensor& tensor, size_t dimension, int64_t element) {
  if (dimension == tensor.shape().size())
    return python_number(tensor.dtype(), tensor.data() + element * tensor.dtype().size_bytes());
  nb::list result;
  for (int64_t i = 0; i < tensor.shape()[dimension]; ++i)
    result.append(tensor_list(tensor, dimension + 1, element + i * tensor.strides()[dimension]));
  return nb::object(result);
}

nb::object tensor_item(const hr::Tensor& tensor, const std::vector<int64_t>& index) {
  if (index.size() != tensor.shape().size())
    throw nb::index_error("expected one index per dimension");
  int64_t element = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    check_row(index[i], tensor.shape()[i]);
    element += index[i] * tensor.strides()[i];
  }
  return python_number(tensor.dtype(), tensor.data() + element * tensor.dtype().size_bytes());
}

// The values behind the codes of a category column.
hr::Column categories(const hr::Column& column) {
  if (!column.dictionary())
    hr::throw_error<hr::TypeMismatchError>("cat", "expected a category column",
                                           {{"dtype", column.dtype().name()}},
                                           "use astype('category') first");
  return column.dictionary()->values();
}

uintptr_t address_of(const hr::Column& column) {
  const int64_t skip = column.dtype().is_bool() ? 0 : column.offset() * column.dtype().size_bytes();
  return reinterpret_cast<uintptr_t>(column.values_buffer().data() + skip);
}

// Columns and tables as other libraries take them.
template <class T>
void bind_arrow_protocol(nb::class_<T>& type) {
  type.def("__arrow_c_schema__", [](const T& self) { return arrow_schema(self); })
      .def(
          "__arrow_c_array__", [](const T& self, nb::handle) { return arrow_array(self); },
          "requested_schema"_a = nb::none(),
          nb::sig("def __arrow_c_array__(self, requested_schema: object | None = None) -> "
                  "tuple[object, object]"))
      .def(
          "__arrow_c_device_array__",
          [](const T& self, nb::handle, const nb::kwargs&) { return arrow_device_array(self); },
          "requested_schema"_a = nb::none(), "kwargs"_a,
          nb::sig("def __arrow_c_device_array__(self, requested_schema: object | None = None, "
                  "**kwargs: object) -> tuple[object, object]"))
      .def(
          "__arrow_c_stream__",
          [](const T& self, nb::handle) {
            if constexpr (std::is_same_v<T, hr::Column>)
              return arrow_stream(self.dtype(), {self});
            else
              return arrow_stream(self);
          },
          "requested_schema"_a = nb::none());
}

}  // namespace

namespace {

// Of a struct, or of the entries of a map.
std::vector<std::pair<std::string, std::string>> dtype_fields(std::string_view word) {
  std::vector<std::pair<std::string, std::string>> fields;
  const hr::Dtype dtype = hr::dtype_from_name(word);
  const hr::Dtype of_fields = dtype.is_map() ? dtype.item() : dtype;
  for (const hr::Field& field : of_fields.fields())
    fields.emplace_back(field.name, dtype_name(field.dtype));
  return fields;
}

}  // namespace

std::vector<std::string> dtype_names(const std::vector<hr::Dtype>& dtypes) {
  std::vector<std::string> names;
  for (const hr::Dtype dtype : dtypes) names.push_back(dtype_name(dtype));
  return names;
}

nb::tuple python_tuple(const std::vector<int64_t>& numbers) {
  nb::list list;
  for (const int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

namespace {

// A list of pairs, as pyarrow has it: a key may be there twice.
nb::object python_map(const hr::Column& column, int64_t row) {
  nb::list pairs;
  const auto [begin, size] = column.values<hr::ListSpan>()[static_cast<size_t>(row)];
  const hr::Column& entries = *column.items();
  for (int64_t at = begin; at < begin + size; ++at) {
    const int64_t place = entries.values<int64_t>()[static_cast<size_t>(at)];
    pairs.append(nb::make_tuple(python_element(entries.fields()->at(0), place),
                                python_element(entries.fields()->at(1), place)));
  }
  return nb::object(pairs);
}

nb::object python_struct(const hr::Column& column, int64_t row) {
  nb::dict made;
  const int64_t place = column.values<int64_t>()[static_cast<size_t>(row)];
  for (size_t f = 0; f < column.fields()->size(); ++f) {
    const std::string& name = column.dtype().fields()[f].name;
    made[nb::str(name.data(), name.size())] = python_element((*column.fields())[f], place);
  }
  return nb::object(made);
}

}  // namespace

nb::object python_element(const hr::Column& column, int64_t row) {
  if (column.is_null(row)) return nb::none();
  if (column.dtype().is_bool()) return nb::bool_(column.bit(row));
  if (column.dtype().is_category())
    return python_element(column.dictionary()->values(),
                          column.values<int32_t>()[static_cast<size_t>(row)]);
  if (column.dtype().is_string()) return python_text(column.string(row));
  if (column.dtype().is_list()) {
    const auto [begin, size] = column.values<hr::ListSpan>()[static_cast<size_t>(row)];
    return column_list(*column.items(), begin, size);
  }
  if (column.dtype().is_map()) return python_map(column, row);
  if (column.dtype().is_struct()) return python_struct(column, row);
  const int64_t width = column.dtype().size_bytes();
  return python_number(column.dtype(),
                       column.values_buffer().data() + (column.offset() + row) * width);
}

nb::object python_scalar(const hr::Scalar& scalar) {
  if (scalar.is_null()) return nb::none();
  if (scalar.dtype().is_bool()) return nb::bool_(scalar.as<bool>());
  if (scalar.dtype().is_unsigned()) return nb::cast(scalar.as<uint64_t>());
  if (scalar.dtype().is_integer()) return nb::cast(scalar.as<int64_t>());
  return nb::cast(scalar.as<double>());
}

nb::object python_value(const hr::Value& value) {
  if (const auto* column = std::get_if<hr::Column>(&value)) return nb::cast(*column);
  if (const auto* tensor = std::get_if<hr::Tensor>(&value)) return nb::cast(*tensor);
  if (const auto* table = std::get_if<hr::Table>(&value)) return nb::cast(*table);
  return python_scalar(std::get<hr::Scalar>(value));
}

void bind_data(nb::module_& m) {
  m.def(
      "dtype_name", [](std::string_view word) { return dtype_name(hr::dtype_from_name(word)); },
      "word"_a);
  const auto is_foreign = [](const auto& data) {
    bool found = false;
    hr::for_each_buffer(data, [&](const hr::Buffer& buffer) { found |= buffer.is_foreign(); });
    return found;
  };
  m.def(
      "is_foreign", [=](const hr::Tensor& tensor) { return is_foreign(tensor); }, "value"_a,
      "Whether some of the memory is of another library.");
  m.def("is_foreign", [=](const hr::Column& column) { return is_foreign(column); }, "value"_a);
  m.def("dtype_fields", dtype_fields, "word"_a);
  auto column =
      nb::class_<hr::Column>(m, "Column", nb::type_slots(column_slots))
          .def_prop_ro("dtype", [](const hr::Column& self) { return dtype_name(self.dtype()); })
          .def_prop_ro("num_rows", &hr::Column::num_rows)
          .def_prop_ro("null_count", &hr::Column::null_count)
          .def_prop_ro("nbytes", &hr::Column::size_bytes)
          .def_prop_ro("address", address_of)
          .def("slice", &hr::Column::slice, "begin"_a, "count"_a)
          .def(
              "item",
              [](const hr::Column& self, int64_t row) {
                check_row(row, self.num_rows());
                return python_element(self, row);
              },
              "row"_a)
          .def_prop_ro("categories", categories)
          .def_prop_ro("is_ordered",
                       [](const hr::Column& self) {
                         return self.dictionary() && self.dictionary()->is_ordered();
                       })
          .def_prop_ro("codes",
                       [](const hr::Column& self) {
                         categories(self);
                         return self.with_dtype(hr::TypeId::kInt32);
                       })
          .def(
              "days",
              [](const hr::Column& self, std::string_view op) { return hr::days_of(op, self); },
              "op"_a, Unlocked())
          .def(
              "to_list",
              [](const hr::Column& self) { return column_list(self, 0, self.num_rows()); },
              nb::sig("def to_list(self) -> list[typing.Any]"))
          .def(
              "dense",
              [](const hr::Column& self, std::string_view op) { return hr::dense(op, self); },
              "op"_a, Unlocked())
          .def("as_tensor", [](const hr::Column& self) { return hr::as_tensor(self); })
          .def_prop_ro(
              "__array_interface__",
              [](const hr::Column& self) {
                try {
                  return array_interface(hr::dense_view("__array_interface__", self));
                } catch (const hr::Error& error) {  // so that hasattr() is False
                  throw nb::attribute_error(error.what());
                }
              },
              nb::for_getter(nb::sig("def __array_interface__(self) -> dict[str, object]")))
          .def(
              "__dlpack__",
              [](const hr::Column& self, nb::handle stream, nb::handle max_version,
                 nb::handle dl_device, nb::handle copy) {
                return dlpack_capsule(hr::dense_view("__dlpack__", self), stream, max_version,
                                      dl_device, copy);
              },
              nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
              "dl_device"_a = nb::none(), "copy"_a = nb::none())
          .def("__dlpack_device__",
               [](const hr::Column& self) { return dlpack_device(self.place()); });
  bind_arrow_protocol(column);

  nb::class_<hr::Tensor>(m, "Tensor", nb::type_slots(tensor_slots))
      .def_prop_ro("dtype", [](const hr::Tensor& self) { return dtype_name(self.dtype()); })
      .def_prop_ro(
          "shape", [](const hr::Tensor& self) { return python_tuple(self.shape()); },
          nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")))
      .def_prop_ro(
          "strides", [](const hr::Tensor& self) { return python_tuple(self.strides()); },
          nb::for_getter(nb::sig("def strides(self) -> tuple[int, ...]")))
      .def_prop_ro("num_elements", &hr::Tensor::num_elements)
      .def_prop_ro("is_contiguous", &hr::Tensor::is_contiguous)
      .def_prop_ro("address",
                   [](const hr::Tensor& self) { return reinterpret_cast<uintptr_t>(self.data()); })
      .def("item", tensor_item, "index"_a)
      .def("to_list", [](const hr::Tensor& self) { return tensor_list(self, 0, 0); })
      .def(
          "copy", [](const hr::Tensor& self, std::string_view op) { return hr::copy_of(op, self); },
          "op"_a, Unlocked())
      .def("as_column", [](const hr::Tensor& self) { return hr::as_column(self); })
      .def_prop_ro("__array_interface__", array_interface,
                   nb::for_getter(nb::sig("def __array_interface__(self) -> dict[str, object]")))
      .def_prop_ro(
          "__cuda_array_interface__", cuda_array_interface,
          nb::for_getter(nb::sig("def __cuda_array_interface__(self) -> dict[str, object]")))
      .def_prop_ro("place", [](const hr::Tensor& self) { return self.place().name(); })
      .def("__dlpack__", dlpack_capsule, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__", [](const hr::Tensor& self) { return dlpack_device(self.place()); });

  nb::class_<hr::Table> table(m, "Table");
  table.def(nb::init<std::vector<std::string>, std::vector<hr::Column>>(), "names"_a, "columns"_a)
      .def_prop_ro("names", &hr::Table::names)
      .def_prop_ro("num_rows", &hr::Table::num_rows)
      .def_prop_ro("num_columns", &hr::Table::num_columns)
      .def(
          "column",
          [](const hr::Table& self, int64_t index) {
            check_row(index, self.num_columns());
            return self.column(index);
          },
          "index"_a)
      .def("column_index", &hr::Table::column_index, "name"_a)
      .def("slice", &hr::Table::slice, "begin"_a, "count"_a);
  bind_arrow_protocol(table);
}
