// SPDX-License-Identifier: Apache-2.0
// Buffer: allocation, adoption, reference counts.
#include "headrace/memory/buffer.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"

#include <atomic>
#include <cstring>
#include <optional>

namespace hr {

struct Buffer::Rep {
  std::atomic<int64_t> references{1};
  std::atomic<int32_t> pins{0};
  std::byte* data = nullptr;
  int64_t size_bytes = 0;
  int64_t capacity_bytes = 0;
  Place place;
  Tag tag = 0;
  bool writable = true;
  Owner owner;
  std::optional<AnyResource> resource;
};

namespace {

constexpr size_t kAlignment = 64;

}  // namespace

Buffer Buffer::allocate(int64_t size_bytes) {
  return allocate(size_bytes, current_resource());
}

Buffer Buffer::allocate(int64_t size_bytes, const AnyResource& resource) {
  if (size_bytes < 0)
    throw_error<InternalError>("allocate", "a negative size", {{"bytes", size_bytes}});
  auto* rep = new Rep;
  rep->size_bytes = size_bytes;
  rep->capacity_bytes = round_up(size_bytes, 64);
  rep->tag = current_tag();
  Buffer buffer(rep);
  if (rep->capacity_bytes > 0) {
    rep->data = static_cast<std::byte*>(
        resource.allocate(Stream{}, static_cast<size_t>(rep->capacity_bytes), kAlignment));
    rep->resource = resource;
    std::memset(rep->data + size_bytes, 0, static_cast<size_t>(rep->capacity_bytes - size_bytes));
  }
  return buffer;
}

Buffer Buffer::allocate_zeroed(int64_t size_bytes) {
  Buffer buffer = allocate(size_bytes);
  if (size_bytes > 0) std::memset(buffer.mutable_data(), 0, static_cast<size_t>(size_bytes));
  return buffer;
}

Buffer Buffer::adopt(const void* data, int64_t size_bytes, Owner owner, Place place,
                     bool writable) {
  auto* rep = new Rep;
  rep->data = static_cast<std::byte*>(const_cast<void*>(data));
  rep->size_bytes = rep->capacity_bytes = size_bytes;
  rep->place = place;
  rep->tag = current_tag();
  rep->writable = writable;
  rep->owner = owner;
  return Buffer(rep);
}

Buffer::Buffer(const Buffer& other) noexcept : rep_(other.rep_) {
  if (rep_) rep_->references.fetch_add(1, std::memory_order_relaxed);
}

Buffer::~Buffer() {
  if (!rep_ || rep_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (rep_->resource)
    rep_->resource->deallocate(Stream{}, rep_->data, static_cast<size_t>(rep_->capacity_bytes),
                               kAlignment);
  if (rep_->owner.release) rep_->owner.release(rep_->owner.context);
  delete rep_;
}

const std::byte* Buffer::data() const {
  return rep_ ? rep_->data : nullptr;
}

std::byte* Buffer::mutable_data() {
  if (!rep_) return nullptr;
  if (!rep_->writable || rep_->references.load() != 1)
    throw_error<InternalError>("buffer", "write to shared or read-only bytes");
  return rep_->data;
}

int64_t Buffer::size_bytes() const {
  return rep_ ? rep_->size_bytes : 0;
}

int64_t Buffer::capacity_bytes() const {
  return rep_ ? rep_->capacity_bytes : 0;
}

Place Buffer::place() const {
  return rep_ ? rep_->place : host;
}

Tag Buffer::tag() const {
  return rep_ ? rep_->tag : 0;
}

bool Buffer::is_foreign() const {
  return rep_ && rep_->owner.release;
}

void Buffer::shrink(int64_t size_bytes) {
  if (size_bytes >= this->size_bytes()) return;
  const int64_t padded = round_up(size_bytes, 64);
  std::memset(mutable_data() + size_bytes, 0, static_cast<size_t>(padded - size_bytes));
  rep_->size_bytes = size_bytes;
}

Pin::Pin(const Buffer& buffer) : buffer_(buffer) {
  if (buffer_.rep_) ++buffer_.rep_->pins;
}

Pin::~Pin() {
  if (buffer_.rep_) --buffer_.rep_->pins;
}

}  // namespace hr
