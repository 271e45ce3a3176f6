// SPDX-License-Identifier: Apache-2.0
// The resource that finds misuse: what HEADRACE_DEBUG_MEMORY=1 puts in the pool's place.
#pragma once
#include "headrace/memory/resource/resource.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <deque>
#include <string>
#include <utility>

namespace hr {

/// Each block ends at a page without access and is filled with 0xDF. A freed block cannot be
/// touched either, until its addresses are used again after 4,096 later ones. Bytes that were
/// written around a block end the process when it is freed, by an InternalError that cannot be
/// caught. Takes at least two pages and three system calls a block. Thread-safe.
class HR_API GuardResource {
 public:
  GuardResource() = default;
  ~GuardResource();
  GuardResource(const GuardResource&) = delete;
  GuardResource& operator=(const GuardResource&) = delete;

  void* allocate(Stream stream, size_t bytes, size_t alignment);
  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept;

  MemoryProperties properties() const { return {}; }

  std::string describe() const { return "guard"; }

 private:
  using Range = std::pair<void*, size_t>;

  void forget(size_t most) noexcept;

  ForkMutex mutex_;
  std::deque<Range> freed_;  // oldest first; still mapped, without access
};

}  // namespace hr
