// SPDX-License-Identifier: Apache-2.0
// How many bits of a bitmap are set.
#pragma once
#include <cstdint>

namespace hr::cpu {

/// Of `bytes` whole bytes, and of those that are also set in `also` where that is not null.
int64_t count_set_bits(const uint8_t* bits, const uint8_t* also, int64_t bytes);

}  // namespace hr::cpu
