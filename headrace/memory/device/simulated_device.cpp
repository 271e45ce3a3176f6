// SPDX-License-Identifier: Apache-2.0
// The simulated devices: each a memory file, mapped twice, and its blocks.
#include "headrace/memory/device/simulated_device.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/device/by_device.h"
#include "headrace/memory/device/device_evictor.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace hr {

namespace {

constexpr int64_t kAlignment = 256;
constexpr int kPoison = 0xDF;

[[noreturn]] void refuse_settings(std::string_view text) {
  throw_error<InvalidArgumentError>(
      "device", "invalid settings of a simulated device", {{"text", text}},
      "write sim or sim:devices=1,limit=256MB,h2d=12GB/s,d2h=12GB/s,latency=20us");
}

double rate(std::string_view text, std::string_view whole) {
  if (!text.ends_with("/s")) refuse_settings(whole);
  const int64_t bytes = parse_bytes(std::string(text.substr(0, text.size() - 2)));
  if (bytes <= 0) refuse_settings(whole);
  return static_cast<double>(bytes);
}

int64_t nanoseconds(std::string_view text, std::string_view whole) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const double factor = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 0;
  if (code != std::errc() || factor == 0 || !(number >= 0 && number * factor <= 1e10))
    refuse_settings(whole);
  return static_cast<int64_t>(number * factor);
}

class Device {
 public:
  explicit Device(const SimulatedSettings& settings) : settings_(settings), process_(getpid()) {
    size_ = round_up(settings.limit_bytes, 4096);
    const int file = memfd_create("headrace-device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, size_) != 0) refuse();
    const auto bytes = static_cast<size_t>(size_);
    void* seen = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
    void* alias = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    close(file);
    if (seen == MAP_FAILED || alias == MAP_FAILED) refuse();
    base_ = static_cast<std::byte*>(seen);
    alias_ = static_cast<std::byte*>(alias);
    free_[0] = size_;
  }

  ~Device() {
    munmap(base_, static_cast<size_t>(size_));
    munmap(alias_, static_cast<size_t>(size_));
  }

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Null when no hole is large enough.
  void* allocate(int64_t bytes) {
    const int64_t size = round_up(std::max<int64_t>(bytes, 1), kAlignment);
    for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
      if (hole->second < size) continue;
      const int64_t at = hole->first;
      if (hole->second > size) free_[at + size] = hole->second - size;
      free_.erase(at);
      live_[at] = size;
      statistics_.used_bytes += size;
      statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.used_bytes);
      ++statistics_.allocations;
      statistics_.allocated_bytes += size;
      std::memset(alias_ + at, kPoison, static_cast<size_t>(size));
      return base_ + at;
    }
    return nullptr;
  }

  int64_t largest_hole() const {
    int64_t largest = 0;
    for (const auto& [at, length] : free_) largest = std::max(largest, length);
    return largest;
  }

  void deallocate(const void* pointer) noexcept {
    const auto block = live_.find(static_cast<const std::byte*>(pointer) - base_);
    if (block == live_.end()) return;
    auto [at, size] = *block;
    std::memset(alias_ + at, kPoison, static_cast<size_t>(size));
    statistics_.used_bytes -= size;
    live_.erase(block);
    if (const auto next = free_.find(at + size); next != free_.end()) {
      size += next->second;
      free_.erase(next);
    }
    if (auto before = free_.lower_bound(at); before != free_.begin()) {
      --before;
      if (before->first + before->second == at) {
        before->second += size;
        return;
      }
    }
    free_[at] = size;
  }

  std::byte* alias(std::string_view op, const void* address, int64_t bytes) const {
    const int64_t at = static_cast<const std::byte*>(address) - base_;
    auto block = live_.upper_bound(at);
    if (bytes < 0 || block == live_.begin() || (--block)->first + block->second < at + bytes)
      throw_error<DeviceError>(op, "the bytes are in no block of the device", {{"bytes", bytes}},
                               "they were freed or never allocated");
    return alias_ + at;
  }

  const SimulatedSettings& settings() const { return settings_; }

  bool is_of_this_process() const { return process_ == getpid(); }

  bool owns(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= base_ && at < base_ + size_;
  }

  bool is_in_use() const { return !live_.empty(); }

  MemoryStatistics statistics() const {
    MemoryStatistics now = statistics_;
    now.limit_bytes = size_;
    return now;
  }

 private:
  [[noreturn]] void refuse() const {
    throw OutOfMemoryError(error_message("device", "the system refused memory for the device",
                                         {{"bytes", size_}}, "set a smaller limit="),
                           size_);
  }

  SimulatedSettings settings_;
  pid_t process_;
  int64_t size_ = 0;
  std::byte* base_ = nullptr;        // what buffers hold; no access
  std::byte* alias_ = nullptr;       // what kernels use
  std::map<int64_t, int64_t> free_;  // offset, size; no two are neighbours
  std::map<int64_t, int64_t> live_;
  MemoryStatistics statistics_;
};

using Devices = std::vector<std::unique_ptr<Device>>;

Devices opened(const SimulatedSettings& settings) {
  Devices devices;
  for (int64_t k = 0; k < settings.devices; ++k)
    devices.push_back(std::make_unique<Device>(settings));
  return devices;
}

struct DeviceSlots {
  std::mutex mutex;
  Devices devices;

  DeviceSlots() { lock_over_fork(mutex); }

  // The functions are for the holder of the mutex.
  const Devices& get() {
    if (devices.empty()) {
      const char* text = std::getenv("HEADRACE_DEVICE");
      if (!text || !std::string_view(text).starts_with("sim"))
        throw_error<DeviceError>("device", "no simulated device is set", {},
                                 "set HEADRACE_DEVICE=sim");
      devices = opened(parse_simulated(text));
    }
    if (!devices[0]->is_of_this_process())
      throw_error<DeviceError>("device", "the device belongs to the process before the fork", {},
                               "start processes with spawn");
    return devices;
  }

  Device& get(std::string_view op, int index) {
    const auto count = static_cast<int>(get().size());
    if (index >= 0 && index < count) return *devices[static_cast<size_t>(index)];
    throw_error<DeviceError>(op, "no such simulated device",
                             {{"device", simulated_place(index).name()}, {"devices", count}},
                             "set HEADRACE_DEVICE=sim:devices=" + std::to_string(index + 1));
  }

  bool is_of_this_process() const { return !devices.empty() && devices[0]->is_of_this_process(); }

  bool is_in_use() const {
    return std::ranges::any_of(devices, [](const auto& each) { return each->is_in_use(); });
  }
};

DeviceSlots& slots() {
  return process_global<DeviceSlots>();  // buffers may outlive main
}

[[maybe_unused]] const bool entered = [] {
  set_device_resource(PlaceKind::kSimulated,
                      [](Place place) { return simulated_resource(place.index); });
  set_device_budget(PlaceKind::kSimulated,
                    {.statistics = [](Place place) { return simulated_statistics(place.index); },
                     .limit = [](Place) { return simulated_settings().limit_bytes; }});
  return true;
}();

class SimulatedResource {
 public:
  explicit SimulatedResource(int device) : device_(device) {}

  void* allocate(Stream, size_t bytes, size_t) {
    const auto wanted = static_cast<int64_t>(bytes);
    MemoryStatistics now;
    int64_t hole = 0;
    do {  // until one hole is large enough, however many are smaller
      const std::lock_guard lock(slots().mutex);
      Device& device = slots().get("allocate", device_);
      if (void* const block = device.allocate(wanted)) return block;
      now = device.statistics();
      hole = device.largest_hole();
    } while (DeviceTier::instance().make_room(place(), 1));
    throw_out_of_device_memory("allocate", place(), wanted, now,
                               ", largest_hole=" + format_bytes(hole),
                               "work in smaller parts, or raise limit= in HEADRACE_DEVICE");
  }

  void deallocate(Stream, void* pointer, size_t, size_t) noexcept {
    const std::lock_guard lock(slots().mutex);
    if (!slots().is_of_this_process()) return;
    for (const auto& device : slots().devices)
      if (device->owns(pointer)) device->deallocate(pointer);
  }

  MemoryProperties properties() const {
    MemoryProperties properties;
    properties.place = place();
    properties.alignment = kAlignment;
    return properties;
  }

  std::string describe() const { return "simulated device " + place().name(); }

 private:
  Place place() const { return simulated_place(device_); }

  int device_;
};

}  // namespace

SimulatedSettings parse_simulated(std::string_view text) {
  SimulatedSettings settings;
  if (text == "sim") return settings;
  if (!text.starts_with("sim:")) refuse_settings(text);
  for (std::string_view rest = text.substr(4); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (name == "devices") {
      const auto [end, code] =
          std::from_chars(value.data(), value.data() + value.size(), settings.devices);
      const bool is_number = code == std::errc() && end == value.data() + value.size();
      if (!is_number || settings.devices < 1 || settings.devices > 16) refuse_settings(text);
    } else if (name == "limit") {
      settings.limit_bytes = parse_bytes(std::string(value));
      if (settings.limit_bytes <= 0) refuse_settings(text);
    } else if (name == "h2d") {
      settings.to_device = rate(value, text);
    } else if (name == "d2h") {
      settings.to_host = rate(value, text);
    } else if (name == "latency") {
      settings.latency_ns = nanoseconds(value, text);
    } else {
      refuse_settings(text);
    }
  }
  return settings;
}

void open_simulated(const SimulatedSettings& settings) {
  DeviceSlots& at = slots();
  const std::lock_guard lock(at.mutex);
  if (at.is_of_this_process() && at.devices[0]->settings() == settings) return;
  if (at.is_in_use())
    throw_error<InvalidArgumentError>("device", "the simulated device is in use", {},
                                      "delete its values before changing its settings");
  at.devices = opened(settings);
}

bool is_simulated_open() {
  const std::lock_guard lock(slots().mutex);
  return slots().is_of_this_process();
}

SimulatedSettings simulated_settings() {
  const std::lock_guard lock(slots().mutex);
  return slots().get()[0]->settings();
}

void check_simulated(std::string_view op, int device) {
  const std::lock_guard lock(slots().mutex);
  slots().get(op, device);
}

AnyResource simulated_resource(int device) {
  struct Known : ByDevice<AnyResource> {};
  return process_global<Known>().get(
      device, [&] { return AnyResource(std::make_shared<SimulatedResource>(device)); });
}

std::byte* simulated_alias(std::string_view op, const void* address, int64_t size_bytes) {
  const std::lock_guard lock(slots().mutex);
  const Devices& devices = slots().get();
  const auto owner =
      std::ranges::find_if(devices, [&](const auto& each) { return each->owns(address); });
  return (owner == devices.end() ? devices[0] : *owner)->alias(op, address, size_bytes);
}

MemoryStatistics simulated_statistics(int device) {
  const std::lock_guard lock(slots().mutex);
  return slots().get("statistics", device).statistics();
}

}  // namespace hr
