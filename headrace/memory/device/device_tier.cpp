// SPDX-License-Identifier: Apache-2.0
// What users and the other rooms see of the device tier: pins, settings, statistics, the error.
#include "headrace/memory/device/device_tier.h"

#include "headrace/base/error.h"
#include "headrace/memory/device/device_evictor.h"
#include "headrace/memory/device/lent_copies.h"

#include <algorithm>
#include <limits>

namespace hr {

namespace {

bool is_on_device(const Buffer& buffer) {
  return !buffer.place().is_host() && buffer.residency() != nullptr;
}

}  // namespace

const char* device_stays(const Buffer::Rep& rep) {
  const Residency& residency = *rep.residency;
  if (!residency.is_there()) return residency.copy_is_pinned ? "in pinned memory" : "on the host";
  if (rep.exports > 0) return "another library has its address";
  if (!rep.sealed) return "being written";
  if (residency.chunks[0].pins > 0) return "in use";
  if (rep.size_bytes < kLeastMoved) return "too small to move";
  return "no space left on the host";
}

void lodge(Buffer::Rep& rep, const AnyResource& resource) {
  rep.place = resource.properties().place;
  rep.writable = false;
  rep.capacity_bytes = rep.block_bytes = rep.size_bytes;
  rep.residency = std::make_unique<Residency>(rep);
  rep.residency->chunks[0].pins = 1;  // its maker's
  rep.data = static_cast<std::byte*>(
      resource.allocate(Stream{}, static_cast<size_t>(rep.block_bytes), kBlockAlignment));
  rep.resource = resource;
  DeviceTier::instance().enter(*rep.residency);
}

void throw_out_of_device_memory(std::string_view op, Place place, int64_t requested,
                                const MemoryStatistics& now, std::string_view more,
                                std::string_view fix) {
  const DeviceTierStatistics away = device_tier_statistics(place);
  const std::string trouble = DeviceTier::instance().trouble();
  std::string text = error_message(op, "out of memory on the device");
  text += ": requested=" + format_bytes(requested) + ", limit=" + format_bytes(now.limit_bytes) +
          ", used=" + format_bytes(now.used_bytes) + ", tier=" + place.name() + std::string(more) +
          "; " + std::string(fix) + "\n  evicted what could be evicted (" +
          format_bytes(away.pinned_bytes) + " in pinned memory, " + format_bytes(away.host_bytes) +
          " on the host or its disk" + (trouble.empty() ? "" : "; " + trouble) +
          "), waited for others; the largest holders there:";
  int lines = 0;
  for (const Holder& holder : largest_holders(std::numeric_limits<int64_t>::max())) {
    if (holder.place != place || (holder.resident_bytes == 0 && !holder.external)) continue;
    text += "\n  " + format_bytes(holder.bytes) + " " +
            (holder.tag.op.empty() ? "untagged" : holder.tag.op) +
            (holder.tag.line.empty() ? "" : " at " + holder.tag.line) + ": " + holder.stays;
    if (++lines == 10) break;
  }
  throw OutOfMemoryError(text, requested, now.limit_bytes, now.used_bytes);
}

DevicePin::DevicePin(const Buffer& buffer, bool queued) : queued_(queued) {
  if (!is_on_device(buffer)) return;
  DeviceTier::instance().pin(*buffer.residency());
  buffer_ = buffer;
  if (!queued_) ++DeviceTier::pins_of_thread();
}

DevicePin::~DevicePin() {
  if (!buffer_) return;
  DeviceTier::instance().unpin(*buffer_.residency());
  if (!queued_) --DeviceTier::pins_of_thread();
}

bool read_away(const Buffer& buffer, int64_t begin, int64_t size_bytes, std::byte* to) {
  return is_on_device(buffer) &&
         DeviceTier::instance().read_away(*buffer.residency(), begin, size_bytes, to);
}

void lend_copy(const Buffer& there, const Buffer& here) {
  if (there && here && is_on_device(there)) DeviceTier::instance().lend(*there.residency(), here);
}

bool is_away(const Buffer& buffer) {
  return is_on_device(buffer) && DeviceTier::instance().is_away(*buffer.residency());
}

DeviceTierStatistics device_tier_statistics(Place place) {
  return DeviceTier::instance().statistics(place);
}

int64_t pinned_limit() {
  return DeviceTier::instance().pinned_limit();
}

void set_pinned_limit(int64_t bytes) {
  if (bytes < 0)
    throw_error<InvalidArgumentError>("memory.spill", "the limit of pinned memory is negative",
                                      {{"bytes", bytes}}, "pass 0 for none");
  DeviceTier::instance().set_pinned_limit(bytes);
}

void set_device_moves(const DeviceMoves* given) {
  DeviceTier::set_moves(given);
}

}  // namespace hr
