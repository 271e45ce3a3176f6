// SPDX-License-Identifier: Apache-2.0
// Row domains of rows that were picked from others, or put in another order.
#pragma once
#include <cstdint>

namespace hr {

/// The bit of such a domain. Without labels of their own the places of these rows mean nothing
/// combined with other rows, so frames refuse to take them for labels.
inline constexpr uint64_t kPickedRows = uint64_t{1} << 62;

}  // namespace hr
