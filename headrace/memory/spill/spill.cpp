// SPDX-License-Identifier: Apache-2.0
// What users and the other rooms see of spilling: settings, statistics, plans, pins.
#include "headrace/memory/spill/spill.h"

#include "headrace/base/error.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/pin.h"
#include "headrace/memory/spill/spill_engine.h"

#include <algorithm>

namespace hr {

namespace {

// A buffer of a device moves as a whole, under pins of its own.
bool has_chunks(const Buffer& buffer) {
  return buffer.residency() != nullptr && buffer.place().is_host();
}

}  // namespace

SpillStatistics spill_statistics() {
  return SpillEngine::instance().statistics();
}

std::string spill_directory() {
  return SpillEngine::instance().directory();
}

void set_spill_directory(std::string directory) {
  SpillEngine::instance().set_directory(std::move(directory));
}

int64_t spill_limit() {
  return SpillEngine::instance().limit();
}

void set_spill_limit(int64_t bytes) {
  if (bytes < 0)
    throw_error<InvalidArgumentError>("memory.spill", "the limit is negative", {{"bytes", bytes}},
                                      "pass 0 to turn spilling off");
  SpillEngine::instance().set_limit(bytes);
}

int64_t reserve_steps(int64_t count) {
  return SpillEngine::instance().reserve_steps(count);
}

void begin_step(int64_t step) {
  SpillEngine::instance().begin_step(step);
}

int64_t add_pressure_callback(PressureCallback free) {
  return SpillEngine::instance().add_callback(std::move(free));
}

void remove_pressure_callback(int64_t id) {
  SpillEngine::instance().remove_callback(id);
}

void set_spill_runner(void (*run)(std::function<void()>)) {
  SpillEngine::instance().set_runner(run);
}

RunningTask::RunningTask() noexcept {
  SpillEngine::instance().begin_hold();
}

RunningTask::~RunningTask() {
  SpillEngine::instance().end_hold();
}

int64_t begin_waiting() noexcept {
  return SpillEngine::instance().begin_waiting();
}

void end_waiting(int64_t holds) noexcept {
  SpillEngine::instance().end_waiting(holds);
}

void charge_or_throw(int64_t bytes) {
  if (memory_limit() != INT64_MAX || !try_charge(bytes))
    SpillEngine::instance().charge_or_throw(bytes);
}

int64_t attainable_bytes() {
  return SpillEngine::instance().attainable();
}

void make_room(int64_t bytes) {
  charge_or_throw(bytes);
  discharge(bytes);
}

Pin::Pin(std::span<const PinnedRange> ranges) {
  for (const PinnedRange& range : ranges)
    if (range.begin < range.end && has_chunks(*range.buffer)) ranges_.push_back(range);
  if (!ranges_.empty()) SpillEngine::instance().pin(ranges_);
}

Pin::~Pin() {
  if (!ranges_.empty()) SpillEngine::instance().unpin(ranges_);
}

std::vector<PinnedRange> ranges_of(std::span<const BufferAccess> accesses, int64_t begin,
                                   int64_t end) {
  std::vector<PinnedRange> ranges;
  for (const BufferAccess& access : accesses) {
    if (!has_chunks(*access.buffer)) continue;
    const int64_t first = std::max<int64_t>(begin - access.before, 0);
    const int64_t last = std::min(end + access.after, access.items) - 1;
    if (first > last) continue;
    const auto [low, high] = std::minmax(
        {access.first_bit + first * access.step_bits, access.first_bit + last * access.step_bits});
    ranges.push_back({access.buffer, low / 8, (high + access.item_bits + 7) / 8, access.write});
  }
  return ranges;
}

}  // namespace hr
