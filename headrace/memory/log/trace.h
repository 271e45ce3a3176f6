// SPDX-License-Identifier: Apache-2.0
// The one switch of what the memory writes down about itself: event log, ledger and tags.
#pragma once
#include "headrace/base/api.h"

namespace hr {

/// Whether events of memory are logged, copies enter the ledger, and work carries tags. On unless
/// HEADRACE_MEMORY_TRACE is 0 when the process begins. The limit, the statistics, the list of live
/// buffers and no_copies work either way.
HR_API bool memory_trace();

/// Switches it for all threads. What was written down before stays.
HR_API void set_memory_trace(bool on);

/// Whether tags carry the stack of lines that called an operator. Off at first; Python fills it in.
HR_API bool stack_tracking();
HR_API void set_stack_tracking(bool on);

}  // namespace hr
