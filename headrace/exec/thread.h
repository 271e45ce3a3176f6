// SPDX-License-Identifier: Apache-2.0
// Threads of the engine.
#pragma once
#include "headrace/base/api.h"

#include <functional>

namespace hr {

/// Starts a detached thread. Throws std::system_error when the system has no thread to
/// give, or no memory for one: then it does not run.
HR_API void start_thread(std::function<void()> run);

}  // namespace hr
