// SPDX-License-Identifier: Apache-2.0
// Who holds memory, where it lies and why it stays there: holders, leaks, the out-of-memory error.
#include "headrace/base/error.h"
#include "headrace/memory/budget/live_buffers.h"
#include "headrace/memory/device/device_evictor.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/spill/spill_engine.h"

#include <algorithm>
#include <limits>

namespace hr {

namespace {

template <class F>
int64_t bytes_of_chunks(const Residency& residency, F&& wanted) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < residency.size(); ++i)
    if (wanted(residency.chunks[static_cast<size_t>(i)])) bytes += residency.charge(i);
  return bytes;
}

int64_t resident_bytes(const Buffer::Rep& rep) {
  if (!rep.residency) return rep.capacity_bytes;
  return bytes_of_chunks(*rep.residency,
                         [](const Chunk& chunk) { return chunk.state == ChunkState::kResident; });
}

int64_t pinned_bytes(const Buffer::Rep& rep) {
  if (!rep.residency) return 0;
  return bytes_of_chunks(*rep.residency, [](const Chunk& chunk) { return chunk.pins > 0; });
}

const char* why_it_stays(const Buffer::Rep& rep, bool spills) {
  if (rep.owner.release) return "foreign";
  if (rep.external) return "allocated by another library";
  if (!rep.place.is_host()) return device_stays(rep);
  if (!rep.residency)
    return rep.capacity_bytes < kLeastMovable ? "too small to move" : "its resource cannot evict";
  if (!rep.sealed && !rep.paged) return "being written";
  if (pinned_bytes(rep) > 0) return "in use";
  if (resident_bytes(rep) == 0) return "on disk";
  return spills ? "no space left for spilling" : "spilling is off";
}

Holder holder_of(const Buffer::Rep& rep, bool spills) {
  return {.serial = rep.serial,
          .bytes = rep.capacity_bytes,
          .tag = tag_info(rep.tag),
          .place = rep.place,
          .foreign = rep.owner.release != nullptr && rep.place.is_host(),
          .exported = rep.exports.load() > 0,
          .external = rep.external,
          .stack = tag_stack(rep.tag),
          .resident_bytes = rep.owner.release ? 0 : resident_bytes(rep),
          .pinned_bytes = pinned_bytes(rep),
          .stays = why_it_stays(rep, spills)};
}

}  // namespace

void throw_out_of_memory(int64_t requested_bytes) {
  const MemoryStatistics now = memory_statistics();
  const SpillStatistics spilled = spill_statistics();
  const TagInfo tag = tag_info(current_tag());
  std::string text = error_message(tag.op.empty() ? "allocate" : tag.op, "out of memory");
  text += ": requested=" + format_bytes(requested_bytes) +
          ", limit=" + format_bytes(now.limit_bytes) + ", used=" + format_bytes(now.used_bytes) +
          ", tier=host; raise hr.memory.limit to at least " +
          format_bytes(now.used_bytes + requested_bytes) + ", or drop what you no longer need";
  const std::string trouble = SpillEngine::instance().trouble();
  text += "\n  released caches (" + format_bytes(now.cached_bytes) +
          " left), evicted what could be evicted (" + format_bytes(spilled.disk_bytes) +
          " on disk" + (trouble.empty() ? "" : "; " + trouble) +
          "), asked callbacks, waited for others; foreign " + format_bytes(now.foreign_bytes) +
          " (not charged); the largest holders:";
  std::vector<Holder> holders = largest_holders(std::numeric_limits<int64_t>::max());
  std::stable_sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return a.resident_bytes > b.resident_bytes;
  });
  if (holders.size() > 10) holders.resize(10);
  for (const Holder& holder : holders)
    text += "\n  " + format_bytes(holder.bytes) + " " +
            (holder.tag.op.empty() ? "untagged" : holder.tag.op) +
            (holder.tag.line.empty() ? "" : " at " + holder.tag.line) + " on " +
            holder.place.name() + ", " + format_bytes(holder.resident_bytes) +
            " in memory: " + holder.stays + (holder.exported ? ", exported" : "");
  throw OutOfMemoryError(text, requested_bytes, now.limit_bytes, now.used_bytes);
}

std::vector<Holder> largest_holders(int64_t count) {
  std::vector<Holder> holders = other_holders(0);
  const bool spills = spill_limit() != 0;  // its mutex is taken before those of the buffers
  for_each_buffer([&](const Buffer::Rep& rep) {
    if (!rep.slab) holders.push_back(holder_of(rep, spills));
  });
  std::sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.serial < b.serial;
  });
  if (static_cast<int64_t>(holders.size()) > count)
    holders.resize(static_cast<size_t>(std::max<int64_t>(count, 0)));
  return holders;
}

std::vector<Holder> holders_since(uint64_t serial) {
  std::vector<Holder> holders = other_holders(serial);
  const bool spills = spill_limit() != 0;
  for_each_buffer([&](const Buffer::Rep& rep) {
    if (rep.serial > serial && !rep.owner.release && !rep.slab)
      holders.push_back(holder_of(rep, spills));
  });
  std::sort(holders.begin(), holders.end(),
            [](const Holder& a, const Holder& b) { return a.serial < b.serial; });
  return holders;
}

}  // namespace hr
