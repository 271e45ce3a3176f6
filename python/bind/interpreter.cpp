// SPDX-License-Identifier: Apache-2.0
// Where engine threads and the interpreter meet.
#include "python/bind/interpreter.h"

#include <atomic>
#include <new>

namespace nb = nanobind;

namespace nanobind::detail {

static bool holds_gil() noexcept {
  return NB_CALL(is_alive)() && NB_CALL(gil_check)();
}

}  // namespace nanobind::detail

namespace {

struct Late {
  hr::Owner owner;
  Late* next;
};

std::atomic<Late*> late_releases{nullptr};

// What a signal handler raised while the engine ran on this thread.
thread_local PyObject* raised_type = nullptr;
thread_local PyObject* raised_value = nullptr;
thread_local PyObject* raised_trace = nullptr;

}  // namespace

hr::Owner python_owner(nb::handle object) {
  object.inc_ref();
  return hr::Owner{object.ptr(), [](void* context) noexcept {
                     release_in_python(hr::Owner{context, [](void* held) noexcept {
                                                   Py_DecRef(static_cast<PyObject*>(held));
                                                 }});
                   }};
}

void drain_releases() noexcept {
  for (Late* late = late_releases.exchange(nullptr); late;) {
    Late* const next = late->next;
    late->owner.release(late->owner.context);
    delete late;
    late = next;
  }
}

void release_in_python(hr::Owner owner) noexcept {
  if (!nb::is_alive()) return;  // what the interpreter owned went with it
  if (nb::detail::holds_gil()) {
    owner.release(owner.context);
    return;
  }
  auto* late = new (std::nothrow) Late{owner, late_releases.load()};
  if (!late) return;
  while (!late_releases.compare_exchange_weak(late->next, late)) {
  }
  // A full list of pending calls is no harm: the next entry drains as well.
  Py_AddPendingCall(
      [](void*) {
        drain_releases();
        return 0;
      },
      nullptr);
}

bool interrupted() {
  if (!nb::is_alive() || !PyGILState_GetThisThreadState()) return false;
  const nb::gil_scoped_acquire gil;
  if (!gil.is_valid()) return false;
  drain_releases();
  if (PyErr_CheckSignals() == 0) return false;
  PyErr_Fetch(&raised_type, &raised_value, &raised_trace);
  return true;
}

void raise_interrupt() noexcept {
  if (raised_type) {
    PyErr_Restore(raised_type, raised_value, raised_trace);
    raised_type = raised_value = raised_trace = nullptr;
  } else {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}
