// SPDX-License-Identifier: Apache-2.0
// Statistics, log, live blocks.
#include "headrace/memory/adaptors/recording_adaptors.h"

#include "headrace/base/error.h"
#include "headrace/memory/sync/thread_number.h"

#include <algorithm>
#include <chrono>

namespace hr {

namespace {

void add(std::atomic<int64_t>& count, int64_t value) {
  count.fetch_add(value, std::memory_order_relaxed);
}

}  // namespace

StatisticsAdaptor::Counts& StatisticsAdaptor::counts() {
  return counts_[thread_number() % counts_.size()];
}

void* StatisticsAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  void* block = nullptr;
  try {
    block = upstream().allocate(stream, bytes, alignment);
  } catch (...) {
    add(counts().failures, 1);
    throw;
  }
  const auto charge = static_cast<int64_t>(bytes);
  const int64_t used = used_.fetch_add(charge, std::memory_order_relaxed) + charge;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < used && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
  Counts& mine = counts();
  add(mine.allocations, 1);
  add(mine.allocated_bytes, charge);
  return block;
}

void StatisticsAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                                   size_t alignment) noexcept {
  add(used_, -static_cast<int64_t>(bytes));
  add(counts().deallocations, 1);
  upstream().deallocate(stream, pointer, bytes, alignment);
}

ResourceStatistics StatisticsAdaptor::read() const {
  ResourceStatistics all{.used_bytes = used_, .peak_bytes = peak_};
  for (const Counts& each : counts_) {
    all.allocations += each.allocations;
    all.allocated_bytes += each.allocated_bytes;
    all.live_blocks += each.allocations - each.deallocations;
    all.failures += each.failures;
  }
  return all;
}

LogAdaptor::LogAdaptor(AnyResource upstream, int64_t capacity)
    : Adaptor(std::move(upstream)), capacity_(static_cast<size_t>(capacity)) {
  if (capacity < 1)
    throw_error<InvalidArgumentError>("log_adaptor", "the capacity is not positive",
                                      {{"capacity", capacity}});
}

void* LogAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  try {
    void* const block = upstream().allocate(stream, bytes, alignment);
    note(MemoryAction::kAllocate, block, bytes);
    return block;
  } catch (...) {
    note(MemoryAction::kAllocateFailure, nullptr, bytes);
    throw;
  }
}

void LogAdaptor::deallocate(Stream stream, void* pointer, size_t bytes, size_t alignment) noexcept {
  note(MemoryAction::kFree, pointer, bytes);
  upstream().deallocate(stream, pointer, bytes, alignment);
}

void LogAdaptor::note(MemoryAction action, const void* pointer, size_t bytes) noexcept {
  MemoryEvent event{
      .time_ns = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1),
      .thread = thread_number(),
      .action = action,
      .place = properties().place,
      .pointer = reinterpret_cast<uintptr_t>(pointer),
      .bytes = static_cast<int64_t>(std::min(bytes, kMostRequestBytes)),
      .tag = current_tag()};
  const std::lock_guard lock(mutex_);
  event.index = next_++;
  try {
    events_.push_back(event);
  } catch (...) {  // no memory: the gap in the indices tells
  }
  if (events_.size() > capacity_) events_.pop_front();
}

std::vector<MemoryEvent> LogAdaptor::events() const {
  const std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

TrackAdaptor::Shard& TrackAdaptor::shard_of(const void* pointer) {
  return shards_[reinterpret_cast<uintptr_t>(pointer) / 64 * 0x9E3779B97F4A7C15u >> 61];
}

void* TrackAdaptor::allocate(Stream stream, size_t bytes, size_t alignment) {
  void* const block = upstream().allocate(stream, bytes, alignment);
  Shard& shard = shard_of(block);
  try {
    const std::lock_guard lock(shard.mutex);
    shard.blocks.insert_or_assign(
        block, LiveBlock{block, static_cast<int64_t>(bytes), static_cast<int64_t>(alignment),
                         current_tag(), ++serial_});
  } catch (...) {
    upstream().deallocate(stream, block, bytes, alignment);
    throw;
  }
  return block;
}

void TrackAdaptor::deallocate(Stream stream, void* pointer, size_t bytes,
                              size_t alignment) noexcept {
  Shard& shard = shard_of(pointer);
  LiveBlock block;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.blocks.find(pointer);
    if (found != shard.blocks.end()) {
      block = found->second;
      shard.blocks.erase(found);
    }
  }
  const auto given_bytes = static_cast<size_t>(block.bytes);
  const auto given_alignment = static_cast<size_t>(block.alignment);
  if (!block.pointer || given_bytes != bytes || given_alignment != alignment) ++wrong_;
  if (block.pointer) upstream().deallocate(stream, pointer, given_bytes, given_alignment);
}

std::vector<LiveBlock> TrackAdaptor::live_blocks() const {
  std::vector<LiveBlock> live;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [pointer, block] : shard.blocks) live.push_back(block);
  }
  std::sort(live.begin(), live.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.serial < b.serial; });
  return live;
}

}  // namespace hr
