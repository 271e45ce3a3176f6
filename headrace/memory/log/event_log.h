// SPDX-License-Identifier: Apache-2.0
// The event log: a ring of what happened to memory of late, always on.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/log/tag.h"

#include <cstdint>
#include <vector>

namespace hr {

enum class MemoryAction : uint8_t { kAllocate, kFree, kAllocateFailure, kEvict, kFetch, kDrop };

/// "allocate", "free", "allocate failure": the words of RMM's log; "evict", "fetch": part of a
/// buffer left memory for the disk, or came back; "drop": what was on the disk of a freed buffer.
HR_API const char* memory_action_name(MemoryAction action);

/// What the action does to the used bytes: they rise by the event's bytes (1), fall (-1), stay (0).
HR_API int used_change(MemoryAction action);

/// One event. Allocated, fetched and dropped less freed and evicted bytes are the used bytes. A
/// buffer that is shrunk is freed and allocated again at the same address.
struct MemoryEvent {
  uint64_t index = 0;   ///< 0 is the first of the process
  int64_t time_ns = 0;  ///< since 1970
  uint32_t thread = 0;  ///< 1 is the first thread that had an event
  MemoryAction action = MemoryAction::kAllocate;
  Place place;
  uint64_t pointer = 0;
  int64_t bytes = 0;  ///< as charged: a multiple of 64
  Tag tag = 0;        ///< of the buffer, also when it is freed
};

/// The log holds the last 65,536 events (2 MiB).
inline constexpr int64_t kMemoryEventCapacity = int64_t{1} << 16;

/// The events from `first` on that the ring still holds, oldest first. Events that other threads
/// write meanwhile may be left out.
HR_API std::vector<MemoryEvent> memory_events(uint64_t first = 0);
/// Index of the next event.
HR_API uint64_t next_memory_event();

/// Who follows the ring: from event `next` on, each writer calls `read` behind its event. One
/// reader; `next` UINT64_MAX stops the calls. A reader that has not kept pace makes writers wait.
void set_event_reader(uint64_t next, void (*read)() noexcept);

/// Appends to `events` those from `first` on, at most `count`, up to the first one that is still
/// being written; the index behind the last. What was overwritten is left out.
uint64_t take_memory_events(uint64_t first, uint64_t count, std::vector<MemoryEvent>& events);

/// Notes an event, unless the trace is off. Thread-safe, takes no lock; about 40 ns.
HR_API void log_memory_event(MemoryAction action, const void* pointer, int64_t bytes, Tag tag,
                             Place place = host) noexcept;

}  // namespace hr
