// SPDX-License-Identifier: Apache-2.0
// Words to numbers, one at a time: one text for the CPU and for CUDA.
#pragma once
#include "headrace/algo/random/philox.h"

#include <cstdint>

namespace hr {

/// In [0, 1).
HR_INLINE double unit(uint64_t word) {
  return static_cast<double>(static_cast<int64_t>(word >> 11)) * 0x1p-53;
}

HR_INLINE float unit_of_float(uint64_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 40)) * 0x1p-24F;
}

/// In (0, 1], for logarithms.
HR_INLINE double positive_unit(uint64_t word) {
  return static_cast<double>(static_cast<int64_t>((word >> 11) + 1)) * 0x1p-53;
}

/// The upper 64 bits of `word` * `range`, which are uniform once the lower ones reach `bias`.
HR_INLINE uint64_t bounded(RandomKey key, int64_t place, uint64_t word, uint64_t range,
                           uint64_t bias) {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{word} * range;
  for (uint32_t attempt = 1; static_cast<uint64_t>(product) < bias; ++attempt)
    product =
        Wide{philox_word(philox_block(key, static_cast<uint64_t>(place), attempt), 0)} * range;
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace hr
