// SPDX-License-Identifier: Apache-2.0
// The cell of a value on a grid: guessed by a product, then corrected by the edges themselves.
#pragma once
#include "headrace/plot/cube.h"

#include <bit>
#include <cstdint>

namespace hr {

/// `cells` where it is in none; in doubles throughout, so that a loop of these becomes vectors. The
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

/// Integers below this are exact as doubles that are made by setting the exponent.
inline constexpr uint64_t kExactSpan = uint64_t{1} << 51;

/// The same with integers on a grid that spans fewer than kExactSpan: distances from its origin are
/// exact as doubles.
inline uint16_t near_cell_on(int64_t value, const Grid<int64_t>& grid, double inverse) {
  const uint64_t from = static_cast<uint64_t>(value) - static_cast<uint64_t>(grid.origin);
  const auto cells = static_cast<double>(grid.cells), width = static_cast<double>(grid.width);
  const bool inside = from <= static_cast<uint64_t>(grid.cells) * static_cast<uint64_t>(grid.width);
  const uint64_t kept = inside ? from : 0;
  const double at = std::bit_cast<double>(kept | 0x4330000000000000U) - 0x1p52;
  double cell = at * inverse;
  cell = cell < cells - 1 ? cell : cells - 1;
  cell = static_cast<double>(static_cast<int32_t>(cell));
  cell = cell - (at < cell * width ? 1.0 : 0.0) + (at >= (cell + 1) * width ? 1.0 : 0.0);
  cell = cell < cells - 1 ? cell : cells - 1;
  return static_cast<uint16_t>(static_cast<int32_t>(inside ? cell : cells));
}

/// The same with any integers; the distance from the origin is unsigned, so nothing overflows.
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
