// SPDX-License-Identifier: Apache-2.0
// Kernels of cube. Inputs are checked, outputs are allocated.
#pragma once
#include "headrace/plot/cube.h"

#include <cstdint>
#include <span>

namespace hr::cpu {

/// `Code` is uint8_t or uint16_t and has room for `cells`.
template <class Code>
void bin_codes(const Column& column, const Grid<double>& grid, Code* codes);
template <class Code>
void bin_codes(const Column& column, const Grid<int64_t>& grid, Code* codes);
template <class Code>
void row_codes(int64_t rows, int64_t cells, Code* codes);

/// Rows whose cells and places are found before they are counted: they stay in L1.
inline constexpr int64_t kCubeBlock = 1024;
/// Copies of a table of few cells.
inline constexpr int64_t kCubeLanes = 8;

/// Codes to cells, of which several requests may make use.
struct CellsJob {
  const uint8_t* narrow;  ///< codes of 8 bits, or null
  const uint16_t* wide;   ///< codes of 16 bits, or null
  /// A row whose code is `num_codes` or more is in cell `num_cells`: in none.
  int64_t num_codes;
  int64_t num_cells;
  /// The cell is `code * share >> 16`, unless there is a table, with a place for any code.
  uint32_t share;
  const uint16_t* table;
};

/// One request as the kernel sees it.
struct CubeJob {
  int64_t num_axes;
  /// The number of each axis among all of them, and its cells with one more, for none.
  int64_t axes[kMostCubeAxes];
  int64_t wide[kMostCubeAxes];
  std::span<const Column> masks;
  const Column* values;
  /// The product of `wide`.
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

/// What is counted, and where: by slot, of which any part may take any, counts [slot_cells] and
/// room for the cells of a block of each axis; by part sums [part_sums].
struct CubeOutputs {
  int64_t slots;
  int64_t slot_cells;
  uint32_t* counts;
  uint16_t* cells;
  int64_t part_sums;
  double* sums;
};

/// Adds to the outputs. A copy of a request has one cell more, for rows without a value.
void count_cubes(std::span<const CellsJob> axes, std::span<const CubeJob> jobs,
                 const CubeParts& parts, const CubeOutputs& to);

}  // namespace hr::cpu
