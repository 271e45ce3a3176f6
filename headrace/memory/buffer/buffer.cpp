// SPDX-License-Identifier: Apache-2.0
// Buffer: allocation, adoption, reference counts.
#include "headrace/memory/buffer/buffer.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/device/device_evictor.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/spill/spill_engine.h"

#include <cstring>
#include <limits>
#include <memory>
#include <sys/mman.h>
#include <utility>

namespace hr {

namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kPage = 4096;

}  // namespace

Buffer::Rep::Rep() = default;
Buffer::Rep::~Rep() = default;

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

Buffer Buffer::make(int64_t size_bytes, const AnyResource& resource, bool paged) {
  if (size_bytes < 0)
    throw_error<InvalidArgumentError>("allocate", "the size is negative", {{"bytes", size_bytes}});
  if (!resource.properties().place.is_host()) {
    if (size_bytes == 0) return {};
    auto there = std::make_unique<Rep>();
    there->tag = current_tag();
    there->size_bytes = size_bytes;
    lodge(*there, resource);
    enter_buffer(*there);
    return Buffer(there.release());
  }
  const int64_t capacity = round_up(checked_add("allocate", size_bytes, 63) - 63, 64);
  auto rep = std::make_unique<Rep>();
  rep->tag = current_tag();
  rep->size_bytes = size_bytes;
  rep->capacity_bytes = rep->block_bytes = capacity;
  if (capacity > 0) {
    const bool alone = paged && capacity >= kLeastPaged && capacity < kLeastMovable &&
                       memory_limit() != std::numeric_limits<int64_t>::max();
    const bool movable = (alone || capacity >= kLeastMovable) && resource.properties().movable;
    paged &= movable;
    bool paid = false;
    try {
      // What does not fit is charged chunk by chunk, if there is a disk for it.
      paid = paged && try_charge(capacity);
      if (!paid && (!paged || spill_limit() == 0)) charge_or_throw(capacity), paid = true;
      // In fresh pages then: those of a cached block would be in nobody's count.
      rep->resource = paid && !alone ? resource : system_resource();
      rep->data = static_cast<std::byte*>(
          rep->resource->allocate(Stream{}, static_cast<size_t>(capacity), kAlignment));
      if (movable) rep->residency = std::make_unique<Residency>(*rep);
    } catch (...) {
      if (rep->data)
        rep->resource->deallocate(Stream{}, rep->data, static_cast<size_t>(capacity), kAlignment);
      if (paid) discharge(capacity);
      log_memory_event(MemoryAction::kAllocateFailure, nullptr, capacity, rep->tag);
      throw;
    }
    rep->paged = paged;
    if (paid) std::memset(rep->data + size_bytes, 0, static_cast<size_t>(capacity - size_bytes));
    if (movable) {
      for (Chunk& chunk : rep->residency->chunks) {
        if (!paid) chunk.state = ChunkState::kEmpty;
        if (paged)
          chunk.touched = false;
        else
          chunk.pins = 1;
      }
      if (paid && paged) rep->residency->chunks.back().touched = true;  // its padding
      SpillEngine::instance().enter(*rep->residency);
    }
    log_memory_event(MemoryAction::kAllocate, rep->data, capacity, rep->tag);
    if (!paid) log_memory_event(MemoryAction::kEvict, rep->data, capacity, rep->tag);
  }
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
  if (!rep_->place.is_host()) {
    if (rep_->residency && !DeviceTier::instance().leave(*rep_->residency)) return;
  } else if (rep_->resource) {
    const int64_t charged = rep_->residency ? SpillEngine::instance().leave(*rep_->residency)
                                            : rep_->capacity_bytes.load();
    // Before the bytes go: else another thread's event of the same address could come first.
    if (charged < rep_->capacity_bytes)
      log_memory_event(MemoryAction::kDrop, rep_->data, rep_->capacity_bytes - charged, rep_->tag);
    log_memory_event(MemoryAction::kFree, rep_->data, rep_->capacity_bytes, rep_->tag);
    rep_->resource->deallocate(Stream{}, rep_->data, static_cast<size_t>(rep_->block_bytes),
                               kAlignment);
    discharge(charged);
  }
  if (rep_->owner.release) rep_->owner.release(rep_->owner.context);
  delete rep_;
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

// Somebody writes again, without pins.
void Buffer::hold() {
  if (rep_->residency) SpillEngine::instance().hold({this, 0, rep_->capacity_bytes, true});
  rep_->sealed = false;
}

void Buffer::seal() const {
  if (!rep_ || rep_->sealed.exchange(true)) return;
  if (rep_->residency && !rep_->paged.exchange(false))
    SpillEngine::instance().let_go({this, 0, rep_->capacity_bytes});
}

void Buffer::advise(EvictionHint keep) const {
  if (residency()) SpillEngine::instance().set_eviction_hint(*residency(), keep);
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

void Buffer::shrink(int64_t size_bytes) {
  if (size_bytes >= this->size_bytes()) return;
  const int64_t padded = round_up(size_bytes, 64);
  std::byte* bytes = mutable_data();
  if (rep_->resource && rep_->resource->properties().shared) {
    std::memset(bytes + size_bytes, 0, static_cast<size_t>(padded - size_bytes));
    rep_->size_bytes = size_bytes;  // a sealed segment gives no page back, so it stays charged
    return;
  }
  {
    const Pin pin{{this, size_bytes, padded, true}};
    std::memset(bytes + size_bytes, 0, static_cast<size_t>(padded - size_bytes));
  }
  const int64_t before = rep_->capacity_bytes;
  const int64_t freed =
      rep_->residency ? SpillEngine::instance().cut(*rep_->residency, padded) : before - padded;
  // Whole pages of the tail go back; the address range stays with the block.
  const int64_t first = round_up(padded, kPage);
  const int64_t last = before / kPage * kPage;
  if (rep_->block_bytes >= int64_t{4} << 20 && last > first)
    madvise(bytes + first, static_cast<size_t>(last - first), MADV_DONTNEED);
  discharge(freed);
  if (rep_->resource && padded != before) {
    const int64_t dropped = before - padded - freed;
    if (dropped > 0) log_memory_event(MemoryAction::kDrop, bytes, dropped, rep_->tag);
    log_memory_event(MemoryAction::kFree, bytes, before, rep_->tag);
    log_memory_event(MemoryAction::kAllocate, bytes, padded, rep_->tag);
  }
  rep_->size_bytes = size_bytes;
  if (!rep_->residency) rep_->capacity_bytes = padded;
}

void Buffer::note_export(int change) const {
  if (rep_) rep_->exports += change;
}

}  // namespace hr
