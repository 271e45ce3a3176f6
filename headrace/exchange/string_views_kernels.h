// SPDX-License-Identifier: Apache-2.0
// String views, as loops over memory that is there.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>

namespace hr::cpu {

/// Whether each of `count` views holds its text, which is ASCII, and zeros behind it.
bool all_short_ascii(const StringView* views, int64_t count);

}  // namespace hr::cpu
