// SPDX-License-Identifier: Apache-2.0
// What buffers know of the resources of the host, and these of the budget. For this room only.
#pragma once
#include "headrace/memory/resource/resource.h"

#include <cstdint>

namespace hr {

/// From here on the system resource maps blocks alone, so that their pages can leave memory.
inline constexpr int64_t kLeastMapped = int64_t{64} << 10;

/// What buffers come from by default: the pool.
const AnyResource& default_resource();
/// The same, or null if another one is set, for this thread or for all.
const AnyResource* default_resource_in_force();

/// The budget of the host, a share of which resources keep free at most; INT64_MAX when none is
/// set. The budget enters the function that knows it.
int64_t host_limit();
void set_host_limit(int64_t (*limit)());

}  // namespace hr
