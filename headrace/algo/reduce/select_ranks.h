// SPDX-License-Identifier: Apache-2.0
// Values by their rank, without sorting the others.
#pragma once
#include "headrace/data/access_pattern.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// Two neighbours in the order of some values.
template <class T>
struct RankedPair {
  T at;    ///< the value of a rank
  T next;  ///< of the next one, or the same if it is the last
};

/// The values of `rank` and the next rank among `values`, of which `present` are not NaN, more than
/// `rank`; which of two zeros is open. One pass finds what lies between two values of a sample that
/// enclose the rank (Floyd and Rivest, Expected time bounds for selection, 1975), by all workers;
/// `values` stay as they are.
template <class T>
RankedPair<T> select_ranks(std::span<const T> values, int64_t present, int64_t rank,
                           const std::vector<BufferAccess>& accesses = {});

/// How many of the values are not NaN.
template <class T>
int64_t count_present(std::span<const T> values, const std::vector<BufferAccess>& accesses = {});

/// Of fewer values std::nth_element is as fast.
inline constexpr int64_t kLeastToSelect = 1 << 12;

}  // namespace hr
