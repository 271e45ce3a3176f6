// SPDX-License-Identifier: Apache-2.0
// What each thread did, task by task, for profiles.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace hr {

/// One task of a `parallel_for` that ran.
struct TaskRecord {
  int64_t job = 0;           ///< the `parallel_for`: a number of the process
  int64_t index = 0;         ///< the task's, in its job
  int64_t outer_job = -1;    ///< of the task that started the job; -1: no task did
  int64_t outer_index = -1;  ///< and that task's index
  int lane = 0;              ///< the thread: 0 for those of the user, 1 and up for workers
  int64_t begin_ns = 0;      ///< since the process began
  int64_t end_ns = 0;
  int64_t processor_ns = 0;  ///< of the thread; 0 for tasks inside of another on the same thread
};

/// Collects the tasks that its thread and the workers run for it while it lives. Costs some 0.5 us
/// a task; nothing while there is none.
class HR_API TaskTrace {
 public:
  TaskTrace();
  ~TaskTrace();
  TaskTrace(const TaskTrace&) = delete;
  TaskTrace& operator=(const TaskTrace&) = delete;

  /// In order of their beginning. Call it when no job runs any more.
  std::vector<TaskRecord> take();
  /// Time on processors so far: of this thread, and of the workers in its tasks.
  int64_t processor_ns() const;

 private:
  friend class JobTrace;
  void add(std::vector<TaskRecord> tasks);

  TaskTrace* outer_;
  int64_t processor_begin_ns_;
  std::mutex mutex_{};
  std::vector<TaskRecord> tasks_{};
};

/// The time in which at most one of the tasks ran, from `begin_ns` to `end_ns`.
HR_API int64_t serial_ns(const std::vector<TaskRecord>& tasks, int64_t begin_ns, int64_t end_ns);

/// The tasks of one job, for the worker pool.
class JobTrace {
 public:
  explicit JobTrace(int64_t count);

  bool is_on() const { return trace_ != nullptr; }
  /// Once, when no task of the job runs any more.
  void finish();

  /// Around one task, on the thread that runs it.
  class Task {
   public:
    Task(JobTrace& job, int64_t index);
    ~Task();
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

   private:
    JobTrace& job_;
    int64_t index_;
    TaskTrace* outer_trace_ = nullptr;
    const TaskRecord* outer_ = nullptr;
  };

 private:
  TaskTrace* trace_;
  int64_t job_ = 0;
  std::vector<TaskRecord> tasks_{};
};

/// The lane of this thread in records; for the worker pool.
void set_lane(int lane);

}  // namespace hr
