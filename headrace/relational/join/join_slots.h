// SPDX-License-Identifier: Apache-2.0
// Joins on a CUDA device: right rows by the slots of their keys, which left rows look up.
#pragma once
#include "headrace/relational/join/join.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// Why `join_by_slots` gives nothing.
inline constexpr std::string_view kWideKeys = "keys of more than 64 bits have no kernel for CUDA";

/// Why these keys have no kernel, "keys of strings have no kernel for CUDA"; empty: they have one.
std::string why_no_slots(const std::vector<Column>& left, const std::vector<Column>& right);

/// As `join_rows`, of keys on a CUDA device, which `why_no_slots` has nothing against; rows of the
/// result lie there too. Waits twice, of duplicates and outer joins three times. 4 bytes for each
/// left row, and for each right row 4 to 16 or, of keys from a wide range, 24 to 48; with
/// duplicates 16 more. Nothing where keys take more than 64 bits together. Errors as of join_rows.
std::optional<JoinedRows> join_by_slots(const std::vector<Column>& left, int64_t left_rows,
                                        const std::vector<Column>& right, int64_t right_rows,
                                        JoinKind kind, JoinUnique unique);

}  // namespace hr
