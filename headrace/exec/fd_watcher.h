// SPDX-License-Identifier: Apache-2.0
// One background thread that waits for descriptors: for what others ask of this process.
#pragma once
#include "headrace/base/api.h"

#include <functional>

namespace hr {

/// Calls `ready` on the watching thread, one call at a time, whenever `descriptor` can be read, has
/// a connection to accept or lost its peer, until `ready` returns false. Then both are let go and
/// the descriptor is closed. `ready` must not block and must not throw. A forked child has no such
/// thread: it closes its copies of the descriptors. Takes the descriptor, also when it throws
/// InputError because the system has no thread or no room to watch it.
HR_API void watch_descriptor(int descriptor, std::function<bool()> ready);

}  // namespace hr
