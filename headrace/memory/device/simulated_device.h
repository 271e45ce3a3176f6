// SPDX-License-Identifier: Apache-2.0
// The simulated devices: memory that the host cannot touch, with a limit and slow copies, so that
// what GPUs need is tested without one.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/resource/resource.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hr {

/// The place of a simulated device.
constexpr Place simulated_place(int32_t index) {
  return {PlaceKind::kSimulated, index};
}

inline constexpr Place simulated = simulated_place(0);

/// What each device is like, and how many there are:
/// `HEADRACE_DEVICE=sim:devices=2,limit=256MB,h2d=12GB/s,d2h=6GB/s,latency=20us`.
struct SimulatedSettings {
  int64_t devices = 1;
  int64_t limit_bytes = int64_t{256} << 20;  ///< of each
  double to_device = 12e9;                   ///< bytes a second
  double to_host = 12e9;
  int64_t latency_ns = 20'000;  ///< from the call to the earliest start of its work

  friend bool operator==(const SimulatedSettings&, const SimulatedSettings&) = default;
};

/// Reads "sim" or "sim:name=value,...". Throws InvalidArgumentError that names the words.
HR_API SimulatedSettings parse_simulated(std::string_view text);

/// Opens the devices; the first use does so with HEADRACE_DEVICE if that names them. Throws
/// InvalidArgumentError when they are open with other settings and a block of one is in use.
HR_API void open_simulated(const SimulatedSettings& settings);

/// Whether this process opened them.
HR_API bool is_simulated_open();

/// The settings of the open devices. Throws DeviceError when there are none, and in a child of the
/// process that opened them (a GPU is of no use there either).
HR_API SimulatedSettings simulated_settings();

/// Throws DeviceError, naming `op` and how many devices are open, unless this is one.
void check_simulated(std::string_view op, int device);

/// Blocks of a device: 256-byte aligned, first fit, neighbours joined when they are free. Their
/// addresses have no access rights: who reads one on the host gets SIGSEGV. What is new or freed is
/// filled with 0xDF. Throws OutOfMemoryError with the largest hole, DeviceError without a device.
HR_API AnyResource simulated_resource(int device = 0);

/// Where work on their device reads and writes these bytes. Throws DeviceError, naming `op`, unless
/// they lie in one block in use: an address that was freed is found here.
HR_API std::byte* simulated_alias(std::string_view op, const void* address, int64_t size_bytes);

/// The blocks of a device in use, the peak and the limit.
HR_API MemoryStatistics simulated_statistics(int device = 0);

}  // namespace hr
