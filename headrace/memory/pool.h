// SPDX-License-Identifier: Apache-2.0
// The pool: blocks that were given back wait here for the next request of their size class.
#pragma once
#include "headrace/memory/resource.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace hr {

/// Retains freed blocks in size classes, four to a doubling, so a request costs a list operation
/// instead of page faults. A block is at most a quarter larger than asked; its untouched pages cost
/// nothing, and count as nothing from 4 MiB on: cached bytes are resident bytes. At most
/// `most_cached` bytes wait; beyond that, blocks of other classes go back upstream. Thread-safe.
class PoolResource;
HR_API PoolResource& default_pool();

class HR_API PoolResource {
 public:
  explicit PoolResource(AnyResource upstream, int64_t most_cached = int64_t{1} << 30);
  ~PoolResource();
  PoolResource(const PoolResource&) = delete;
  PoolResource& operator=(const PoolResource&) = delete;

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;
  MemoryProperties properties() const { return upstream_.properties(); }

  /// Gives all waiting blocks back upstream; the bytes. (A few small ones stay with their threads.)
  int64_t trim();
  int64_t cached_bytes() const { return cached_; }

  /// Lets threads keep a few small blocks for themselves. Only for a pool that is never destroyed.
  void enable_thread_caches() { thread_caches_ = true; }

 private:
  static constexpr int kClasses = 4 * 58;

  struct Waiting {
    void* block;
    int64_t bytes;  // of its pages that are resident
  };

  struct alignas(64) Class {
    std::mutex mutex;
    std::vector<Waiting> blocks;
  };

  struct ThreadCache;
  friend PoolResource& default_pool();

  static int class_of(size_t bytes);
  static size_t class_bytes(int index);
  static ThreadCache& thread_cache();
  bool counts_pages(const void* block, size_t size) const noexcept;
  int64_t resident_bytes(const void* block, size_t size) const noexcept;
  void give_back(int index, void* block) noexcept;
  void make_room(int index) noexcept;

  AnyResource upstream_;
  int64_t most_cached_;
  bool thread_caches_ = false;
  std::atomic<int64_t> cached_{0};
  std::atomic<uint32_t> turn_{0};  // the class that makes room next
  std::array<Class, kClasses> classes_;
};

/// The pool that buffers come from unless somebody says otherwise. Lives to the very end.
HR_API PoolResource& default_pool();

}  // namespace hr
