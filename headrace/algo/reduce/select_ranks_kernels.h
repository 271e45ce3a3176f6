// SPDX-License-Identifier: Apache-2.0
// Kernels of select_ranks.
#pragma once
#include <cstdint>

namespace hr {

/// How many values lie below the lower end of a window, or up to one of its ends.
struct WindowCounts {
  int64_t below = 0;
  int64_t up_to_low = 0;
  int64_t up_to_high = 0;
};

}  // namespace hr

namespace hr::cpu {
/// Adds `count` values, at most kBlockRows, to the counts and writes those between the ends to
/// `between`, which has room for all; how many these are. NaN counts nowhere.
template <class T>
int64_t split_window(const T* values, int64_t count, T low, T high, WindowCounts& counts,
                     T* between);
}  // namespace hr::cpu
