// SPDX-License-Identifier: Apache-2.0
// Other libraries on our memory: NumPy's allocator (NEP 49), functions for C, and the Python line.
#include "python/bind/bind.h"

#include "headrace/memory/external/external_allocator.h"
#include "headrace/memory/external/external_allocator_c.h"
#include "headrace/memory/external/external_allocator_device.h"
#include "headrace/memory/log/trace.h"

#include <array>
#include <cstring>
#include <dlfcn.h>

namespace {

// ---- the line ----------------------------------------------------------------------------------
// Not in the limited API, but in every interpreter from 3.11 on.
using FrameToFrame = PyFrameObject* (*)(PyFrameObject*);
using FrameToInt = int (*)(PyFrameObject*);

// Resolving a line takes a microsecond, so the tag of each instruction is kept. An entry holds its
// code object: else another one could get its address.
struct KnownLine {
  const char* library = nullptr;
  PyObject* code = nullptr;
  int instruction = -1;
  bool of_library = false;  // the caller's line is what the user knows
  hr::Tag tag = 0;
};

constexpr const char kNumpy[] = "numpy";
constexpr size_t kKnownLines = 4096;
constexpr int kMostFrames = 32;

struct KnownLines {
  const FrameToFrame frame_back =
      reinterpret_cast<FrameToFrame>(dlsym(RTLD_DEFAULT, "PyFrame_GetBack"));
  const FrameToInt frame_instruction =
      reinterpret_cast<FrameToInt>(dlsym(RTLD_DEFAULT, "PyFrame_GetLasti"));
  std::array<KnownLine, kKnownLines> known;
};

KnownLine resolve(const char* library, PyFrameObject* frame, PyObject* code, int instruction) {
  const nb::handle object(reinterpret_cast<PyObject*>(frame));
  KnownLine known{library, code, instruction, false, 0};
  const nb::object module = object.attr("f_globals").attr("get")("__name__");
  if (nb::isinstance<nb::str>(module)) {
    const auto word = nb::cast<std::string>(module);
    const std::string package = word.substr(0, word.find('.'));
    known.of_library = package == library || package == "headrace";
  }
  const auto path = nb::cast<std::string>(nb::handle(code).attr("co_filename"));
  const std::string name = path.substr(path.rfind('/') + 1);
  known.tag = hr::intern_tag(library, name + ":" + std::to_string(PyFrame_GetLineNumber(frame)));
  return known;
}

// Needs the GIL. Leaves errors of Python as they are.
hr::Tag tag_of_line(const char* library) noexcept {
  static auto& lines = *new KnownLines;

  PyFrameObject* frame = PyEval_GetFrame();  // borrowed, as it runs
  if (!frame || !lines.frame_back || !lines.frame_instruction) return hr::intern_tag(library);
  hr::Tag tag = 0;
  for (int depth = 0; frame && depth < kMostFrames; ++depth) {
    auto* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
    const int instruction = lines.frame_instruction(frame);
    const size_t mixed =
        reinterpret_cast<uintptr_t>(code) / 16 * 31 + static_cast<size_t>(instruction) / 2;
    KnownLine& known = lines.known[mixed % kKnownLines];
    if (known.code != code || known.instruction != instruction || known.library != library) {
      PyObject *type, *value, *trace;
      PyErr_Fetch(&type, &value, &trace);
      PyObject* const former = known.code;
      try {
        known = resolve(library, frame, code, instruction);
        Py_IncRef(code);
        Py_DecRef(former);
      } catch (...) {  // a frame of a strange kind: no line
      }
      PyErr_Restore(type, value, trace);
    }
    Py_DecRef(code);
    tag = known.tag;
    PyFrameObject* const back = known.of_library ? lines.frame_back(frame) : nullptr;
    if (depth > 0) Py_DecRef(reinterpret_cast<PyObject*>(frame));
    frame = back;
  }
  Py_DecRef(reinterpret_cast<PyObject*>(frame));
  return tag;
}

// The name is a literal: its address is compared.
hr::Tag tag_here(const char* library = kNumpy) noexcept {
  if (!hr::memory_trace()) return 0;
  return holds_gil() ? tag_of_line(library) : hr::intern_tag(library);
}

// ---- NumPy's handler ---------------------------------------------------------------------------
// As in NumPy's ndarraytypes.h, version 1: the layout is its ABI.
struct NumpyHandler {
  char name[127];
  uint8_t version;
  void* context;
  void* (*malloc)(void*, size_t);
  void* (*calloc)(void*, size_t, size_t);
  void* (*realloc)(void*, void*, size_t);
  void (*free)(void*, void*, size_t);
};

// It lives to the very end, as arrays that came from it may.
constinit NumpyHandler handler{
    .name = "headrace",
    .version = 1,
    .context = nullptr,
    .malloc = [](void*, size_t size) { return hr::external_allocate(size, tag_here()); },
    .calloc =
        [](void*, size_t count, size_t size) {
          size_t bytes = 0;
          if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
          return hr::external_allocate_zeroed(bytes, tag_here());
        },
    .realloc = [](void*, void* pointer,
                  size_t size) { return hr::external_reallocate(pointer, size, tag_here()); },
    .free = [](void*, void* pointer, size_t) { hr::external_free(pointer); },
};

constexpr size_t kSetHandler = 304;  // places in NumPy's C API since 1.22
constexpr size_t kGetHandler = 305;

nb::object our_handler() {
  static PyObject* const leaked = PyCapsule_New(&handler, "mem_handler", nullptr);
  return nb::borrow(leaked);
}

void* const* numpy_functions(nb::handle capsule) {
  auto* const table = static_cast<void* const*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!table) throw nb::python_error();
  return table;
}

nb::object numpy_handler(nb::handle functions) {
  const auto get = reinterpret_cast<PyObject* (*)()>(numpy_functions(functions)[kGetHandler]);
  nb::object now = nb::steal(get());
  if (!now.is_valid()) throw nb::python_error();
  return now;
}

// Sets the handler of this context (None: ours); the one before it.
nb::object set_numpy_handler(nb::handle functions, nb::object next) {
  const auto set =
      reinterpret_cast<PyObject* (*)(PyObject*)>(numpy_functions(functions)[kSetHandler]);
  if (next.is_none()) next = our_handler();
  nb::object before = nb::steal(set(next.ptr()));
  if (!before.is_valid()) throw nb::python_error();
  return before;
}

// The driver's functions by address, in the order of CudaDriver; none: those of the machine.
void set_cuda_driver(const std::vector<uintptr_t>& functions) {
  constexpr size_t kCount = sizeof(hr::CudaDriver) / sizeof(void*);
  if (functions.empty()) return hr::set_cuda_driver(nullptr);
  if (functions.size() != kCount) throw nb::value_error("not the functions of a driver");
  auto* const leaked = new hr::CudaDriver;  // blocks may outlive the test
  std::memcpy(static_cast<void*>(leaked), functions.data(), sizeof *leaked);
  hr::set_cuda_driver(leaked);
}

}  // namespace

void bind_external(nb::module_& m) {
  m.def("numpy_handler", numpy_handler, "functions"_a);
  m.def("set_numpy_handler", set_numpy_handler, "functions"_a, "handler"_a.none());
  m.def("our_numpy_handler", our_handler);
  m.def("last_refusal", &hr::last_refusal);
  m.def("clear_refusal", [] { hr::keep_refusal(""); });
  m.def("trim_external", [] { hr::trim_external(); });
  hr::set_line_tag([](const char* library) noexcept { return tag_here(library); });
  m.def("cuda_device_count", &hr::cuda_device_count);
  m.def("device_memory", &hr::device_memory, "device"_a);
  m.def(
      "alloc_v1",
      [] {
        auto* const functions = const_cast<hr_alloc_v1*>(hr_alloc_v1_functions());
        return nb::steal(PyCapsule_New(functions, "headrace.alloc_v1", nullptr));
      },
      nb::sig("def alloc_v1() -> object"));
  m.def(
      "set_cupy_stream",
      [](uintptr_t stream) { hr_cupy_set_stream(reinterpret_cast<void*>(stream)); }, "stream"_a);
  m.def("cupy_functions", [] {
    return std::pair(reinterpret_cast<uintptr_t>(&hr_cupy_alloc),
                     reinterpret_cast<uintptr_t>(&hr_cupy_free));
  });
  m.def(
      "device_allocate",
      [](size_t bytes, int device) {
        return reinterpret_cast<uintptr_t>(
            hr::device_allocate(bytes, device, nullptr, tag_here("numba")));
      },
      "bytes"_a, "device"_a);
  m.def(
      "device_free",
      [](uintptr_t pointer) { hr::device_free(reinterpret_cast<void*>(pointer), nullptr); },
      "pointer"_a);
  m.def("set_cuda_driver", set_cuda_driver, "functions"_a);
}
