// SPDX-License-Identifier: Apache-2.0
// The list of resources that keep free blocks.
#include "headrace/memory/resource/cached_blocks.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/resource/pool.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace hr {

namespace {

struct BlockCaches {
  ForkMutex mutex;
  std::vector<BlockCache> caches;
  std::atomic<size_t> count{0};
};

BlockCaches& block_caches() {
  return process_global<BlockCaches>();
}

// The sum over those that live, which are called without the lock: trimming may wait for Python.
int64_t sum(Place place, int64_t (*BlockCache::*function)(void*)) {
  BlockCaches& all = block_caches();
  if (all.count.load(std::memory_order_acquire) == 0) return 0;
  std::vector<std::pair<std::shared_ptr<void>, int64_t (*)(void*)>> live;
  {
    const std::lock_guard lock(all.mutex);
    for (const BlockCache& cache : all.caches)
      if (cache.place == place)
        if (std::shared_ptr<void> resource = cache.resource.lock())
          live.emplace_back(std::move(resource), cache.*function);
  }
  int64_t bytes = 0;
  for (const auto& [resource, call] : live) bytes += call(resource.get());
  return bytes;
}

}  // namespace

void note_block_cache(BlockCache cache) {
  BlockCaches& all = block_caches();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.caches, [&](const BlockCache& other) {
    const bool same = !other.resource.owner_before(cache.resource) &&
                      !cache.resource.owner_before(other.resource);
    return same || other.resource.expired();
  });
  all.caches.push_back(std::move(cache));
  all.count.store(all.caches.size(), std::memory_order_release);
}

int64_t cached_bytes(Place place) {
  return (place.is_host() ? default_pool().cached_bytes() : 0) +
         sum(place, &BlockCache::cached_bytes);
}

int64_t trim_caches(Place place) {
  // The others first: what they give back may come from the default pool.
  const int64_t freed = sum(place, &BlockCache::trim);
  return freed + (place.is_host() ? default_pool().trim() : 0);
}

}  // namespace hr
