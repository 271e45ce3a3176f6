// SPDX-License-Identifier: Apache-2.0
// Device memory for other libraries: refusals are kept as text, and tags name the caller's line.
#include "headrace/memory/external/external_allocator_device.h"

#include "headrace/memory/external/external_allocator.h"

#include <atomic>
#include <exception>

namespace hr {

namespace {

std::atomic<LineTag> find_line_tag{nullptr};

}  // namespace

void* device_allocate(size_t bytes, int device, void* stream, Tag tag) noexcept {
  if (bytes == 0) return nullptr;
  try {
    return device_allocate_external(bytes, device, stream, tag);
  } catch (const std::exception& error) {
    keep_refusal(error.what());
    return nullptr;
  }
}

hr_alloc_statistics_v1 device_statistics(int device) {
  const MemoryStatistics statistics = device_external_statistics(device);
  return {statistics.used_bytes, statistics.peak_bytes, statistics.allocations};
}

void set_line_tag(LineTag find) {
  find_line_tag = find;
}

Tag line_tag(const char* library) noexcept {
  const LineTag find = find_line_tag;
  return find ? find(library) : 0;
}

}  // namespace hr
