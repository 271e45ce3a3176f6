// SPDX-License-Identifier: Apache-2.0
// The accounts: charged bytes, statistics, live buffers.
#include "headrace/memory/budget/budget.h"

#include "headrace/base/error.h"
#include "headrace/base/process_global.h"
#include "headrace/memory/budget/external_memory.h"
#include "headrace/memory/budget/live_buffers.h"
#include "headrace/memory/buffer/buffer_rep.h"
#include "headrace/memory/resource/cached_blocks.h"
#include "headrace/memory/resource/default_resource.h"
#include "headrace/memory/resource/pool.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <malloc.h>

namespace hr {

namespace {

constexpr int kShards = 16;
constexpr int kScopes = 64;

// What malloc keeps in an arena is not counted, and each thread would get one of its own: 1.4 MB
// with 16 threads.
void keep_arenas_few() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
}

int64_t first_limit() {
  const char* text = std::getenv("HEADRACE_MEMORY_LIMIT");
  if (!text) return std::numeric_limits<int64_t>::max();
  keep_arenas_few();
  try {
    return parse_bytes(text);
  } catch (Error& error) {
    error.add_note("  set by HEADRACE_MEMORY_LIMIT");
    throw;
  }
}

struct alignas(64) Shard {
  std::mutex mutex;
  Buffer::Rep* first = nullptr;
};

struct Accounts {
  std::atomic<int64_t> used{0};
  std::atomic<int64_t> peak{0};
  std::atomic<int64_t> external{0};
  std::atomic<int64_t> foreign{0};
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> allocated{0};
  std::atomic<int64_t> limit{first_limit()};
  std::atomic<uint64_t> serial{0};
  std::array<Shard, kShards> shards;
  // Peaks of the open statistics scopes; -1 marks a free slot.
  std::array<std::atomic<int64_t>, kScopes> scope_peaks;
  std::atomic<int> scopes_end{0};

  Accounts() {
    for (auto& peak_of_scope : scope_peaks) peak_of_scope = -1;
    for (Shard& shard : shards) lock_over_fork(shard.mutex);
  }
};

Accounts& accounts() {
  return process_global<Accounts>();  // buffers may outlive main
}

void raise_to(std::atomic<int64_t>& peak, int64_t value) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// By kind of place; filled before main.
constinit std::array<DeviceBudget, kPlaceKinds> device_budgets{};

const DeviceBudget* find_budget(Place place) {
  const DeviceBudget& device = device_budgets[static_cast<size_t>(place.kind)];
  return device.statistics ? &device : nullptr;
}

constinit ExternalMemory external_memory{};  // filled before main

[[maybe_unused]] const bool entered = [] {
  set_host_limit([] { return memory_limit(); });
  return true;
}();

}  // namespace

bool try_charge(int64_t bytes) {
  Accounts& all = accounts();
  int64_t used = all.used.load();
  do {
    if (bytes > all.limit.load() - used) return false;
  } while (!all.used.compare_exchange_weak(used, used + bytes));
  raise_to(all.peak, used + bytes);
  for (int i = 0; i < all.scopes_end.load(std::memory_order_relaxed); ++i)
    if (all.scope_peaks[static_cast<size_t>(i)].load(std::memory_order_relaxed) >= 0)
      raise_to(all.scope_peaks[static_cast<size_t>(i)], used + bytes);
  if (over_budget()) default_pool().trim(bytes);
  if (over_budget()) trim_caches();
  return true;
}

void uncharge(int64_t bytes) {
  accounts().used -= bytes;
}

int64_t charged_bytes() {
  return accounts().used.load(std::memory_order_relaxed);
}

bool over_budget() {
  const int64_t limit = accounts().limit.load(std::memory_order_relaxed);
  return limit != std::numeric_limits<int64_t>::max() && accounts().used + cached_bytes() > limit;
}

void enter_buffer(Buffer::Rep& rep) {
  Accounts& all = accounts();
  rep.serial = ++all.serial;
  if (rep.owner.release) {
    if (rep.place.is_host()) all.foreign += rep.size_bytes;
  } else if (rep.place.is_host()) {  // a device has accounts of its own
    ++all.allocations;
    all.allocated += rep.capacity_bytes;
  }
  Shard& shard = all.shards[rep.serial % kShards];
  const std::lock_guard lock(shard.mutex);
  rep.next = shard.first;
  if (shard.first) shard.first->previous = &rep;
  shard.first = &rep;
}

void leave_buffer(Buffer::Rep& rep) {
  Accounts& all = accounts();
  if (rep.owner.release && rep.place.is_host()) all.foreign -= rep.size_bytes;
  if (rep.external) all.external -= rep.capacity_bytes;
  Shard& shard = all.shards[rep.serial % kShards];
  const std::lock_guard lock(shard.mutex);
  (rep.previous ? rep.previous->next : shard.first) = rep.next;
  if (rep.next) rep.next->previous = rep.previous;
}

void mark_external(Buffer& buffer, bool slab) {
  Buffer::Rep& rep = *buffer.rep_;
  rep.slab = slab;
  rep.external = true;
  accounts().external += rep.capacity_bytes;
}

uint64_t count_external(int64_t bytes) {
  Accounts& all = accounts();
  all.external += bytes;
  ++all.allocations;
  all.allocated += bytes;
  return ++all.serial;
}

void uncount_external(int64_t bytes) {
  accounts().external -= bytes;
}

void for_each_buffer(const std::function<void(const Buffer::Rep&)>& visit) {
  for (Shard& shard : accounts().shards) {
    const std::lock_guard lock(shard.mutex);
    for (Buffer::Rep* rep = shard.first; rep; rep = rep->next) visit(*rep);
  }
}

std::vector<Holder> other_holders(uint64_t serial) {
  std::vector<Holder> holders;
  if (external_memory.holders) holders = external_memory.holders(serial);
  for (const DeviceBudget& device : device_budgets)
    if (device.holders)
      for (Holder& holder : device.holders(serial)) holders.push_back(std::move(holder));
  return holders;
}

void set_external_memory(const ExternalMemory& memory) {
  external_memory = memory;
}

int64_t trim_external_memory() noexcept {
  return external_memory.trim ? external_memory.trim() : 0;
}

void set_device_budget(PlaceKind kind, const DeviceBudget& budget) {
  device_budgets[static_cast<size_t>(kind)] = budget;
}

MemoryStatistics memory_statistics(Place place) {
  if (const DeviceBudget* const device = find_budget(place)) return device->statistics(place);
  const Accounts& all = accounts();
  return {.used_bytes = all.used,
          .peak_bytes = all.peak,
          .cached_bytes = cached_bytes(),
          .external_bytes = all.external,
          .foreign_bytes = all.foreign,
          .limit_bytes = all.limit,
          .allocations = all.allocations,
          .allocated_bytes = all.allocated};
}

int64_t memory_limit(Place place) {
  const DeviceBudget* const device = find_budget(place);
  return device ? device->limit(place) : accounts().limit.load();
}

void set_memory_limit(int64_t bytes, Place place) {
  const DeviceBudget* const device = find_budget(place);
  if (device && !device->set_limit)
    throw_error<UnsupportedError>("memory.limit",
                                  "the limit of the simulated device cannot be changed", {},
                                  "set limit= in HEADRACE_DEVICE");
  if (bytes <= 0)
    throw_error<InvalidArgumentError>("memory.limit", "the limit is not positive",
                                      {{"bytes", bytes}});
  if (device) return device->set_limit(place, bytes);
  accounts().limit = bytes;
  if (bytes != std::numeric_limits<int64_t>::max()) keep_arenas_few();
  if (over_budget()) trim_memory();
}

int64_t trim_memory() {
  trim_external_memory();
  int64_t freed = trim_caches();
  for (const DeviceBudget& device : device_budgets)
    if (device.trim) freed += device.trim();
#ifdef __GLIBC__
  malloc_trim(0);  // blocks below 4 MiB went back to malloc, which keeps pages too
#endif
  return freed;
}

StatisticsScope::StatisticsScope() : slot_(-1), begin_(memory_statistics()) {
  Accounts& all = accounts();
  for (int i = 0; i < kScopes && slot_ < 0; ++i) {
    int64_t free_slot = -1;
    if (all.scope_peaks[static_cast<size_t>(i)].compare_exchange_strong(free_slot,
                                                                        begin_.used_bytes))
      slot_ = i;
  }
  if (slot_ < 0)
    throw_error<InvalidArgumentError>("memory.stats", "too many open scopes",
                                      {{"scopes", kScopes}});
  int end = all.scopes_end.load();
  while (end <= slot_ && !all.scopes_end.compare_exchange_weak(end, slot_ + 1)) {
  }
}

StatisticsScope::~StatisticsScope() {
  accounts().scope_peaks[static_cast<size_t>(slot_)] = -1;
}

MemoryStatistics StatisticsScope::read() const {
  MemoryStatistics now = memory_statistics();
  now.peak_bytes = accounts().scope_peaks[static_cast<size_t>(slot_)];
  now.allocations -= begin_.allocations;
  now.allocated_bytes -= begin_.allocated_bytes;
  return now;
}

uint64_t last_serial() {
  return accounts().serial++;
}

uint64_t present_serial() {
  return accounts().serial.load(std::memory_order_relaxed);
}

int64_t parse_bytes(const std::string& text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(static_cast<const char*>(end), text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  constexpr std::pair<const char*, double> kUnits[] = {{"", 1},
                                                       {"B", 1},
                                                       {"kB", 1e3},
                                                       {"KB", 1e3},
                                                       {"MB", 1e6},
                                                       {"GB", 1e9},
                                                       {"TB", 1e12},
                                                       {"KiB", 1024.0},
                                                       {"MiB", 1048576.0},
                                                       {"GiB", 1073741824.0},
                                                       {"TiB", 1099511627776.0}};
  for (const auto& [name, factor] : kUnits)
    if (code == std::errc() && unit == name && number >= 0 && number * factor < 9e18)
      return static_cast<int64_t>(number * factor);
  throw_error<InvalidArgumentError>("bytes", "not a number of bytes", {{"text", text}},
                                    "write it as 2GB (10^9), 2GiB (2^30) or a plain number");
}

std::string format_bytes(int64_t bytes) {
  if (bytes == std::numeric_limits<int64_t>::max()) return "none";
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace hr
