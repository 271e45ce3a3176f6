// SPDX-License-Identifier: Apache-2.0
// Resources that stand over another one and write down what passes: statistics, log, live blocks.
// Each takes its note of a block away before the block goes up, and makes it after one came: the
// moment a block is upstream, another thread may get the same address.
#pragma once
#include "headrace/memory/adaptors/adaptors.h"
#include "headrace/memory/log/event_log.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace hr {

/// What passed a StatisticsAdaptor.
struct ResourceStatistics {
  int64_t used_bytes = 0;  ///< of live blocks
  int64_t peak_bytes = 0;  ///< the most that was ever used
  int64_t live_blocks = 0;
  int64_t allocations = 0;      ///< blocks that were given
  int64_t allocated_bytes = 0;  ///< their sizes summed
  int64_t failures = 0;         ///< requests that upstream refused

  bool operator==(const ResourceStatistics&) const = default;
};

/// Counts. Used bytes and their peak are exact; the other counts are kept by thread and summed when
/// read. Thread-safe, no lock.
class HR_API StatisticsAdaptor : public Adaptor {
 public:
  explicit StatisticsAdaptor(AnyResource upstream) : Adaptor(std::move(upstream)) {}

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const { return over("statistics"); }

  ResourceStatistics read() const;

 private:
  struct alignas(128) Counts {
    std::atomic<int64_t> allocations{0};
    std::atomic<int64_t> allocated_bytes{0};
    std::atomic<int64_t> deallocations{0};
    std::atomic<int64_t> failures{0};
  };

  Counts& counts();

  alignas(128) std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
  std::array<Counts, 16> counts_;
};

/// Keeps the latest events, of this resource alone. Thread-safe.
class HR_API LogAdaptor : public Adaptor {
 public:
  /// Throws InvalidArgumentError unless `capacity` is positive.
  explicit LogAdaptor(AnyResource upstream, int64_t capacity = kMemoryEventCapacity);

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const { return over("log"); }

  /// Oldest first; `index` counts from the first event of this resource.
  std::vector<MemoryEvent> events() const;

 private:
  void note(MemoryAction action, const void* pointer, size_t bytes) noexcept;

  const size_t capacity_;
  mutable ForkMutex mutex_;
  uint64_t next_ = 0;
  std::deque<MemoryEvent> events_;
};

/// A block that a TrackAdaptor gave and that is not back.
struct LiveBlock {
  void* pointer = nullptr;
  int64_t bytes = 0;
  int64_t alignment = 0;
  Tag tag = 0;          ///< in force when it was asked for
  uint64_t serial = 0;  ///< 1 is the first
};

/// Knows every live block with its tag, so what is left at the end is a leak with a name. A block
/// that comes back with another size or alignment goes upstream as it was asked for; a pointer that
/// is not live goes nowhere; both are counted. Thread-safe.
class HR_API TrackAdaptor : public Adaptor {
 public:
  explicit TrackAdaptor(AnyResource upstream) : Adaptor(std::move(upstream)) {}

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  std::string describe() const { return over("track"); }

  /// Oldest first.
  std::vector<LiveBlock> live_blocks() const;
  int64_t wrong_deallocations() const { return wrong_; }

 private:
  struct alignas(64) Shard {
    mutable ForkMutex mutex;
    std::unordered_map<void*, LiveBlock> blocks;
  };

  Shard& shard_of(const void* pointer);

  std::atomic<uint64_t> serial_{0};
  std::atomic<int64_t> wrong_{0};
  std::array<Shard, 8> shards_;
};

}  // namespace hr
