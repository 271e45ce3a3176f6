// SPDX-License-Identifier: Apache-2.0
// Our memory for others: buffer protocol, array interface, DLPack and Arrow capsules.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"

#include "headrace/data/device.h"
#include "headrace/exchange/array_interface.h"
#include "headrace/exchange/arrow.h"
#include "headrace/exchange/dlpack.h"
#include "headrace/exchange/protocol.h"
#include "headrace/exchange/strided.h"
#include "headrace/exchange/structured_array.h"
#include "headrace/plan/graph/detach.h"
#include "headrace/plan/graph/placement.h"
#include "headrace/plan/graph/provenance.h"

#include <memory>

namespace {

// What a Py_buffer points at while it is exported.
struct ExportedBuffer {
  explicit ExportedBuffer(const hr::Tensor& held) : tensor(held), note(held.buffer()) {}

  hr::Tensor tensor;
  hr::ExportNote note;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

bool is_fortran(const hr::Tensor& tensor) {
  int64_t step = 1;
  for (size_t i = 0; i < tensor.shape().size(); ++i) {
    if (tensor.shape()[i] > 1 && tensor.strides()[i] != step) return false;
    step *= tensor.shape()[i];
  }
  return true;
}

void fill_buffer(PyObject* self, const hr::Tensor& tensor, Py_buffer* view, int flags) {
  constexpr std::string_view kOp = "buffer";
  if (flags & PyBUF_WRITABLE)
    hr::throw_error<hr::ExchangeError>(kOp, "the memory is read-only", {},
                                       "ask for a read-only buffer, or copy it");
  const bool any_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  const bool wants_c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
  const bool wants_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  if (((!any_strides || wants_c) && !tensor.is_contiguous()) ||
      (wants_fortran && !is_fortran(tensor)))
    hr::throw_error<hr::ExchangeError>(kOp, "the array is not contiguous", {},
                                       "copy it first, for example numpy.array(x)");
  const hr::Dtype dtype = tensor.dtype();
  auto exported = std::make_unique<ExportedBuffer>(tensor);
  for (const int64_t size : tensor.shape()) exported->shape.push_back(size);
  for (const int64_t stride : tensor.strides())
    exported->strides.push_back(stride * dtype.size_bytes());
  view->buf = const_cast<std::byte*>(tensor.data());
  view->len = tensor.num_elements() * dtype.size_bytes();
  view->itemsize = dtype.size_bytes();
  view->readonly = 1;
  view->ndim = static_cast<int>(tensor.shape().size());
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(hr::to_buffer_format(dtype)) : nullptr;
  view->shape = flags & PyBUF_ND ? exported->shape.data() : nullptr;
  view->strides = any_strides ? exported->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = exported.release();
  Py_IncRef(self);
  view->obj = self;
}

template <class T>
int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    const T& value = *nb::inst_ptr<T>(self);
    if constexpr (std::is_same_v<T, hr::Column>)
      fill_buffer(self, hr::dense_view("buffer", value), view, flags);
    else
      fill_buffer(self, value, view, flags);
    return 0;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<ExportedBuffer*>(view->internal);
}

// A handle written in Python hands out the buffer of its value.
int get_source_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  PyObject* value = PyObject_CallMethod(self, "_buffer_value", nullptr);
  if (!value) {
    // NumPy drops errors of this slot and goes on: the signal comes again after it.
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    return -1;
  }
  const int result = PyObject_GetBuffer(value, view, flags);
  Py_DecRef(value);
  return result;
}

template <class Slot>
void* slot(Slot* function) {
  return reinterpret_cast<void*>(function);
}

// A capsule whose structure is released unless a consumer took it.
template <class T>
nb::object capsule_of(const char* name, T*& structure) {
  auto owned = std::make_unique<T>();
  nb::object capsule = nb::steal(PyCapsule_New(owned.get(), name, [](PyObject* self) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
    if (held->release) held->release(held);
    delete held;
  }));
  if (!capsule.is_valid()) throw nb::python_error();
  structure = owned.release();
  return capsule;
}

nb::object device_capsule_of(ArrowDeviceArray*& structure) {
  auto owned = std::make_unique<ArrowDeviceArray>();
  nb::object capsule =
      nb::steal(PyCapsule_New(owned.get(), "arrow_device_array", [](PyObject* self) {
        auto* held =
            static_cast<ArrowDeviceArray*>(PyCapsule_GetPointer(self, "arrow_device_array"));
        if (held->array.release) held->array.release(&held->array);
        delete held;
      }));
  if (!capsule.is_valid()) throw nb::python_error();
  structure = owned.release();
  return capsule;
}

template <class Managed>
nb::object dlpack_capsule_of(Managed* managed, const char* name) {
  PyObject* capsule = PyCapsule_New(managed, name, [](PyObject* self) {
    const char* own = PyCapsule_GetName(self);
    if (std::string_view(own).starts_with("used_")) return;  // the consumer calls the deleter
    auto* held = static_cast<Managed*>(PyCapsule_GetPointer(self, own));
    held->deleter(held);
  });
  if (!capsule) {
    managed->deleter(managed);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

void refuse(std::string_view what, std::string_view fix) {
  hr::throw_error<hr::ExchangeError>("__dlpack__", what, {}, fix);
}

template <class T>
nb::tuple array_capsules(nb::object schema, const T& data) {
  ArrowArray* array = nullptr;
  nb::object capsule = capsule_of("arrow_array", array);
  hr::to_arrow_array(data, array);
  return nb::make_tuple(std::move(schema), std::move(capsule));
}

}  // namespace

PyType_Slot column_slots[] = {{Py_bf_getbuffer, slot(get_buffer<hr::Column>)},
                              {Py_bf_releasebuffer, slot(release_buffer)},
                              {0, nullptr}};
PyType_Slot tensor_slots[] = {{Py_bf_getbuffer, slot(get_buffer<hr::Tensor>)},
                              {Py_bf_releasebuffer, slot(release_buffer)},
                              {0, nullptr}};

nb::dict array_interface(const hr::Tensor& tensor) {
  nb::dict result;
  result["version"] = 3;
  result["typestr"] = hr::to_typestr(tensor.dtype());
  result["shape"] = python_tuple(tensor.shape());
  result["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(tensor.data()), true);
  hr::Shape strides = tensor.strides();
  for (int64_t& stride : strides) stride *= tensor.dtype().size_bytes();
  result["strides"] = tensor.is_contiguous() ? nb::none() : nb::object(python_tuple(strides));
  return result;
}

nb::dict cuda_array_interface(const hr::Tensor& tensor) {
  if (!tensor.place().is_gpu())
    throw nb::attribute_error("__cuda_array_interface__: the data are not on a CUDA device");
  const hr::DevicePin pin(tensor.buffer());
  nb::dict result = array_interface(tensor);
  tensor.buffer().note_export(1);  // it is not known when the address is no longer used: it stays
  const hr::Stream stream = hr::current_stream(tensor.place());
  hr::hand_over("__cuda_array_interface__", tensor.buffer(), hr::native_stream(stream));
  result["stream"] = stream.id;
  return result;
}

namespace {

bool is_legacy(nb::handle max_version) {
  return max_version.is_none() || nb::cast<int64_t>(nb::object(nb::borrow(max_version)[0])) < 1;
}

// `stream` is the consumer's: a number of CUDA's, -1 for no order, None for the legacy one.
nb::object dlpack_there(const hr::Tensor& tensor, nb::handle stream, nb::handle max_version,
                        nb::handle copy) {
  if (!copy.is_none() && nb::cast<bool>(copy))
    refuse("copies on the device are not supported", "copy it in the other library");
  const hr::DevicePin pin(tensor.buffer());
  const int64_t asked = stream.is_none() ? 1 : nb::cast<int64_t>(stream);
  if (asked != -1) hr::hand_over("__dlpack__", tensor.buffer(), reinterpret_cast<void*>(asked));
  if (!is_legacy(max_version))
    return dlpack_capsule_of(hr::to_dlpack(tensor, false), "dltensor_versioned");
  // The older form cannot say read-only; those who ask for it know no better, as with CUDA arrays.
  return dlpack_capsule_of(hr::to_dlpack_legacy(tensor), "dltensor");
}

void check_dlpack_on_host(nb::handle stream, nb::handle dl_device) {
  if (!stream.is_none()) refuse("host memory has no stream", "pass stream=None");
  if (!dl_device.is_none() && !dl_device.equal(nb::make_tuple(hr::kDLCPU, 0)))
    refuse("the data are in host memory", "pass dl_device=(1, 0) or None");
}

}  // namespace

nb::object dlpack_capsule(const hr::Tensor& tensor, nb::handle stream, nb::handle max_version,
                          nb::handle dl_device, nb::handle copy) {
  if (tensor.place().is_gpu()) return dlpack_there(tensor, stream, max_version, copy);
  check_dlpack_on_host(stream, dl_device);
  const bool copied = !copy.is_none() && nb::cast<bool>(copy);
  if (!is_legacy(max_version)) {
    const hr::Tensor exported = copied ? hr::copy_of("__dlpack__", tensor) : tensor;
    return dlpack_capsule_of(hr::to_dlpack(exported, copied), "dltensor_versioned");
  }
  if (!copied && !copy.is_none() && tensor.num_elements() > 0)
    refuse("DLPack before 1.0 cannot mark memory as read-only; this is shared or not contiguous",
           "ask with max_version=(1, 0), or with copy=None or copy=True");
  const std::string_view reason = copied ? "" : "DLPack before 1.0 cannot mark memory as read-only";
  return dlpack_capsule_of(hr::to_dlpack_legacy(hr::copy_of("__dlpack__", tensor, reason)),
                           "dltensor");
}

namespace {

// `__dlpack__` of a value of a plan. A writable export takes the value out of it where the caller
// is the only one who has it.
nb::object node_dlpack(nb::handle node, nb::handle stream, nb::handle max_version,
                       nb::handle dl_device, nb::handle copy) {
  auto& held = nb::cast<NodeHandle&>(node);
  hr::check_export(*held.node);
  // Held by the object that asks and by this call: no other object of Python has this node.
  const bool has_one_owner = Py_REFCNT(node.ptr()) <= 2;
  if (has_one_owner && is_legacy(max_version) && (copy.is_none() || !nb::cast<bool>(copy)) &&
      hr::place_of(held.node->value()).is_host()) {
    check_dlpack_on_host(stream, dl_device);
    if (const std::optional<hr::Tensor> given = hr::detach(held.node))
      return dlpack_capsule_of(hr::to_dlpack_legacy(*given), "dltensor");
  }
  return value_there(*held.node)
      .attr("__dlpack__")("stream"_a = stream, "max_version"_a = max_version,
                          "dl_device"_a = dl_device, "copy"_a = copy);
}

template <class T>
nb::object schema_of(const T& data) {
  ArrowSchema* schema = nullptr;
  nb::object capsule = capsule_of("arrow_schema", schema);
  hr::to_arrow_schema(data, schema);
  return capsule;
}

}  // namespace

nb::object arrow_schema(const hr::Column& column) {
  return schema_of(column);
}

nb::object arrow_schema(const hr::Table& table) {
  return schema_of(table);
}

nb::tuple arrow_array(const hr::Column& column) {
  return array_capsules(arrow_schema(column), column);
}

nb::tuple arrow_array(const hr::Table& table) {
  return array_capsules(arrow_schema(table), table);
}

namespace {

template <class T>
nb::tuple device_array_capsules(const T& data) {
  nb::object schema = arrow_schema(data);
  ArrowDeviceArray* array = nullptr;
  nb::object capsule = device_capsule_of(array);
  hr::to_arrow_device_array(data, array);
  return nb::make_tuple(std::move(schema), std::move(capsule));
}

}  // namespace

nb::tuple arrow_device_array(const hr::Column& column) {
  return device_array_capsules(column);
}

nb::tuple arrow_device_array(const hr::Table& table) {
  return device_array_capsules(table);
}

nb::object arrow_stream(hr::Dtype dtype, std::vector<hr::Column> chunks) {
  ArrowArrayStream* stream = nullptr;
  nb::object capsule = capsule_of("arrow_array_stream", stream);
  hr::to_arrow_stream(dtype, std::move(chunks), stream);
  return capsule;
}

nb::object arrow_stream(const hr::Table& table) {
  ArrowArrayStream* stream = nullptr;
  nb::object capsule = capsule_of("arrow_array_stream", stream);
  hr::to_arrow_stream(table, stream);
  return capsule;
}

void bind_exchange(nb::module_& m) {
  // A plain class: those of nanobind cannot be one of several bases.
  PyType_Slot source_slots[] = {{Py_bf_getbuffer, slot(get_source_buffer)}, {0, nullptr}};
  PyType_Spec source = {"headrace._core.BufferSource", 0, 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, source_slots};
  m.attr("BufferSource") = nb::steal(PyType_FromSpec(&source));
  m.def("node_dlpack", node_dlpack, "node"_a, "stream"_a.none(), "max_version"_a.none(),
        "dl_device"_a.none(), "copy"_a.none(),
        nb::sig("def node_dlpack(node: Node, stream: object | None, max_version: object | None, "
                "dl_device: object | None, copy: object | None) -> object"));
  m.def(
      "split_records",
      [](std::string_view op, uintptr_t address, int64_t rows, int64_t stride, int64_t record_bytes,
         const std::vector<std::pair<std::string, int64_t>>& fields) {
        std::vector<hr::RecordField> known;
        for (const auto& [typestr, offset] : fields)
          known.push_back({hr::from_typestr(op, typestr), offset});
        return hr::split_records(op, reinterpret_cast<const std::byte*>(address), rows, stride,
                                 record_bytes, known);
      },
      "op"_a, "address"_a, "rows"_a, "stride"_a, "record_bytes"_a, "fields"_a, Unlocked());
}
