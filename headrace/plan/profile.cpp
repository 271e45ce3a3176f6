// SPDX-License-Identifier: Apache-2.0
// The profiles that live, and the clock of a step.
#include "headrace/plan/profile.h"

#include "headrace/exec/device_profile.h"
#include "headrace/memory/budget.h"
#include "headrace/memory/spill.h"

#include <atomic>
#include <mutex>

namespace hr {

namespace {

struct Listeners {
  std::mutex mutex;
  std::vector<Profile*> all;
  std::atomic<size_t> count{0};
};

Listeners& listeners() {
  static Listeners* const leaked = new Listeners;
  return *leaked;
}

}  // namespace

Profile::Profile() {
  Listeners& to = listeners();
  const std::lock_guard lock(to.mutex);
  to.all.push_back(this);
  to.count = to.all.size();
}

Profile::~Profile() {
  Listeners& to = listeners();
  const std::lock_guard lock(to.mutex);
  std::erase(to.all, this);
  to.count = to.all.size();
}

std::vector<StepRecord> Profile::steps() const {
  const std::lock_guard lock(listeners().mutex);
  return steps_;
}

StepClock::StepClock() : on_(listeners().count > 0) {
  if (!on_) return;
  const SpillStatistics before = spill_statistics();
  record_.written_bytes = -before.written_bytes;
  record_.fetched_bytes = -before.fetched_bytes;
  record_.begin_ns = profile_now_ns();
}

void StepClock::stop(const std::string& op, Tag tag, int64_t rows, int64_t bytes) {
  if (!on_) return;
  record_.end_ns = profile_now_ns();
  const SpillStatistics after = spill_statistics();
  record_.written_bytes += after.written_bytes;
  record_.fetched_bytes += after.fetched_bytes;
  record_.used_bytes = memory_statistics().used_bytes;
  record_.op = op;
  record_.line = tag_info(tag).line;
  record_.rows = rows;
  record_.result_bytes = bytes;
  const std::lock_guard lock(listeners().mutex);
  for (Profile* profile : listeners().all) profile->steps_.push_back(record_);
}

}  // namespace hr
