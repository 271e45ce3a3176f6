// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and progress outside of jobs.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Throws Interrupted when the interrupt check says so. For long work that is no job: it asks once
/// in 50 ms of the thread, jobs counted, so a loop may call it each turn. A worker never asks, but
/// throws once the job that it works on was stopped: so long tasks may call it, too.
HR_API void look_for_interrupt();

/// The same at once: before what cannot be taken back, and where a signal ended a system call.
HR_API void look_for_interrupt_now();

/// Between the short jobs of a long loop: checks for an interrupt, and reports how far the loop is
/// to what `set_progress` set, both at most once in 50 ms.
HR_API void report_progress(int64_t done, int64_t count);

/// Work of several jobs and loops: while a part lives, what its thread reports (and its jobs, if
/// short) fills `begin` to `end` of a `whole`. Parts inside of a part share what that one fills. A
/// whole that is not positive changes nothing.
class HR_API ProgressPart {
 public:
  ProgressPart(int64_t begin, int64_t end, int64_t whole);
  ~ProgressPart();
  ProgressPart(const ProgressPart&) = delete;
  ProgressPart& operator=(const ProgressPart&) = delete;

  /// What a share of this thread's innermost part is of all.
  static double of_all(double share);

 private:
  double begin_;
  double end_;
  const ProgressPart* outer_;
};

}  // namespace hr
