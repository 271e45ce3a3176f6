// SPDX-License-Identifier: Apache-2.0
// Rows on a CUDA device by numbers: equal ones have one.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <string_view>

namespace hr {

inline constexpr std::string_view kRowsOp = "encode";

/// As many rows have no numbers: the slots of their table are 32 bits.
inline constexpr int64_t kTooManyRows = int64_t{1} << 30;

/// Numbers of rows, 0, 1, ... without gaps.
struct RowCodes {
  Column codes{};       ///< int32 a row, null where it has no number
  Tensor first_rows{};  ///< uint32 a number: the first row that has it
};

}  // namespace hr
