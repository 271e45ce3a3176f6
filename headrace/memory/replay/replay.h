// SPDX-License-Identifier: Apache-2.0
// A recorded log again, on any resource: what its allocations cost, and what stays unused.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/replay/log_reader.h"
#include "headrace/memory/resource/resource.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hr {

/// What a log asks for, and what of it makes no sense and is left out.
struct ReplayCounts {
  int64_t allocations = 0;
  int64_t frees = 0;
  int64_t threads = 0;
  int64_t requested_peak_bytes = 0;  ///< the most that was asked for at once
  int64_t left = 0;                  ///< blocks that the log does not free; freed at the end
  int64_t failed = 0;                ///< requests that failed when the log was made
  int64_t unknown_frees = 0;         ///< frees of what the log does not allocate
  int64_t double_allocations = 0;    ///< of an address that is held: it is freed first
  int64_t empty = 0;                 ///< of no bytes
};

/// Replays the allocations and frees of a log, in its order, or with `by_thread` each thread's in
/// its own order, where a free waits for its allocation. What went to the disk and came back is not
/// replayed. Nothing is written to the blocks: the time is that of the resource.
class HR_API Replay {
 public:
  Replay(const MemoryLog& log, bool by_thread);

  const ReplayCounts& counts() const { return counts_; }

  /// How many threads have to call `run`: 1 unless by thread.
  int64_t threads() const { return static_cast<int64_t>(begins_.size()) - 1; }

  /// The part of one thread, 0 to `threads() - 1`, each in a thread of the caller. All begin
  /// together. A request that the resource refuses is counted, and its free left out.
  void run(const AnyResource& resource, int64_t thread);

  /// When all have run: frees what is left and makes ready for another run.
  void finish(const AnyResource& resource);

  double seconds() const { return seconds_; }   ///< of the last run
  int64_t refused() const { return refused_; }  ///< by the resource in the last run

 private:
  struct Step;
  Buffer steps_;
  Buffer blocks_;  // of the resource, by number
  std::vector<int64_t> begins_;
  ReplayCounts counts_;
  int64_t num_blocks_ = 0;
  std::atomic<int64_t> ready_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> refusing_{0};
  std::atomic<int64_t> begin_ns_{0};
  double seconds_ = 0;
  int64_t refused_ = 0;

  friend struct ReplayFootprint replay_footprint(
      const MemoryLog& log, const std::function<AnyResource(AnyResource upstream)>& make);
};

/// How much memory a resource takes for a log. What it has from its upstream counts up to the last
/// page that a block reached: the rest was never touched.
struct ReplayFootprint {
  int64_t held_peak_bytes = 0;    ///< most at once, without pieces of upstream that are all free
  int64_t cached_peak_bytes = 0;  ///< most at once, with them
  int64_t free_bytes = 0;         ///< at the end of the log, in no block
  int64_t largest_free_bytes =
      0;  ///< the largest request that these serve: pieces of upstream that
          ///< are all free go back together, or the largest hole in one
};

/// A new resource by its name over `upstream`: "system" (upstream itself), "pool", "binning"
/// (blocks of 256 B, 512 B, ... 1 MiB from slabs, above it the pool), "fixed_size" (blocks of 1 MiB
/// from slabs). Throws InvalidArgumentError for another name.
HR_API AnyResource replay_resource(const std::string& name, const AnyResource& upstream);

/// Replays on the resource that `make` builds over an upstream which is watched, slowly.
HR_API ReplayFootprint replay_footprint(
    const MemoryLog& log, const std::function<AnyResource(AnyResource upstream)>& make);

}  // namespace hr
