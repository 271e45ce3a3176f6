// SPDX-License-Identifier: Apache-2.0
// Kernels of cube. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/plot/cube.h"

#include <cstdint>
#include <span>

namespace hr::cpu {

void bin_codes(const Column& column, const Grid<double>& grid, uint16_t* codes);
void bin_codes(const Column& column, const Grid<int64_t>& grid, uint16_t* codes);
void row_codes(int64_t rows, int64_t cells, uint16_t* codes);

/// Codes are 16 bits wide: a table by code has room for any, so no row needs a test.
inline constexpr int64_t kCodes = 65536;

/// One request as the kernel sees it.
struct CubeJob {
  int64_t num_axes;
  const uint16_t* codes[kMostCubeAxes];
  /// By code, the cell times the stride of the axis; each axis has one cell more, for none.
  const uint32_t* places[kMostCubeAxes];
  std::span<const Column> masks;
  const Column* values;
  /// With one more along each axis.
  int64_t cells;
  /// Where its counts begin among those of a slot, and how many copies of them take turns.
  int64_t first;
  int64_t lanes;
  /// Where its sums begin among those of a part, with as many copies.
  int64_t first_sum;
};

/// Rows of a part; parts follow the number of rows alone, so sums do.
struct CubeParts {
  int64_t rows;
  int64_t step;
  int64_t count;
};

/// Adds to `counts` [slots, slot_cells], of which any part may take any slot, and to `sums`
/// [parts, part_sums]. A copy of a request has one cell more, for rows without a value.
void count_cubes(std::span<const CubeJob> jobs, const CubeParts& parts, int64_t slots,
                 int64_t slot_cells, uint32_t* counts, int64_t part_sums, double* sums);

}  // namespace hr::cpu
