// SPDX-License-Identifier: Apache-2.0
// The system resource and the current one.
#include "headrace/memory/resource.h"

#include "headrace/base/error.h"

#include <cstdlib>
#include <optional>

namespace hr {

namespace {

class SystemResource {
 public:
  void* allocate(Stream, size_t bytes, size_t alignment) {
    void* pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!pointer)
      throw OutOfMemoryError(
          error_message("allocate", "the system gives no memory", {{"bytes", bytes}}));
    return pointer;
  }

  void deallocate(Stream, void* pointer, size_t, size_t) noexcept { std::free(pointer); }

  MemoryProperties properties() const { return {}; }
};

thread_local std::optional<AnyResource> scoped;

std::optional<AnyResource>& host_resource() {
  static auto* const leaked = new std::optional<AnyResource>;
  return *leaked;
}

}  // namespace

AnyResource system_resource() {
  static auto* const leaked = new AnyResource(std::make_shared<SystemResource>());
  return *leaked;
}

AnyResource current_resource(Place) {
  if (scoped) return *scoped;
  if (host_resource()) return *host_resource();
  return system_resource();
}

void set_current_resource(Place, AnyResource resource) {
  host_resource() = std::move(resource);
}

ScopedResource::ScopedResource(AnyResource resource)
    : previous_(scoped ? *scoped : resource), had_previous_(scoped.has_value()) {
  scoped = std::move(resource);
}

ScopedResource::~ScopedResource() {
  if (had_previous_)
    scoped = previous_;
  else
    scoped.reset();
}

}  // namespace hr
