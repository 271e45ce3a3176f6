// SPDX-License-Identifier: Apache-2.0
// Memory that the system gives a thread when it first needs it.
#pragma once
#include "headrace/base/api.h"

namespace hr {

/// Takes thread-local data for this thread, those of C++ exceptions too. Later, where there is no
/// memory for them, the system would end the process. False if there is none now.
HR_API bool take_thread_data() noexcept;

}  // namespace hr
