// SPDX-License-Identifier: Apache-2.0
// Memory resources: where bytes come from. They stack, are shared by value and are type-erased.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hr {

/// Names an ordered queue of work; 0 is the default queue, which on the host runs at once.
struct Stream {
  uint64_t id = 0;
};

struct MemoryProperties {
  Place place;
  int64_t alignment = 64;  ///< what every block has at least
};

/// What a type must offer to be a resource. `allocate` throws OutOfMemoryError, never returns null;
/// `deallocate` gets the same size and alignment back. Both are safe to call from any thread.
template <class R>
concept memory_resource = requires(R& r, Stream s, void* p, size_t n, size_t a) {
  { r.allocate(s, n, a) } -> std::same_as<void*>;
  { r.deallocate(s, p, n, a) } noexcept;
  { r.properties() } -> std::same_as<MemoryProperties>;
};

/// A shared, owning handle on any resource. Copying shares; a buffer keeps the one that made it.
class AnyResource {
 public:
  template <class R>
    requires(!std::same_as<std::remove_cvref_t<R>, AnyResource> && memory_resource<R>)
  explicit AnyResource(std::shared_ptr<R> resource)
      : model_(std::make_shared<Model<R>>(std::move(resource))) {}

  void* allocate(Stream stream, size_t bytes, size_t alignment) const {
    return model_->allocate(stream, bytes, alignment);
  }

  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) const noexcept {
    model_->deallocate(stream, pointer, bytes, alignment);
  }

  MemoryProperties properties() const { return model_->properties(); }

  friend bool operator==(const AnyResource&, const AnyResource&) = default;

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual void* allocate(Stream, size_t, size_t) = 0;
    virtual void deallocate(Stream, void*, size_t, size_t) noexcept = 0;
    virtual MemoryProperties properties() = 0;
  };

  template <class R>
  struct Model final : Concept {
    explicit Model(std::shared_ptr<R> r) : resource(std::move(r)) {}

    void* allocate(Stream s, size_t n, size_t a) override { return resource->allocate(s, n, a); }

    void deallocate(Stream s, void* p, size_t n, size_t a) noexcept override {
      resource->deallocate(s, p, n, a);
    }

    MemoryProperties properties() override { return resource->properties(); }

    std::shared_ptr<R> resource;
  };

  std::shared_ptr<Concept> model_;
};

/// Pages straight from the system; large blocks are aligned and advised for huge pages.
HR_API AnyResource system_resource();

/// The resource that new buffers of the calling thread come from: the innermost ScopedResource of
/// this thread, else the one set for the place, else the default (the pool over the system).
HR_API AnyResource current_resource(Place place = host);
HR_API void set_current_resource(Place place, AnyResource resource);

/// Makes `resource` current for this thread until the end of the scope.
class HR_API ScopedResource {
 public:
  explicit ScopedResource(AnyResource resource);
  ~ScopedResource();
  ScopedResource(const ScopedResource&) = delete;
  ScopedResource& operator=(const ScopedResource&) = delete;

 private:
  AnyResource previous_;
  bool had_previous_;
};

}  // namespace hr
