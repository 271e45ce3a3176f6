// SPDX-License-Identifier: Apache-2.0
// One budget over everything that Headrace allocates, its statistics, holders and leaks.
#pragma once
#include "headrace/base/api.h"
#include "headrace/base/place.h"
#include "headrace/memory/log/tag.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hr {

/// Bytes and events of one place since the process began.
struct MemoryStatistics {
  int64_t used_bytes = 0;       ///< held by live buffers
  int64_t peak_bytes = 0;       ///< the most that was ever used
  int64_t cached_bytes = 0;     ///< free in pools: reclaimable
  int64_t external_bytes = 0;   ///< of the used ones, those that other libraries allocated
  int64_t foreign_bytes = 0;    ///< borrowed from other libraries, not charged
  int64_t limit_bytes = 0;      ///< the budget; INT64_MAX when none is set
  int64_t allocations = 0;      ///< buffers made
  int64_t allocated_bytes = 0;  ///< their sizes summed
};

HR_API MemoryStatistics memory_statistics(Place place = host);

/// The budget of a place. It holds at every instant: a request is charged first and refused if it
/// does not fit. HEADRACE_MEMORY_LIMIT sets the first one.
HR_API int64_t memory_limit(Place place = host);
HR_API void set_memory_limit(int64_t bytes, Place place = host);

/// Returns cached memory to the system; the bytes given back.
HR_API int64_t trim_memory();

/// Counts what happens while it lives; scopes nest and see all threads.
class HR_API StatisticsScope {
 public:
  StatisticsScope();
  ~StatisticsScope();
  StatisticsScope(const StatisticsScope&) = delete;
  StatisticsScope& operator=(const StatisticsScope&) = delete;

  /// Since the scope began: allocations, allocated bytes; used is now, peak is within the scope.
  MemoryStatistics read() const;

 private:
  int slot_;
  MemoryStatistics begin_;
};

/// A live buffer, or all small blocks of other libraries of one tag, as reports and the
/// out-of-memory error name it.
struct Holder {
  uint64_t serial = 0;  ///< rises with every buffer made; 0 for small blocks
  int64_t bytes = 0;
  TagInfo tag;
  Place place;
  bool foreign = false;
  bool exported = false;
  bool external = false;       ///< allocated by another library, in our memory
  std::string stack{};         ///< the lines that called, where stacks are tracked
  int64_t resident_bytes = 0;  ///< of its bytes, those in memory and charged
  int64_t pinned_bytes = 0;    ///< of these, those that running work holds there
  const char* stays = "";      ///< why these could not leave, or where it is
};

/// Live buffers and small external blocks, largest first, at most `count`.
HR_API std::vector<Holder> largest_holders(int64_t count);

/// Live own and external memory made after `serial` (a leak check takes `last_serial()` at its
/// start, which parts what was made before from what comes).
HR_API std::vector<Holder> holders_since(uint64_t serial);
HR_API uint64_t last_serial();

/// What devices of a kind say of their budgets, and do for them; each enters its own.
struct DeviceBudget {
  MemoryStatistics (*statistics)(Place) = nullptr;
  int64_t (*limit)(Place) = nullptr;
  void (*set_limit)(Place, int64_t bytes) = nullptr;          ///< null: it cannot be set
  int64_t (*trim)() noexcept = nullptr;                       ///< null: nothing is kept
  std::vector<Holder> (*holders)(uint64_t serial) = nullptr;  ///< that are no buffers
};
void set_device_budget(PlaceKind kind, const DeviceBudget& budget);

/// "2GB" is 2e9, "2GiB" 2 * 2^30, a plain number bytes. Throws InvalidArgumentError otherwise.
HR_API int64_t parse_bytes(const std::string& text);
/// "2.0 GB".
HR_API std::string format_bytes(int64_t bytes);

}  // namespace hr
