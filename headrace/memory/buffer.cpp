// SPDX-License-Identifier: Apache-2.0
// Buffer: allocation, adoption, reference counts.
#include "headrace/memory/buffer.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/budget.h"
#include "headrace/memory/buffer_rep.h"
#include "headrace/memory/caches.h"
#include "headrace/memory/event_log.h"

#include <cstring>
#include <memory>
#include <sys/mman.h>

namespace hr {

namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kPage = 4096;

}  // namespace

Buffer Buffer::allocate(int64_t size_bytes) {
  return allocate(size_bytes, current_resource());
}

Buffer Buffer::allocate(int64_t size_bytes, const AnyResource& resource) {
  if (size_bytes < 0)
    throw_error<InvalidArgumentError>("allocate", "a negative size", {{"bytes", size_bytes}});
  if (!resource.properties().place.is_host()) return allocate_elsewhere(size_bytes, resource);
  const int64_t capacity = round_up(checked_add("allocate", size_bytes, 63) - 63, 64);
  auto rep = std::make_unique<Rep>();
  if (capacity > 0) {
    if (!try_charge(capacity) && (trim_caches(), !try_charge(capacity))) {
      log_memory_event(MemoryAction::kAllocateFailure, nullptr, capacity, current_tag());
      throw_out_of_memory(capacity);
    }
    try {
      if (over_budget()) trim_caches();
      rep->data = static_cast<std::byte*>(
          resource.allocate(Stream{}, static_cast<size_t>(capacity), kAlignment));
    } catch (...) {
      discharge(capacity);
      log_memory_event(MemoryAction::kAllocateFailure, nullptr, capacity, current_tag());
      throw;
    }
    rep->resource = resource;
    std::memset(rep->data + size_bytes, 0, static_cast<size_t>(capacity - size_bytes));
  }
  rep->size_bytes = size_bytes;
  rep->capacity_bytes = rep->block_bytes = capacity;
  rep->tag = current_tag();
  if (capacity > 0) log_memory_event(MemoryAction::kAllocate, rep->data, capacity, rep->tag);
  enter_buffer(*rep);
  return Buffer(rep.release());
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

Buffer::~Buffer() {
  if (!rep_ || rep_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  leave_buffer(*rep_);
  if (rep_->resource) {
    // Before the bytes go: else another thread's event of the same address could come first.
    log_memory_event(MemoryAction::kFree, rep_->data, rep_->capacity_bytes, rep_->tag);
    rep_->resource->deallocate(Stream{}, rep_->data, static_cast<size_t>(rep_->block_bytes),
                               kAlignment);
    discharge(rep_->capacity_bytes);
  }
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
  std::byte* bytes = mutable_data();
  std::memset(bytes + size_bytes, 0, static_cast<size_t>(padded - size_bytes));
  if (rep_->resource && rep_->resource->properties().shared) {
    rep_->size_bytes = size_bytes;  // a sealed segment gives no page back, so it stays charged
    return;
  }
  // Whole pages of the tail go back; the address range stays with the block.
  const int64_t first = round_up(padded, kPage);
  const int64_t last = rep_->capacity_bytes / kPage * kPage;
  if (rep_->block_bytes >= int64_t{4} << 20 && last > first)
    madvise(bytes + first, static_cast<size_t>(last - first), MADV_DONTNEED);
  discharge(rep_->capacity_bytes - padded);
  if (rep_->resource && padded != rep_->capacity_bytes) {
    log_memory_event(MemoryAction::kFree, bytes, rep_->capacity_bytes, rep_->tag);
    log_memory_event(MemoryAction::kAllocate, bytes, padded, rep_->tag);
  }
  rep_->size_bytes = size_bytes;
  rep_->capacity_bytes = padded;
}

void Buffer::note_export(int change) const {
  if (rep_) rep_->exports += change;
}

Pin::Pin(const Buffer& buffer) : buffer_(buffer) {
  if (buffer_.rep_) ++buffer_.rep_->pins;
}

Pin::~Pin() {
  if (buffer_.rep_) --buffer_.rep_->pins;
}

}  // namespace hr
