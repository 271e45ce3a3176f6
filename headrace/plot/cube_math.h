// SPDX-License-Identifier: Apache-2.0
// The cell of a value on a grid: guessed by a product, then corrected by the edges themselves.
#pragma once
#include "headrace/plot/cube.h"

#include <cmath>
#include <cstdint>

namespace hr {

/// `cells` where it is in none. The edges are rounded as `origin + k * width` is, twice.
inline int32_t cell_on(double value, const Grid<double>& grid, double inverse) {
  const auto cells = static_cast<double>(grid.cells);
  const double end = grid.origin + cells * grid.width;
  const bool inside = value >= grid.origin && value <= end;
  // Kept in range before it becomes an integer, so that a loop of these has no branch.
  double guess = inside ? (value - grid.origin) * inverse : 0.0;
  guess = guess < cells - 1 ? guess : cells - 1;
  auto cell = static_cast<int32_t>(guess);
  auto at = static_cast<double>(cell);
  cell -= value < grid.origin + at * grid.width ? 1 : 0;
  cell += value >= grid.origin + (at + 1) * grid.width ? 1 : 0;
  const auto last = static_cast<int32_t>(grid.cells - 1);
  cell = cell < 0 ? 0 : cell > last ? last : cell;
  return inside ? cell : static_cast<int32_t>(grid.cells);
}

/// The same with integers; the distance from the origin is unsigned, so nothing overflows.
inline int32_t cell_on(int64_t value, const Grid<int64_t>& grid, double inverse) {
  const uint64_t from = static_cast<uint64_t>(value) - static_cast<uint64_t>(grid.origin);
  const auto width = static_cast<uint64_t>(grid.width);
  const auto cells = static_cast<uint64_t>(grid.cells);
  if (value < grid.origin || from > cells * width) return static_cast<int32_t>(cells);
  auto cell = static_cast<uint64_t>(static_cast<double>(from) * inverse);
  if (cell * width > from) --cell;
  if ((cell + 1) * width <= from) ++cell;
  return static_cast<int32_t>(cell < cells ? cell : cells - 1);
}

}  // namespace hr
