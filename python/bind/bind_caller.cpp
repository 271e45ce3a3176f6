// SPDX-License-Identifier: Apache-2.0
// The user's code that called the package: nodes and allocations carry its line.
#include "python/bind/bind.h"

#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/log/trace.h"

#include <optional>

namespace {

constexpr int kLongestStack = 32;

PyObject* name_of_file() {
  static PyObject* const name = PyUnicode_InternFromString("co_filename");
  return name;
}

std::string_view text(nb::handle string) {
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(string.ptr(), &size);
  if (data) return {data, static_cast<size_t>(size)};
  PyErr_Clear();  // a file name that is not UTF-8
  return "?";
}

nb::object code_of(nb::handle frame) {
  PyCodeObject* const code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.ptr()));
  return nb::steal(reinterpret_cast<PyObject*>(code));
}

nb::object file_of(nb::handle frame) {
  return nb::steal(PyObject_GetAttr(code_of(frame).ptr(), name_of_file()));
}

nb::object outer(nb::handle frame) {
  static PyObject* const name = PyUnicode_InternFromString("f_back");
  return nb::steal(PyObject_GetAttr(frame.ptr(), name));
}

std::string line_number(nb::handle frame) {
  return std::to_string(PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.ptr())));
}

// The folder of the package, as its code objects name it. Set at import: a static that is made at
// its first use would wait for the interpreter's lock under its own.
std::string package_folder = "\n";  // no file's

nb::object user_frame() {
  auto frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (text(file_of(frame)).starts_with(package_folder)) {
    nb::object next = outer(frame);
    if (next.is_none()) break;
    frame = std::move(next);
  }
  return frame;
}

// File and line, as messages and tags name them.
std::string line_of(nb::handle frame) {
  const nb::object file = file_of(frame);
  const std::string_view path = text(file);
  return std::string(path.substr(path.rfind('/') + 1)) + ":" + line_number(frame);
}

// The lines from this one outwards.
std::string stack_of(nb::object frame) {
  std::string lines;
  for (int i = 0; i < kLongestStack && !frame.is_none(); ++i, frame = outer(frame)) {
    if (i > 0) lines += '\n';
    lines += std::string(text(file_of(frame))) + ":" + line_number(frame) + " in ";
    lines += text(code_of(frame).attr("co_qualname"));
  }
  return lines;
}

}  // namespace

void mark(std::string_view op) {
  if (!hr::memory_trace()) return;
  const nb::object frame = user_frame();
  static thread_local std::optional<hr::ScopedTag> in_force;
  in_force.reset();
  in_force.emplace(
      hr::intern_tag(op, line_of(frame), hr::stack_tracking() ? stack_of(frame) : std::string()));
}

void bind_caller(nb::module_& m) {
  const nb::object package = nb::module_::import_("sys").attr("modules").attr("get")("headrace");
  if (!package.is_none()) package_folder = nb::cast<std::string>(package.attr("__path__")[0]) + "/";
  m.def("mark", &mark, "op"_a,
        "Tell the engine the operator and the user's line that the next nodes belong to.");
  m.def("user_frame", &user_frame, nb::sig("def user_frame() -> types.FrameType"),
        "The innermost frame of code outside of this package.");
  m.def(
      "user_line", [] { return line_of(user_frame()); },
      "File and line of the code outside of this package that called it.");
}
