// SPDX-License-Identifier: Apache-2.0
// The ring of memory events.
#include "headrace/memory/log/event_log.h"

#include "headrace/memory/log/tag_bytes.h"
#include "headrace/memory/log/trace.h"
#include "headrace/memory/sync/thread_number.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <sys/mman.h>

namespace hr {

namespace {

constexpr uint64_t kSlots = static_cast<uint64_t>(kMemoryEventCapacity);
constexpr int kSizeBits = 48;
constexpr uint64_t kSizeMask = (uint64_t{1} << kSizeBits) - 1;
constexpr int kThreadBits = 20;

// 32 bytes. `size_and_lap` is written last and cleared first; a reader takes a slot only when it
// finds the lap that it expects before and after. The words are atomic, so there is no data race.
struct Slot {
  std::atomic<uint64_t> size_and_lap{0};  // size below, 1 + lap modulo 65,535 above; 0: no event
  std::atomic<int64_t> time{0};           // steady clock
  std::atomic<uint64_t> pointer{0};
  std::atomic<uint64_t> rest{0};  // tag 32, thread 20, action 4, place 8
};

// The ring fills one huge page, which the first event brings in: 4 KiB at a time its first lap
// would cost 512 page faults, in the midst of other work. Zero and not there until then.
constexpr size_t kRingBytes = size_t{2} << 20;
constinit std::array<std::byte, 2 * kRingBytes> ring_space{};
static_assert(sizeof(Slot) * kSlots == kRingBytes);

Slot& slot_of(uint64_t index) {
  const auto space = reinterpret_cast<uintptr_t>(ring_space.data());
  const uintptr_t begin = (space + kRingBytes - 1) & ~(kRingBytes - 1);
  return reinterpret_cast<Slot*>(begin)[index % kSlots];
}

alignas(64) constinit std::atomic<uint64_t> next{0};
constinit std::atomic<uint64_t> read_from{UINT64_MAX};
constinit std::atomic<void (*)() noexcept> reader{nullptr};

uint64_t lap_of(uint64_t index) {
  return 1 + index / kSlots % 65535;
}

int64_t steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

uint64_t place_bits(Place place) {
  return place.is_host() ? 0 : static_cast<uint64_t>(place.index + 1) & 255;
}

Place place_of(uint64_t bits) {
  return bits == 0 ? host : Place{PlaceKind::kCuda, static_cast<int32_t>(bits) - 1};
}

// What steady times are added to.
int64_t since_1970() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1) -
         steady_now();
}

// Appends the event unless it is being written or was overwritten.
bool read_slot(uint64_t index, int64_t offset, std::vector<MemoryEvent>& events) {
  const Slot& slot = slot_of(index);
  const uint64_t before = slot.size_and_lap.load(std::memory_order_acquire);
  if (before >> kSizeBits != lap_of(index)) return false;
  const int64_t time = slot.time.load(std::memory_order_acquire);
  const uint64_t pointer = slot.pointer.load(std::memory_order_acquire);
  const uint64_t rest = slot.rest.load(std::memory_order_acquire);
  if (slot.size_and_lap.load(std::memory_order_relaxed) != before) return false;
  events.push_back({.index = index,
                    .time_ns = offset + time,
                    .thread = static_cast<uint32_t>(rest >> 12) & ((1u << kThreadBits) - 1),
                    .action = static_cast<MemoryAction>(rest >> 8 & 15),
                    .place = place_of(rest & 255),
                    .pointer = pointer,
                    .bytes = static_cast<int64_t>(before & kSizeMask),
                    .tag = static_cast<Tag>(rest >> 32)});
  return true;
}

}  // namespace

const char* memory_action_name(MemoryAction action) {
  switch (action) {
    case MemoryAction::kAllocate:
      return "allocate";
    case MemoryAction::kFree:
      return "free";
    case MemoryAction::kAllocateFailure:
      return "allocate failure";
    case MemoryAction::kEvict:
      return "evict";
    case MemoryAction::kFetch:
      return "fetch";
    case MemoryAction::kDrop:
      return "drop";
  }
  return "";
}

int used_change(MemoryAction action) {
  switch (action) {
    case MemoryAction::kAllocate:
    case MemoryAction::kFetch:
    case MemoryAction::kDrop:
      return 1;
    case MemoryAction::kFree:
    case MemoryAction::kEvict:
      return -1;
    case MemoryAction::kAllocateFailure:
      return 0;
  }
  return 0;
}

void log_memory_event(MemoryAction action, const void* pointer, int64_t bytes, Tag tag,
                      Place place) noexcept {
  if (place.is_host()) count_tag_bytes(tag, used_change(action) * bytes);
  if (!memory_trace()) return;
  const uint64_t thread = thread_number() & ((1u << kThreadBits) - 1);
  const uint64_t rest =
      uint64_t{tag} << 32 | thread << 12 | static_cast<uint64_t>(action) << 8 | place_bits(place);
  const uint64_t index = next.fetch_add(1, std::memory_order_relaxed);
  Slot& slot = slot_of(index);
  if (index == 0) madvise(&slot, kRingBytes, MADV_HUGEPAGE);
  slot.size_and_lap.store(0, std::memory_order_relaxed);
  slot.time.store(steady_now(), std::memory_order_release);  // no reader sees it with the old lap
  slot.pointer.store(reinterpret_cast<uintptr_t>(pointer), std::memory_order_release);
  slot.rest.store(rest, std::memory_order_release);
  slot.size_and_lap.store(lap_of(index) << kSizeBits | (static_cast<uint64_t>(bytes) & kSizeMask),
                          std::memory_order_release);
  if (index >= read_from.load(std::memory_order_relaxed)) reader.load()();
}

uint64_t next_memory_event() {
  return next.load(std::memory_order_relaxed);
}

void set_event_reader(uint64_t index, void (*read)() noexcept) {
  if (read) reader = read;
  read_from = index;
}

std::vector<MemoryEvent> memory_events(uint64_t first) {
  const int64_t offset = since_1970();
  const uint64_t end = next_memory_event();
  first = std::max(first, end > kSlots ? end - kSlots : 0);
  std::vector<MemoryEvent> events;
  events.reserve(end > first ? end - first : 0);
  for (uint64_t index = first; index < end; ++index) read_slot(index, offset, events);
  return events;
}

uint64_t take_memory_events(uint64_t first, uint64_t count, std::vector<MemoryEvent>& events) {
  const int64_t offset = since_1970();
  const uint64_t end = std::min(next_memory_event(), first + count);
  for (uint64_t index = first; index < end; ++index)
    if (!read_slot(index, offset, events) && next_memory_event() - index <= kSlots) return index;
  return end;
}

}  // namespace hr
