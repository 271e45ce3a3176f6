// SPDX-License-Identifier: Apache-2.0
// Resources other than the system and the pool: blocks of one size, bins, and a user's own
// functions.
#pragma once
#include "headrace/memory/resource/resource.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <functional>
#include <string>
#include <vector>

namespace hr {

/// Blocks of one size, cut from slabs: a list operation each, and no waste but the size's own.
/// Larger requests, and those of an alignment beyond 64, go upstream. Thread-safe.
class HR_API FixedSizeResource {
 public:
  /// Throws InvalidArgumentError unless both numbers are at least 1.
  FixedSizeResource(AnyResource upstream, size_t block_bytes, size_t blocks_in_slab = 128);
  ~FixedSizeResource();
  FixedSizeResource(const FixedSizeResource&) = delete;
  FixedSizeResource& operator=(const FixedSizeResource&) = delete;

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;

  /// Of upstream the place alone: a block is a part of another one.
  MemoryProperties properties() const { return {.place = upstream_.properties().place}; }

  std::string describe() const;

  size_t block_bytes() const { return block_bytes_; }

  /// Free blocks.
  int64_t cached_bytes() const;
  /// Gives the slabs back upstream that are free as a whole; their bytes.
  int64_t trim() noexcept;

 private:
  size_t slab_bytes() const { return block_bytes_ * blocks_in_slab_; }

  bool is_block(size_t bytes, size_t alignment) const;

  AnyResource upstream_;
  size_t block_bytes_;  // a multiple of 64
  size_t blocks_in_slab_;
  mutable ForkMutex mutex_;
  std::vector<void*> free_;
  std::vector<void*> slabs_;
};

/// Sends each request to the first bin whose blocks are large enough, else upstream. Thread-safe.
class HR_API BinningResource {
 public:
  struct Bin {
    size_t most_bytes;
    AnyResource resource;
  };

  /// Throws InvalidArgumentError unless all bins give memory of the same place as upstream.
  BinningResource(AnyResource upstream, std::vector<Bin> bins);

  /// Bins of fixed-size blocks of `smallest`, 2 * `smallest`, ... up to `largest` bytes.
  static std::vector<Bin> fixed_size_bins(const AnyResource& upstream, size_t smallest,
                                          size_t largest);

  void* allocate(Stream stream, size_t bytes, size_t alignment) const {
    return of(bytes).allocate(stream, bytes, alignment);
  }

  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) const noexcept {
    of(bytes).deallocate(stream, pointer, bytes, alignment);
  }

  /// Of upstream the place alone: bins may promise less.
  MemoryProperties properties() const { return {.place = upstream_.properties().place}; }

  std::string describe() const;

 private:
  const AnyResource& of(size_t bytes) const;

  AnyResource upstream_;
  std::vector<Bin> bins_;  // rising
};

/// A user's own functions as a resource. `allocate` returns null or throws when it has no memory;
/// null becomes OutOfMemoryError, and so does a block that is not aligned as asked (it is given
/// back first). Neither is called under a lock. As safe for threads as the functions are.
class HR_API CallbackResource {
 public:
  using Allocate = std::function<void*(size_t bytes, size_t alignment)>;
  using Deallocate = std::function<void(void* pointer, size_t bytes, size_t alignment)>;

  CallbackResource(Allocate allocate, Deallocate deallocate, MemoryProperties properties = {});

  void* allocate(Stream stream, size_t bytes, size_t alignment) const;
  /// An exception of the function is lost here: no caller can receive it.
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) const noexcept;

  MemoryProperties properties() const { return properties_; }

  std::string describe() const { return "callback"; }

 private:
  Allocate allocate_;
  Deallocate deallocate_;
  MemoryProperties properties_;
};

}  // namespace hr
