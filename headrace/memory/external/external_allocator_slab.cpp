// SPDX-License-Identifier: Apache-2.0
// Slabs: size classes of small blocks, each behind a lock of its own.
#include "headrace/memory/external/external_allocator_slab.h"

#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/external/external_allocator.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/sync/spin_lock.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>

namespace hr {

namespace {

constexpr size_t kLeastSlab = size_t{64} << 10;
constexpr size_t kLeastBlocks = 7;
constexpr int kMostWaiting = 4;  // of one class: a step that makes and drops 20 arrays needs three
constexpr size_t kLargestUnaligned = 1024;  // larger blocks begin at whole cache lines
constexpr int kClasses = 8 + 4 * 10;  // 16, 32, ... 128, then four to a doubling up to 128 KiB
constexpr Tag kFreeBlock = ~Tag{0} - 1;

}  // namespace

// At the start of its own buffer, its blocks behind it.
struct alignas(64) Slab {
  Buffer buffer;
  Slab* previous = nullptr;  // among all slabs of the class
  Slab* next = nullptr;
  Slab* previous_open = nullptr;  // among those with a free block
  Slab* next_open = nullptr;
  BlockHeader* free = nullptr;
  int index = 0;
  int used = 0;
  int begun = 0;  // blocks that were handed out at least once
  int count = 0;
};

namespace {

struct alignas(64) SizeClass {
  SpinLock lock;
  Slab* all = nullptr;
  Slab* open = nullptr;
  int waiting = 0;  // slabs without a block
};

constinit std::array<SizeClass, kClasses> classes{};

SizeClass& size_class(int index) {
  return classes[static_cast<size_t>(index)];
}

void lock_all() {
  for (SizeClass& sizes : classes) sizes.lock.lock();
}

void unlock_all() {
  for (SizeClass& sizes : classes) sizes.lock.unlock();
}

int class_of(size_t bytes) {
  if (bytes <= 128) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 16);
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes
  const size_t quarter = (size_t{1} << doubling) / 4;
  const size_t steps = (bytes - (size_t{1} << doubling) + quarter - 1) / quarter;
  return 7 + (doubling - 7) * 4 + static_cast<int>(steps);
}

size_t class_bytes(int index) {
  if (index < 8) return 16 * static_cast<size_t>(index + 1);
  const int step = index - 7;
  const size_t base = size_t{128} << (step / 4);
  return base + base / 4 * static_cast<size_t>(step % 4);
}

// Between one block's header and the next one's.
size_t stride(int index) {
  const size_t bytes = class_bytes(index);
  return bytes + (bytes > kLargestUnaligned ? 64 : sizeof(BlockHeader));
}

size_t slab_bytes(int index) {
  return std::max(kLeastSlab, sizeof(Slab) + kLeastBlocks * stride(index));
}

BlockHeader* block_of(Slab* slab, int number) {
  // The block begins where the first header would end, or 64 bytes behind the slab.
  const size_t first = sizeof(Slab) + stride(slab->index) - class_bytes(slab->index);
  auto* const begin = reinterpret_cast<std::byte*>(slab) + first;
  return reinterpret_cast<BlockHeader*>(begin + stride(slab->index) * static_cast<size_t>(number)) -
         1;
}

template <Slab* Slab::* previous, Slab* Slab::* next>
void link(Slab*& first, Slab* slab) {
  slab->*previous = nullptr;
  slab->*next = first;
  if (first) first->*previous = slab;
  first = slab;
}

template <Slab* Slab::* previous, Slab* Slab::* next>
void unlink(Slab*& first, Slab* slab) {
  (slab->*previous ? slab->*previous->*next : first) = slab->*next;
  if (slab->*next) slab->*next->*previous = slab->*previous;
}

void open_slab(SizeClass& sizes, Slab* slab) {
  link<&Slab::previous_open, &Slab::next_open>(sizes.open, slab);
}

void close_slab(SizeClass& sizes, Slab* slab) {
  unlink<&Slab::previous_open, &Slab::next_open>(sizes.open, slab);
}

// No lock of ours is held: this may trim, spill and wait.
Slab* new_slab(int index) {
  static const Tag tag = [] {
    // A fork takes what is registered last first: who holds our locks takes none.
    pthread_atfork(lock_all, unlock_all, unlock_all);
    return intern_tag("small arrays");
  }();
  const ScopedTag scope(tag);
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(slab_bytes(index)));
  mark_external(buffer, /*slab=*/true);
  auto* slab = new (buffer.mutable_data()) Slab;
  slab->buffer = std::move(buffer);
  slab->index = index;
  slab->count = static_cast<int>((slab_bytes(index) - sizeof(Slab)) / stride(index));
  return slab;
}

void enter(SizeClass& sizes, Slab* slab) {
  link<&Slab::previous, &Slab::next>(sizes.all, slab);
  open_slab(sizes, slab);
  ++sizes.waiting;
}

void leave(SizeClass& sizes, Slab* slab) {
  close_slab(sizes, slab);
  unlink<&Slab::previous, &Slab::next>(sizes.all, slab);
  --sizes.waiting;
}

void free_slab(Slab* slab) {
  const Buffer last = std::move(slab->buffer);
}

}  // namespace

BlockHeader* allocate_in_slab(size_t bytes, Tag tag) {
  const int index = class_of(bytes);
  SizeClass& sizes = size_class(index);
  std::unique_lock lock(sizes.lock);
  if (!sizes.open) {
    lock.unlock();
    Slab* const made = new_slab(index);
    lock.lock();
    enter(sizes, made);
  }
  Slab* const slab = sizes.open;
  BlockHeader* block = slab->free;
  if (block)
    slab->free = block->next_free;
  else
    block = block_of(slab, slab->begun++);
  block->slab = slab;
  block->tag = tag;
  block->serial = static_cast<uint32_t>(present_serial());
  if (slab->used++ == 0) --sizes.waiting;
  if (slab->used == slab->count) close_slab(sizes, slab);
  return block;
}

void free_in_slab(BlockHeader* block) noexcept {
  Slab* const slab = block->slab;
  SizeClass& sizes = size_class(slab->index);
  std::unique_lock lock(sizes.lock);
  block->tag = kFreeBlock;
  block->next_free = slab->free;
  slab->free = block;
  if (slab->used-- == slab->count) open_slab(sizes, slab);
  if (slab->used > 0 || ++sizes.waiting <= kMostWaiting) return;
  leave(sizes, slab);
  lock.unlock();
  free_slab(slab);
}

size_t slab_block_bytes(const BlockHeader* block) noexcept {
  return class_bytes(block->slab->index);
}

int64_t trim_external() noexcept {
  int64_t freed = 0;
  for (int index = 0; index < kClasses; ++index) {
    SizeClass& sizes = size_class(index);
    for (;;) {
      std::unique_lock lock(sizes.lock);
      Slab* slab = sizes.open;
      while (slab && slab->used > 0) slab = slab->next_open;
      if (!slab) break;
      leave(sizes, slab);
      lock.unlock();
      free_slab(slab);
      freed += static_cast<int64_t>(slab_bytes(index));
    }
  }
  return freed;
}

std::vector<Holder> slab_holders(uint64_t serial) {
  std::map<Tag, int64_t> sums;
  for (int index = 0; index < kClasses; ++index) {
    SizeClass& sizes = size_class(index);
    const std::lock_guard lock(sizes.lock);
    for (Slab* slab = sizes.all; slab; slab = slab->next)
      for (int i = 0; i < slab->begun; ++i) {
        const BlockHeader* const block = block_of(slab, i);
        const auto age = static_cast<int32_t>(block->serial - static_cast<uint32_t>(serial));
        if (block->tag != kFreeBlock && (serial == 0 || age > 0))
          sums[block->tag] += static_cast<int64_t>(class_bytes(index));
      }
  }
  std::vector<Holder> holders;
  for (const auto& [tag, bytes] : sums) {
    Holder& holder = holders.emplace_back();
    holder.bytes = holder.resident_bytes = bytes;
    holder.tag = tag_info(tag);
    holder.stack = tag_stack(tag);
    holder.external = true;
    holder.stays = "allocated by another library";
  }
  return holders;
}

}  // namespace hr
