// SPDX-License-Identifier: Apache-2.0
// Blocks for other libraries: small ones out of slabs, large ones of their own.
#include "headrace/memory/external/external_allocator.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/budget/external_memory.h"
#include "headrace/memory/buffer/buffer.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/external/external_allocator_slab.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/resource/default_resource.h"
#include "headrace/memory/sync/fork_mutex.h"
#include "headrace/memory/sync/spin_lock.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <pthread.h>

namespace hr {

namespace {

constexpr size_t kFreshPages = size_t{4} << 20;
constexpr size_t kMostBytes = size_t{1} << 47;
constexpr size_t kLists = 16;

// In front of a block of its own; 64 bytes, so what follows is as aligned as the whole.
struct alignas(64) OwnBlock {
  OwnBlock* previous = nullptr;  // in the list of its serial
  OwnBlock* next = nullptr;
  Buffer buffer;      // what holds it when another resource than the default one is in force
  int64_t bytes = 0;  // with this header
  uint64_t serial = 0;
  Tag tag = 0;
  BlockHeader header;
};
static_assert(sizeof(OwnBlock) == 64);
static_assert(offsetof(OwnBlock, header) + sizeof(BlockHeader) == sizeof(OwnBlock));

// A buffer would cost 100 ns more for a block and its end.
struct alignas(64) OwnBlocks {
  SpinLock lock;
  OwnBlock* first = nullptr;
};

constinit std::array<OwnBlocks, kLists> lists{};

[[maybe_unused]] const bool entered = [] {
  set_external_memory({.trim = trim_external, .holders = external_holders});
  return true;
}();

void lock_all() {
  for (OwnBlocks& list : lists) list.lock.lock();
}

void unlock_all() {
  for (OwnBlocks& list : lists) list.lock.unlock();
}

BlockHeader* header_of(void* pointer) {
  return static_cast<BlockHeader*>(pointer) - 1;
}

OwnBlock* own_block_of(void* pointer) {
  return static_cast<OwnBlock*>(pointer) - 1;
}

std::mutex& refusal_mutex() {
  return process_global<ForkMutex>();
}

std::string& refusal() {
  return process_global([] { return std::string(); });
}

void* refuse(const std::exception& error) noexcept {
  keep_refusal(error.what());
  return nullptr;
}

// ---- blocks of their own -----------------------------------------------------------------------
void enter(OwnBlock& block) {
  [[maybe_unused]] static const int once = pthread_atfork(lock_all, unlock_all, unlock_all);
  block.serial = count_external(block.bytes);
  OwnBlocks& list = lists[block.serial % kLists];
  const std::lock_guard lock(list.lock);
  block.next = list.first;
  if (list.first) list.first->previous = &block;
  list.first = &block;
}

void leave(OwnBlock& block) {
  OwnBlocks& list = lists[block.serial % kLists];
  {
    const std::lock_guard lock(list.lock);
    (block.previous ? block.previous->next : list.first) = block.next;
    if (block.next) block.next->previous = block.previous;
  }
  uncount_external(block.bytes);
}

int64_t with_header(size_t bytes) {
  // Whole vectors, so that the padding need not be cleared at the end of untouched pages.
  return static_cast<int64_t>((std::min(bytes, kMostBytes) + sizeof(OwnBlock) + 63) / 64 * 64);
}

void* in_buffer(Buffer buffer) {
  mark_external(buffer, /*slab=*/false);
  auto* const block = new (buffer.mutable_data()) OwnBlock;
  block->bytes = buffer.size_bytes();
  block->header.tag = kOwnBlock;
  block->buffer = std::move(buffer);
  return block + 1;
}

// A charge, a block of the pool, an event and a place in a list: no buffer.
void* from_resource(const AnyResource& resource, int64_t bytes, Tag tag) {
  void* place = nullptr;
  bool paid = false;
  try {
    charge_or_throw(bytes);
    paid = true;
    place = resource.allocate(Stream{}, static_cast<size_t>(bytes), alignof(OwnBlock));
  } catch (...) {
    if (paid) discharge(bytes);
    log_memory_event(MemoryAction::kAllocateFailure, nullptr, bytes, tag);
    throw;
  }
  auto* const block = new (place) OwnBlock;
  block->bytes = bytes;
  block->tag = tag;
  block->header.tag = kOwnBlock;
  log_memory_event(MemoryAction::kAllocate, block, bytes, tag);
  enter(*block);
  return block + 1;
}

void* allocate_own(size_t bytes, Tag tag) {
  const ScopedTag scope(tag);
  if (const AnyResource* resource = default_resource_in_force())
    return from_resource(*resource, with_header(bytes), tag);
  return in_buffer(Buffer::allocate(with_header(bytes)));
}

void free_own(OwnBlock* block) noexcept {
  if (block->buffer) {
    const Buffer last = std::move(block->buffer);
    return;
  }
  leave(*block);
  const int64_t bytes = block->bytes;
  // Before the bytes go: else another thread's event of the same address could come first.
  log_memory_event(MemoryAction::kFree, block, bytes, block->tag);
  default_resource().deallocate(Stream{}, block, static_cast<size_t>(bytes), alignof(OwnBlock));
  discharge(bytes);
}

}  // namespace

void* external_allocate(size_t bytes, Tag tag) noexcept {
  try {
    if (bytes <= kLargestInSlab) return allocate_in_slab(bytes, tag) + 1;
  } catch (const OutOfMemoryError&) {  // for a slab, but one block may fit
  } catch (const std::exception& error) {
    return refuse(error);
  }
  try {
    return allocate_own(bytes, tag);
  } catch (const std::exception& error) {
    return refuse(error);
  }
}

void* external_allocate_zeroed(size_t bytes, Tag tag) noexcept {
  if (bytes < kFreshPages || !default_resource_in_force()) {
    void* const pointer = external_allocate(bytes, tag);
    if (pointer) std::memset(pointer, 0, bytes);
    return pointer;
  }
  try {
    const ScopedTag scope(tag);
    return in_buffer(Buffer::allocate(with_header(bytes), system_resource()));
  } catch (const std::exception& error) {
    return refuse(error);
  }
}

void* external_reallocate(void* pointer, size_t bytes, Tag tag) noexcept {
  if (!pointer) return external_allocate(bytes, tag);
  const size_t usable = external_usable_bytes(pointer);
  // In place, unless it would waste half of the block.
  if (bytes <= usable && (bytes > usable / 2 || usable <= 64)) return pointer;
  void* const moved = external_allocate(bytes, tag);
  if (!moved) return nullptr;
  std::memcpy(moved, pointer, std::min(bytes, usable));
  external_free(pointer);
  return moved;
}

void external_free(void* pointer) noexcept {
  if (!pointer) return;
  BlockHeader* const header = header_of(pointer);
  if (header->tag == kOwnBlock)
    free_own(own_block_of(pointer));
  else
    free_in_slab(header);
}

size_t external_usable_bytes(const void* pointer) noexcept {
  const BlockHeader* const header = static_cast<const BlockHeader*>(pointer) - 1;
  return header->tag == kOwnBlock
             ? static_cast<size_t>((static_cast<const OwnBlock*>(pointer) - 1)->bytes) -
                   sizeof(OwnBlock)
             : slab_block_bytes(header);
}

void keep_refusal(std::string_view text) noexcept {
  try {
    const std::lock_guard lock(refusal_mutex());
    refusal() = text;
  } catch (...) {  // no memory for the text: the null pointer says enough
  }
}

std::string last_refusal() {
  const std::lock_guard lock(refusal_mutex());
  return refusal();
}

std::vector<Holder> external_holders(uint64_t serial) {
  std::vector<Holder> holders = slab_holders(serial);
  std::vector<Tag> tags(holders.size());
  for (OwnBlocks& list : lists) {
    const std::lock_guard lock(list.lock);
    for (const OwnBlock* block = list.first; block; block = block->next) {
      if (block->serial <= serial) continue;
      Holder& holder = holders.emplace_back();
      holder.serial = block->serial;
      holder.bytes = holder.resident_bytes = block->bytes;
      holder.external = true;
      holder.stays = "allocated by another library";
      tags.push_back(block->tag);
    }
  }
  for (size_t i = 0; i < holders.size(); ++i) {
    if (holders[i].serial == 0) continue;
    holders[i].tag = tag_info(tags[i]);
    holders[i].stack = tag_stack(tags[i]);
  }
  return holders;
}

}  // namespace hr
