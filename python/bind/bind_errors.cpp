// SPDX-License-Identifier: Apache-2.0
// The error family: engine errors become the classes of headrace/errors.py, with their fields.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"

#include "headrace/base/convergence.h"
#include "headrace/base/error.h"
#include "headrace/base/out_of_bounds.h"
#include "headrace/exchange/protocol.h"

#include <new>

namespace {

// A message may quote bytes of a file, which need not be UTF-8.
nb::object message_text(const char* text) {
  return nb::steal(PyUnicode_DecodeUTF8(
      text, static_cast<Py_ssize_t>(std::string_view(text).size()), "replace"));
}

nb::object new_error(const char* name, const char* text) {
  return nb::module_::import_("headrace.errors").attr(name)(message_text(text));
}

void raise(const nb::object& error) {
  PyErr_SetObject(error.type().ptr(), error.ptr());
}

nb::object input_error(const hr::InputError& e) {
  const nb::object path = nb::steal(PyUnicode_DecodeFSDefault(e.path.c_str()));
  return nb::module_::import_("headrace.errors")
      .attr("input_error")(message_text(e.what()), path, e.code, e.line, e.column);
}

nb::object memory_error(const hr::OutOfMemoryError& e) {
  nb::object error = new_error("OutOfMemoryError", e.what());
  error.attr("requested_bytes") = e.requested_bytes;
  error.attr("limit_bytes") = e.limit_bytes;
  error.attr("used_bytes") = e.used_bytes;
  return error;
}

nb::object convergence_error(const hr::ConvergenceError& e) {
  nb::object error = new_error("ConvergenceError", e.what());
  error.attr("iterations") = e.iterations;
  error.attr("error") = e.error;
  return error;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const hr::Interrupted&) {
    raise_interrupt();
  } catch (const hr::ExchangeError& e) {
    raise(new_error("ExchangeError", e.what()));
  } catch (const hr::OutOfBoundsError& e) {
    raise(new_error("OutOfBoundsError", e.what()));
  } catch (const hr::InvalidArgumentError& e) {
    raise(new_error("InvalidArgumentError", e.what()));
  } catch (const hr::TypeMismatchError& e) {
    raise(new_error("TypeMismatchError", e.what()));
  } catch (const hr::ColumnNotFoundError& e) {
    raise(new_error("ColumnNotFoundError", e.what()));
  } catch (const hr::OutOfMemoryError& e) {
    raise(memory_error(e));
  } catch (const hr::InputError& e) {
    raise(input_error(e));
  } catch (const hr::DeviceError& e) {
    raise(new_error("DeviceError", e.what()));
  } catch (const hr::ConvergenceError& e) {
    raise(convergence_error(e));
  } catch (const hr::UnsupportedError& e) {
    raise(new_error("UnsupportedError", e.what()));
  } catch (const hr::Error& e) {
    raise(new_error("InternalError", e.what()));
  } catch (const std::bad_alloc&) {
    raise(new_error("OutOfMemoryError", "allocate: the system refused memory"));
  }
}

}  // namespace

std::string printed(nb::handle value) {
  const nb::object text = nb::steal(PyObject_Str(value.ptr()));
  if (!text) throw nb::python_error();
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes) throw nb::python_error();
  return nb::cast<nb::bytes>(bytes).c_str();
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator(translate);
}
