// SPDX-License-Identifier: Apache-2.0
// What is written down about memory: files that follow the event log, the peak, logs read again.
#include "python/bind/bind.h"
#include "python/bind/resource.h"

#include "headrace/memory/budget/peak.h"
#include "headrace/memory/log/log_file.h"
#include "headrace/memory/log/trace.h"
#include "headrace/memory/replay/log_reader.h"
#include "headrace/memory/replay/replay.h"

namespace {

nb::list tag_bytes_list(const std::vector<hr::TagBytes>& all) {
  nb::list result;
  for (const hr::TagBytes& each : all)
    result.append(nb::make_tuple(each.bytes, each.tag.op, each.tag.line));
  return result;
}

nb::list text_list(const std::vector<std::string>& texts) {
  nb::list result;
  for (const std::string& text : texts)
    result.append(nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
  return result;
}

nb::dict counts_dict(const hr::ReplayCounts& counts) {
  nb::dict result;
  result["allocations"] = counts.allocations;
  result["frees"] = counts.frees;
  result["threads"] = counts.threads;
  result["requested_peak_bytes"] = counts.requested_peak_bytes;
  result["left"] = counts.left;
  result["failed"] = counts.failed;
  result["unknown_frees"] = counts.unknown_frees;
  result["double_allocations"] = counts.double_allocations;
  result["empty"] = counts.empty;
  return result;
}

}  // namespace

void bind_memory_log(nb::module_& m) {
  nb::class_<hr::MemoryLogFile>(m, "MemoryLogFile")
      .def(nb::init<const std::string&, uint64_t>(), "path"_a, "first"_a, Unlocked())
      .def("close", &hr::MemoryLogFile::close, Unlocked())
      .def_prop_ro("events", &hr::MemoryLogFile::events)
      .def_prop_ro("lost", &hr::MemoryLogFile::lost);

  m.def("stack_tracking", &hr::stack_tracking);
  m.def("set_stack_tracking", &hr::set_stack_tracking, "on"_a);

  m.def(
      "memory_peak",
      [] {
        const hr::MemoryPeak peak = hr::memory_peak();
        return nb::make_tuple(peak.bytes, peak.noted_bytes, peak.time_ns,
                              tag_bytes_list(peak.holders));
      },
      nb::sig("def memory_peak() -> tuple[int, int, int, list[tuple[int, str, str]]]"));
  m.def(
      "bytes_by_tag", [] { return tag_bytes_list(hr::bytes_by_tag()); },
      nb::sig("def bytes_by_tag() -> list[tuple[int, str, str]]"));

  nb::class_<hr::MemoryLog>(m, "MemoryLog")
      .def_ro("count", &hr::MemoryLog::count)
      .def_prop_ro(
          "tags", [](const hr::MemoryLog& log) { return text_list(log.tags); },
          nb::sig("def tags(self) -> list[str]"))
      .def_prop_ro(
          "tiers", [](const hr::MemoryLog& log) { return text_list(log.tiers); },
          nb::sig("def tiers(self) -> list[str]"))
      .def(
          "lines",
          [](const hr::MemoryLog& log) {
            return nb::bytes(reinterpret_cast<const char*>(log.lines().data()),
                             log.lines().size_bytes());
          },
          nb::sig("def lines(self) -> bytes"));
  m.def("read_memory_log", &hr::read_memory_log, "path"_a, Unlocked());

  m.def(
      "replay_resource",
      [](const std::string& name, const Resource& upstream) {
        return Resource{hr::replay_resource(name, upstream.any)};
      },
      "name"_a, "upstream"_a);
  nb::class_<hr::Replay>(m, "Replay")
      .def(nb::init<const hr::MemoryLog&, bool>(), "log"_a, "by_thread"_a, Unlocked())
      .def_prop_ro(
          "counts", [](const hr::Replay& self) { return counts_dict(self.counts()); },
          nb::sig("def counts(self) -> dict[str, int]"))
      .def_prop_ro("threads", &hr::Replay::threads)
      .def_prop_ro("seconds", &hr::Replay::seconds)
      .def_prop_ro("refused", &hr::Replay::refused)
      .def(
          "run",
          [](hr::Replay& self, const Resource& resource, int64_t thread) {
            self.run(resource.any, thread);
          },
          "resource"_a, "thread"_a, Unlocked())
      .def(
          "finish", [](hr::Replay& self, const Resource& resource) { self.finish(resource.any); },
          "resource"_a, Unlocked());
  m.def(
      "replay_footprint",
      [](const hr::MemoryLog& log, const nb::callable& make) {
        const hr::ReplayFootprint found =
            hr::replay_footprint(log, [&](const hr::AnyResource& upstream) {
              const nb::gil_scoped_acquire locked;
              return nb::cast<const Resource&>(make(Resource{upstream})).any;
            });
        return std::tuple(found.held_peak_bytes, found.cached_peak_bytes, found.free_bytes,
                          found.largest_free_bytes);
      },
      "log"_a, "make"_a,
      nb::sig("def replay_footprint(log: MemoryLog, make: "
              "collections.abc.Callable[[Resource], Resource]) -> tuple[int, int, int, int]"),
      Unlocked());
}
