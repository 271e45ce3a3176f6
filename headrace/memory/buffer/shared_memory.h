// SPDX-License-Identifier: Apache-2.0
// Shared segments: memory that another process of this machine can map, read-only.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hr {

/// Buffers in shared segments (memfd). Blocks from 256 KiB up have a segment of their own, aligned
/// to 2 MiB; smaller ones lie together in slabs of 2 MiB. Each segment is sealed at its birth: it
/// never changes its size and only the mapping here writes to it. A segment that is free
/// waits for a request of nearly its size, since the first touch of a page costs 19 times a later
/// one. After a fork no segment from before is written again: both processes may still read it. Its
/// buffers are charged like others and are never shrunk. Throws OutOfMemoryError.
HR_API AnyResource shared_resource();

/// Where bytes lie in a shared segment of this process. The descriptor is the segment's own, open
/// as long as the buffer lives.
struct SharedRange {
  int descriptor = -1;
  int64_t offset = 0;
  int64_t segment_bytes = 0;
};

/// Nothing for bytes that do not lie in one segment, made here or attached.
HR_API std::optional<SharedRange> find_shared(const void* data, int64_t size_bytes);

/// An open file descriptor that closes itself.
class HR_API Descriptor {
 public:
  Descriptor() = default;

  explicit Descriptor(int number) : number_(number) {}

  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  ~Descriptor();

  int get() const { return number_; }

  int release() { return std::exchange(number_, -1); }

  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// A part of a segment that came from another process.
struct ReceivedRange {
  uint32_t segment = 0;
  int64_t offset = 0;
  int64_t size_bytes = 0;
};

/// Maps received segments read-only and gives a foreign buffer for each range. The mappings and
/// `lease` (the connection to the owner) are closed when the last buffer goes. Throws
/// InvalidArgumentError, before anything is read, for a descriptor that is no memory file of this
/// user, whose size could still shrink, or that is shorter than a range says.
HR_API std::vector<Buffer> map_segments(std::string_view op, std::vector<Descriptor> segments,
                                        const std::vector<ReceivedRange>& ranges, Descriptor lease);

/// A memory file with these bytes that can no longer be changed. Throws OutOfMemoryError.
HR_API Descriptor sealed_copy(std::string_view bytes);
/// The bytes of such a file. Throws InvalidArgumentError for another file or one of more than
/// `most` bytes.
HR_API std::string sealed_bytes(std::string_view op, const Descriptor& file, int64_t most);

}  // namespace hr
