// SPDX-License-Identifier: Apache-2.0
// Stable radix sorts of words on a CUDA device, by some of their bits.
#pragma once
#include "headrace/data/device.h"

#include <cstdint>

namespace hr::cuda {

/// Sorts by bits [low, low + bits) of the keys, stably, and moves a value with each. Keys and
/// values have two places each, first in the first; where they are then: 0 or 1.
int radix_sort(DeviceCall& call, uint32_t* const (&keys)[2], uint32_t* const (&values)[2],
               int64_t rows, int low, int bits);
int radix_sort(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&values)[2],
               int64_t rows, int low, int bits);
int radix_sort(DeviceCall& call, uint32_t* const (&keys)[2], uint64_t* const (&values)[2],
               int64_t rows, int low, int bits);
int radix_sort(DeviceCall& call, uint64_t* const (&keys)[2], uint64_t* const (&values)[2],
               int64_t rows, int low, int bits);

/// The same without values.
int radix_sort(DeviceCall& call, uint32_t* const (&keys)[2], int64_t rows, int low, int bits);
int radix_sort(DeviceCall& call, uint64_t* const (&keys)[2], int64_t rows, int low, int bits);

/// The same by the low `bits` of keys that their upper `lead` bits mostly tell apart: sorts by
/// those, then puts the few runs in order that tie there. Waits to learn that it did; else it sorts
/// by all.
int radix_sort_leading(DeviceCall& call, uint64_t* const (&keys)[2], uint32_t* const (&values)[2],
                       int64_t rows, int bits, int lead);
int radix_sort_leading(DeviceCall& call, uint64_t* const (&keys)[2], uint64_t* const (&values)[2],
                       int64_t rows, int bits, int lead);
int radix_sort_leading(DeviceCall& call, uint64_t* const (&keys)[2], int64_t rows, int bits,
                       int lead);

}  // namespace hr::cuda
