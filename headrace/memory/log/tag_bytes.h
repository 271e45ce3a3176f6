// SPDX-License-Identifier: Apache-2.0
// Running sums of used bytes by tag, which events keep and budget/peak.h lists. For this room only.
#pragma once
#include "headrace/memory/log/tag.h"

#include <cstdint>

namespace hr {

/// Adds to the sum of a tag. Any thread, no lock; 6 ns.
void count_tag_bytes(Tag tag, int64_t change) noexcept;

}  // namespace hr
