// SPDX-License-Identifier: Apache-2.0
// Work in the background.
#pragma once
#include "headrace/base/api.h"

#include <functional>

namespace hr {

/// Runs `job` on a thread of its own kind, soon, in the order of the calls but two at a time. It
/// must not throw. Throws std::system_error when the system has no thread to give.
HR_API void run_in_background(std::function<void()> job);

}  // namespace hr
