// SPDX-License-Identifier: Apache-2.0
// Splits points at the median of their widest side, level by level; looks up leaf by leaf.
#include "headrace/learn/kd_tree.h"

#include "headrace/exec/workers.h"
#include "headrace/learn/pairwise_kernels.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hr {

KdTree::KdTree(const RowTiles& x) : dimensions_(x.columns()), rows_(static_cast<size_t>(x.rows())) {
  const int64_t n = num_points(), d = dimensions_;
  while ((n >> levels_) + 1 > kLeafPoints) ++levels_;
  std::iota(rows_.begin(), rows_.end(), int64_t{0});
  boxes_.resize(static_cast<size_t>(end_node() * 2 * d));
  BudgetedVector<double> points(static_cast<size_t>(n * d)), scratch(points.size());
  parallel_morsels(n, [&](const Morsel& morsel) {
    x.read(morsel.begin, morsel.end - morsel.begin, TileForm::kRows, nullptr, nullptr,
           points.data() + morsel.begin * d);
  });
  for (int level = 0; level <= levels_; ++level) split_level(level, points, scratch);
  parallel_for(num_leaves(), [&](int64_t k) {
    const int64_t leaf = num_leaves() + k, first = begin(leaf), count = end(leaf) - first;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < d; ++j)
        scratch[static_cast<size_t>(first * d + j * count + i)] =
            points[static_cast<size_t>((first + i) * d + j)];
  });
  columns_ = std::move(scratch);
}

/// Finds the boxes of a level, and puts the lower half of each node's points first.
void KdTree::split_level(int level, BudgetedVector<double>& points,
                         BudgetedVector<double>& scratch) {
  const int64_t d = dimensions_, nodes = int64_t{1} << level;
  parallel_for(nodes, [&](int64_t k) {
    const int64_t node = nodes + k, first = begin(node), count = end(node) - first;
    double* least = boxes_.data() + node * 2 * d;
    double* largest = least + d;
    std::fill_n(least, d, std::numeric_limits<double>::infinity());
    std::fill_n(largest, d, -std::numeric_limits<double>::infinity());
    const double* all = points.data() + first * d;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < d; ++j) {
        least[j] = std::min(least[j], all[i * d + j]);
        largest[j] = std::max(largest[j], all[i * d + j]);
      }
    if (is_leaf(node)) return;
    int64_t widest = 0;
    for (int64_t j = 1; j < d; ++j)
      if (largest[j] - least[j] > largest[widest] - least[widest]) widest = j;
    struct Coordinate {
      double value;
      int64_t at, row;
    };
    BudgetedVector<Coordinate> order(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      order[static_cast<size_t>(i)] = {all[i * d + widest], i,
                                       rows_[static_cast<size_t>(first + i)]};
    std::nth_element(order.begin(), order.begin() + (end(2 * node) - first), order.end(),
                     [](const Coordinate& a, const Coordinate& b) { return a.value < b.value; });
    for (int64_t i = 0; i < count; ++i) {
      const Coordinate& from = order[static_cast<size_t>(i)];
      rows_[static_cast<size_t>(first + i)] = from.row;
      std::copy_n(all + from.at * d, d, scratch.data() + (first + i) * d);
    }
    std::copy_n(scratch.data() + first * d, count * d, points.data() + first * d);
  });
}

void KdTree::read_point(int64_t leaf, int64_t position, double* point) const {
  const int64_t first = begin(leaf), count = end(leaf) - first;
  const double* columns = columns_.data() + first * dimensions_;
  for (int64_t j = 0; j < dimensions_; ++j) point[j] = columns[j * count + position - first];
}

void KdTree::squared_distances(const double* point, int64_t leaf, double* out) const {
  const int64_t first = begin(leaf);
  cpu::point_distances(Metric::kSquaredEuclidean, point, columns_.data() + first * dimensions_,
                       dimensions_, end(leaf) - first, out);
}

// A difference to the side of a box is at most that to a point inside, also when both are rounded,
// and so is a sum of their squares in the same order.
double KdTree::to_box(const double* point, int64_t node) const {
  const double* least = box(node);
  double sum = 0;
  for (int64_t j = 0; j < dimensions_; ++j) {
    const double apart = std::max({least[j] - point[j], point[j] - least[dimensions_ + j], 0.0});
    sum += apart * apart;
  }
  return sum;
}

double KdTree::between_boxes(int64_t a, int64_t b) const {
  const double *one = box(a), *other = box(b);
  double sum = 0;
  for (int64_t j = 0; j < dimensions_; ++j) {
    const double apart =
        std::max({other[j] - one[dimensions_ + j], one[j] - other[dimensions_ + j], 0.0});
    sum += apart * apart;
  }
  return sum;
}

/// Calls `leaf_at(leaf)` for leaves whose boxes are at most `most` away, nearer ones first; it may
/// lower `most`.
template <class F>
void KdTree::visit(const double* point, const double& most, F leaf_at) const {
  struct Visit {
    int64_t node;
    double apart;
  };
  Visit waiting[64] = {{1, 0.0}};  // one a level
  for (int64_t count = 1; count > 0;) {
    auto [node, apart] = waiting[--count];
    if (apart > most) continue;
    while (!is_leaf(node)) {
      Visit near{2 * node, to_box(point, 2 * node)};
      Visit far{2 * node + 1, to_box(point, 2 * node + 1)};
      if (far.apart < near.apart) std::swap(near, far);
      if (far.apart <= most) waiting[count++] = far;
      node = near.node;
      if (near.apart > most) break;
    }
    if (is_leaf(node)) leaf_at(node);
  }
}

void KdTree::nearest(const double* point, int64_t without, std::span<NearRow> found) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::fill(found.begin(), found.end(),
            NearRow{kInfinity, std::numeric_limits<int64_t>::max()});  // a heap
  double distances[kLeafPoints], most = kInfinity;
  visit(point, most, [&](int64_t leaf) {
    squared_distances(point, leaf, distances);
    const int64_t first = begin(leaf), count = end(leaf) - first;
    for (int64_t k = 0; k < count; ++k) {
      const NearRow each{distances[k], rows_[static_cast<size_t>(first + k)]};
      if (!(each < found.front()) || each.row == without) continue;
      std::pop_heap(found.begin(), found.end());
      found.back() = each;
      std::push_heap(found.begin(), found.end());
    }
    most = found.front().distance;
  });
  std::sort_heap(found.begin(), found.end());
}

void KdTree::within(const double* point, double most, std::vector<NearRow>& found) const {
  double distances[kLeafPoints];
  visit(point, most, [&](int64_t leaf) {
    squared_distances(point, leaf, distances);
    const int64_t first = begin(leaf), count = end(leaf) - first;
    for (int64_t k = 0; k < count; ++k)
      if (distances[k] <= most)
        found.push_back({distances[k], rows_[static_cast<size_t>(first + k)]});
  });
}

BudgetedVector<double> KdTree::nearest_distances(int64_t count) const {
  BudgetedVector<double> found(rows_.size());
  parallel_for(num_leaves(), [&](int64_t k) {
    find_nearest(num_leaves() + k, count, found.data() + begin(num_leaves() + k));
  });
  return found;
}

/// For the points of a leaf together: they have nearly the same neighbours.
void KdTree::find_nearest(int64_t leaf, int64_t count, double* out) const {
  const int64_t first = begin(leaf), points = end(leaf) - first;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  BudgetedVector<double> nearest(static_cast<size_t>(points * count), kInfinity);  // heaps
  BudgetedVector<double> coordinates(static_cast<size_t>(points * dimensions_));
  for (int64_t i = 0; i < points; ++i)
    read_point(leaf, first + i, coordinates.data() + i * dimensions_);
  double farthest = kInfinity;  // of the points' count-th nearest
  struct Visit {
    int64_t node;
    double apart;
  };
  std::vector<Visit> waiting = {{1, 0.0}};
  double distances[kLeafPoints];
  while (!waiting.empty()) {
    const auto [node, apart] = waiting.back();
    waiting.pop_back();
    if (apart >= farthest) continue;
    if (!is_leaf(node)) {
      Visit near{2 * node, between_boxes(leaf, 2 * node)};
      Visit far{2 * node + 1, between_boxes(leaf, 2 * node + 1)};
      if (far.apart < near.apart) std::swap(near, far);
      if (far.apart < farthest) waiting.push_back(far);
      if (near.apart < farthest) waiting.push_back(near);
      continue;
    }
    farthest = 0;
    const int64_t others = end(node) - begin(node);
    for (int64_t i = 0; i < points; ++i) {
      double* heap = nearest.data() + i * count;
      const double* point = coordinates.data() + i * dimensions_;
      if (to_box(point, node) < heap[0]) {
        squared_distances(point, node, distances);
        for (int64_t k = 0; k < others; ++k) {
          if (!(distances[k] < heap[0])) continue;
          std::pop_heap(heap, heap + count);
          heap[count - 1] = distances[k];
          std::push_heap(heap, heap + count);
        }
      }
      farthest = std::max(farthest, heap[0]);
    }
  }
  for (int64_t i = 0; i < points; ++i) out[i] = nearest[static_cast<size_t>(i * count)];
}

}  // namespace hr
