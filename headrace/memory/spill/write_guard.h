// SPDX-License-Identifier: Apache-2.0
// WriteGuard: HEADRACE_DEBUG_PINS=1 makes a write without a pin a fault. For this room only.
#pragma once
#include "headrace/memory/spill/residency.h"

#include <cstdint>

namespace hr {

/// Whether the environment asked for it. A chunk of `allocate_spillable` is read-only then but
/// while a pin for writing holds it, so that what would be lost when the chunk leaves for the disk
/// at the wrong time ends the process at once, limit or not.
bool guards_writes();

/// All chunks of a new buffer become read-only.
void guard_writes(Residency& residency);
/// Before the block goes back.
void end_guard(Residency& residency);

/// A pin for writing holds the chunk, or gives it back; while one of several holds it, it can be
/// written.
void begin_write(Residency& residency, int64_t chunk);
void end_write(Residency& residency, int64_t chunk);

/// Claimed chunks that came back in fresh pages.
void guard_again(Residency& residency, int64_t first, int64_t last);

}  // namespace hr
