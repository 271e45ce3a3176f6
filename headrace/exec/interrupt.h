// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and progress outside of jobs.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Throws Interrupted when the interrupt check says so. For long work that is no job: it asks once
/// in 50 ms of the thread, jobs counted, so a loop may call it each turn. Never asks on a worker.
HR_API void look_for_interrupt();

/// The same at once: before what cannot be taken back, and where a signal ended a system call.
HR_API void look_for_interrupt_now();

/// Between the short jobs of a long loop: checks for an interrupt, and reports how far the loop is
/// to what `set_progress` set, both at most once in 50 ms.
HR_API void report_progress(int64_t done, int64_t count);

}  // namespace hr
