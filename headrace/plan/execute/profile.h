// SPDX-License-Identifier: Apache-2.0
// What the steps of plans took, for profiles.
#pragma once
#include "headrace/base/api.h"
#include "headrace/exec/task_trace.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/log/tag.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hr {

/// One step that ran.
struct StepRecord {
  int64_t id = 0;                ///< a number of the process
  std::vector<int64_t> after{};  ///< those of the steps whose results it read
  std::string op{};
  std::string line{};    ///< the user's, "etl.py:12", or empty
  std::string note{};    ///< what the operator tells of its work, "row groups 3 of 40", or empty
  int64_t begin_ns = 0;  ///< since the process began
  int64_t end_ns = 0;
  int64_t rows = 0;           ///< of the first result
  int64_t result_bytes = 0;   ///< of all results
  int64_t used_bytes = 0;     ///< in the budget at the end
  int64_t memory_bytes = 0;   ///< the most that was in use at once, without what was before
  int64_t written_bytes = 0;  ///< to the disk, because of a memory limit
  int64_t fetched_bytes = 0;  ///< and back
  int64_t waited_ns = 0;      ///< of all threads, for these moves
  int64_t processor_ns = 0;   ///< of all threads
  int64_t serial_ns = 0;      ///< in which at most one thread worked on it
  std::shared_ptr<const std::vector<TaskRecord>> tasks{};  ///< in order of their beginning
};

/// Collects the steps of all plans, of any thread, while it lives. Costs 1 us a step and 0.5 us a
/// task; nothing while there is none.
class HR_API Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// So far.
  std::vector<StepRecord> steps() const;

 private:
  std::vector<StepRecord> steps_{};
  friend class StepClock;
};

/// For an operator that runs: what the record of its step shall say.
HR_API void note_on_step(std::string note);

/// Rows of the largest input of the step that runs now, in whichever thread; 0 between plans.
HR_API int64_t running_rows();

/// What `running_rows` says while it lives; for executor.cpp.
class ScopedRunningRows {
 public:
  explicit ScopedRunningRows(int64_t rows);
  ~ScopedRunningRows();
  ScopedRunningRows(const ScopedRunningRows&) = delete;
  ScopedRunningRows& operator=(const ScopedRunningRows&) = delete;

 private:
  int64_t outer_;
};

/// Around one step; for executor.cpp.
class StepClock {
 public:
  StepClock();
  bool is_on() const { return on_; }
  int64_t id() const { return record_.id; }
  /// Tells all profiles; only when on.
  void stop(const std::string& op, Tag tag, int64_t rows, int64_t bytes,
            std::vector<int64_t> after);

 private:
  bool on_;
  std::optional<StatisticsScope> memory_{};
  std::optional<TaskTrace> trace_{};
  StepRecord record_{};
};

}  // namespace hr
