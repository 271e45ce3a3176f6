// SPDX-License-Identifier: Apache-2.0
// What is written down about memory: files that follow the event log.
#include "python/bind/bind.h"

#include "headrace/memory/log_file.h"

void bind_memory_log(nb::module_& m) {
  nb::class_<hr::MemoryLogFile>(m, "MemoryLogFile")
      .def(nb::init<const std::string&, uint64_t>(), "path"_a, "first"_a, Unlocked())
      .def("close", &hr::MemoryLogFile::close, Unlocked())
      .def_prop_ro("events", &hr::MemoryLogFile::events)
      .def_prop_ro("lost", &hr::MemoryLogFile::lost);
}
