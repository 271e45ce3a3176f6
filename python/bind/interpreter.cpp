// SPDX-License-Identifier: Apache-2.0
// Where engine threads and the interpreter meet.
#include "python/bind/interpreter.h"

#include <atomic>
#include <new>
#include <unistd.h>

namespace nb = nanobind;

namespace nanobind::detail {

static bool checks_gil() noexcept {
  return NB_CALL(is_alive)() && NB_CALL(gil_check)();
}

}  // namespace nanobind::detail

bool holds_gil() noexcept {
  return nb::detail::checks_gil();
}

namespace {

struct Late {
  hr::Owner owner;
  Late* next;
};

std::atomic<Late*> late_releases{nullptr};

// Threads that take the GIL now, and the thread that ends the interpreter (0: it goes on).
std::atomic<int> taking{0};
std::atomic<unsigned long> ending_thread{0};

// Counts this thread in, unless the interpreter ends in another one.
bool begin_taking() {
  ++taking;
  const unsigned long ending = ending_thread;
  if (ending == 0 || ending == PyThread_get_thread_ident()) return true;
  --taking;
  return false;
}

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
  if (holds_gil()) {
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

GilReleased::~GilReleased() {
  if (!begin_taking())
    for (;;) pause();
  PyEval_RestoreThread(state_);
  --taking;
}

// Not even the thread that ends the interpreter: what a callback needs may be gone.
GilTaken::GilTaken() {
  if (!nb::is_alive()) return;
  ++taking;
  if (ending_thread == 0) gil_.emplace();
  --taking;
}

void end_of_interpreter() {
  ending_thread = PyThread_get_thread_ident();
  PyThreadState* const state = PyEval_SaveThread();
  // Not for ever: a forked child has no such threads, but perhaps their count.
  for (int turn = 0; taking.load() > 0 && turn < 1000; ++turn) usleep(1000);
  PyEval_RestoreThread(state);
}

bool interrupted() {
  if (!nb::is_alive() || !PyGILState_GetThisThreadState()) return false;
  if (!begin_taking()) return true;
  const nb::gil_scoped_acquire gil;
  --taking;
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
