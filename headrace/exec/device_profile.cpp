// SPDX-License-Identifier: Apache-2.0
// Ranges for profilers.
#include "headrace/exec/device_profile.h"

#include "headrace/base/process_global.h"
#include "headrace/base/shared_library.h"
#include "headrace/memory/device/cuda_device.h"
#include "headrace/memory/log/tag.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>

namespace hr {

namespace {

struct Span {
  DeviceSpan span;
  void* begin = nullptr;  // events that were not read yet
  void* end = nullptr;
};

// An event and the time at which the device reached it.
struct Origin {
  void* event = nullptr;
  int64_t time_ns = 0;
};

struct State {
  std::mutex mutex;
  std::atomic<int> listeners{0};
  std::vector<Span> spans;
  std::map<int32_t, Origin> origins;
};

State& state() {
  return process_global<State>();
}

void* new_event(Place place, Stream stream) {
  const CudaFunctions& cuda = *cuda_functions();
  const CudaScope on("profile", place.index);
  void* event = nullptr;
  check_cuda("profile", cuda.make_event(&event, 0));  // with its time
  check_cuda("profile", cuda.record_event(event, native_stream(stream)));
  return event;
}

// With the mutex held.
const Origin& origin_of(Place place, Stream stream) {
  Origin& origin = state().origins[place.index];
  if (!origin.event) {
    origin.event = new_event(place, stream);
    check_cuda("profile", cuda_functions()->synchronize_event(origin.event));
    origin.time_ns = profile_now_ns();
  }
  return origin;
}

int64_t time_of(const Origin& origin, void* event) {
  float milliseconds = 0;
  const CudaFunctions& cuda = *cuda_functions();
  check_cuda("profile", cuda.synchronize_event(event));
  if (cuda.elapsed) check_cuda("profile", cuda.elapsed(&milliseconds, origin.event, event));
  cuda.end_event(event);
  return origin.time_ns + static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

struct Nvtx {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
  std::string reason;
};

Nvtx load_nvtx() {
  Nvtx nvtx;
  const char* const wish = std::getenv("HEADRACE_NVTX");
  if (!wish || !*wish || std::string_view(wish) == "0") {
    nvtx.reason = "HEADRACE_NVTX is not set";
    return nvtx;
  }
  std::vector<std::string> names{"libnvtx3interop.so.1", "libnvtx3interop.so",
                                 "libnvToolsExt.so.1"};
  if (std::string_view(wish) != "1") names = {wish};
  SharedLibrary library(names);
  if (library.load("nvtxRangePushA", nvtx.push) && library.load("nvtxRangePop", nvtx.pop))
    return nvtx;
  nvtx.push = nullptr;
  nvtx.reason = "cannot load the NVTX library: HEADRACE_NVTX=" + std::string(wish) +
                ", missing=" + library.missing();
  return nvtx;
}

const Nvtx& nvtx() {
  return process_global([] { return load_nvtx(); });
}

}  // namespace

int64_t profile_now_ns() {
  static const auto start = std::chrono::steady_clock::now();
  return (std::chrono::steady_clock::now() - start).count();
}

DeviceProfile::DeviceProfile() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  first_ = all.spans.size();
  ++all.listeners;
}

DeviceProfile::~DeviceProfile() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (--all.listeners > 0) return;
  for (const Span& each : all.spans) {
    if (!each.begin) continue;
    cuda_functions()->end_event(each.begin);
    cuda_functions()->end_event(each.end);
  }
  all.spans.clear();
}

std::vector<DeviceSpan> DeviceProfile::spans() const {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  std::vector<DeviceSpan> found;
  for (size_t i = first_; i < all.spans.size(); ++i) {
    Span& each = all.spans[i];
    if (each.begin) {
      const CudaScope on("profile", each.span.place.index);
      const Origin& origin = all.origins[each.span.place.index];
      each.span.begin_ns = time_of(origin, each.begin);
      each.begin = nullptr;
      each.span.end_ns = time_of(origin, each.end);
    }
    found.push_back(each.span);
  }
  return found;
}

SpanClock::SpanClock(Stream stream, Place place) : stream_(stream), place_(place) {
  State& all = state();
  if (all.listeners == 0) return;
  if (place.is_gpu()) {
    const std::lock_guard lock(all.mutex);
    origin_of(place, stream);
    begin_ = new_event(place, stream);
  }
  begin_ns_ = profile_now_ns();
}

SpanClock::~SpanClock() {
  if (begin_) cuda_functions()->end_event(begin_);
}

void SpanClock::stop(std::string_view op, int64_t bytes) {
  if (begin_ns_ < 0) return;
  std::string name(op);
  if (const TagInfo tag = tag_info(current_tag()); bytes == 0 && !tag.op.empty()) name = tag.op;
  Span done{{std::move(name), place_, stream_.id, begin_ns_, 0, bytes}, begin_, nullptr};
  begin_ns_ = -1;
  if (begin_)
    done.end = new_event(place_, stream_);
  else
    done.span.end_ns = profile_now_ns();
  begin_ = nullptr;
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (all.listeners > 0) {
    all.spans.push_back(std::move(done));
  } else if (done.begin) {
    cuda_functions()->end_event(done.begin);
    cuda_functions()->end_event(done.end);
  }
}

NvtxRange::NvtxRange(const std::string& name) {
  if (nvtx().push) nvtx().push(name.c_str());
}

NvtxRange::~NvtxRange() {
  if (nvtx().push) nvtx().pop();
}

std::string why_no_nvtx() {
  return nvtx().reason;
}

}  // namespace hr
