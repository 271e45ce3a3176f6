// SPDX-License-Identifier: Apache-2.0
// Buffer: adoption, reference counts, access. How one is made and ends: tiers/buffer_lifetime.cpp.
#include "headrace/memory/buffer/buffer.h"

#include "headrace/base/error.h"
#include "headrace/memory/buffer/buffer_rep.h"

#include <cstring>
#include <memory>
#include <utility>

namespace hr {

Buffer Buffer::allocate(int64_t size_bytes) {
  return make(size_bytes, current_resource(), false);
}

Buffer Buffer::allocate(int64_t size_bytes, const AnyResource& resource) {
  return make(size_bytes, resource, false);
}

Buffer Buffer::allocate_spillable(int64_t size_bytes) {
  return make(size_bytes, current_resource(), true);
}

Buffer Buffer::allocate_temporary(int64_t size_bytes) {
  Buffer buffer = allocate_spillable(size_bytes);
  buffer.advise(EvictionHint::kTemporary);
  return buffer;
}

Buffer Buffer::allocate_zeroed(int64_t size_bytes) {
  Buffer buffer = allocate(size_bytes);
  if (size_bytes > 0) std::memset(buffer.mutable_data(), 0, static_cast<size_t>(size_bytes));
  return buffer;
}

Buffer Buffer::adopt(const void* data, int64_t size_bytes, Owner owner, Place place,
                     bool writable) {
  auto rep = std::make_unique<Rep>();
  rep->data = static_cast<std::byte*>(const_cast<void*>(data));
  rep->size_bytes = rep->capacity_bytes = size_bytes;
  rep->place = place;
  rep->tag = current_tag();
  rep->writable = writable;
  rep->owner = owner;
  enter_buffer(*rep);
  return Buffer(rep.release());
}

Buffer::Buffer(const Buffer& other) noexcept : rep_(other.rep_) {
  if (rep_) rep_->references.fetch_add(1, std::memory_order_relaxed);
}

const std::byte* Buffer::data() const {
  if (!rep_) return nullptr;
  if (!rep_->data && rep_->residency)
    throw_error<InternalError>("buffer", "evicted bytes are used without a pin");
  return rep_->data;
}

std::byte* Buffer::mutable_data() {
  if (!rep_) return nullptr;
  if (!rep_->writable || rep_->references.load() != 1)
    throw_error<InternalError>("buffer", "cannot write to shared or read-only bytes");
  if (rep_->sealed) hold();
  return rep_->data;
}

Residency* Buffer::residency() const {
  return rep_ ? rep_->residency.get() : nullptr;
}

int64_t Buffer::size_bytes() const {
  return rep_ ? rep_->size_bytes : 0;
}

int64_t Buffer::capacity_bytes() const {
  return rep_ ? rep_->capacity_bytes.load() : 0;
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

void Buffer::note_export(int change) const {
  if (rep_) rep_->exports += change;
}

}  // namespace hr
