// SPDX-License-Identifier: Apache-2.0
// Tiles of distances in float32 with a proven error, and the float64 distances that decide.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/neighbors.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hr {

/// Throws as the functions of neighbors.h do.
void check_neighbors(std::string_view op, const Tensor& rows, const Tensor& queries);

/// Distances as they are compared: squared ones for Euclidean metrics.
double reduced_distance(Metric metric, double distance);
double distance_of_reduced(Metric metric, double reduced);

/// The reduced distance of two points in float64, summed over the features in order.
double exact_distance(Metric metric, const double* a, const double* b, int64_t dimensions);

/// Where the filter has its origin and how it scales, from a sample: any are right.
struct FilterFrame {
  std::vector<double> shift, scales;
  double scale = 1;  ///< that of each column

  FilterFrame(const RowTiles& x, Metric metric);

  /// Row `i` in the filter's frame; what its length is there.
  double read(const RowTiles& x, int64_t i, Metric metric, double* scratch, float* out) const;
};

/// What the filter says of one query and a block of rows.
struct TileRow {
  int64_t query;
  int64_t first;        ///< row of the matrix
  int64_t count;        ///< rows
  const float* values;  ///< value r: offset + norms[r] + factor * values[r] is near the distance
  const float* norms;
  float factor;
  double offset;
  double slack;  ///< the most that it is off, in the filter's unit
  double unit;   ///< filter's values per unit of the reduced distance

  /// Positions r whose value may be at most `reduced`, ascending; returns how many. `positions` has
  /// room for `kTileColumns`.
  int64_t at_most(double reduced, int32_t* positions) const;

  /// `num_rows` of its rows from position `from` on.
  TileRow part(int64_t from, int64_t num_rows) const {
    TileRow made = *this;
    made.first += from;
    made.count = num_rows;
    made.values += from;
    made.norms += from;
    return made;
  }

  double lower(int64_t r) const { return (near(r) - slack) / unit; }

  double upper(int64_t r) const { return (near(r) + slack) / unit; }

 private:
  double near(int64_t r) const {
    return offset + static_cast<double>(norms[r]) +
           static_cast<double>(factor) * static_cast<double>(values[r]);
  }
};

inline constexpr int64_t kTileQueries = 48;
inline constexpr int64_t kTileColumns = 1024;

/// Compares queries with all rows in tiles. `queries` lists which, by their number. Calls `visit`
/// for each query and each block of rows, blocks in their order; those of one query never at the
/// same time.
void for_tiles(const RowTiles& rows, const RowTiles& queries, std::span<const int64_t> chosen,
               Metric metric, const std::function<void(const TileRow&)>& visit);

/// What it takes for `rows` of `columns`.
WorkingBytes tiles_working_bytes(int64_t rows, int64_t columns);

}  // namespace hr

namespace hr::cpu {

/// Positions r with !(norms[r] + factor * values[r] > limit).
int64_t positions_at_most(const float* values, const float* norms, float factor, float limit,
                          int64_t count, int32_t* positions);

/// Sums, or with `largest` the largest, of |left - right| of packed panels (matmul's widths) over
/// `depth`, on what `out` has.
void absolute_tile(const float* left, const float* right, int64_t depth, int64_t rows,
                   int64_t columns, bool largest, bool first, float* out, int64_t stride);

}  // namespace hr::cpu
