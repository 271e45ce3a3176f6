// SPDX-License-Identifier: Apache-2.0
// How a buffer is made, held, shrunk and ended, and told of its uses, in memory that can leave for
// the disk or on a device.
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/device/device_evictor.h"
#include "headrace/memory/log/event_log.h"
#include "headrace/memory/spill/spill_engine.h"
#include "headrace/memory/spill/write_guard.h"

#include <cstring>
#include <limits>
#include <memory>
#include <sys/mman.h>

namespace hr {

namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kPage = 4096;

}  // namespace

Buffer::Rep::Rep() = default;
Buffer::Rep::~Rep() = default;

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
                       (guards_writes() || memory_limit() != std::numeric_limits<int64_t>::max());
    const bool movable = (alone || capacity >= kLeastMovable) && resource.properties().movable;
    paged &= movable;
    bool paid = false;
    try {
      // What does not fit is charged chunk by chunk, if there is a disk for it.
      paid = paged && try_charge(capacity);
      if (!paid && (!paged || spill_limit() == 0)) charge_or_throw(capacity), paid = true;
      // In fresh pages then: those of a cached block would not be counted.
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
      if (paged && guards_writes()) guard_writes(*rep->residency);
      SpillEngine::instance().enter(*rep->residency);
    }
    log_memory_event(MemoryAction::kAllocate, rep->data, capacity, rep->tag);
    if (!paid) log_memory_event(MemoryAction::kEvict, rep->data, capacity, rep->tag);
  }
  enter_buffer(*rep);
  return Buffer(rep.release());
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

// Somebody writes again, without pins.
void Buffer::hold() {
  if (rep_->residency) SpillEngine::instance().hold({this, 0, rep_->capacity_bytes, true});
  rep_->sealed = false;
}

void Buffer::seal() const {
  if (!rep_ || rep_->sealed.exchange(true)) return;
  if (rep_->residency && !rep_->paged.exchange(false))
    SpillEngine::instance().let_go({this, 0, rep_->capacity_bytes, true});
}

void Buffer::advise(EvictionHint keep) const {
  if (residency()) SpillEngine::instance().set_eviction_hint(*residency(), keep);
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

void expect_uses(const Buffer& buffer, const std::vector<int64_t>& steps) {
  Residency* const residency = buffer.residency();
  if (residency && buffer.place().is_host())
    SpillEngine::instance().plan(*residency, steps);
  else if (residency)
    DeviceTier::instance().plan(*residency, steps);
}

}  // namespace hr
