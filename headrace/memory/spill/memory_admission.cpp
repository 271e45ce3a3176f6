// SPDX-License-Identifier: Apache-2.0
// Room in the budget: who pins or allocates takes it, and waits for what others give back.
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/budget/external_memory.h"
#include "headrace/memory/spill/spill_engine.h"
#include "headrace/memory/spill/write_guard.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace hr {

namespace {

constexpr int kMostTries = 10'000;
constexpr auto kPatience = std::chrono::seconds(1);  // without any change

thread_local int64_t holds_of_thread = 0;
thread_local bool waits_for_disk = false;

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

DiskWait::DiskWait(std::atomic<int64_t>& sum) noexcept
    : sum_(std::exchange(waits_for_disk, true) ? nullptr : &sum), begin_ns_(sum_ ? now_ns() : 0) {}

DiskWait::~DiskWait() {
  if (!sum_) return;
  *sum_ += now_ns() - begin_ns_;
  waits_for_disk = false;
}

void SpillEngine::forget_other_threads() {
  waiters_ = 0;
  blocked_ = 0;
  holds_ = holds_of_thread;
  trying_ = false;
}

bool SpillEngine::try_pin(const std::vector<PinnedRange>& ranges) {
  for (size_t r = 0; r < ranges.size(); ++r) {
    Residency& residency = *ranges[r].buffer->residency();
    const int64_t first = residency.chunk_at(ranges[r].begin);
    const int64_t last = residency.chunk_at(ranges[r].end - 1);
    int64_t chunk = first;
    const auto undo = [&] {
      for (size_t done = 0; done < r; ++done) unpin(ranges[done]);
      if (chunk > first)
        unpin({ranges[r].buffer, ranges[r].begin, chunk * residency.chunk_bytes, ranges[r].write});
    };
    try {
      for (; chunk <= last && pin_chunk(residency, chunk, ranges[r].write); ++chunk)
        if (ranges[r].write) begin_write(residency, chunk);
    } catch (...) {
      undo();
      throw;
    }
    if (chunk <= last) return undo(), false;
  }
  return true;
}

void SpillEngine::unpin(const PinnedRange& range) noexcept {
  Residency& residency = *range.buffer->residency();
  for (int64_t i = residency.chunk_at(range.begin); i <= residency.chunk_at(range.end - 1); ++i) {
    if (range.write) end_write(residency, i);
    residency.chunks[static_cast<size_t>(i)].pins.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void SpillEngine::note_freed() noexcept {
  if (waiters_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  ++changes_;
  changed_.notify_all();
}

void SpillEngine::pin(const std::vector<PinnedRange>& ranges) {
  const auto bytes = [&] {
    int64_t sum = 0;
    for (const PinnedRange& range : ranges) {
      const Residency& residency = *range.buffer->residency();
      const int64_t last = residency.chunk_at(range.end - 1);
      for (int64_t i = residency.chunk_at(range.begin); i <= last; ++i) {
        const Chunk& chunk = residency.chunks[static_cast<size_t>(i)];
        if (chunk.state != ChunkState::kResident || chunk.pins <= 0) sum += residency.charge(i);
      }
    }
    return sum;
  };
  begin_hold();  // others wait for an attempt too: it may give up what it has
  try {
    until_done([&] { return try_pin(ranges); }, bytes);
  } catch (...) {
    end_hold();
    throw;
  }
}

void SpillEngine::begin_hold() noexcept {
  ++holds_of_thread;
  ++holds_;
}

void SpillEngine::end_hold() noexcept {
  --holds_of_thread;
  --holds_;
  note_freed();
}

int64_t SpillEngine::begin_waiting() noexcept {
  if (holds_of_thread == 0) return 0;
  const std::lock_guard lock(mutex_);
  blocked_ += holds_of_thread;
  ++changes_;  // who waits for room decides again
  changed_.notify_all();
  return holds_of_thread;
}

void SpillEngine::end_waiting(int64_t holds) noexcept {
  if (holds == 0) return;
  const std::lock_guard lock(mutex_);
  blocked_ -= holds;
}

// Those who try again do so one at a time, so that two who need much do not keep parts of it from
// each other. Who waits too long for its turn goes on without it.
struct SpillEngine::Turn {
  explicit Turn(SpillEngine& owner) : engine(owner) {
    std::unique_lock lock(engine.mutex_);
    mine = engine.changed_.wait_for(lock, kPatience, [&] { return !engine.trying_; });
    if (mine) engine.trying_ = true;
    seen = engine.changes_;
  }

  ~Turn() {
    const std::lock_guard lock(engine.mutex_);
    end();
  }

  // Under the engine's mutex.
  void end() {
    if (!std::exchange(mine, false)) return;
    engine.trying_ = false;
    engine.changed_.notify_all();
  }

  SpillEngine& engine;
  bool mine = false;
  uint64_t seen = 0;  // the changes before it began
};

// Counts what a thread holds as blocked, until it has what it waits for.
struct SpillEngine::Waiter {
  explicit Waiter(SpillEngine& owner) : engine(owner), holds(holds_of_thread) {
    const std::lock_guard lock(engine.mutex_);
    ++engine.waiters_;
    engine.blocked_ += holds;
  }

  ~Waiter() {
    const std::lock_guard lock(engine.mutex_);
    --engine.waiters_;
    engine.blocked_ -= holds;
  }

  SpillEngine& engine;
  int64_t holds;
};

// Tries again whenever memory was given up, as long as that can help.
void SpillEngine::until_done(const std::function<bool()>& attempt,
                             const std::function<int64_t()>& bytes) {
  if (attempt()) return;
  const DiskWait wait(waited_ns_);
  std::optional<Waiter> waiter(*this);
  note_freed();  // what the attempt had and gave up
  for (int tries = 0; tries < kMostTries; ++tries) {
    bool others_hold = false;
    {
      Turn turn(*this);
      if (attempt()) return waiter.reset();  // while it is our turn: who decides sees us at work
      if (!wait_for_room(turn, bytes(), others_hold)) break;
    }
    // What changes may be our own doing: the chunks that an attempt gave up leave for the disk.
    if (others_hold && tries > 16)
      std::this_thread::sleep_for(std::chrono::microseconds(50) * std::min(tries, 100));
  }
  waiter.reset();
  throw_out_of_memory(bytes());
}

void SpillEngine::unpin(const std::vector<PinnedRange>& ranges) noexcept {
  for (const PinnedRange& range : ranges) unpin(range);
  end_hold();
}

void SpillEngine::hold(const PinnedRange& range) {
  pin({range});
  end_hold();
}

int64_t SpillEngine::attainable_locked() const {
  int64_t movable = 0;
  for (const Residency* residency : all_)
    for (int64_t i = 0; i < residency->size(); ++i) {
      const Chunk& chunk = residency->chunks[static_cast<size_t>(i)];
      if (chunk.state == ChunkState::kResident && chunk.pins <= 0) movable += residency->charge(i);
    }
  const MemoryStatistics now = memory_statistics();
  return now.limit_bytes - now.used_bytes + movable;
}

int64_t SpillEngine::attainable() {
  const bool spills = limit() != 0;
  const std::lock_guard lock(mutex_);
  const MemoryStatistics now = memory_statistics();
  return spills && !stuck_ ? attainable_locked() : now.limit_bytes - now.used_bytes;
}

// False when there will be no room for `bytes`, no matter what is moved away.
bool SpillEngine::wait_for_room(Turn& turn, int64_t bytes, bool& others_hold) {
  std::unique_lock lock(mutex_);
  others_hold = holds_ > blocked_;
  if (!others_hold) {
    if (stuck_ || bytes > attainable_locked()) return false;  // the disk takes nothing, or too few
  }
  if (changes_ != turn.seen) return true;
  if (moving_ == 0 && !others_hold) return false;
  turn.end();
  return changed_.wait_for(lock, kPatience, [&] { return changes_ != turn.seen; });
}

bool SpillEngine::charge(int64_t bytes) {
  for (;;) {
    if (try_charge(bytes)) {
      keep_headroom();
      return true;
    }
    const MemoryStatistics now = memory_statistics();
    if (bytes > now.limit_bytes) return false;
    const DiskWait wait(waited_ns_);
    if (trim_external_memory() > 0 || evict(now.used_bytes + bytes - now.limit_bytes) ||
        ask_callbacks(bytes) > 0)
      continue;
    return false;
  }
}

void SpillEngine::charge_or_throw(int64_t bytes) {
  until_done([&] { return charge(bytes); }, [&] { return bytes; });
}

void discharge(int64_t bytes) {
  uncharge(bytes);
  SpillEngine::instance().note_freed();
}

int64_t SpillEngine::ask_callbacks(int64_t bytes) {
  std::vector<PressureCallback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, free] : callbacks_) callbacks.push_back(free);
  }
  int64_t freed = 0;
  for (const PressureCallback& free : callbacks)
    if (freed < bytes) freed += free(bytes - freed);
  return freed;
}

}  // namespace hr
