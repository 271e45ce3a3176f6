// SPDX-License-Identifier: Apache-2.0
// The pool of size classes.
#include "headrace/memory/pool.h"

#include "headrace/memory/buffer_rep.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sys/mman.h>

namespace hr {

namespace {

constexpr size_t kSmallest = 64;
// Small blocks that a thread keeps: 16 of each class up to 64 KiB.
constexpr size_t kLargestOfThread = size_t{64} << 10;
constexpr size_t kBlocksOfThread = 16;
constexpr int kClassesOfThread = 4 * 10 + 1;
constexpr size_t kAlignment = 64;
// From here on a block is counted by its resident pages, and chosen by them.
constexpr size_t kCounted = size_t{4} << 20;
constexpr size_t kPage = 4096;
constexpr int64_t kMostSlack = int64_t{1} << 20;

}  // namespace

// Class i holds blocks of 64 * 2^(i / 4) * (1 + (i mod 4) / 4) bytes.
int PoolResource::class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes
  const size_t quarter = (size_t{1} << doubling) / 4;
  const size_t steps = (bytes - (size_t{1} << doubling) + quarter - 1) / quarter;
  return (doubling - 6) * 4 + static_cast<int>(steps);
}

size_t PoolResource::class_bytes(int index) {
  const size_t base = kSmallest << (index / 4);
  return base + base / 4 * static_cast<size_t>(index % 4);
}

bool PoolResource::counts_pages(const void* block, size_t size) const noexcept {
  return size >= kCounted && reinterpret_cast<uintptr_t>(block) % kPage == 0 &&
         upstream_.properties().place.is_host();
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

// Plain data apart from its destructor, which hands the blocks on when the thread ends.
struct PoolResource::ThreadCache {
  std::array<std::array<void*, kBlocksOfThread>, kClassesOfThread> blocks;
  std::array<uint8_t, kClassesOfThread> counts{};
  bool ended = false;

  ~ThreadCache() {
    ended = true;
    for (size_t c = 0; c < counts.size(); ++c)
      for (; counts[c] > 0; --counts[c]) {
        default_pool().cached_ -= static_cast<int64_t>(class_bytes(static_cast<int>(c)));
        default_pool().give_back(static_cast<int>(c), blocks[c][counts[c] - 1u]);
      }
  }
};

PoolResource::ThreadCache& PoolResource::thread_cache() {
  thread_local ThreadCache cache;
  return cache;
}

PoolResource::PoolResource(AnyResource upstream, int64_t most_cached)
    : upstream_(std::move(upstream)), most_cached_(most_cached) {}

PoolResource::~PoolResource() {
  trim();
}

void* PoolResource::allocate(Stream stream, size_t bytes, size_t alignment) {
  if (alignment > kAlignment) return upstream_.allocate(stream, bytes, alignment);
  const int index = class_of(bytes);
  const size_t size = class_bytes(index);
  void* block = nullptr;
  auto counted = static_cast<int64_t>(size);
  if (thread_caches_ && size <= kLargestOfThread && !thread_cache().ended) {
    ThreadCache& cache = thread_cache();
    const auto c = static_cast<size_t>(index);
    if (cache.counts[c] > 0) block = cache.blocks[c][--cache.counts[c]];
  }
  if (!block) {
    Class& list = classes_[static_cast<size_t>(index)];
    const std::lock_guard lock(list.mutex);
    if (!list.blocks.empty()) {
      auto best = std::prev(list.blocks.end());
      // Of large blocks the one that needs the fewest new pages and wastes the fewest.
      const auto wanted = static_cast<int64_t>(bytes);
      for (auto it = best; size >= kCounted && it-- != list.blocks.begin();)
        if (std::abs(it->bytes - wanted) < std::abs(best->bytes - wanted)) best = it;
      block = best->block;
      counted = best->bytes;
      list.blocks.erase(best);
    }
  }
  if (!block) return upstream_.allocate(stream, size, kAlignment);
  cached_ -= counted;
  // Used bytes are what was asked for, so pages beyond them would be counted nowhere.
  const size_t end = (bytes + kPage - 1) / kPage * kPage;
  if (counts_pages(block, size) && counted > static_cast<int64_t>(end) + kMostSlack)
    madvise(static_cast<char*>(block) + end, size - end, MADV_DONTNEED);
  return block;
}

void PoolResource::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  if (alignment > kAlignment) return upstream_.deallocate(stream, pointer, bytes, alignment);
  const int index = class_of(bytes);
  const size_t size = class_bytes(index);
  if (thread_caches_ && size <= kLargestOfThread && !thread_cache().ended) {
    ThreadCache& cache = thread_cache();
    const auto c = static_cast<size_t>(index);
    if (cache.counts[c] < kBlocksOfThread) {
      cache.blocks[c][cache.counts[c]++] = pointer;
      cached_ += static_cast<int64_t>(size);
      return;
    }
  }
  give_back(index, pointer);
}

void PoolResource::give_back(int index, void* block) noexcept {
  const size_t size = class_bytes(index);
  const int64_t counted = resident_bytes(block, size);
  if (static_cast<int64_t>(size) <= most_cached_) {
    Class& list = classes_[static_cast<size_t>(index)];
    bool waits = true;
    {
      const std::lock_guard lock(list.mutex);
      try {
        list.blocks.push_back({block, counted});
      } catch (...) {  // no room for the list itself: the block goes upstream
        waits = false;
      }
    }
    if (waits) {
      if (cached_.fetch_add(counted) + counted > most_cached_) make_room(index);
      return;
    }
  }
  upstream_.deallocate(Stream{}, block, size, kAlignment);
}

// What was given back last is asked for soonest, so blocks of other classes go first, in turn: else
// the blocks of a step that is over would keep those of the next one from waiting here.
void PoolResource::make_room(int index) noexcept {
  for (int tries = 0; tries <= 2 * kClasses && cached_ > most_cached_; ++tries) {
    const auto turn = static_cast<int>(turn_++ % kClasses);
    if (turn == index && tries < kClasses) continue;
    Class& list = classes_[static_cast<size_t>(turn)];
    while (cached_ > most_cached_) {
      Waiting waiting;
      {
        const std::lock_guard lock(list.mutex);
        if (list.blocks.empty()) break;
        waiting = list.blocks.front();  // the one that waits longest
        list.blocks.erase(list.blocks.begin());
      }
      cached_ -= waiting.bytes;
      upstream_.deallocate(Stream{}, waiting.block, class_bytes(turn), kAlignment);
    }
  }
}

int64_t PoolResource::trim() {
  int64_t freed = 0;
  for (int index = 0; index < kClasses; ++index) {
    std::vector<Waiting> blocks;
    {
      Class& list = classes_[static_cast<size_t>(index)];
      const std::lock_guard lock(list.mutex);
      blocks.swap(list.blocks);
    }
    for (const Waiting& waiting : blocks) {
      upstream_.deallocate(Stream{}, waiting.block, class_bytes(index), kAlignment);
      freed += waiting.bytes;
    }
  }
  cached_ -= freed;
  return freed;
}

PoolResource& default_pool() {
  static PoolResource* const leaked = [] {
    auto* pool = new PoolResource(system_resource());
    pool->enable_thread_caches();
    for (PoolResource::Class& list : pool->classes_) lock_over_fork(list.mutex);
    return pool;
  }();
  return *leaked;
}

}  // namespace hr
