// SPDX-License-Identifier: Apache-2.0
// Moving whole buffers between a device and the host.
#include "headrace/memory/device/device_evictor.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/device/pinned_resource.h"
#include "headrace/memory/log/ledger.h"
#include "headrace/memory/spill/spill_engine.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unistd.h>

namespace hr {

namespace {

constexpr auto kPatience = std::chrono::seconds(1);  // without any change

Chunk& whole(Residency& residency) {
  return residency.chunks[0];
}

int64_t first_pinned_limit() {
  if (const char* text = std::getenv("HEADRACE_PINNED_LIMIT")) return parse_bytes(text);
  return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE) / 4;
}

}  // namespace

int64_t& DeviceTier::pins_of_thread() {
  static thread_local int64_t pins = 0;
  return pins;
}

int64_t& DeviceTier::moves_of_thread() {
  static thread_local int64_t moves = 0;
  return moves;
}

DeviceTier& DeviceTier::instance() {
  return process_global([] { return DeviceTier(); });
}

DeviceTier::DeviceTier() : process_(getpid()), pinned_limit_(first_pinned_limit()) {
  lock_over_fork(mutex_);
  SpillEngine::instance().add_callback([this](int64_t bytes) { return drop_copies(bytes); });
}

void DeviceTier::enter(Residency& residency) {
  const std::lock_guard lock(mutex_);
  all_.push_back(&residency);
}

// No thread waits here: the mover may wait for a stream whose work is releasing the buffer.
bool DeviceTier::leave(Residency& residency) noexcept {
  const bool is_child = getpid() != process_;  // after a fork a device is of no use
  {
    const std::lock_guard lock(mutex_);
    if (residency.moving && !is_child) {
      residency.abandoned = true;
      return false;
    }
    std::erase(all_, &residency);
  }
  if (!is_child) end(residency);
  return true;
}

void DeviceTier::end(Residency& residency) noexcept {
  Buffer::Rep& rep = residency.rep;
  if (residency.is_there())
    rep.resource->deallocate(Stream{}, rep.data, static_cast<size_t>(rep.block_bytes),
                             kBlockAlignment);
  drop_copy(residency);
  const std::lock_guard lock(mutex_);
  note_change();
}

void DeviceTier::note_change() noexcept {
  ++changes_;
  changed_.notify_all();
}

// ---- pins ---------------------------------------------------------------------------------------

void DeviceTier::pin(Residency& residency) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !residency.moving; });
  if (!residency.is_there()) {
    const Move move(*this, lock, residency);
    bring(residency);
  }
  Chunk& chunk = whole(residency);
  ++chunk.pins;
  SpillEngine::instance().stamp(chunk);
}

void DeviceTier::unpin(Residency& residency) noexcept {
  const std::lock_guard lock(mutex_);
  --whole(residency).pins;
  note_change();
}

// It is this thread's alone while one lives, and the mutex is free.
DeviceTier::Move::Move(DeviceTier& owner, std::unique_lock<std::mutex>& held, Residency& of)
    : tier(owner), lock(held), residency(of) {
  residency.moving = true;
  ++tier.moving_;
  ++moves_of_thread();
  lock.unlock();
}

DeviceTier::Move::~Move() {
  lock.lock();
  residency.moving = false;
  --tier.moving_;
  --moves_of_thread();
  tier.note_change();
  if (!residency.abandoned) return;
  std::erase(tier.all_, &residency);
  lock.unlock();
  tier.end(residency);
  delete &residency.rep;
  lock.lock();
}

// ---- moves --------------------------------------------------------------------------------------

void DeviceTier::bring(Residency& residency) {
  Buffer::Rep& rep = residency.rep;
  const ScopedTag tag(rep.tag);
  const auto bytes = static_cast<size_t>(rep.block_bytes);
  auto* const block =
      static_cast<std::byte*>(rep.resource->allocate(Stream{}, bytes, kBlockAlignment));
  const Place from = residency.copy_is_pinned ? pinned_host : host;
  try {
    record_move(rep.tag, rep.size_bytes, from, rep.place);
    residency.ticket = moves_.load()->in(rep.place, residency.copy, residency.copy_is_pinned,
                                         std::exchange(residency.ticket, 0), block, rep.size_bytes);
  } catch (...) {
    rep.resource->deallocate(Stream{}, block, bytes, kBlockAlignment);
    throw;
  }
  Chunk& chunk = whole(residency);
  rep.data = block;
  chunk.state = ChunkState::kResident;
  // What comes back is used in a loop: as long as it took will it take again.
  residency.period = SpillEngine::instance().clock() - chunk.last_use;
  residency.passes = 1;
  const std::lock_guard lock(mutex_);
  statistics_of(rep.place).fetched_bytes += rep.size_bytes;
}

// Off the device; false, with the reason noted, when the host has no room for it.
bool DeviceTier::take_away(Residency& residency) {
  Buffer::Rep& rep = residency.rep;
  Chunk& chunk = whole(residency);
  const bool copies = !residency.copy;
  if (copies) try {
      copy_to_host(residency);
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      trouble_ = error.what();
      trouble_.resize(std::min(trouble_.find('\n'), trouble_.size()));
      return false;
    }
  rep.resource->deallocate(Stream{}, std::exchange(rep.data, nullptr),
                           static_cast<size_t>(rep.block_bytes), kBlockAlignment);
  chunk.dirty = false;
  chunk.state = ChunkState::kOnDisk;
  const std::lock_guard lock(mutex_);
  DeviceTierStatistics& now = statistics_of(rep.place);
  now.evicted_bytes += rep.size_bytes;
  if (copies) now.copied_bytes += rep.size_bytes;
  return true;
}

void DeviceTier::copy_to_host(Residency& residency) {
  Buffer::Rep& rep = residency.rep;
  const ScopedTag tag(rep.tag);
  Buffer copy;
  const bool is_pinned = take_pinned_room(residency);
  if (is_pinned) try {
      copy = rep.place.is_gpu() ? Buffer::allocate(rep.size_bytes, pinned_resource())
                                : Buffer::allocate(rep.size_bytes);
    } catch (const Error&) {
      const std::lock_guard lock(mutex_);
      pinned_bytes_ -= rep.size_bytes;
    }
  const bool in_pinned = static_cast<bool>(copy);
  if (!in_pinned) copy = Buffer::allocate_spillable(rep.size_bytes);
  try {
    record_move(rep.tag, rep.size_bytes, rep.place, in_pinned ? pinned_host : host);
    residency.ticket = moves_.load()->out(rep.place, rep.data, rep.size_bytes, copy, in_pinned);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (in_pinned) pinned_bytes_ -= rep.size_bytes;
    throw;
  }
  if (!in_pinned) copy.seal();
  residency.copy = std::move(copy);
  residency.copy_is_pinned = in_pinned;
}

// Room for one more copy in pinned memory; those that are needed later make it.
bool DeviceTier::take_pinned_room(const Residency& residency) {
  const int64_t bytes = residency.rep.size_bytes;
  const int64_t most = std::min<int64_t>(pinned_limit_, memory_limit() / 4);
  if (bytes > most) return false;
  for (;;) {
    std::unique_lock lock(mutex_);
    if (pinned_bytes_ + bytes <= most) {
      pinned_bytes_ += bytes;
      return true;
    }
    Residency* last = nullptr;
    double farthest = SpillEngine::instance().rank(residency, 0);
    for (Residency* each : all_) {
      if (each->moving || !each->copy_is_pinned) continue;
      // Of what is on its device too, the copy goes without a move.
      const double rank = each->is_there() ? std::numeric_limits<double>::infinity()
                                           : SpillEngine::instance().rank(*each, 0);
      if (rank > farthest) farthest = rank, last = each;
    }
    if (!last) return false;
    const Move move(*this, lock, *last);
    if (last->is_there())
      drop_copy(*last);
    else
      demote(*last);
  }
}

// From pinned memory to memory that can leave for the disk.
void DeviceTier::demote(Residency& residency) {
  Buffer::Rep& rep = residency.rep;
  const ScopedTag tag(rep.tag);
  moves_.load()->wait(rep.place, std::exchange(residency.ticket, 0));
  Buffer copy = Buffer::allocate_spillable(rep.size_bytes);
  record_move(rep.tag, rep.size_bytes, pinned_host, host);
  std::byte* const to = copy.mutable_data();
  in_pieces(copy, 0, rep.size_bytes, true, [&](int64_t at, int64_t size) {
    std::memcpy(to + at, residency.copy.data() + at, static_cast<size_t>(size));
  });
  copy.seal();
  {
    const std::lock_guard lock(mutex_);
    forget_copy(residency);
  }
  residency.copy = std::move(copy);
}

// With the mutex held: pinned memory no longer has it.
void DeviceTier::forget_copy(Residency& residency) noexcept {
  if (residency.copy_is_pinned.exchange(false)) pinned_bytes_ -= residency.rep.size_bytes;
}

void DeviceTier::drop_copy(Residency& residency) noexcept {
  if (residency.ticket != 0)
    moves_.load()->wait(residency.rep.place, std::exchange(residency.ticket, 0));
  residency.copy = {};
  residency.copy_is_lent = false;
  whole(residency).dirty = true;
  const std::lock_guard lock(mutex_);
  forget_copy(residency);
}

// When the host is short: copies of what is on its device.
int64_t DeviceTier::drop_copies(int64_t bytes) {
  int64_t freed = 0;
  std::unique_lock lock(mutex_);
  for (size_t i = 0; i < all_.size() && freed < bytes; ++i) {
    Residency& residency = *all_[i];
    if (residency.moving || !residency.copy || residency.copy_is_lent || !residency.is_there())
      continue;
    freed += residency.rep.size_bytes;
    const Move move(*this, lock, residency);
    drop_copy(residency);
  }
  return freed;
}

void DeviceTier::plan(Residency& residency, const std::vector<int64_t>& steps) {
  const std::lock_guard lock(mutex_);
  SpillEngine::instance().add_uses(residency, steps);
}

// ---- room ---------------------------------------------------------------------------------------

bool DeviceTier::make_room(Place place, int64_t bytes) {
  if (!moves_.load()) return false;
  std::unique_lock lock(mutex_);
  trouble_.clear();
  int64_t freed = 0;
  while (freed < bytes) {
    Residency* last = nullptr;
    double farthest = -std::numeric_limits<double>::infinity();
    int64_t pins = 0;
    for (Residency* each : all_) {
      if (each->rep.place != place) continue;
      if (each->rep.sealed) pins += whole(*each).pins;
      if (each->moving || whole(*each).pins > 0 || each->rep.exports > 0 || !each->is_there() ||
          each->rep.size_bytes < kLeastMoved)
        continue;
      const double rank = SpillEngine::instance().rank(*each, 0);
      if (rank > farthest) farthest = rank, last = each;
    }
    if (last) {
      const int64_t leaving = last->rep.size_bytes;
      bool gone = false;
      {
        const Move move(*this, lock, *last);
        gone = take_away(*last);
      }
      if (!gone) break;
      freed += leaving;
    } else {
      return freed > 0 || wait_for_others(lock, pins);
    }
  }
  return freed > 0;
}

// What others pin or move they may let go, unless all of them wait as we do.
bool DeviceTier::wait_for_others(std::unique_lock<std::mutex>& lock, int64_t pins) {
  if (pins <= pins_of_thread() && moving_ <= moves_of_thread()) return false;
  const uint64_t seen = changes_;
  return changed_.wait_for(lock, kPatience, [&] { return changes_ != seen; });
}

bool DeviceTier::read_away(Residency& residency, int64_t begin, int64_t bytes, std::byte* to) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !residency.moving; });
  if (residency.is_there()) return false;
  const Move move(*this, lock, residency);
  moves_.load()->wait(residency.rep.place, std::exchange(residency.ticket, 0));
  in_pieces(residency.copy, begin, bytes, false, [&](int64_t at, int64_t size) {
    std::memcpy(to + at, residency.copy.data() + begin + at, static_cast<size_t>(size));
  });
  return true;
}

void DeviceTier::lend(Residency& residency, const Buffer& copy) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !residency.moving; });
  if (residency.copy || !residency.rep.sealed || residency.rep.size_bytes != copy.size_bytes())
    return;
  residency.copy = copy;
  residency.copy_is_lent = true;
}

bool DeviceTier::is_away(Residency& residency) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !residency.moving; });
  return !residency.is_there();
}

DeviceTierStatistics& DeviceTier::statistics_of(Place place) {
  return statistics_[place.name()];
}

DeviceTierStatistics DeviceTier::statistics(Place place) {
  const std::lock_guard lock(mutex_);
  DeviceTierStatistics now = statistics_of(place);
  for (Residency* each : all_)
    if (each->rep.place == place && !each->moving && each->copy && !each->copy_is_lent)
      (each->copy_is_pinned ? now.pinned_bytes : now.host_bytes) += each->rep.size_bytes;
  return now;
}

std::string DeviceTier::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace hr
