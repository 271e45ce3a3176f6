// SPDX-License-Identifier: Apache-2.0
// Cubes: how many rows fall into each cell of several binned columns at once, under masks. What
// linked charts are made of (D. Moritz, B. Howe, J. Heer, "Falcon", CHI 2019): with the cells of
// the chart that is brushed as one axis, any brush is a sum of rows of a cube.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hr {

/// The most cells of one axis: a code has at most 16 bits, and one code says "in none".
inline constexpr int64_t kMostAxisCells = 65535;
/// The most cells of one cube.
inline constexpr int64_t kMostCubeCells = int64_t{1} << 26;
/// The most axes of one cube.
inline constexpr int64_t kMostCubeAxes = 6;

/// Cells of equal width: cell k has the values from edge k up to but not including edge k + 1,
/// where edge k is `origin + k * width`; the last cell has its upper edge too.
template <class T>
struct Grid {
  T origin;
  T width;
  int64_t cells;
};

/// The cell of each row: uint8 [rows] for up to 255 cells, else uint16; `grid.cells` where the
/// value is null, NaN or outside. `column` has integers or floats, which are compared with the
/// edges as float64. One pass, all cores. Throws InvalidArgumentError unless 1 <= cells <= 65535
/// and the edges are finite and grow, TypeMismatchError for other dtypes.
HR_API Tensor bin_codes(const Column& column, const Grid<double>& grid);
/// The same with exact integers, for integers and for what is kept as such: dates, times.
HR_API Tensor bin_codes(const Column& column, const Grid<int64_t>& grid);
/// The same of the numbers of rows: cell k has the rows from floor(k * rows / cells) on, the pixel
/// columns of an envelope.
HR_API Tensor row_codes(int64_t rows, int64_t cells);

/// One axis of a cube: a code of each row, and by code the cell along this axis.
struct CubeAxis {
  Tensor codes;  ///< uint8 or uint16 [rows]
  Tensor cells;  ///< uint16 [codes]; `num_cells` or more, or a code beyond its end: in no cell
  int64_t num_cells = 0;
};

struct CubeRequest {
  /// None: one cell.
  std::vector<CubeAxis> axes;
  /// Bool columns without nulls: rows that are false in one are not counted.
  std::vector<Column> masks;
  /// Integers or floats to sum; rows where they are null or NaN are not counted.
  std::optional<Column> values;
};

struct Cube {
  Tensor counts;  ///< uint32, one dimension an axis
  Tensor sums;    ///< float64 of that shape; without elements if there are no values
};

/// Counts all requests in one pass over `rows` rows, which each of their inputs has. Counts and
/// sums have the same bits for any number of threads. Axes with the same codes and cells are read
/// once. Memory: the cells of all requests, once for each thread. Throws InvalidArgumentError for
/// inputs of another length, too many axes or cells, and 2^32 rows or more; TypeMismatchError for
/// other dtypes.
HR_API std::vector<Cube> count_cubes(int64_t rows, std::span<const CubeRequest> requests);

}  // namespace hr
