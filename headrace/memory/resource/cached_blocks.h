// SPDX-License-Identifier: Apache-2.0
// All resources that keep free blocks: counted together, trimmed together.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"

#include <cstdint>
#include <memory>

namespace hr {

/// A resource that keeps free blocks, as its `cached_bytes()` and `trim()`.
struct BlockCache {
  std::weak_ptr<void> resource;
  Place place;
  int64_t (*cached_bytes)(void* resource);
  int64_t (*trim)(void* resource);
};

/// Takes a resource into the list, once, for as long as it lives. AnyResource calls it for those
/// that have both functions.
HR_API void note_block_cache(BlockCache cache);

/// Free bytes that resources of the place keep, the default pool's included.
HR_API int64_t cached_bytes(Place place = host);

/// Makes all resources of the place give back what they keep; the bytes.
HR_API int64_t trim_caches(Place place = host);

}  // namespace hr
