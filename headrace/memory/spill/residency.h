// SPDX-License-Identifier: Apache-2.0
// Residency: which chunks of a buffer are in memory. For this room only.
#pragma once
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/spill/spill_file.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace hr {

enum class ChunkState : uint8_t {
  kEmpty,     ///< never written, not charged: zeros when read
  kResident,  ///< in memory and charged
  kOnDisk,    ///< the page cache's: mapped from the spill file, read-only, not charged
};

/// A chunk's state changes only while `pins` is kClaimed, so what is pinned stays as it is.
struct Chunk {
  static constexpr int32_t kClaimed = -1;

  std::atomic<int32_t> pins{0};
  std::atomic<ChunkState> state{ChunkState::kResident};
  std::atomic<bool> dirty{true};    ///< differs from its copy on disk, if it has one
  std::atomic<bool> touched{true};  ///< written to
  std::atomic<int64_t> last_use{0};
  std::atomic<int64_t> last_step{-1};
  std::shared_ptr<SpillFile> file{};  ///< of its copy on disk, or null
  int64_t slot = -1;
};

/// The chunks of one buffer. Its fields are under the engine's mutex but for the atomic ones. A
/// buffer of a device is one chunk, under the device tier's.
struct Residency {
  explicit Residency(Buffer::Rep& of);

  int64_t size() const { return static_cast<int64_t>(chunks.size()); }

  int64_t chunk_at(int64_t byte) const { return byte / chunk_bytes; }

  /// Slots of a chunk in the spill file.
  int64_t slots() const { return chunk_bytes / kSlotBytes; }

  /// Of a device: whether it is there.
  bool is_there() const { return chunks[0].state == ChunkState::kResident; }

  std::byte* address(int64_t chunk) const { return rep.data + chunk * chunk_bytes; }

  /// What the chunk is charged with when it is resident.
  int64_t charge(int64_t chunk) const;
  /// Its part of the mapping: whole pages.
  int64_t mapped(int64_t chunk) const;

  Buffer::Rep& rep;
  int64_t chunk_bytes;  ///< as `chunk_bytes_of` says
  std::vector<Chunk> chunks;
  std::set<int64_t> uses{};  ///< steps of the plan that will read it
  std::atomic<EvictionHint> keep{EvictionHint::kByUse};
  std::atomic<int64_t> position{-1};     ///< the chunk used last
  std::atomic<int> passes{0};            ///< how often a scan began anew
  std::atomic<bool> small_pages{false};  ///< of chunks that were dropped: they come back alone
  size_t place = 0;                      ///< in the engine's list
  std::vector<int32_t> writers{};  ///< pins for writing of each chunk, where these are guarded

  // Of a device:
  Buffer copy{};                            ///< its bytes on the host, or none
  std::atomic<bool> copy_is_pinned{false};  ///< counts as pinned memory
  bool copy_is_lent = false;                ///< others keep it too: dropping it frees nothing
  uint64_t ticket = 0;                      ///< of the queued move that uses the copy
  bool moving = false;                      ///< a thread has the copy and the block to itself
  bool abandoned = false;                   ///< the buffer was released: its mover frees it
  int64_t period = 0;                       ///< from use to use, once it came back
};

}  // namespace hr
