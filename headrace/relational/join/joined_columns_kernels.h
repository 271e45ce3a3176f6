// SPDX-License-Identifier: Apache-2.0
// Kernels that make the columns of a join's result.
#pragma once
#include "headrace/data/device.h"

#include <cstddef>
#include <cstdint>

namespace hr::cuda {

inline constexpr int kMostMoves = 8;

/// Values of a column; of bools, `bytes` 0, bits.
struct MovedFrom {
  const std::byte* values = nullptr;
  const uint8_t* validity = nullptr;  ///< null: no value is
  int64_t offset = 0;
};

/// A column of the result.
struct RowMove {
  MovedFrom from{};
  MovedFrom other{};  ///< read where `from` has no row, if the rows have others
  int bytes = 8;      ///< 0, 1, 2, 4, 8 or 16
  std::byte* values = nullptr;
  uint32_t* validity = nullptr;  ///< null: none is missing
};

struct RowMoves {
  RowMove moves[kMostMoves]{};
  int count = 0;
  int64_t rows = 0;
  const int32_t* at = nullptr;          ///< the row of each, -1: none
  const int32_t* other = nullptr;       ///< and of the other side, or null
  unsigned long long* nulls = nullptr;  ///< of each move, added to
};

void move_rows(const DeviceCall& call, const RowMoves& moves);

/// 0, 1 or 2 by which rows there are; null: all.
void indicate_rows(const DeviceCall& call, int64_t rows, const int32_t* left, const int32_t* right,
                   bool swapped, int32_t* codes);

void finish_moves(DeviceCall& call);

}  // namespace hr::cuda
