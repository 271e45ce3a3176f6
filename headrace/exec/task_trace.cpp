// SPDX-License-Identifier: Apache-2.0
// Records of tasks: a slot a task, so that threads do not meet.
#include "headrace/exec/task_trace.h"

#include "headrace/exec/device_profile.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

namespace hr {

namespace {

constinit thread_local TaskTrace* trace_in_force = nullptr;
constinit thread_local const TaskRecord* running_task = nullptr;
constinit thread_local int own_lane = 0;
std::atomic<int64_t> next_job{0};

int64_t processor_now_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

TaskTrace::TaskTrace() : outer_(trace_in_force), processor_begin_ns_(processor_now_ns()) {
  trace_in_force = this;
}

TaskTrace::~TaskTrace() {
  trace_in_force = outer_;
}

void TaskTrace::add(std::vector<TaskRecord> tasks) {
  const std::lock_guard lock(mutex_);
  tasks_.insert(tasks_.end(), tasks.begin(), tasks.end());
}

std::vector<TaskRecord> TaskTrace::take() {
  std::ranges::sort(tasks_, {},
                    [](const TaskRecord& task) { return std::pair(task.begin_ns, -task.end_ns); });
  return std::move(tasks_);
}

int64_t TaskTrace::processor_ns() const {
  int64_t sum = processor_now_ns() - processor_begin_ns_;
  for (const TaskRecord& task : tasks_)
    if (task.lane != own_lane) sum += task.processor_ns;
  return sum;
}

int64_t serial_ns(const std::vector<TaskRecord>& tasks, int64_t begin_ns, int64_t end_ns) {
  // A thread counts once, however deep its tasks are nested.
  std::vector<std::pair<int64_t, int>> borders;
  for (const TaskRecord& task : tasks) {
    if (task.processor_ns == 0) continue;
    borders.emplace_back(task.begin_ns, 1);
    borders.emplace_back(task.end_ns, -1);
  }
  std::ranges::sort(borders);
  int64_t parallel = 0, since = 0;
  int running = 0;
  for (const auto& [at, change] : borders) {
    if (running > 1) parallel += at - since;
    running += change;
    since = at;
  }
  return end_ns - begin_ns - parallel;
}

JobTrace::JobTrace(int64_t count) : trace_(trace_in_force) {
  if (!trace_) return;
  job_ = next_job++;
  TaskRecord empty;
  empty.job = job_;
  if (running_task) {
    empty.outer_job = running_task->job;
    empty.outer_index = running_task->index;
  }
  tasks_.assign(static_cast<size_t>(count), empty);
}

void JobTrace::finish() {
  if (!trace_) return;
  std::erase_if(tasks_, [](const TaskRecord& task) { return task.end_ns == 0; });
  trace_->add(std::move(tasks_));
}

JobTrace::Task::Task(JobTrace& job, int64_t index) : job_(job), index_(index) {
  if (!job_.is_on()) return;
  TaskRecord& record = job_.tasks_[static_cast<size_t>(index_)];
  outer_trace_ = std::exchange(trace_in_force, job_.trace_);
  outer_ = std::exchange(running_task, &record);
  record.index = index_;
  record.lane = own_lane;
  record.begin_ns = profile_now_ns();
  if (!outer_) record.processor_ns = -processor_now_ns();
}

JobTrace::Task::~Task() {
  if (!job_.is_on()) return;
  TaskRecord& record = job_.tasks_[static_cast<size_t>(index_)];
  if (!outer_) record.processor_ns = std::max<int64_t>(record.processor_ns + processor_now_ns(), 1);
  record.end_ns = profile_now_ns();
  trace_in_force = outer_trace_;
  running_task = outer_;
}

void set_lane(int lane) {
  own_lane = lane;
}

}  // namespace hr
