// SPDX-License-Identifier: Apache-2.0
// Running sums by tag, and their copy at the peak.
#include "headrace/memory/budget/peak.h"

#include "headrace/base/process_global.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/log/tag_bytes.h"
#include "headrace/memory/log/tag_stack.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>

namespace hr {

namespace {

constexpr Tag kTags = 1 << 16;  // the last one counts for all above it
constexpr int64_t kLeastStep = 64 << 10;

// Zero at the start of the process: pages of unused tags cost nothing.
constinit std::array<std::atomic<int64_t>, kTags> sums{};
constinit std::atomic<int64_t> next_noting{kLeastStep};

// Of the peak. Not in what is made at the first event, which has no memory for so much when that
// is short.
constinit std::array<int64_t, kTags> noted_sums{};

struct Noted {
  std::mutex mutex;
  int64_t bytes = 0;
  int64_t time_ns = 0;

  Noted() {
    tag_count();  // its lock is taken under this one, so it is known first
    lock_over_fork(mutex, true);
  }
};

Noted& noted() {
  return process_global<Noted>();
}

Tag tags_in_use() {
  return std::min(tag_count(), kTags);
}

void note_peak(int64_t used) noexcept {
  Noted& peak = noted();
  const std::unique_lock lock(peak.mutex, std::try_to_lock);
  if (!lock || used <= next_noting) return;  // another thread notes
  next_noting = used + std::max(used / 100, kLeastStep);
  const Tag count = tags_in_use();
  for (Tag tag = 0; tag < count; ++tag) noted_sums[tag] = sums[tag].load(std::memory_order_relaxed);
  peak.bytes = used;
  peak.time_ns = std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

template <class Sum>
std::vector<TagBytes> listed(Sum&& sum) {
  std::vector<TagBytes> holders;
  const Tag count = tags_in_use();
  for (Tag tag = 0; tag < count; ++tag) {
    if (const int64_t bytes = sum(tag); bytes > 0) {
      TagBytes& holder = holders.emplace_back();
      holder.bytes = bytes;
      if (tag + 1 < kTags) holder.tag = tag_info(tag);
    }
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const TagBytes& a, const TagBytes& b) { return a.bytes > b.bytes; });
  return holders;
}

}  // namespace

void count_tag_bytes(Tag tag, int64_t change) noexcept {
  sums[std::min(tag, kTags - 1)].fetch_add(change, std::memory_order_relaxed);
  if (change <= 0) return;
  const int64_t used = charged_bytes();
  if (used > next_noting.load(std::memory_order_relaxed)) note_peak(used);
}

MemoryPeak memory_peak() {
  MemoryPeak result;
  result.bytes = memory_statistics().peak_bytes;
  Noted& peak = noted();
  const std::lock_guard lock(peak.mutex);
  result.noted_bytes = peak.bytes;
  result.time_ns = peak.time_ns;
  result.holders = listed([&](Tag tag) { return noted_sums[tag]; });
  return result;
}

std::vector<TagBytes> bytes_by_tag() {
  return listed([](Tag tag) { return sums[tag].load(std::memory_order_relaxed); });
}

}  // namespace hr
