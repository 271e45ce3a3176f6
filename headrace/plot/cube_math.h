// SPDX-License-Identifier: Apache-2.0
// The cell of a value on a grid: guessed by a product, then corrected by the edges themselves.
#pragma once
#include "headrace/plot/cube.h"

#include <cstdint>

namespace hr {

/// `cells` where it is in none. In doubles throughout, as vectors of it are (cube_cpu.cpp). The
/// edges are rounded as `origin + k * width` is, twice.
inline uint16_t cell_on(double value, const Grid<double>& grid, double inverse) {
  const auto cells = static_cast<double>(grid.cells);
  const double end = grid.origin + cells * grid.width;
  const bool inside = (value >= grid.origin) & (value <= end);
  double cell = inside ? (value - grid.origin) * inverse : 0.0;
  cell = cell < cells - 1 ? cell : cells - 1;
  cell = static_cast<double>(static_cast<int32_t>(cell));
  const double below = value < grid.origin + cell * grid.width ? 1.0 : 0.0;
  const double above = value >= grid.origin + (cell + 1) * grid.width ? 1.0 : 0.0;
  cell = cell - below + above;
  cell = cell > 0.0 ? cell : 0.0;
  cell = cell < cells - 1 ? cell : cells - 1;
  return static_cast<uint16_t>(static_cast<int32_t>(inside ? cell : cells));
}

/// Integers below this, and their products with the number of a cell, are exact as doubles.
inline constexpr uint64_t kExactSpan = uint64_t{1} << 51;

/// The same with integers; the distance from the origin is unsigned, so nothing overflows.
inline uint16_t cell_on(int64_t value, const Grid<int64_t>& grid, double inverse) {
  const uint64_t from = static_cast<uint64_t>(value) - static_cast<uint64_t>(grid.origin);
  const auto width = static_cast<uint64_t>(grid.width);
  const auto cells = static_cast<uint64_t>(grid.cells);
  if (value < grid.origin || from > cells * width) return static_cast<uint16_t>(cells);
  auto cell = static_cast<uint64_t>(static_cast<double>(from) * inverse);
  if (cell * width > from) --cell;
  if ((cell + 1) * width <= from) ++cell;
  return static_cast<uint16_t>(cell < cells ? cell : cells - 1);
}

}  // namespace hr
