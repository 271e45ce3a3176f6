// SPDX-License-Identifier: Apache-2.0
// A random number below another.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// A number from 0 on below `count` of a random word: the high half of their product (D. Lemire,
/// ACM TOMACS 29, 2019). Without the draws that he rejects: chances differ by count / 2^64.
HR_BOTH inline int64_t draw_below(uint64_t word, int64_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<int64_t>(static_cast<Wide>(word) * static_cast<uint64_t>(count) >> 64);
}

}  // namespace hr
