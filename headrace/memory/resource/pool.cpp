// SPDX-License-Identifier: Apache-2.0
// The pool of size classes.
#include "headrace/memory/resource/pool.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/resource/default_resource.h"
#include "headrace/memory/resource/machine_memory.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sanitizer/asan_interface.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hr {

namespace {

constexpr size_t kSmallest = 64;
constexpr size_t kAlignment = 64;
// A shard keeps at most 16 blocks of each class up to 2 MiB; all shards together keep at most half
// of what may wait.
constexpr int kShardClasses = 4 * 15 + 1;
constexpr size_t kBlocksOfShard = 16;
// From here on a block is counted by its resident pages, and chosen by them.
constexpr size_t kCounted = size_t{4} << 20;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr int64_t kMostSlack = int64_t{1} << 20;
constexpr int64_t kSlackOfLimit = 512;  // the share of a limit that a block may waste
constexpr int kMostYields = 1000;

// Held for some 50 ns at a time, so a try or two get it, where going to sleep costs microseconds.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  for (int tries = 0; tries < 100; ++tries)
    if (std::unique_lock lock(mutex, std::try_to_lock); lock) return lock;
  return std::unique_lock(mutex);
}

}  // namespace

struct alignas(128) PoolResource::ShardBlocks {
  std::array<uint8_t, kShardClasses> counts{};
  std::array<std::array<void*, kBlocksOfShard>, kShardClasses> blocks;
};

PoolResource::Shard::Shard() = default;

PoolResource::Shard::~Shard() = default;

void* PoolResource::Shard::pop(int index, size_t size) {
  const auto c = static_cast<size_t>(index);
  const auto lock = lock_soon(mutex);
  if (!blocks || blocks->counts[c] == 0) return nullptr;
  cached.store(cached.load(std::memory_order_relaxed) - static_cast<int64_t>(size),
               std::memory_order_relaxed);
  return blocks->blocks[c][--blocks->counts[c]];
}

// What a shard gives to the classes of all.
struct PoolResource::Evicted {
  int index = 0;
  size_t count = 0;
  std::array<void*, kBlocksOfShard> blocks;
};

bool PoolResource::Shard::push(int index, size_t size, void* block, int64_t most_cached,
                               Evicted& out) noexcept {
  const auto c = static_cast<size_t>(index);
  const auto lock = lock_soon(mutex);
  if (!blocks) blocks.reset(new (std::nothrow) ShardBlocks);
  if (!blocks || blocks->counts[c] == kBlocksOfShard) return false;
  int64_t bytes = cached.load(std::memory_order_relaxed) + static_cast<int64_t>(size);
  // Full of what is asked for no longer, perhaps: one class goes, in turn.
  for (int tries = 0; bytes > most_cached && out.count == 0 && tries < kShardClasses; ++tries) {
    turn = (turn + 1) % kShardClasses;
    uint8_t& count = blocks->counts[static_cast<size_t>(turn)];
    if (turn == index || count == 0) continue;
    out.index = turn;
    out.count = count;
    out.blocks = blocks->blocks[static_cast<size_t>(turn)];
    bytes -= count * static_cast<int64_t>(class_bytes(turn));
    cached.store(bytes - static_cast<int64_t>(size), std::memory_order_relaxed);
    count = 0;
  }
  if (bytes > most_cached) return false;
  cached.store(bytes, std::memory_order_relaxed);
  blocks->blocks[c][blocks->counts[c]++] = block;
  return true;
}

// Class i holds blocks of 64 * 2^(i / 4) * (1 + (i mod 4) / 4) bytes.
int PoolResource::class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes
  const size_t last = bytes - 1 - (size_t{1} << doubling);
  return (doubling - 6) * 4 + static_cast<int>(last >> (doubling - 2)) + 1;
}

size_t PoolResource::class_bytes(int index) {
  const size_t base = kSmallest << (index / 4);
  return base + base / 4 * static_cast<size_t>(index % 4);
}

bool PoolResource::counts_pages(const void* block, size_t size) const noexcept {
  return size >= kCounted && reinterpret_cast<uintptr_t>(block) % kPage == 0 && on_host_;
}

// What the system says: a block may never have been touched whole, or was shrunk.
int64_t PoolResource::resident_bytes(const void* block, size_t size) const noexcept {
  if (!counts_pages(block, size)) return static_cast<int64_t>(size);
  const auto begin = reinterpret_cast<uintptr_t>(block);
  std::array<unsigned char, 8192> pages;
  int64_t resident = 0;
  for (size_t done = 0; done < size; done += pages.size() * kPage) {
    const size_t bytes = std::min(size - done, pages.size() * kPage);
    const size_t count = (bytes + kPage - 1) / kPage;
    if (mincore(reinterpret_cast<void*>(begin + done), bytes, pages.data()) != 0)
      return static_cast<int64_t>(size);
    for (size_t i = 0; i < count; ++i) resident += pages[i] & 1;
  }
  return resident * static_cast<int64_t>(kPage);
}

PoolResource::PoolResource(AnyResource upstream, int64_t most_cached)
    : upstream_(std::move(upstream)),
      on_host_(upstream_.properties().place.is_host()),
      most_cached_(most_cached) {}

PoolResource::~PoolResource() {
  trim();
}

void* PoolResource::allocate(Stream stream, size_t bytes, size_t alignment) {
  check_request(bytes, alignment);
  if (alignment > kAlignment) return from_upstream(stream, bytes, alignment);
  const int index = class_of(bytes);
  const size_t size = class_bytes(index);
  Waiting found;
  if (index < kShardClasses) found.block = shard().pop(index, size);
  if (!found.block) found = take_waiting(index, bytes);
  if (!found.block) found.block = from_upstream(stream, size, kAlignment);
  const size_t end = (bytes + kPage - 1) / kPage * kPage;
  // Large blocks may leave for the disk, which takes whole pages.
  if (on_host_)
    ASAN_UNPOISON_MEMORY_REGION(found.block, bytes < kPage ? bytes : std::min(end, size));
  if (counts_pages(found.block, size)) drop_tail(found, end, size);
  return found.block;
}

// Used bytes are what was asked for, so pages beyond them would be counted nowhere.
void PoolResource::drop_tail(const Waiting& found, size_t end, size_t size) noexcept {
  const int64_t limit = host_limit();
  char* const block = static_cast<char*>(found.block);
  if (found.bytes > static_cast<int64_t>(end) + std::min(kMostSlack, limit / kSlackOfLimit))
    madvise(block + end, size - end, MADV_DONTNEED);
  // The last huge page would bring some.
  const size_t last = end / kHugePage * kHugePage;
  if (limit != INT64_MAX && last < end && size >= last + kHugePage)
    madvise(block + last, size - last, MADV_NOHUGEPAGE);
}

void PoolResource::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  if (alignment > kAlignment) return upstream_.deallocate(stream, pointer, bytes, alignment);
  const int index = class_of(bytes);
  const size_t size = class_bytes(index);
  if (on_host_) ASAN_POISON_MEMORY_REGION(pointer, size);
  Evicted evicted;
  const bool kept = index < kShardClasses &&
                    shard().push(index, size, pointer, most_cached_ / (2 * kShards), evicted);
  if (!kept && !keep_waiting(index, pointer)) to_upstream(index, pointer);
  for (size_t i = 0; i < evicted.count; ++i)
    if (!keep_waiting(evicted.index, evicted.blocks[i]))
      to_upstream(evicted.index, evicted.blocks[i]);
}

// Asks again as long as blocks that waited here, or were on their way back, may have been missing.
void* PoolResource::from_upstream(Stream stream, size_t bytes, size_t alignment) {
  for (int yields = 0;;) {
    const uint64_t before = given_back_;
    try {
      return upstream_.allocate(stream, bytes, alignment);
    } catch (const OutOfMemoryError&) {
      if (trim(static_cast<int64_t>(bytes)) > 0) continue;
      const bool on_their_way = giving_back_ > 0;
      if (given_back_ != before) continue;
      if (!on_their_way || ++yields > kMostYields) throw;
    }
    sched_yield();
  }
}

void PoolResource::to_upstream(int index, void* block) noexcept {
  const size_t size = class_bytes(index);
  if (on_host_) ASAN_UNPOISON_MEMORY_REGION(block, size);
  upstream_.deallocate(Stream{}, block, size, kAlignment);
}

PoolResource::Waiting PoolResource::take_waiting(int index, size_t bytes) {
  std::vector<Waiting>& blocks = classes_[static_cast<size_t>(index)];
  const auto lock = lock_soon(mutex_);
  if (blocks.empty()) return {};
  auto best = std::prev(blocks.end());
  // Of large blocks the one that needs the fewest new pages and wastes the fewest.
  const auto wanted = static_cast<int64_t>(bytes);
  for (auto it = best; bytes >= kCounted && it-- != blocks.begin();)
    if (std::abs(it->bytes - wanted) < std::abs(best->bytes - wanted)) best = it;
  const Waiting found = *best;
  blocks.erase(best);
  cached_ -= found.bytes;
  return found;
}

bool PoolResource::keep_waiting(int index, void* block) noexcept {
  const size_t size = class_bytes(index);
  const int64_t counted = resident_bytes(block, size);
  if (static_cast<int64_t>(size) > most_cached_) return false;
  {
    const auto lock = lock_soon(mutex_);
    try {
      classes_[static_cast<size_t>(index)].push_back({block, counted});
    } catch (...) {  // no room for the list itself
      return false;
    }
    cached_ += counted;
  }
  if (cached_bytes() > most_cached_) make_room(index);
  return true;
}

// What was given back last is asked for soonest, so blocks of other classes go first, in turn: else
// the blocks of a step that is over would keep those of the next one from waiting here.
void PoolResource::make_room(int index) noexcept {
  ++giving_back_;
  for (int tries = 0; tries <= 2 * kClasses && cached_bytes() > most_cached_; ++tries) {
    const auto turn = static_cast<int>(turn_++ % kClasses);
    if (turn == index && tries < kClasses) continue;
    std::vector<Waiting>& blocks = classes_[static_cast<size_t>(turn)];
    while (cached_bytes() > most_cached_) {
      void* block = nullptr;
      {
        const auto lock = lock_soon(mutex_);
        if (blocks.empty()) break;
        block = blocks.front().block;  // the one that waits longest
        cached_ -= blocks.front().bytes;
        blocks.erase(blocks.begin());
      }
      to_upstream(turn, block);
      ++given_back_;
    }
  }
  --giving_back_;
}

// One block at a time and without a lock while it goes, since upstream may wait for others.
int64_t PoolResource::trim(int64_t at_least) noexcept {
  int64_t freed = 0;
  ++giving_back_;
  for (int index = kClasses - 1; index >= 0; --index) {
    const auto size = static_cast<int64_t>(class_bytes(index));
    const auto give_back = [&](void* block, int64_t bytes) {
      to_upstream(index, block);
      ++given_back_;
      freed += bytes;
    };
    while (freed < at_least) {
      const Waiting found = take_waiting(index, 0);
      if (!found.block) break;
      give_back(found.block, found.bytes);
    }
    if (index >= kShardClasses) continue;
    for (Shard& each : shards_)
      while (freed < at_least) {
        void* const block = each.pop(index, static_cast<size_t>(size));
        if (!block) break;
        give_back(block, size);
      }
  }
  --giving_back_;
  return freed;
}

int64_t PoolResource::cached_bytes() const {
  int64_t bytes = cached_;
  for (const Shard& each : shards_) bytes += each.cached.load(std::memory_order_relaxed);
  return bytes;
}

PoolResource& default_pool() {
  return process_global([] {
    return PoolResource(system_resource(), std::max(int64_t{1} << 30, machine_memory() / 4));
  });
}

}  // namespace hr
