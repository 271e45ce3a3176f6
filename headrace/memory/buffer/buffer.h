// SPDX-License-Identifier: Apache-2.0
// Buffer: counted bytes in one place, with owner tag. The only holder of data in Headrace.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/log/tag.h"
#include "headrace/memory/resource/resource.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace hr {

struct Residency;

/// What keeps foreign memory alive: `release(context)` is called once, from any thread.
struct Owner {
  void* context = nullptr;
  void (*release)(void*) noexcept = nullptr;
};

/// What is known of the next use of a buffer when the budget is short.
enum class EvictionHint : uint8_t {
  kByUse,       ///< the plan knows, or what was used long ago goes first
  kSequential,  ///< scanned from its beginning to its end, again and again
  kOnce,        ///< each byte is used once: what was used goes first
  kTemporary,   ///< wanted until the running step ends: before what later steps read
  kAlways,      ///< goes last
};

/// A shared handle on bytes. Own buffers are 64-byte aligned (2 MiB-aligned from 4 MiB up) and
/// padded: `capacity_bytes()` is a multiple of 64, at least `size_bytes()`, and the padding is
/// zero, so a kernel may read whole vectors. Foreign buffers promise neither. A buffer is written
/// by its one maker and read-only for all once it is shared.
class HR_API Buffer {
 public:
  Buffer() = default;

  /// New bytes from `resource`, uninitialised but for the padding, charged to the budget and to the
  /// tag in force. Size 0 asks no resource. Throws OutOfMemoryError and leaves everything as it
  /// was.
  static Buffer allocate(int64_t size_bytes);
  static Buffer allocate(int64_t size_bytes, const AnyResource& resource);
  static Buffer allocate_zeroed(int64_t size_bytes);

  /// The same for a maker that writes under pins (`pin.h`) only. When the budget has no room for
  /// all of it, a chunk is charged when it is first pinned, and may be on the disk before the
  /// buffer is whole: so a result may be larger than the budget.
  static Buffer allocate_spillable(int64_t size_bytes);
  /// The same for what an operator needs itself until it is done (`EvictionHint::kTemporary`).
  static Buffer allocate_temporary(int64_t size_bytes);

  /// Foreign bytes that live until `owner` is released: nothing is copied, the budget is not
  /// charged.
  static Buffer adopt(const void* data, int64_t size_bytes, Owner owner, Place place = host,
                      bool writable = false);

  Buffer(const Buffer& other) noexcept;
  Buffer(Buffer&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Buffer();

  explicit operator bool() const { return rep_ != nullptr; }

  const std::byte* data() const;

  /// The bytes for the maker, before the buffer is shared. Throws InternalError for shared or
  /// read-only foreign buffers.
  std::byte* mutable_data();

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  template <class T>
  T* mutable_as() {
    return reinterpret_cast<T*>(mutable_data());
  }

  int64_t size_bytes() const;
  int64_t capacity_bytes() const;
  Place place() const;
  Tag tag() const;
  bool is_foreign() const;

  /// Gives the tail beyond `size_bytes` back where the resource can (only by the maker, before
  /// sharing); the new padding is zeroed.
  void shrink(int64_t size_bytes);

  /// The maker is done: from now on the bytes may leave memory under a budget. Readers see no
  /// difference but for the time it takes. The plan does this for each value of a node.
  void seal() const;

  /// What the engine should know of the next use.
  void advise(EvictionHint keep) const;

  /// Counts handles of other libraries (+1 at export, -1 at their release), for reports.
  void note_export(int change) const;

  /// Equal when they are handles on the same bytes.
  friend bool operator==(const Buffer& a, const Buffer& b) { return a.rep_ == b.rep_; }

  struct Rep;
  /// For the engine: the chunks, or null when the buffer has none.
  Residency* residency() const;

 private:
  explicit Buffer(Rep* rep) : rep_(rep) {}

  static Buffer make(int64_t size_bytes, const AnyResource& resource, bool paged);
  void hold();

  Rep* rep_ = nullptr;

  friend void mark_external(Buffer& buffer, bool slab);
};

}  // namespace hr
