// SPDX-License-Identifier: Apache-2.0
// The profiles that live, and the clock of a step.
#include "headrace/plan/execute/profile.h"

#include "headrace/base/process_global.h"
#include "headrace/exec/device_profile.h"
#include "headrace/memory/spill/spill.h"
#include "headrace/memory/sync/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace hr {

namespace {

struct Listeners {
  ForkMutex mutex;
  std::vector<Profile*> all;
  std::atomic<size_t> count{0};
  std::atomic<int64_t> next_id{0};
};

Listeners& listeners() {
  return process_global<Listeners>();
}

thread_local std::string step_note;
std::atomic<int64_t> rows_of_step{0};  // plans run one after the other

}  // namespace

int64_t running_rows() {
  return rows_of_step;
}

ScopedRunningRows::ScopedRunningRows(int64_t rows) : outer_(rows_of_step.exchange(rows)) {}

ScopedRunningRows::~ScopedRunningRows() {
  rows_of_step = outer_;
}

void note_on_step(std::string note) {
  step_note = std::move(note);
}

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
  step_note.clear();
  const SpillStatistics before = spill_statistics();
  record_.written_bytes = -before.written_bytes;
  record_.fetched_bytes = -before.fetched_bytes;
  record_.waited_ns = -before.waited_ns;
  memory_.emplace();
  trace_.emplace();
  record_.id = listeners().next_id++;
  record_.memory_bytes = -memory_->read().used_bytes;
  record_.begin_ns = profile_now_ns();
}

void StepClock::stop(const std::string& op, Tag tag, int64_t rows, int64_t bytes,
                     std::vector<int64_t> after) {
  record_.end_ns = profile_now_ns();
  record_.processor_ns = trace_->processor_ns();
  const auto tasks = std::make_shared<const std::vector<TaskRecord>>(trace_->take());
  record_.serial_ns = serial_ns(*tasks, record_.begin_ns, record_.end_ns);
  record_.tasks = tasks;
  record_.after = std::move(after);
  const SpillStatistics moved = spill_statistics();
  record_.written_bytes += moved.written_bytes;
  record_.fetched_bytes += moved.fetched_bytes;
  record_.waited_ns += moved.waited_ns;
  const MemoryStatistics memory = memory_->read();
  record_.used_bytes = memory.used_bytes;
  record_.memory_bytes = std::max<int64_t>(record_.memory_bytes + memory.peak_bytes, 0);
  record_.op = op;
  record_.line = tag_info(tag).line;
  record_.note = std::move(step_note);
  record_.rows = rows;
  record_.result_bytes = bytes;
  const std::lock_guard lock(listeners().mutex);
  for (Profile* profile : listeners().all) profile->steps_.push_back(record_);
}

}  // namespace hr
