// SPDX-License-Identifier: Apache-2.0
// The engine behind pins and limits: it moves chunks. For this room only.
#pragma once
#include "headrace/memory/spill/residency.h"
#include "headrace/memory/spill/spill.h"

#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace hr {

/// The time that a thread with work to do waits for moves, its own or those of others, while it
/// lives; of nested ones the outermost counts.
class DiskWait {
 public:
  explicit DiskWait(std::atomic<int64_t>& sum) noexcept;
  ~DiskWait();
  DiskWait(const DiskWait&) = delete;
  DiskWait& operator=(const DiskWait&) = delete;

 private:
  std::atomic<int64_t>* sum_;
  int64_t begin_ns_;
};

/// A chunk that the engine claimed.
struct Claim {
  Residency* residency;
  int64_t chunk;
};

class SpillEngine {
 public:
  static SpillEngine& instance();

  void enter(Residency& residency);
  /// Before the block goes back: waits for moves, and makes it plain memory again. The bytes that
  /// were charged.
  int64_t leave(Residency& residency) noexcept;
  /// The bytes from `capacity` on are cut off; the maker alone knows the buffer. The bytes that are
  /// no longer charged.
  int64_t cut(Residency& residency, int64_t capacity);

  /// All of these or none. Throws OutOfMemoryError when there is no memory left and none is being
  /// freed.
  void pin(const std::vector<PinnedRange>& ranges);
  void unpin(const std::vector<PinnedRange>& ranges) noexcept;

  /// A pin that no task holds: its maker's.
  void hold(const PinnedRange& range);
  void let_go(const PinnedRange& range) noexcept {
    unpin(range);
    note_freed();
  }

  /// While it holds something, a thread may give back what others wait for.
  void begin_hold() noexcept;
  void end_hold() noexcept;
  int64_t begin_waiting() noexcept;
  void end_waiting(int64_t holds) noexcept;

  /// Charges the budget, evicting what it must.
  void charge_or_throw(int64_t bytes);
  /// What the limit leaves with all away that may leave.
  int64_t attainable();
  /// Bytes were given back: wakes who waits for room.
  void note_freed() noexcept;

  void plan(Residency& residency, const std::vector<int64_t>& steps);
  /// The same with the mutex held that guards the residency; forgets the steps that are over.
  void add_uses(Residency& residency, const std::vector<int64_t>& steps) const;
  void set_eviction_hint(Residency& residency, EvictionHint keep);
  void begin_step(int64_t step) { step_ = step; }

  /// Of a device: used now, in the running step.
  void stamp(Chunk& chunk);

  int64_t clock() const { return clock_; }

  /// What is farther from its next use ranks higher.
  double rank(const Residency& residency, int64_t chunk) const;

  int64_t reserve_steps(int64_t count) { return steps_.fetch_add(count); }

  SpillStatistics statistics();
  std::string directory();
  void set_directory(std::string directory);
  int64_t limit();
  void set_limit(int64_t bytes);

  void set_runner(void (*run)(std::function<void()>)) { runner_ = run; }

  int64_t add_callback(PressureCallback free);
  void remove_callback(int64_t id);

  /// Why the last eviction moved nothing, for the out-of-memory error.
  std::string trouble();

 private:
  SpillEngine();
  void wait_for_moves(std::unique_lock<std::mutex>& lock, const Residency& residency);
  bool try_pin(const std::vector<PinnedRange>& ranges);
  void unpin(const PinnedRange& range) noexcept;
  void until_done(const std::function<bool()>& attempt, const std::function<int64_t()>& bytes);
  struct Turn;
  struct Waiter;
  bool wait_for_room(Turn& turn, int64_t bytes, bool& others_hold);
  int64_t attainable_locked() const;
  bool charge(int64_t bytes);
  int64_t ask_callbacks(int64_t bytes);
  bool pin_chunk(Residency& residency, int64_t chunk, bool write);
  bool bring(Residency& residency, int64_t chunk, bool write);
  void prefetch(Residency& residency, int64_t chunk);
  void fetch(const std::vector<Claim>& run);
  void advise_if_thrashing(int64_t fetched);
  void note_use(Residency& residency, int64_t chunk, bool write);
  bool evict(int64_t bytes);
  std::vector<Claim> choose(int64_t bytes);
  int64_t move_out(std::vector<Claim> claims, int64_t leaving);
  bool store(std::span<const Claim> run);
  int64_t drop(const Claim& claim);
  void release(const std::vector<Claim>& claims, int32_t pins = 0);
  void release_locked(const std::vector<Claim>& claims, int32_t pins);
  void keep_headroom();
  std::shared_ptr<SpillFile> file();
  void retire_empty_file() noexcept;
  void before_fork();
  void after_fork(bool child);
  void forget_other_threads();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Residency*> all_;
  int moving_ = 0;             // claims held by a thread
  int64_t leaving_bytes_ = 0;  // on their way out
  uint64_t changes_ = 0;
  std::atomic<int> waiters_{0};
  bool trying_ = false;            // a waiting thread may try again
  std::atomic<int64_t> holds_{0};  // pins, and tasks that run
  int64_t blocked_ = 0;            // of these, those of threads that wait
  std::atomic<int64_t> clock_{0};
  std::atomic<int64_t> step_{0};
  std::atomic<int64_t> steps_{1};
  std::atomic<bool> cleaning_{false};
  std::atomic<void (*)(std::function<void()>)> runner_{nullptr};
  std::shared_ptr<SpillFile> file_;
  std::string directory_;
  int64_t limit_ = -1;
  std::string trouble_;
  std::atomic<bool> stuck_{false};  // the last eviction moved nothing
  int64_t returned_ = 0;            // fetched since the last advice
  std::atomic<int64_t> evicted_{0};
  std::atomic<int64_t> written_{0};
  std::atomic<int64_t> fetched_{0};
  std::atomic<int64_t> waited_ns_{0};
  std::vector<std::pair<int64_t, PressureCallback>> callbacks_;
  int64_t next_callback_ = 1;
};

}  // namespace hr
