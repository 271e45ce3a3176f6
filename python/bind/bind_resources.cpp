// SPDX-License-Identifier: Apache-2.0
// Resources and adaptors, the current resource, and Python functions as callbacks of both.
#include "python/bind/bind.h"
#include "python/bind/interpreter.h"
#include "python/bind/protocols.h"
#include "python/bind/resource.h"

#include "headrace/base/error.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"
#include "headrace/memory/adaptors/adaptors.h"
#include "headrace/memory/adaptors/recording_adaptors.h"
#include "headrace/memory/adaptors/resource_types.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/device/managed_memory.h"
#include "headrace/memory/resource/pool.h"
#include "headrace/memory/resource/resource.h"

#include <memory>
#include <utility>

namespace {

template <class R>
struct Made : Resource {
  explicit Made(std::shared_ptr<R> r) : Resource{hr::AnyResource(r)}, made(std::move(r)) {}

  std::shared_ptr<R> made;
};

// A class whose constructor takes Arguments, of which Resource stands for its AnyResource.
template <class R>
nb::class_<Made<R>, Resource> resource_class(nb::module_& m, const char* name) {
  return nb::class_<Made<R>, Resource>(m, name);
}

template <class R, class... Arguments>
auto maker() {
  return [](Made<R>* self, const Resource& upstream, Arguments... arguments) {
    new (self) Made<R>(std::make_shared<R>(upstream.any, arguments...));
  };
}

size_t size_from(int64_t bytes) {
  if (bytes < 0)
    hr::throw_error<hr::InvalidArgumentError>("allocate", "the size is negative",
                                              {{"bytes", bytes}});
  return static_cast<size_t>(bytes);
}

// A Python function that engine threads call: with the GIL, but never when the interpreter ends.
class Callback {
 public:
  Callback(nb::callable function, const char* op)
      : function_(function.release().ptr(),
                  [](PyObject* held) {
                    release_in_python(hr::Owner{held, [](void* object) noexcept {
                                                  Py_DecRef(static_cast<PyObject*>(object));
                                                }});
                  }),
        op_(op) {}

  nb::handle function() const { return function_.get(); }

  // Calls `body` and turns what Python raised into an error of the engine; false: not called.
  template <class F>
  bool call(F&& body) const {
    const GilTaken gil;
    if (!gil) return false;
    try {
      body(function());
    } catch (nb::python_error& error) {
      const std::string kind = nb::cast<std::string>(error.type().attr("__name__"));
      const std::string text = op_ + ": the callback raised: " + kind + ": " +
                               nb::cast<std::string>(nb::str(error.value()));
      if (error.matches(PyExc_KeyboardInterrupt)) throw hr::Interrupted(text);
      if (error.matches(PyExc_MemoryError)) throw hr::OutOfMemoryError(text);
      throw hr::InvalidArgumentError(text);
    }
    return true;
  }

  // The same where no caller takes an error: it goes to sys.unraisablehook.
  template <class F>
  void call_unraisable(F&& body) const noexcept {
    const GilTaken gil;
    if (!gil) return;
    try {
      body(function());
    } catch (nb::python_error& error) {
      error.restore();
      PyErr_WriteUnraisable(function_.get());
    } catch (...) {
    }
  }

 private:
  std::shared_ptr<PyObject> function_;
  std::string op_;
};

[[noreturn]] void throw_ended(const char* op) {
  hr::throw_error<hr::OutOfMemoryError>(
      op, "the callback cannot be called while the interpreter shuts down");
}

std::shared_ptr<hr::CallbackResource> callback_resource(nb::callable allocate,
                                                        nb::callable deallocate) {
  const Callback give(std::move(allocate), "callback_resource");
  const Callback take(std::move(deallocate), "callback_resource");
  return std::make_shared<hr::CallbackResource>(
      [give](size_t bytes, size_t alignment) {
        void* pointer = nullptr;
        const bool called = give.call([&](nb::handle function) {
          const nb::object result = function(bytes, alignment);
          uintptr_t address = 0;
          if (!result.is_none() && !nb::try_cast(result, address))
            throw hr::TypeMismatchError(
                "callback_resource: the callback returned no address; return an int or None");
          pointer = reinterpret_cast<void*>(address);
        });
        if (!called) throw_ended("callback_resource");
        return pointer;
      },
      [take](void* pointer, size_t bytes, size_t alignment) {
        take.call_unraisable([&](nb::handle function) {
          function(reinterpret_cast<uintptr_t>(pointer), bytes, alignment);
        });
      });
}

std::shared_ptr<hr::PressureAdaptor> pressure_adaptor(const Resource& upstream,
                                                      nb::callable function) {
  const Callback callback(std::move(function), "pressure_adaptor");
  return std::make_shared<hr::PressureAdaptor>(upstream.any, [callback](size_t bytes) {
    bool again = false;
    callback.call([&](nb::handle f) {
      const int truth = PyObject_IsTrue(f(bytes).ptr());
      if (truth < 0) throw nb::python_error();
      again = truth == 1;
    });
    return again;
  });
}

// Ends on the thread that it began on: others have their own scopes.
class ResourceScope {
 public:
  explicit ResourceScope(const Resource& resource) : resource_(resource.any) {}

  ~ResourceScope() {
    if (PyThread_get_thread_ident() != thread_)
      static_cast<void>(scope_.release());  // in use there
  }

  void enter() {
    if (scope_)
      hr::throw_error<hr::InvalidArgumentError>("use_resource", "the block was already entered");
    scope_ = std::make_unique<hr::ScopedResource>(resource_);
    thread_ = PyThread_get_thread_ident();
  }

  void exit() {
    if (PyThread_get_thread_ident() != thread_)
      hr::throw_error<hr::InvalidArgumentError>("use_resource",
                                                "the block must end on the thread that entered it");
    scope_.reset();
  }

 private:
  hr::AnyResource resource_;
  std::unique_ptr<hr::ScopedResource> scope_;
  unsigned long thread_ = 0;
};

nb::list event_list(const std::vector<hr::MemoryEvent>& events) {
  nb::list list;
  for (const hr::MemoryEvent& event : events) {
    const hr::TagInfo tag = hr::tag_info(event.tag);
    list.append(nb::make_tuple(event.thread, event.time_ns, hr::memory_action_name(event.action),
                               event.pointer, event.bytes, 0, tag.op, tag.line,
                               event.place.name()));
  }
  return list;
}

void bind_plain(nb::module_& m) {
  nb::class_<Resource>(m, "Resource", "Something that memory can be allocated from.")
      .def(
          "allocate",
          [](const Resource& self, int64_t bytes, int64_t alignment) {
            return reinterpret_cast<uintptr_t>(
                self.any.allocate(hr::Stream{}, size_from(bytes), size_from(alignment)));
          },
          "bytes"_a, "alignment"_a = 64, Unlocked(),
          "Allocate a block and return its address; raises OutOfMemoryError if there is no memory.")
      .def(
          "deallocate",
          [](const Resource& self, uintptr_t pointer, int64_t bytes, int64_t alignment) {
            self.any.deallocate(hr::Stream{}, reinterpret_cast<void*>(pointer), size_from(bytes),
                                size_from(alignment));
          },
          "pointer"_a, "bytes"_a, "alignment"_a = 64, Unlocked(),
          "Free a block, with the size and alignment that it was allocated with.")
      .def(
          "describe", [](const Resource& self) { return self.any.describe(); },
          "The name of the resource, with those that it allocates from.")
      .def(
          "__eq__",
          [](const Resource& self, nb::handle other) {
            return nb::isinstance<Resource>(other) &&
                   self.any == nb::cast<const Resource&>(other).any;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Resource& self) {
        return static_cast<Py_ssize_t>(std::hash<std::string>()(self.any.describe()) >> 1);
      });
  m.def("system_resource", [] { return Resource{hr::system_resource()}; });
  m.def(
      "managed_resource", [](int device) { return Resource{hr::managed_resource(device)}; },
      "device"_a);
  const auto buffer_of = [](nb::handle value) {
    hr::Column column;
    if (nb::try_cast(value, column)) return column.values_buffer();
    return nb::cast<hr::Tensor>(value).buffer();
  };
  m.def(
      "prefetch_managed",
      [buffer_of](nb::handle value, const std::string& device) {
        const hr::Buffer buffer = buffer_of(value);
        const hr::Place place = buffer.place();
        void* const stream = place.is_gpu() && hr::why_no_cuda().empty()
                                 ? hr::native_stream(hr::current_stream(place))
                                 : nullptr;
        hr::prefetch_managed(buffer, place_from(device), stream);
      },
      "value"_a, "device"_a);
  m.def(
      "advise_managed",
      [buffer_of](nb::handle value, int advice, const std::string& by) {
        hr::advise_managed(buffer_of(value), static_cast<hr::ManagedAdvice>(advice),
                           place_from(by));
      },
      "value"_a, "advice"_a, "by"_a);
  m.def("current_resource", [] { return Resource{hr::current_resource()}; });
  m.def(
      "set_current_resource",
      [](const Resource& resource) { hr::set_current_resource(hr::host, resource.any); },
      "resource"_a, Unlocked());
  nb::class_<ResourceScope>(m, "ResourceScope")
      .def(nb::init<const Resource&>(), "resource"_a)
      .def("enter", &ResourceScope::enter)
      .def("exit", &ResourceScope::exit);

  resource_class<hr::PoolResource>(m, "PoolResource")
      .def("__init__", maker<hr::PoolResource, int64_t>(), "upstream"_a, "most_cached"_a)
      .def(
          "trim", [](const Made<hr::PoolResource>& self) { return self.made->trim(); }, Unlocked(),
          "Return cached blocks to the upstream resource; the number of bytes returned.")
      .def_prop_ro("cached_bytes",
                   [](const Made<hr::PoolResource>& self) { return self.made->cached_bytes(); });
  resource_class<hr::FixedSizeResource>(m, "FixedSizeResource")
      .def(
          "__init__",
          [](Made<hr::FixedSizeResource>* self, const Resource& upstream, int64_t block_bytes,
             int64_t blocks_in_slab) {
            new (self) Made<hr::FixedSizeResource>(std::make_shared<hr::FixedSizeResource>(
                upstream.any, size_from(block_bytes), size_from(blocks_in_slab)));
          },
          "upstream"_a, "block_bytes"_a, "blocks_in_slab"_a)
      .def(
          "trim", [](const Made<hr::FixedSizeResource>& self) { return self.made->trim(); },
          Unlocked(), "Return unused slabs to the upstream resource; the number of bytes returned.")
      .def_prop_ro("block_bytes",
                   [](const Made<hr::FixedSizeResource>& self) { return self.made->block_bytes(); })
      .def_prop_ro("cached_bytes", [](const Made<hr::FixedSizeResource>& self) {
        return self.made->cached_bytes();
      });
  resource_class<hr::BinningResource>(m, "BinningResource")
      .def(
          "__init__",
          [](Made<hr::BinningResource>* self, const Resource& upstream,
             const std::vector<std::pair<int64_t, nb::object>>& bins) {
            std::vector<hr::BinningResource::Bin> made;
            for (const auto& [bytes, resource] : bins)
              made.push_back({size_from(bytes), nb::cast<const Resource&>(resource).any});
            new (self) Made<hr::BinningResource>(
                std::make_shared<hr::BinningResource>(upstream.any, std::move(made)));
          },
          "upstream"_a, "bins"_a,
          nb::sig("def __init__(self, upstream: Resource, "
                  "bins: collections.abc.Sequence[tuple[int, Resource]]) -> None"));
  resource_class<hr::CallbackResource>(m, "CallbackResource")
      .def(
          "__init__",
          [](Made<hr::CallbackResource>* self, nb::callable allocate, nb::callable deallocate) {
            new (self) Made<hr::CallbackResource>(
                callback_resource(std::move(allocate), std::move(deallocate)));
          },
          "allocate"_a, "deallocate"_a,
          nb::sig("def __init__(self, "
                  "allocate: collections.abc.Callable[[int, int], int | None], "
                  "deallocate: collections.abc.Callable[[int, int, int], object]) -> None"));
}

void bind_adaptors(nb::module_& m) {
  resource_class<hr::LimitAdaptor>(m, "LimitAdaptor")
      .def("__init__", maker<hr::LimitAdaptor, int64_t>(), "upstream"_a, "limit_bytes"_a)
      .def_prop_ro("limit_bytes",
                   [](const Made<hr::LimitAdaptor>& self) { return self.made->limit_bytes(); })
      .def_prop_ro("used_bytes",
                   [](const Made<hr::LimitAdaptor>& self) { return self.made->used_bytes(); });
  resource_class<hr::RateLimitAdaptor>(m, "RateLimitAdaptor")
      .def("__init__", maker<hr::RateLimitAdaptor, int64_t>(), "upstream"_a, "bytes_per_second"_a)
      .def_prop_ro("waited_ns",
                   [](const Made<hr::RateLimitAdaptor>& self) { return self.made->waited_ns(); });
  resource_class<hr::AlignAdaptor>(m, "AlignAdaptor")
      .def("__init__", maker<hr::AlignAdaptor, size_t, size_t>(), "upstream"_a, "alignment"_a,
           "from_bytes"_a);
  resource_class<hr::PressureAdaptor>(m, "PressureAdaptor")
      .def(
          "__init__",
          [](Made<hr::PressureAdaptor>* self, const Resource& upstream, nb::callable callback) {
            new (self) Made<hr::PressureAdaptor>(pressure_adaptor(upstream, std::move(callback)));
          },
          "upstream"_a, "callback"_a,
          nb::sig("def __init__(self, upstream: Resource, "
                  "callback: collections.abc.Callable[[int], object]) -> None"));
  resource_class<hr::FaultAdaptor>(m, "FaultAdaptor")
      .def(
          "__init__",
          [](Made<hr::FaultAdaptor>* self, const Resource& upstream, int64_t first, bool for_ever,
             double probability, uint64_t seed) {
            new (self) Made<hr::FaultAdaptor>(std::make_shared<hr::FaultAdaptor>(
                upstream.any, hr::FaultPlan{.first = first,
                                            .for_ever = for_ever,
                                            .probability = probability,
                                            .seed = seed}));
          },
          "upstream"_a, "first"_a, "for_ever"_a, "probability"_a, "seed"_a)
      .def_prop_ro("requests",
                   [](const Made<hr::FaultAdaptor>& self) { return self.made->requests(); })
      .def_prop_ro("faults",
                   [](const Made<hr::FaultAdaptor>& self) { return self.made->faults(); });
  resource_class<hr::DelayAdaptor>(m, "DelayAdaptor")
      .def("__init__", maker<hr::DelayAdaptor, int64_t, int64_t>(), "upstream"_a, "allocate_ns"_a,
           "deallocate_ns"_a);
  resource_class<hr::StatisticsAdaptor>(m, "StatisticsAdaptor")
      .def("__init__", maker<hr::StatisticsAdaptor>(), "upstream"_a)
      .def(
          "read",
          [](const Made<hr::StatisticsAdaptor>& self) {
            const hr::ResourceStatistics now = self.made->read();
            return nb::make_tuple(now.used_bytes, now.peak_bytes, now.live_blocks, now.allocations,
                                  now.allocated_bytes, now.failures);
          },
          nb::sig("def read(self) -> tuple[int, int, int, int, int, int]"));
  resource_class<hr::LogAdaptor>(m, "LogAdaptor")
      .def("__init__", maker<hr::LogAdaptor, int64_t>(), "upstream"_a, "capacity"_a)
      .def(
          "events",
          [](const Made<hr::LogAdaptor>& self) { return event_list(self.made->events()); },
          nb::sig("def events(self) -> "
                  "list[tuple[int, int, str, int, int, int, str, str, str]]"));
  resource_class<hr::TrackAdaptor>(m, "TrackAdaptor")
      .def("__init__", maker<hr::TrackAdaptor>(), "upstream"_a)
      .def(
          "live_blocks",
          [](const Made<hr::TrackAdaptor>& self) {
            nb::list list;
            for (const hr::LiveBlock& block : self.made->live_blocks()) {
              const hr::TagInfo tag = hr::tag_info(block.tag);
              list.append(nb::make_tuple(reinterpret_cast<uintptr_t>(block.pointer), block.bytes,
                                         tag.op, tag.line));
            }
            return list;
          },
          nb::sig("def live_blocks(self) -> list[tuple[int, int, str, str]]"))
      .def_prop_ro("wrong_deallocations", [](const Made<hr::TrackAdaptor>& self) {
        return self.made->wrong_deallocations();
      });
}

}  // namespace

void bind_resources(nb::module_& m) {
  bind_plain(m);
  bind_adaptors(m);
}
