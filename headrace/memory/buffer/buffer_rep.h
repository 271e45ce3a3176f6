// SPDX-License-Identifier: Apache-2.0
// The inside of a buffer, and the accounts that every buffer goes through. For this room only.
#pragma once
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/resource/default_resource.h"

#include <atomic>
#include <memory>
#include <optional>

namespace hr {

/// From here on blocks are mapped alone, so they can leave memory and come back at their address.
inline constexpr int64_t kLeastMovable = int64_t{256} << 10;
/// Under a limit those whose maker says what it writes are from here on: many small files of
/// columns would hold all memory otherwise.
inline constexpr int64_t kLeastPaged = kLeastMapped;

struct Buffer::Rep {
  Rep();
  ~Rep();

  std::atomic<int64_t> references{1};
  std::atomic<int32_t> exports{0};
  std::byte* data = nullptr;
  int64_t size_bytes = 0;
  std::atomic<int64_t> capacity_bytes{0};  // reports read it while its maker shrinks it
  int64_t block_bytes = 0;                 // what the resource gave and gets back
  Place place;
  Tag tag = 0;
  bool writable = true;
  std::atomic<bool> external{false};  // another library's: counts, never moves
  std::atomic<bool> slab{false};      // of many small external blocks, which are holders themselves
  Owner owner;
  std::optional<AnyResource> resource;
  std::unique_ptr<Residency> residency;  // of blocks that can move to the disk
  std::atomic<bool> sealed{false};
  std::atomic<bool> paged{false};  // written under pins only
  uint64_t serial = 0;
  Rep* previous = nullptr;  // in the registry of live buffers
  Rep* next = nullptr;
};

/// Adds `bytes` to the used bytes of the place unless the budget would be exceeded; cached blocks
/// make room for them.
bool try_charge(int64_t bytes);
void uncharge(int64_t bytes);
/// The same, and wakes who waits for room.
void discharge(int64_t bytes);
int64_t charged_bytes();
/// Charges, evicting what it must. Throws OutOfMemoryError.
void charge_or_throw(int64_t bytes);
/// Throws the error that names the request, the limit and the largest holders.
[[noreturn]] void throw_out_of_memory(int64_t requested_bytes);
/// Takes a live buffer into, or out of, the registry and the counters.
void enter_buffer(Buffer::Rep& rep);
void leave_buffer(Buffer::Rep& rep);
/// Gives a new buffer to another library for good, or makes it a slab of such blocks.
void mark_external(Buffer& buffer, bool slab);
/// A block of another library that is no buffer enters the counters, and leaves them: its serial.
uint64_t count_external(int64_t bytes);
void uncount_external(int64_t bytes);
/// Serial of what was made last.
uint64_t present_serial();
/// Used bytes and cached bytes together are over the budget.
bool over_budget();

}  // namespace hr
