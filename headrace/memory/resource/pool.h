// SPDX-License-Identifier: Apache-2.0
// The pool: blocks that were given back wait here for the next request of their size class.
#pragma once
#include "headrace/memory/resource/resource.h"
#include "headrace/memory/sync/fork_mutex.h"
#include "headrace/memory/sync/thread_number.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace hr {

/// Retains freed blocks in size classes, four to a doubling, so a request costs a list operation
/// instead of page faults. A block is at most a quarter larger than asked; its untouched pages cost
/// nothing, and count as nothing from 4 MiB on: cached bytes are resident bytes. At most
/// `most_cached` bytes wait; beyond that, blocks of other classes go back upstream. When upstream
/// refuses a request, waiting blocks go back and it is asked again: a limit below the pool fails
/// only when live blocks fill it. Thread-safe.
class HR_API PoolResource {
 public:
  explicit PoolResource(AnyResource upstream, int64_t most_cached = int64_t{1} << 30);
  ~PoolResource();
  PoolResource(const PoolResource&) = delete;
  PoolResource& operator=(const PoolResource&) = delete;

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;

  MemoryProperties properties() const { return upstream_.properties(); }

  std::string describe() const { return "pool over " + upstream_.describe(); }

  /// Gives waiting blocks back upstream, largest first, until `at_least` bytes are back; the bytes.
  int64_t trim(int64_t at_least = INT64_MAX) noexcept;
  int64_t cached_bytes() const;

 private:
  static constexpr int kClasses = 4 * 58;
  static constexpr int kShards = 16;

  struct Waiting {
    void* block = nullptr;
    int64_t bytes = 0;  // of its pages that are resident
  };

  // The blocks that a thread finds without a word to others. Several threads may share one. Blocks
  // outlive their threads here, and trim finds them.
  struct ShardBlocks;
  struct Evicted;

  struct alignas(128) Shard {
    ForkMutex mutex;
    std::atomic<int64_t> cached{0};  // written under the mutex
    std::unique_ptr<ShardBlocks> blocks;
    int turn = 0;  // the class that makes room next

    Shard();
    ~Shard();
    void* pop(int index, size_t size);
    bool push(int index, size_t size, void* block, int64_t most_cached, Evicted& out) noexcept;
  };

  static int class_of(size_t bytes);
  static size_t class_bytes(int index);
  Shard& shard() { return shards_[thread_number() % kShards]; }

  bool counts_pages(const void* block, size_t size) const noexcept;
  int64_t resident_bytes(const void* block, size_t size) const noexcept;
  static void drop_tail(const Waiting& found, size_t end, size_t size) noexcept;
  void* from_upstream(Stream stream, size_t bytes, size_t alignment);
  void to_upstream(int index, void* block) noexcept;
  Waiting take_waiting(int index, size_t bytes);
  bool keep_waiting(int index, void* block) noexcept;
  void make_room(int index) noexcept;

  AnyResource upstream_;
  const bool on_host_;
  const int64_t most_cached_;
  // What follows is written by all threads; what stands above is only read. Two cache lines, since
  // processors fetch them in pairs.
  alignas(128) std::atomic<int64_t> cached_{0};  // in classes; shards count their own
  std::atomic<uint32_t> turn_{0};                // the class that makes room next
  std::atomic<uint64_t> given_back_{0};          // blocks that went back to make room
  std::atomic<int32_t> giving_back_{0};          // threads that do so now
  std::array<Shard, kShards> shards_;
  ForkMutex mutex_;  // of the classes
  std::array<std::vector<Waiting>, kClasses> classes_;
};

/// The pool that buffers come from by default: a quarter of the machine's
/// memory may wait in it, and 1 GiB at least. Lives to the very end.
HR_API PoolResource& default_pool();

}  // namespace hr
