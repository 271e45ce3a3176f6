// SPDX-License-Identifier: Apache-2.0
// The system resource and the current one.
#include "headrace/memory/resource/resource.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/resource/default_resource.h"
#include "headrace/memory/resource/guard.h"
#include "headrace/memory/resource/pool.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <limits>
#include <malloc.h>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kAlignment = 64;
constexpr size_t kLarge = kLeastMapped;

class SystemResource {
 public:
  void* allocate(Stream, size_t bytes, size_t alignment) {
    check_request(bytes, alignment);
    alignment = std::max(alignment, kAlignment);
    // At least one unit: a block of 0 bytes has an address of its own too.
    const size_t rounded = std::max((bytes + alignment - 1) / alignment, size_t{1}) * alignment;
    void* pointer =
        bytes >= kLarge ? map(bytes, alignment) : std::aligned_alloc(alignment, rounded);
    if (!pointer)
      throw OutOfMemoryError(
          error_message("allocate", "the system refused memory", {{"bytes", bytes}},
                        "free memory or set hr.memory.limit below the machine's memory"),
          static_cast<int64_t>(bytes));
    return pointer;
  }

  void deallocate(Stream, void* pointer, size_t bytes, size_t) noexcept {
    if (bytes >= kLarge) {
      munmap(pointer, mapped_bytes(bytes));
      return;
    }
    std::free(pointer);
    give_pages_back(static_cast<int64_t>(bytes));
  }

  MemoryProperties properties() const { return {.place = host, .movable = true}; }

  std::string describe() const { return "system"; }

 private:
  // Malloc keeps the pages of what it gets back, in no budget's count.
  void give_pages_back([[maybe_unused]] int64_t bytes) noexcept {
#ifdef __GLIBC__
    const int64_t limit = host_limit();
    if (limit == std::numeric_limits<int64_t>::max()) return;
    if (kept_by_malloc_.fetch_add(bytes, std::memory_order_relaxed) + bytes < limit / 128) return;
    kept_by_malloc_ = 0;
    malloc_trim(0);
#endif
  }

  static size_t mapped_bytes(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

  // Aligned for huge pages: 160 MB cost 77 page faults instead of 39,063.
  static void* map(size_t bytes, size_t alignment) {
    const bool huge = bytes >= kHugePage;
    alignment = std::max(alignment, huge ? kHugePage : size_t{4096});
    const size_t size = mapped_bytes(bytes);
    void* base = mmap(nullptr, size + alignment, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<uintptr_t>(base);
    const uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
    if (aligned > begin) munmap(base, aligned - begin);
    const uintptr_t end = begin + size + alignment;
    if (end > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
    if (huge) madvise(reinterpret_cast<void*>(aligned), size, MADV_HUGEPAGE);
    return reinterpret_cast<void*>(aligned);
  }

  std::atomic<int64_t> kept_by_malloc_{0};
};

// The pool as a resource that is never destroyed.
class DefaultPool {
 public:
  void* allocate(Stream s, size_t n, size_t a) { return default_pool().allocate(s, n, a); }

  void deallocate(Stream s, void* p, size_t n, size_t a) noexcept {
    default_pool().deallocate(s, p, n, a);
  }

  MemoryProperties properties() const { return default_pool().properties(); }

  std::string describe() const { return default_pool().describe(); }
};

AnyResource first_resource() {
  const char* const debug = std::getenv("HEADRACE_DEBUG_MEMORY");
  if (debug && std::string_view(debug) != "0")
    return AnyResource(std::make_shared<GuardResource>());
  return AnyResource(std::make_shared<DefaultPool>());
}

// What was set for places. The host's default is not in the list, so no thread waits for the lock
// as long as nothing was set.
struct SetResources {
  std::mutex mutex;
  std::vector<std::pair<Place, AnyResource>> resources;
  std::atomic<bool> any{false};
  const AnyResource default_resource = first_resource();

  SetResources() { lock_over_fork(mutex); }

  AnyResource* find(Place place) {
    for (auto& [at, resource] : resources)
      if (at == place) return &resource;
    return nullptr;
  }
};

SetResources& set_resources() {
  return process_global<SetResources>();
}

// By kind of place; filled before main.
constinit std::array<AnyResource (*)(Place), kPlaceKinds> device_resources{};

// Entered before main.
int64_t (*find_host_limit)() = nullptr;

constinit thread_local ScopedResource* innermost = nullptr;

}  // namespace

void check_request(size_t bytes, size_t alignment) {
  if (bytes > kMostRequestBytes)
    throw OutOfMemoryError(
        error_message("allocate", "more memory than any machine has", {{"bytes", bytes}}),
        std::numeric_limits<int64_t>::max());
  if (!std::has_single_bit(alignment) || alignment > size_t{1} << 30)
    throw_error<InvalidArgumentError>("allocate",
                                      "the alignment is not a power of two of at most 1 GiB",
                                      {{"alignment", alignment}});
}

AnyResource system_resource() {
  return process_global([] { return AnyResource(std::make_shared<SystemResource>()); });
}

void set_device_resource(PlaceKind kind, AnyResource (*make)(Place)) {
  device_resources[static_cast<size_t>(kind)] = make;
}

AnyResource current_resource(Place place) {
  for (const ScopedResource* scope = innermost; scope; scope = scope->outer_)
    if (scope->place_ == place) return scope->resource_;
  SetResources& set = set_resources();
  if (set.any.load(std::memory_order_acquire)) {
    const std::lock_guard lock(set.mutex);
    if (const AnyResource* found = set.find(place)) return *found;
  }
  const auto make = device_resources[static_cast<size_t>(place.kind)];
  return make ? make(place) : set.default_resource;
}

const AnyResource& default_resource() {
  return set_resources().default_resource;
}

const AnyResource* default_resource_in_force() {
  for (const ScopedResource* scope = innermost; scope; scope = scope->outer_)
    if (scope->place_.is_host()) return nullptr;
  SetResources& set = set_resources();
  if (set.any.load(std::memory_order_acquire)) {
    const std::lock_guard lock(set.mutex);
    if (set.find(host)) return nullptr;
  }
  return &set.default_resource;
}

int64_t host_limit() {
  return find_host_limit ? find_host_limit() : INT64_MAX;
}

void set_host_limit(int64_t (*limit)()) {
  find_host_limit = limit;
}

void set_current_resource(Place place, AnyResource resource) {
  const Place gives = resource.properties().place;
  if (gives != place)
    throw_error<InvalidArgumentError>("set_current_resource",
                                      "the resource allocates memory in another place",
                                      {{"place", place.name()}, {"resource", gives.name()}});
  SetResources& set = set_resources();
  std::vector<std::pair<Place, AnyResource>> former;  // may end with the call, after the lock
  const std::lock_guard lock(set.mutex);
  const auto found = std::find_if(set.resources.begin(), set.resources.end(),
                                  [&](const auto& each) { return each.first == place; });
  if (found != set.resources.end()) {
    former.push_back(std::move(*found));
    set.resources.erase(found);
  }
  if (!(resource == set.default_resource)) set.resources.emplace_back(place, std::move(resource));
  set.any.store(!set.resources.empty(), std::memory_order_release);
}

ScopedResource::ScopedResource(AnyResource resource)
    : resource_(std::move(resource)), place_(resource_.properties().place), outer_(innermost) {
  innermost = this;
}

ScopedResource::~ScopedResource() {
  for (ScopedResource** scope = &innermost; *scope; scope = &(*scope)->outer_)
    if (*scope == this) {
      *scope = outer_;
      return;
    }
}

BorrowedScopes::BorrowedScopes(ScopedResource* scopes)
    : before_(std::exchange(innermost, scopes)) {}

BorrowedScopes::~BorrowedScopes() {
  innermost = before_;
}

ScopedResource* innermost_scope() {
  return innermost;
}

}  // namespace hr
