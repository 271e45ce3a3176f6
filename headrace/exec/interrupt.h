// SPDX-License-Identifier: Apache-2.0
// Ctrl-C outside of jobs.
#pragma once
#include "headrace/base/api.h"

namespace hr {

/// Throws Interrupted when the interrupt check says so. For long work that is no job: it asks once
/// in 50 ms of the thread, jobs counted, so a loop may call it each turn. Never asks on a worker.
HR_API void look_for_interrupt();

/// The same at once: before what cannot be taken back, and where a signal ended a system call.
HR_API void look_for_interrupt_now();

}  // namespace hr
