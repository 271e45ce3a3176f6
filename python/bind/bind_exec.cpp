// SPDX-License-Identifier: Apache-2.0
// Workers, SIMD level, Ctrl-C and progress.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"

#include "headrace/base/simd.h"
#include "headrace/exec/processors.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plan/execute/profile.h"

namespace {

// The progress callback; leaked, so that it needs no interpreter at the end.
nb::object& progress_callback() {
  static auto* const leaked = new nb::object;
  return *leaked;
}

void report_progress(int64_t done, int64_t count) {
  if (!nb::is_alive() || !PyGILState_GetThisThreadState()) return;
  const nb::gil_scoped_acquire gil;
  if (!gil.is_valid()) return;
  const nb::object callback = progress_callback();
  if (!callback.is_valid() || callback.is_none()) return;
  try {
    callback(done, count);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable(callback);
  }
}

}  // namespace

void bind_exec(nb::module_& m) {
  hr::set_interrupt_check(interrupted);
  m.def("threads", &hr::threads);
  m.def("usable_processors", &hr::usable_processors);
  m.def("set_threads", &hr::set_threads, "count"_a);
  m.def("morsel_rows", [] { return hr::morsel_rows(); });
  m.def("set_morsel_rows", &hr::set_morsel_rows, "rows"_a);
  m.def("simd_level", [] { return std::string(hr::simd_level_name(hr::simd_level())); });
  m.def(
      "set_progress",
      [](nb::object callback) {
        progress_callback() = callback;
        hr::set_progress(callback.is_none() ? nullptr : report_progress);
      },
      "callback"_a.none(),
      nb::sig("def set_progress(callback: collections.abc.Callable[[int, int], object] | None) -> "
              "None"));
  m.def(
      "current_work",
      [] {
        const hr::TagInfo info = hr::tag_info(hr::current_tag());
        return std::tuple(info.op, info.line, hr::running_rows());
      },
      "Operator and line of what this thread does, and the rows that the running step reads.");
}
