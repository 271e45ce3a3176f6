// SPDX-License-Identifier: Apache-2.0
// Few keys in order.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// Sorts `numbers` by their keys, `keys[i]` being that of numbers[i]; equal ones stay in their
/// order. By one thread: a radix sort over the bits in which keys differ.
HR_API void radix_order(const uint64_t* keys, uint32_t* numbers, int64_t count);

}  // namespace hr
