// SPDX-License-Identifier: Apache-2.0
// Points of up to three dimensions in cells, of which each is as wide as points are near.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/memory/adaptors/allocator.h"

#include <array>
#include <cstdint>
#include <optional>

namespace hr {

/// How wide cells are.
double cell_side(double epsilon, int64_t dimensions);

/// Whether the cells between these points have numbers; up to three dimensions.
bool cells_fit(const double* least, const double* most, int64_t dimensions, double epsilon);

/// Points sorted by cell. The points of a cell are all near each other, and near points are at most
/// two cells apart in each dimension.
class DenseGrid {
 public:
  using Corner = std::array<double, 3>;

  /// The smallest value of each column, if there is a grid: up to three dimensions, and not too
  /// many cells side by side.
  static std::optional<Corner> corner(const RowTiles& x, double epsilon);

  DenseGrid(const RowTiles& x, double epsilon, const Corner& least);

  /// The lowest core row of each row's cluster, or -1; marks the core rows. `weights` is null for
  /// ones.
  BudgetedVector<int64_t> clusters(const double* weights, double least_weight,
                                   BudgetedVector<uint8_t>& core);

 private:
  int64_t num_cells() const { return static_cast<int64_t>(keys_.size()); }

  /// Calls `take(first cell, end cell)` for the runs of cells around a cell.
  template <class F>
  void around(int64_t cell, F take) const;

  void find_core(const double* weights, double least_weight, BudgetedVector<uint8_t>& core) const;
  /// Puts the core points of each cell first.
  void put_core_first(const BudgetedVector<uint8_t>& core);

  int64_t dimensions_;
  double limit_;                    ///< the squared distance of near points
  int bits_;                        ///< of a key, for each dimension
  BudgetedVector<uint64_t> keys_;   ///< of the cells, ascending
  BudgetedVector<int64_t> begins_;  ///< of the cells, in the order of points; one more for the end
  BudgetedVector<int64_t> cores_;   ///< core points of each cell
  BudgetedVector<int64_t> rows_;    ///< of the points
  BudgetedVector<double> columns_[3];  ///< coordinates of the points
};

}  // namespace hr

namespace hr::cpu {

/// Coordinates of points in columns.
struct PointColumns {
  const double* columns[3];
  int64_t dimensions;
};

/// Points of [begin, end) whose squared distance to `point` is at most `limit`.
int64_t count_near(const PointColumns& points, int64_t begin, int64_t end, const double* point,
                   double limit);

}  // namespace hr::cpu
