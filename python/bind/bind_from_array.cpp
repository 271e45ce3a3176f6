// SPDX-License-Identifier: Apache-2.0
// Others' memory for us: array interface, buffer protocol, DLPack, Arrow, and Python lists.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"

#include "headrace/algo/select/concat.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exchange/array_interface.h"
#include "headrace/exchange/arrow.h"
#include "headrace/exchange/dlpack.h"
#include "headrace/exchange/numpy_datetime.h"
#include "headrace/exchange/strided.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/plan/graph/provenance.h"

#include <memory>

namespace {

struct Adopted {
  hr::Tensor tensor;
  bool writable;
};

// Element strides from byte strides; null strides mean row-major.
hr::Shape element_strides(std::string_view op, const hr::Shape& bytes, int64_t width) {
  hr::Shape strides;
  for (const int64_t stride : bytes) {
    if (stride % width != 0)
      hr::throw_error<hr::UnsupportedError>(op, "the stride is not a multiple of the element size",
                                            {{"stride", stride}, {"size", width}},
                                            "pass numpy.ascontiguousarray(x)");
    strides.push_back(stride / width);
  }
  return strides;
}

hr::Tensor adopt_or_release(std::string_view op, hr::Dtype dtype, const void* data, hr::Shape shape,
                            hr::Shape strides, hr::Owner owner, bool fresh = false) {
  try {
    return hr::adopt_strided(op, dtype, data, std::move(shape), std::move(strides), owner, hr::host,
                             fresh);
  } catch (...) {
    owner.release(owner.context);
    throw;
  }
}

Adopted adopt_buffer(nb::handle object, std::string_view op) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_RECORDS_RO) != 0) throw nb::python_error();
  const hr::Owner owner{view.get(), [](void* context) noexcept {
                          release_in_python(hr::Owner{context, [](void* held) noexcept {
                                                        auto* last = static_cast<Py_buffer*>(held);
                                                        PyBuffer_Release(last);
                                                        delete last;
                                                      }});
                        }};
  const Py_buffer& buffer = *view.release();
  hr::Dtype dtype;
  hr::Shape shape, strides;
  try {
    dtype = hr::from_buffer_format(op, buffer.format, buffer.itemsize);
    shape.assign(buffer.shape, buffer.shape + buffer.ndim);
    strides = buffer.strides ? element_strides(op, {buffer.strides, buffer.strides + buffer.ndim},
                                               dtype.size_bytes())
                             : hr::row_major(shape);
  } catch (...) {
    owner.release(owner.context);
    throw;
  }
  const bool writable = !buffer.readonly;
  return {adopt_or_release(op, dtype, buffer.buf, std::move(shape), std::move(strides), owner),
          writable};
}

Adopted adopt_interface(nb::handle object, nb::dict interface, std::string_view op, bool fresh) {
  const nb::object data = interface["data"];
  if (interface.contains("mask") && !nb::object(interface["mask"]).is_none())
    hr::throw_error<hr::UnsupportedError>(op, "masked arrays are not supported", {},
                                          "fill the mask first");
  if (!nb::isinstance<nb::tuple>(data)) return adopt_buffer(object, op);
  const hr::Dtype dtype = hr::from_typestr(op, nb::cast<std::string>(interface["typestr"]));
  auto shape = nb::cast<hr::Shape>(interface["shape"]);
  hr::Shape strides = hr::row_major(shape);
  if (interface.contains("strides") && !nb::object(interface["strides"]).is_none())
    strides = element_strides(op, nb::cast<hr::Shape>(interface["strides"]), dtype.size_bytes());
  const auto address = nb::cast<uintptr_t>(data[0]);
  const bool read_only = nb::cast<bool>(data[1]);
  // NumPy's scalars show a temporary array that only the dictionary keeps.
  const nb::tuple owners = nb::make_tuple(object, interface);
  return {adopt_or_release(op, dtype, reinterpret_cast<const void*>(address), std::move(shape),
                           std::move(strides), python_owner(owners), fresh),
          !read_only && !interface.contains("__ref")};
}

/// NumPy arrays and whatever has `__array_interface__` or the buffer protocol; `fresh`: an array
/// that was made for this call, whose memory has no other owner.
nb::tuple from_array(nb::handle object, std::string_view op, bool fresh) {
  drain_releases();
  Adopted adopted = nb::hasattr(object, "__array_interface__")
                        ? adopt_interface(object, object.attr("__array_interface__"), op, fresh)
                        : adopt_buffer(object, op);
  return nb::make_tuple(std::move(adopted.tensor), adopted.writable && !fresh);
}

template <class Managed>
nb::tuple take_dlpack(nb::handle capsule, const char* name, const char* used, std::string_view op) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!managed || PyCapsule_SetName(capsule.ptr(), used) != 0) throw nb::python_error();
  bool writable = true;
  hr::Tensor tensor = hr::from_dlpack(op, managed, &writable);
  return nb::make_tuple(std::move(tensor), writable);
}

// `stream`: ours, which waits for the producer's; None for host memory.
nb::object ask_dlpack(nb::handle object, nb::object stream) {
  try {
    if (!stream.is_none())
      return object.attr("__dlpack__")("stream"_a = stream, "max_version"_a = nb::make_tuple(1, 0));
    return object.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // an older producer knows no max_version
  }
  return stream.is_none() ? object.attr("__dlpack__")()
                          : object.attr("__dlpack__")("stream"_a = stream);
}

nb::tuple from_dlpack(nb::handle object, std::string_view op) {
  drain_releases();
  const bool is_capsule = PyCapsule_CheckExact(object.ptr());
  nb::object stream = nb::none();
  if (!is_capsule && nb::hasattr(object, "__dlpack_device__")) {
    const auto device = nb::cast<std::pair<int32_t, int32_t>>(object.attr("__dlpack_device__")());
    const bool on_cuda = device.first == hr::kDLCUDA && hr::why_no_cuda().empty();
    if (on_cuda) stream = nb::cast(hr::current_stream(hr::cuda_place(device.second)).id);
    if (device.first != hr::kDLCPU && device.first != hr::kDLCUDAHost && !on_cuda)
      hr::throw_error<hr::DeviceError>(op, "the host cannot read this memory",
                                       {{"device_type", device.first}},
                                       "move it first, for example x.cpu()");
  }
  const nb::object capsule = is_capsule ? nb::borrow(object) : ask_dlpack(object, stream);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
    return take_dlpack<hr::DLManagedTensorVersioned>(capsule, "dltensor_versioned",
                                                     "used_dltensor_versioned", op);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    return take_dlpack<hr::DLManagedTensor>(capsule, "dltensor", "used_dltensor", op);
  hr::throw_error<hr::InvalidArgumentError>(
      op, "not a DLPack capsule, or one that was already consumed", {}, "pass the array itself");
}

template <class T>
T* capsule_pointer(nb::handle capsule, const char* name) {
  auto* pointer = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!pointer) throw nb::python_error();
  return pointer;
}

/// Anything with `__arrow_c_device_array__`, `__arrow_c_array__` or `__arrow_c_stream__`.
hr::ArrowColumns from_arrow(nb::handle object, std::string_view op, bool as_column) {
  drain_releases();
  if (nb::hasattr(object, "__arrow_c_device_array__")) {
    const nb::tuple pair(object.attr("__arrow_c_device_array__")());
    auto* schema = capsule_pointer<ArrowSchema>(pair[0], "arrow_schema");
    auto* array = capsule_pointer<ArrowDeviceArray>(pair[1], "arrow_device_array");
    const GilReleased unlocked;
    return hr::from_arrow_device(op, *schema, array, as_column);
  }
  if (nb::hasattr(object, "__arrow_c_array__")) {
    const nb::tuple pair(object.attr("__arrow_c_array__")());
    auto* schema = capsule_pointer<ArrowSchema>(pair[0], "arrow_schema");
    auto* array = capsule_pointer<ArrowArray>(pair[1], "arrow_array");
    const GilReleased unlocked;
    return hr::from_arrow(op, *schema, array, as_column);
  }
  const nb::object capsule = object.attr("__arrow_c_stream__")();
  auto* stream = capsule_pointer<ArrowArrayStream>(capsule, "arrow_array_stream");
  const GilReleased unlocked;
  return hr::from_arrow(op, stream, as_column);
}

}  // namespace

hr::Buffer adopt_bytes(nb::handle object, std::string_view op) {
  const hr::Tensor tensor = adopt_buffer(object, op).tensor;
  if (!tensor.is_contiguous() || tensor.byte_offset() != 0)
    hr::throw_error<hr::InvalidArgumentError>(op, "the bytes are not contiguous", {},
                                              "pass bytes(x)");
  return tensor.buffer();
}

namespace {

// Columns that were evaluated, into a new array of NumPy's; false where integers are missing.
// The values of nodes that are ready; empty if integers are missing, which no matrix holds.
std::vector<hr::Column> matrix_columns(const std::vector<hr::NodePtr>& nodes) {
  std::vector<hr::Column> columns;
  for (const hr::NodePtr& node : nodes) {
    hr::check_export(*node);
    columns.push_back(std::get<hr::Column>(node->value()));
    if (columns.back().null_count() > 0 && !columns.back().dtype().is_floating()) return {};
  }
  return columns;
}

bool fill_matrix(const std::vector<hr::NodePtr>& nodes, std::string_view dtype, nb::handle matrix) {
  const std::vector<hr::Column> columns = matrix_columns(nodes);
  if (columns.empty()) return nodes.empty();
  Py_buffer view;
  if (PyObject_GetBuffer(matrix.ptr(), &view, PyBUF_CONTIG) != 0) nb::raise_python_error();
  const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> held(&view, PyBuffer_Release);
  hr::record_copy("to_numpy", "columns gathered into one array", view.len, false);
  const GilReleased released;
  hr::fill_matrix(columns, hr::dtype_from_name(dtype), static_cast<std::byte*>(view.buf));
  return true;
}

// The rows of columns as a row-major matrix in memory of ours; nothing if integers are missing.
std::optional<NodeHandle> matrix_of(const std::vector<hr::NodePtr>& nodes, std::string_view dtype) {
  const std::vector<hr::Column> columns = matrix_columns(nodes);
  if (columns.empty()) return {};
  const hr::Dtype kind = hr::dtype_from_name(dtype);
  const hr::Shape shape{columns[0].num_rows(), static_cast<int64_t>(columns.size())};
  const GilReleased released;
  const hr::ScopedTag tag("matrix_of");
  hr::Buffer buffer = hr::Buffer::allocate(hr::num_elements(shape) * kind.size_bytes());
  hr::fill_matrix(columns, kind, buffer.mutable_data());
  return NodeHandle{hr::lazy_value(hr::Tensor(kind, shape, std::move(buffer)))};
}

}  // namespace

void bind_from_array(nb::module_& m) {
  m.def("from_array", from_array, "object"_a, "op"_a, "fresh"_a = false,
        nb::sig("def from_array(object: object, op: str, fresh: bool = False) "
                "-> tuple[Tensor, bool]"));
  m.def("from_dlpack", from_dlpack, "object"_a, "op"_a,
        nb::sig("def from_dlpack(object: object, op: str) -> tuple[Tensor, bool]"));
  nb::class_<hr::ArrowColumns>(m, "ArrowColumns")
      .def_ro("is_table", &hr::ArrowColumns::is_table)
      .def_ro("names", &hr::ArrowColumns::names)
      .def_ro("num_rows", &hr::ArrowColumns::num_rows)
      .def_ro("chunks", &hr::ArrowColumns::chunks)
      .def(
          "column",
          [](const hr::ArrowColumns& self, size_t index, std::string_view op) {
            return hr::concat_chunks(op, self.dtypes.at(index), self.chunks.at(index));
          },
          "index"_a, "op"_a, Unlocked())
      .def_prop_ro("dtypes", [](const hr::ArrowColumns& self) { return dtype_names(self.dtypes); });
  m.def("from_arrow", from_arrow, "object"_a, "op"_a, "as_column"_a = false);
  m.def("fill_matrix", fill_matrix, "nodes"_a, "dtype"_a, "matrix"_a);
  m.def("matrix_of", matrix_of, "nodes"_a, "dtype"_a,
        nb::sig("def matrix_of(nodes: collections.abc.Sequence[Node], dtype: str) -> Node | None"));
  m.def(
      "snapshot",
      [](const hr::Tensor& tensor, std::string_view op, bool asked) {
        return hr::snapshot(op, tensor, asked);
      },
      "tensor"_a, "op"_a, "asked"_a, Unlocked());
  m.def(
      "column_of",
      [](const hr::Tensor& tensor, std::string_view op) { return hr::column_of(op, tensor); },
      "tensor"_a, "op"_a, Unlocked());
  m.def(
      "dates_of_days",
      [](const hr::Tensor& days, std::string_view op) { return hr::dates_of_days(op, days); },
      "days"_a, "op"_a, Unlocked());
}
