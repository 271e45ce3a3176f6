// SPDX-License-Identifier: Apache-2.0
// Replays logs of allocations, and watches what a resource holds for one.
#include "headrace/memory/replay/replay.h"

#include "headrace/base/error.h"
#include "headrace/memory/adaptors/resource_types.h"
#include "headrace/memory/resource/pool.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <sched.h>
#include <string>
#include <unordered_map>

namespace hr {

namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kPage = 4096;

int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

using Block = std::atomic<void*>;
static_assert(sizeof(Block) == sizeof(void*));

void* const kRefused = reinterpret_cast<void*>(~uintptr_t{0});

}  // namespace

// An allocation (bytes > 0) or, with the bytes below zero, a free of a block.
struct Replay::Step {
  int64_t block;
  int64_t bytes;
  uint64_t stream;
};

Replay::Replay(const MemoryLog& log, bool by_thread) {
  struct Live {
    int64_t block;
    int64_t bytes;
  };

  std::unordered_map<uint64_t, int64_t> thread_numbers;
  for (const LogLine& line : log.lines())
    thread_numbers.try_emplace(line.thread, static_cast<int64_t>(thread_numbers.size()));
  counts_.threads = static_cast<int64_t>(thread_numbers.size());

  // Two passes: how many steps each thread has, then the steps in their places.
  std::vector<int64_t> ends;
  for (const bool count_only : {true, false}) {
    std::unordered_map<uint64_t, Live> live;
    int64_t requested = 0;
    const ReplayCounts empty{.threads = counts_.threads};
    counts_ = empty;
    num_blocks_ = 0;
    std::vector<int64_t> steps_of(by_thread ? std::max<size_t>(thread_numbers.size(), 1) : 1);
    const auto add = [&](const LogLine& line, int64_t block, int64_t bytes) {
      const auto t = static_cast<size_t>(by_thread ? thread_numbers[line.thread] : 0);
      if (!count_only)
        steps_.mutable_as<Step>()[begins_[t] + steps_of[t]] = {block, bytes, line.stream};
      ++steps_of[t];
    };
    const auto free = [&](const LogLine& line, std::unordered_map<uint64_t, Live>::iterator held) {
      add(line, held->second.block, -held->second.bytes);
      requested -= held->second.bytes;
      live.erase(held);
      ++counts_.frees;
    };
    for (const LogLine& line : log.lines()) {
      const auto held = live.find(line.pointer);
      if (line.action == MemoryAction::kAllocateFailure) {
        ++counts_.failed;
      } else if (line.action == MemoryAction::kAllocate && line.bytes == 0) {
        ++counts_.empty;
      } else if (line.action == MemoryAction::kAllocate) {
        if (held != live.end()) {
          ++counts_.double_allocations;
          free(line, held);
        }
        live[line.pointer] = {num_blocks_, line.bytes};
        add(line, num_blocks_++, line.bytes);
        ++counts_.allocations;
        if (__builtin_add_overflow(requested, line.bytes, &requested))
          throw_error<InvalidArgumentError>("replay",
                                            "the total size of the blocks in the log is too large",
                                            {{"bytes", line.bytes}});
        counts_.requested_peak_bytes = std::max(counts_.requested_peak_bytes, requested);
      } else if (line.action == MemoryAction::kFree && held != live.end()) {
        free(line, held);
      } else if (line.action == MemoryAction::kFree) {
        ++(line.bytes == 0 ? counts_.empty : counts_.unknown_frees);
      }
    }
    counts_.left = static_cast<int64_t>(live.size());
    if (count_only) {
      begins_.assign(1, 0);
      for (const int64_t steps : steps_of) begins_.push_back(begins_.back() + steps);
      steps_ = Buffer::allocate(begins_.back() * static_cast<int64_t>(sizeof(Step)));
    }
  }
  blocks_ = Buffer::allocate_zeroed(num_blocks_ * static_cast<int64_t>(sizeof(Block)));
}

void Replay::run(const AnyResource& resource, int64_t thread) {
  const auto* const step = steps_.as<Step>();
  auto* const blocks = blocks_.mutable_as<Block>();
  const auto t = static_cast<size_t>(thread);
  int64_t refused = 0;
  ++ready_;
  while (ready_.load() < threads()) sched_yield();
  int64_t none = 0;
  const int64_t now = steady_ns();
  begin_ns_.compare_exchange_strong(none, now);
  for (int64_t i = begins_[t]; i < begins_[t + 1]; ++i) {
    Block& block = blocks[step[i].block];
    const Stream stream{step[i].stream};
    if (step[i].bytes > 0) {
      void* made = kRefused;
      try {
        made = resource.allocate(stream, static_cast<size_t>(step[i].bytes), kAlignment);
      } catch (const std::exception&) {
        ++refused;
      }
      block.store(made, std::memory_order_release);
      continue;
    }
    void* held = nullptr;
    while (!(held = block.load(std::memory_order_acquire))) sched_yield();
    if (held != kRefused)
      resource.deallocate(stream, held, static_cast<size_t>(-step[i].bytes), kAlignment);
    block.store(kRefused, std::memory_order_relaxed);  // nothing is left to free
  }
  refusing_ += refused;
  if (++done_ < threads()) return;
  seconds_ = static_cast<double>(steady_ns() - begin_ns_) * 1e-9;
  refused_ = refusing_.exchange(0);
}

void Replay::finish(const AnyResource& resource) {
  auto* const blocks = blocks_.mutable_as<Block>();
  const auto* const steps = steps_.as<Step>();
  for (int64_t i = 0; i < begins_.back(); ++i) {
    Block& block = blocks[steps[i].block];
    void* const held = block.load();
    if (steps[i].bytes > 0 && held && held != kRefused)
      resource.deallocate(Stream{steps[i].stream}, held, static_cast<size_t>(steps[i].bytes),
                          kAlignment);
  }
  for (int64_t i = 0; i < num_blocks_; ++i) blocks[i].store(nullptr);
  ready_ = done_ = begin_ns_ = 0;
}

namespace {

// The system's memory, and which of it a resource above holds.
class Watched {
 public:
  explicit Watched(AnyResource upstream) : upstream_(std::move(upstream)) {}

  void* allocate(Stream s, size_t n, size_t a) {
    void* const pointer = upstream_.allocate(s, n, a);
    const std::lock_guard lock(mutex_);
    spans_[reinterpret_cast<uintptr_t>(pointer)].bytes = static_cast<int64_t>(n);
    return pointer;
  }

  void deallocate(Stream s, void* pointer, size_t n, size_t a) noexcept {
    {
      const std::lock_guard lock(mutex_);
      const auto span = spans_.find(reinterpret_cast<uintptr_t>(pointer));
      if (span != spans_.end()) {
        if (!span->second.blocks.empty()) held_ -= span->second.touched;
        cached_ -= span->second.touched;
        spans_.erase(span);
      }
    }
    upstream_.deallocate(s, pointer, n, a);
  }

  MemoryProperties properties() const { return upstream_.properties(); }

  std::string describe() const { return "watched system"; }

  // The resource above handed a block out, or took it back.
  void note(const void* pointer, int64_t bytes, bool live) {
    const std::lock_guard lock(mutex_);
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    auto span = spans_.upper_bound(address);
    if (span == spans_.begin()) return;
    --span;
    const auto offset = static_cast<int64_t>(address - span->first);
    Span& in = span->second;
    if (offset >= in.bytes) return;
    const int64_t pages = (offset + bytes + kPage - 1) / kPage * kPage;
    if (!in.blocks.empty()) held_ -= in.touched;
    cached_ -= in.touched;
    if (live) {
      in.blocks[offset] = bytes;
      in.touched = std::max(in.touched, std::min(pages, in.bytes));
    } else {
      in.blocks.erase(offset);
    }
    if (!in.blocks.empty()) held_ += in.touched;
    cached_ += in.touched;
    held_peak_ = std::max(held_peak_, held_);
    cached_peak_ = std::max(cached_peak_, cached_);
  }

  ReplayFootprint footprint() {
    const std::lock_guard lock(mutex_);
    ReplayFootprint result;
    result.held_peak_bytes = held_peak_;
    result.cached_peak_bytes = cached_peak_;
    int64_t returnable = 0;
    for (const auto& [base, span] : spans_) {
      int64_t at = 0;
      int64_t largest = 0;
      int64_t used = 0;
      for (const auto& [offset, bytes] : span.blocks) {
        largest = std::max(largest, offset - at);
        at = offset + bytes;
        used += bytes;
      }
      largest = std::max(largest, span.touched - at);
      result.free_bytes += std::max<int64_t>(span.touched - used, 0);
      if (span.blocks.empty()) returnable += span.touched;
      result.largest_free_bytes = std::max(result.largest_free_bytes, largest);
    }
    result.largest_free_bytes = std::max(result.largest_free_bytes, returnable);
    return result;
  }

 private:
  struct Span {
    int64_t bytes = 0;
    int64_t touched = 0;  // from its beginning; what no block reached costs nothing
    std::map<int64_t, int64_t> blocks;
  };

  AnyResource upstream_;
  std::mutex mutex_;
  std::map<uintptr_t, Span> spans_;
  int64_t held_ = 0;
  int64_t cached_ = 0;
  int64_t held_peak_ = 0;
  int64_t cached_peak_ = 0;
};

}  // namespace

AnyResource replay_resource(const std::string& name, const AnyResource& upstream) {
  if (name == "system") return upstream;
  if (name == "fixed_size")
    return AnyResource(std::make_shared<FixedSizeResource>(upstream, size_t{1} << 20));
  const AnyResource pool(std::make_shared<PoolResource>(upstream));
  if (name == "pool") return pool;
  if (name == "binning")
    return AnyResource(std::make_shared<BinningResource>(
        pool, BinningResource::fixed_size_bins(upstream, 256, size_t{1} << 20)));
  throw_error<InvalidArgumentError>("replay", "unknown resource", {{"resource", name}},
                                    "pass system, pool, binning or fixed_size");
}

ReplayFootprint replay_footprint(const MemoryLog& log,
                                 const std::function<AnyResource(AnyResource upstream)>& make) {
  Replay steps(log, false);
  const auto watched = std::make_shared<Watched>(system_resource());
  ReplayFootprint result;
  {
    const AnyResource resource = make(AnyResource(watched));
    auto* const blocks = steps.blocks_.mutable_as<Block>();
    const auto* const step = steps.steps_.as<Replay::Step>();
    for (int64_t i = 0; i < steps.begins_.back(); ++i) {
      Block& block = blocks[step[i].block];
      const Stream stream{step[i].stream};
      if (step[i].bytes > 0) {
        try {
          block = resource.allocate(stream, static_cast<size_t>(step[i].bytes), kAlignment);
          watched->note(block, step[i].bytes, true);
        } catch (const std::exception&) {
          block = kRefused;
        }
      } else if (block != kRefused) {
        watched->note(block, -step[i].bytes, false);
        resource.deallocate(stream, block, static_cast<size_t>(-step[i].bytes), kAlignment);
        block = kRefused;
      }
    }
    result = watched->footprint();
    steps.finish(resource);
  }
  return result;
}

}  // namespace hr
