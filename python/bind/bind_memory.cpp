// SPDX-License-Identifier: Apache-2.0
// Budget, statistics, ledger, tags.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"

#include "headrace/data/tensor.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/device/device_allocator.h"
#include "headrace/memory/device/device_tier.h"
#include "headrace/memory/device/pinned_resource.h"
#include "headrace/memory/device/simulated_device.h"
#include "headrace/memory/external/external_allocator_device.h"
#include "headrace/memory/log/advice.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/log/trace.h"
#include "headrace/memory/resource/machine_memory.h"
#include "headrace/memory/spill/spill.h"

#include <memory>

namespace {

// A C++ scope that Python enters and leaves.
template <class Scope, class... Arguments>
class Entered {
 public:
  explicit Entered(Arguments... arguments) : arguments_(std::move(arguments)...) {}

  void enter() {
    scope_ = std::apply([](const auto&... a) { return std::make_unique<Scope>(a...); }, arguments_);
  }

  void exit() { scope_.reset(); }

  Scope* scope() { return scope_.get(); }

 private:
  std::tuple<Arguments...> arguments_;
  std::unique_ptr<Scope> scope_;
};

using NoCopies = Entered<hr::NoCopies, bool>;
using Statistics = Entered<hr::StatisticsScope>;

template <class Class>
nb::class_<Class> scope_class(nb::module_& m, const char* name) {
  return nb::class_<Class>(m, name)
      .def(
          "__enter__",
          [](nb::object self) {
            nb::cast<Class&>(self).enter();
            return self;
          },
          nb::sig("def __enter__(self) -> typing.Self"))
      .def(
          "__exit__", [](Class& self, nb::args) { self.exit(); },
          nb::sig("def __exit__(self, *args: object) -> None"));
}

nb::tuple holder_tuple(const hr::Holder& holder) {
  return nb::make_tuple(holder.bytes, holder.tag.op, holder.tag.line, holder.place.name(),
                        holder.foreign, holder.exported, holder.external, holder.stack,
                        holder.pinned_bytes);
}

template <class Items, class F>
nb::list python_list(const Items& items, F&& f) {
  nb::list result;
  for (const auto& item : items) result.append(f(item));
  return result;
}

}  // namespace

void bind_memory(nb::module_& m) {
  nb::class_<hr::MemoryStatistics>(m, "MemoryStatistics")
      .def_ro("used_bytes", &hr::MemoryStatistics::used_bytes)
      .def_ro("peak_bytes", &hr::MemoryStatistics::peak_bytes)
      .def_ro("cached_bytes", &hr::MemoryStatistics::cached_bytes)
      .def_ro("external_bytes", &hr::MemoryStatistics::external_bytes)
      .def_ro("foreign_bytes", &hr::MemoryStatistics::foreign_bytes)
      .def_ro("limit_bytes", &hr::MemoryStatistics::limit_bytes)
      .def_ro("allocations", &hr::MemoryStatistics::allocations)
      .def_ro("allocated_bytes", &hr::MemoryStatistics::allocated_bytes);
  m.def(
      "memory_statistics",
      [](const std::string& device) {
        drain_releases();
        return hr::memory_statistics(place_from(device));
      },
      "device"_a = "cpu");
  m.def(
      "memory_limit",
      [](const std::string& device) { return hr::memory_limit(place_from(device)); },
      "device"_a = "cpu");
  m.def(
      "set_memory_limit",
      [](int64_t bytes, const std::string& device) {
        hr::set_memory_limit(bytes, place_from(device));
      },
      "bytes"_a, "device"_a = "cpu");
  m.def("parse_bytes", &hr::parse_bytes, "text"_a);
  m.def("format_bytes", &hr::format_bytes, "bytes"_a);
  m.def("trim_memory", &hr::trim_memory, Unlocked());
  m.def("machine_memory", &hr::machine_memory);
  m.def("last_serial", &hr::last_serial);
  m.def(
      "largest_holders",
      [](int64_t count) { return python_list(hr::largest_holders(count), holder_tuple); },
      "count"_a,
      nb::sig("def largest_holders(count: int) -> "
              "list[tuple[int, str, str, str, bool, bool, bool, str, int]]"));
  m.def(
      "holders_since",
      [](uint64_t serial) {
        drain_releases();
        return python_list(hr::holders_since(serial), holder_tuple);
      },
      "serial"_a,
      nb::sig("def holders_since(serial: int) -> "
              "list[tuple[int, str, str, str, bool, bool, bool, str, int]]"));

  m.def(
      "advice",
      [] {
        return python_list(hr::advice(), [](const hr::Advice& each) {
          return nb::make_tuple(each.op, each.line, each.text);
        });
      },
      nb::sig("def advice() -> list[tuple[str, str, str]]"));
  m.def("clear_advice", &hr::clear_advice);
  m.def(
      "give_advice",
      [](std::string_view op, std::string_view line, std::string text) {
        hr::give_advice(hr::intern_tag(op, line), std::move(text));
      },
      "op"_a, "line"_a, "text"_a);

  m.def("spill_directory", &hr::spill_directory);
  m.def("set_spill_directory", &hr::set_spill_directory, "directory"_a);
  m.def("spill_limit", &hr::spill_limit);
  m.def("set_spill_limit", &hr::set_spill_limit, "bytes"_a);
  m.def("pinned_limit", &hr::pinned_limit);
  m.def("set_pinned_limit", &hr::set_pinned_limit, "bytes"_a);
  m.def(
      "device_tier_statistics",
      [](const std::string& device) {
        const hr::DeviceTierStatistics now = hr::device_tier_statistics(place_from(device));
        return nb::make_tuple(now.pinned_bytes, now.host_bytes, now.evicted_bytes, now.copied_bytes,
                              now.fetched_bytes);
      },
      "device"_a,
      nb::sig("def device_tier_statistics(device: str) -> tuple[int, int, int, int, int]"));
  // Host memory that a caller fills through DLPack, and then publishes: it may leave for the disk.
  m.def(
      "host_bytes",
      [](int64_t bytes, bool pinned) {
        const hr::ScopedTag tag("offload_saved_tensors");
        hr::Buffer made = pinned ? hr::Buffer::allocate(bytes, hr::pinned_resource())
                                 : hr::Buffer::allocate(bytes);
        return hr::Tensor(hr::TypeId::kUInt8, {bytes}, std::move(made));
      },
      "bytes"_a, "pinned"_a);
  m.def("seal", [](const hr::Tensor& tensor) { tensor.buffer().seal(); }, "tensor"_a);
  m.def("devices_in_use", [] {
    std::vector<std::string> names;
    for (const int device : hr::devices_in_use()) names.push_back(hr::cuda_place(device).name());
    if (hr::is_simulated_open() && hr::simulated_statistics().allocations > 0)
      names.push_back("sim");
    return names;
  });
  m.def(
      "spill_statistics",
      [] {
        const hr::SpillStatistics now = hr::spill_statistics();
        return nb::make_tuple(now.disk_bytes, now.evicted_bytes, now.written_bytes,
                              now.fetched_bytes);
      },
      nb::sig("def spill_statistics() -> tuple[int, int, int, int]"));

  scope_class<Statistics>(m, "StatisticsScope").def(nb::init<>()).def("read", [](Statistics& self) {
    drain_releases();
    return self.scope() ? self.scope()->read() : hr::MemoryStatistics{};
  });

  m.def(
      "ledger_entries",
      [] {
        return python_list(hr::ledger_entries(), [](const hr::LedgerEntry& entry) {
          return nb::make_tuple(entry.op, entry.reason, entry.bytes, entry.from.name(),
                                entry.to.name(), entry.line, entry.asked,
                                static_cast<double>(entry.time_ns) * 1e-9);
        });
      },
      nb::sig("def ledger_entries() -> list[tuple[str, str, int, str, str, str, bool, float]]"));
  m.def("ledger_bytes", &hr::ledger_bytes);
  m.def("clear_ledger", &hr::clear_ledger);
  m.def(
      "record_copy",
      [](std::string_view op, std::string_view reason, int64_t bytes, bool asked) {
        hr::record_copy(op, reason, bytes, asked);
      },
      "op"_a, "reason"_a, "bytes"_a, "asked"_a);
  scope_class<NoCopies>(m, "NoCopies").def(nb::init<bool>(), "strict"_a);

  m.def("memory_trace", &hr::memory_trace);
  m.def("set_memory_trace", &hr::set_memory_trace, "on"_a);
  m.def("next_memory_event", &hr::next_memory_event);
  m.def(
      "memory_events",
      [](uint64_t first) {
        return python_list(hr::memory_events(first), [](const hr::MemoryEvent& event) {
          const hr::TagInfo tag = hr::tag_info(event.tag);
          return nb::make_tuple(event.thread, event.time_ns, hr::memory_action_name(event.action),
                                event.pointer, event.bytes, 0, tag.op, tag.line,
                                event.place.name());
        });
      },
      "first"_a,
      nb::sig("def memory_events(first: int) -> "
              "list[tuple[int, int, str, int, int, int, str, str, str]]"));
}
