// SPDX-License-Identifier: Apache-2.0
// Kernels of the moments of classes, for a block of rows.
#pragma once
#include "headrace/data/sparse.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr::cpu {

/// Weight, sum and squared deviations of classes, [classes] and [classes, columns] each.
struct MomentSums {
  double* weight;
  double* sum;
  double* squares;

  MomentSums of_class(int64_t c, int64_t columns) const {
    return {weight + c, sum + c * columns, squares + c * columns};
  }
};

/// The sums of a block of rows, and the classes that they belong to.
class BlockMoments {
 public:
  BlockMoments(int64_t classes, int64_t columns, int64_t rows);

  /// Joins `count` rows, one after the other, to `sums`. No weights: ones.
  void add(const double* rows, const int64_t* codes, const double* weights, int64_t count,
           const MomentSums& sums);

 private:
  int64_t columns_;
  std::vector<int64_t> slots_;  ///< of classes; -1: no row in this block
  std::vector<int64_t> classes_;
  std::vector<double> weight_, sum_, mean_, rest_, squares_;  ///< by slot
};

/// Joins the moments of a class to those of its rows before.
void join_moments(int64_t columns, const MomentSums& from, const MomentSums& to);

/// Adds rows of these numbers, weighted by theirs, to `out`, [columns].
void add_sparse_rows(const Sparse& x, std::span<const int64_t> rows, const double* weights,
                     double* out);

/// Takes the scaled squared distances to a class from `out`, a number a row; value j of row i is at
/// `points[j * count + i]`.
void subtract_distances(const double* points, int64_t count, int64_t columns, const double* mean,
                        const double* scale, double* out);

}  // namespace hr::cpu
