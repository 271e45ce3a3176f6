// SPDX-License-Identifier: Apache-2.0
// Memory resources: where bytes come from. They stack, are shared by value and are type-erased.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/resource/cached_blocks.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace hr {

/// Names an ordered queue of work; 0 is the default queue, which on the host runs at once.
struct Stream {
  uint64_t id = 0;
};

struct MemoryProperties {
  Place place;
  int64_t alignment = 64;  ///< what every block has at least
  bool shared = false;     ///< other processes may map it: its pages stay where they are
  /// Blocks of at least 256 KiB are private mappings of their own: they can leave
  /// memory for the disk and come back at their address.
  bool movable = false;
};

/// What a type must offer to be a resource. `allocate` throws OutOfMemoryError, never returns null,
/// also for 0 bytes; `deallocate` gets the same size and alignment (a power of two) back. Both are
/// safe to call from any thread. No lock may be held while another resource is called: it may wait
/// for Python. `describe` is one line, "limit(2.0 GB) over pool over system".
template <class R>
concept memory_resource = requires(R& r, Stream s, void* p, size_t n, size_t a) {
  { r.allocate(s, n, a) } -> std::same_as<void*>;
  { r.deallocate(s, p, n, a) } noexcept;
  { r.properties() } -> std::same_as<MemoryProperties>;
  { r.describe() } -> std::same_as<std::string>;
};

/// A resource that keeps free blocks: they count against the budget, and `trim` gives them back
/// (the bytes). Safe to call from any thread.
template <class R>
concept caching_resource = memory_resource<R> && requires(R& r) {
  { r.cached_bytes() } -> std::same_as<int64_t>;
  { r.trim() } -> std::same_as<int64_t>;
};

/// No request of more bytes is ever met: sizes below it can be rounded and added without overflow.
inline constexpr size_t kMostRequestBytes = size_t{1} << 56;

/// Throws OutOfMemoryError beyond kMostRequestBytes, InvalidArgumentError unless `alignment` is a
/// power of two of at most 1 GiB. Resources call it before they do arithmetic on the size.
HR_API void check_request(size_t bytes, size_t alignment);

/// A shared, owning handle on any resource. Copying shares; a buffer keeps the one that made it.
/// Handles are equal when they stand for the same resource object.
class AnyResource {
 public:
  template <class R>
    requires(!std::same_as<std::remove_cvref_t<R>, AnyResource> && memory_resource<R>)
  explicit AnyResource(std::shared_ptr<R> resource) : model_(std::make_shared<Model<R>>(resource)) {
    if constexpr (caching_resource<R>)
      note_block_cache({resource, resource->properties().place,
                        [](void* r) { return static_cast<R*>(r)->cached_bytes(); },
                        [](void* r) { return static_cast<R*>(r)->trim(); }});
  }

  void* allocate(Stream stream, size_t bytes, size_t alignment) const {
    return model_->allocate(stream, bytes, alignment);
  }

  void deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) const noexcept {
    model_->deallocate(stream, pointer, bytes, alignment);
  }

  MemoryProperties properties() const { return model_->properties(); }

  std::string describe() const { return model_->describe(); }

  friend bool operator==(const AnyResource& a, const AnyResource& b) {
    return a.model_->object() == b.model_->object();
  }

 private:
  struct Concept {
    virtual ~Concept() = default;
    virtual void* allocate(Stream, size_t, size_t) = 0;
    virtual void deallocate(Stream, void*, size_t, size_t) noexcept = 0;
    virtual MemoryProperties properties() = 0;
    virtual std::string describe() = 0;
    virtual const void* object() const = 0;
  };

  template <class R>
  struct Model final : Concept {
    explicit Model(std::shared_ptr<R> r) : resource(std::move(r)) {}

    void* allocate(Stream s, size_t n, size_t a) override { return resource->allocate(s, n, a); }

    void deallocate(Stream s, void* p, size_t n, size_t a) noexcept override {
      resource->deallocate(s, p, n, a);
    }

    MemoryProperties properties() override { return resource->properties(); }

    std::string describe() override { return resource->describe(); }

    const void* object() const override { return resource.get(); }

    std::shared_ptr<R> resource;
  };

  std::shared_ptr<Concept> model_;
};

/// Pages straight from the system; large blocks are aligned and advised for huge pages.
HR_API AnyResource system_resource();

/// The resource that new buffers of the calling thread come from: the innermost ScopedResource of
/// this thread for the place, else the one set for the place, else the default (on the host the
/// pool over the system). Throws DeviceError for a device that is not there.
HR_API AnyResource current_resource(Place place = host);

/// Enters what makes the default resource of devices of a kind: a device does it for its own.
void set_device_resource(PlaceKind kind, AnyResource (*make)(Place));

/// Sets the resource of a place for all threads. Live buffers keep theirs. Throws
/// InvalidArgumentError when `resource` gives memory of another place.
HR_API void set_current_resource(Place place, AnyResource resource);

/// Makes `resource` current for its place on this thread until the end of the scope. A scope ends
/// on the thread that began it; scopes may end in any order.
class HR_API ScopedResource {
 public:
  explicit ScopedResource(AnyResource resource);
  ~ScopedResource();
  ScopedResource(const ScopedResource&) = delete;
  ScopedResource& operator=(const ScopedResource&) = delete;

 private:
  AnyResource resource_;
  Place place_;
  ScopedResource* outer_;

  friend HR_API AnyResource current_resource(Place);
  friend const AnyResource* default_resource_in_force();
};

/// Takes over the scopes of another thread, which must outlive this: for a worker that runs a part
/// of that thread's job.
class HR_API BorrowedScopes {
 public:
  explicit BorrowedScopes(ScopedResource* innermost);
  ~BorrowedScopes();
  BorrowedScopes(const BorrowedScopes&) = delete;
  BorrowedScopes& operator=(const BorrowedScopes&) = delete;

 private:
  ScopedResource* before_;
};

/// The innermost scope of the calling thread, or null.
HR_API ScopedResource* innermost_scope();

}  // namespace hr
