// SPDX-License-Identifier: Apache-2.0
// A balanced kd-tree over points of few dimensions.
#pragma once
#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/memory/adaptors/allocator.h"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// A row and its squared distance; the nearer comes first, of equally near ones the lower row.
struct NearRow {
  double distance;
  int64_t row;

  bool operator<(const NearRow& other) const {
    return distance != other.distance ? distance < other.distance : row < other.row;
  }
};

/// Points in the order of a balanced binary tree: nodes are numbered from the root, 1, so that the
/// children of `v` are `2 v` and `2 v + 1`; the leaves are the last level, and a leaf keeps up to
/// kLeafPoints points with each coordinate side by side. Points are known by their position.
class KdTree {
 public:
  static constexpr int64_t kMostDimensions = 12;
  static constexpr int64_t kLeafPoints = 16;

  /// The rows of `x`, finite, in float64. The tree does not depend on the number of threads.
  explicit KdTree(const RowTiles& x);

  int64_t num_points() const { return static_cast<int64_t>(rows_.size()); }

  int64_t dimensions() const { return dimensions_; }

  int64_t num_leaves() const { return int64_t{1} << levels_; }

  /// Nodes are numbered from 1 up to, not including, this.
  int64_t end_node() const { return 2 * num_leaves(); }

  bool is_leaf(int64_t node) const { return node >= num_leaves(); }

  /// Positions [begin, end) of the points of a node.
  int64_t begin(int64_t node) const {
    const int level = std::bit_width(static_cast<uint64_t>(node)) - 1;
    return (node - (int64_t{1} << level)) * num_points() >> level;
  }

  int64_t end(int64_t node) const {
    const int level = std::bit_width(static_cast<uint64_t>(node)) - 1;
    return (node - (int64_t{1} << level) + 1) * num_points() >> level;
  }

  /// The row of `x` of each position.
  const BudgetedVector<int64_t>& rows() const { return rows_; }

  /// Copies the point at a position of `leaf`.
  void read_point(int64_t leaf, int64_t position, double* point) const;

  /// Squared distances from a point to those of a leaf, each a sum over the dimensions in order.
  void squared_distances(const double* point, int64_t leaf, double* out) const;

  /// At most the squared distance from a point, or from a point of another node, to one of a node.
  double to_box(const double* point, int64_t node) const;
  double between_boxes(int64_t a, int64_t b) const;

  /// The `found.size()` nearest rows of a point, in order, but for the row `without` (-1: for
  /// none). There are as many, and the point is finite.
  void nearest(const double* point, int64_t without, std::span<NearRow> found) const;

  /// Adds the rows at most this squared distance away, in any order.
  void within(const double* point, double most, std::vector<NearRow>& found) const;

  /// The squared distance of each point, by position, to the `count`-th nearest, itself the first.
  BudgetedVector<double> nearest_distances(int64_t count) const;

 private:
  void split_level(int level, BudgetedVector<double>& points, BudgetedVector<double>& scratch);
  void find_nearest(int64_t leaf, int64_t count, double* out) const;
  template <class F>
  void visit(const double* point, const double& most, F leaf_at) const;

  const double* box(int64_t node) const { return boxes_.data() + node * 2 * dimensions_; }

  int64_t dimensions_;
  int levels_ = 0;  ///< below the root
  BudgetedVector<int64_t> rows_;
  BudgetedVector<double> boxes_;    ///< of each node: the least coordinates, then the largest
  BudgetedVector<double> columns_;  ///< of each leaf: coordinate j of its points, j after j
};

}  // namespace hr
