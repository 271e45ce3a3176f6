// SPDX-License-Identifier: Apache-2.0
// Boruvka's rounds: each component finds its least edge, remembering what rows have found.
#include "headrace/learn/spanning_tree.h"

#include "headrace/algo/linalg/row_tiles.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/distance_tiles.h"
#include "headrace/learn/kd_tree.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>

namespace hr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The best edge from a point that is known; weights are reduced ones.
struct Link {
  double weight = kInfinity;
  double distance = kInfinity;
  int64_t to = -1;  ///< position
};

/// The components that are left, and for each point its link to another component. Points are
/// known by their position in `rows`.
class Components {
 public:
  Components(BudgetedVector<int64_t> rows, BudgetedVector<double> cores, double scale)
      : rows_(std::move(rows)),
        cores_(std::move(cores)),
        scale_(scale),
        sets_(count()),
        component_(rows_.size()),
        links_(rows_.size()),
        least_(cores_),
        limits_(rows_.size()) {
    std::iota(component_.begin(), component_.end(), int64_t{0});
  }

  int64_t count() const { return static_cast<int64_t>(rows_.size()); }

  int64_t row(int64_t point) const { return rows_[static_cast<size_t>(point)]; }

  double core(int64_t point) const { return cores_[static_cast<size_t>(point)]; }

  double scale() const { return scale_; }

  int64_t of(int64_t point) const { return component_[static_cast<size_t>(point)]; }

  const Link& link(int64_t point) const { return links_[static_cast<size_t>(point)]; }

  /// No edge that weighs more can be the component's least.
  double limit(int64_t point) const {
    return std::min(link(point).weight,
                    limits_[static_cast<size_t>(of(point))].load(std::memory_order_relaxed));
  }

  /// Rows that are farther, in scaled distance, do not make a better link; -1: none does.
  double reach(int64_t point) const {
    const double most = limit(point);
    if (core(point) > most) return -1;
    const Link& best = link(point);
    return best.to >= 0 && best.weight <= core(point) ? best.distance * scale_ : most;
  }

  /// Whether an edge of at least that weight and distance, to at least that row, may be better.
  bool may_improve(int64_t point, double weight, double distance, int64_t least_row) const {
    const Link& best = link(point);
    return best.to < 0 || std::tie(weight, distance, least_row) <
                              std::make_tuple(best.weight, best.distance, row(best.to));
  }

  /// Takes a link to a point of another component if it is the best so far.
  void offer(int64_t point, int64_t to, double distance) {
    const double weight = std::max({core(point), core(to), distance * scale_});
    if (weight > limit(point) || !may_improve(point, weight, distance, row(to))) return;
    links_[static_cast<size_t>(point)] = {weight, distance, to};
    lower_limit(of(point), weight);
  }

  /// Forgets links that have become inner ones; false when one component is left.
  bool start_round();

  bool is_wanted(int64_t point) const {
    return link(point).to < 0 && least_[static_cast<size_t>(point)] <= limit(point);
  }

  /// The search from a point is over: of edges above the component's limit it may have missed some.
  void conclude(int64_t point) {
    const double most = limits_[static_cast<size_t>(of(point))].load(std::memory_order_relaxed);
    Link& best = links_[static_cast<size_t>(point)];
    if (best.to >= 0 && best.weight <= most) return;
    best = Link();
    least_[static_cast<size_t>(point)] = most;
  }

  /// Joins components by their least edges.
  void end_round(BudgetedVector<TreeEdge>& edges);

 private:
  void lower_limit(int64_t component, double weight) {
    std::atomic<double>& limit = limits_[static_cast<size_t>(component)];
    double seen = limit.load(std::memory_order_relaxed);
    while (weight < seen && !limit.compare_exchange_weak(seen, weight, std::memory_order_relaxed)) {
    }
  }

  /// What orders the links of different points.
  auto order_of(int64_t point) const {
    const Link& best = link(point);
    const auto [low, high] = std::minmax({row(point), row(best.to)});
    return std::make_tuple(best.weight, best.distance, low, high);
  }

  BudgetedVector<int64_t> rows_;
  BudgetedVector<double> cores_;
  double scale_;
  DisjointSets<> sets_;
  BudgetedVector<int64_t> component_;
  BudgetedVector<Link> links_;
  BudgetedVector<double> least_;  ///< no edge to another component weighs less
  BudgetedVector<std::atomic<double>> limits_;
};

bool Components::start_round() {
  for (std::atomic<double>& limit : limits_) limit.store(kInfinity, std::memory_order_relaxed);
  bool several = false;
  for (int64_t i = 0; i < count(); ++i) {
    several = several || of(i) != of(0);
    Link& best = links_[static_cast<size_t>(i)];
    if (best.to < 0) continue;
    if (of(best.to) == of(i)) {
      least_[static_cast<size_t>(i)] = best.weight;
      best = Link();
    } else {
      lower_limit(of(i), best.weight);
    }
  }
  return several;
}

void Components::end_round(BudgetedVector<TreeEdge>& edges) {
  BudgetedVector<int64_t> chosen(rows_.size(), -1);  // of each component, the point with its edge
  for (int64_t i = 0; i < count(); ++i) {
    if (link(i).to < 0) continue;
    int64_t& best = chosen[static_cast<size_t>(of(i))];
    if (best < 0 || order_of(i) < order_of(best)) best = i;
  }
  for (const int64_t point : chosen) {
    if (point < 0) continue;
    const Link& best = link(point);
    if (sets_.root(point) == sets_.root(best.to)) continue;  // the other one's edge as well
    sets_.join(point, best.to);
    const auto [low, high] = std::minmax({row(point), row(best.to)});
    edges.push_back({low, high, best.weight, best.distance});
  }
  parallel_morsels(count(), [&](const Morsel& morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i)
      component_[static_cast<size_t>(i)] = sets_.root(i);
  });
}

/// A round's search by a tree: the points of a leaf together.
class TreeSearch {
 public:
  TreeSearch(const KdTree& tree, Components& components)
      : tree_(tree), components_(components), nodes_(static_cast<size_t>(tree.end_node())) {}

  void run() {
    for (int64_t node = tree_.end_node() - 1; node > 0; --node) describe(node);
    parallel_for(tree_.num_leaves(), [&](int64_t k) { search(tree_.num_leaves() + k); });
  }

 private:
  struct Node {
    double least_core;
    int64_t least_row;
    int64_t component;  ///< of all its points, or -1
  };

  struct Visit {
    int64_t node;
    double apart;
  };

  /// The points of a leaf that look for a link.
  struct Seekers {
    int64_t count = 0;
    int64_t points[KdTree::kLeafPoints];
    double coordinates[KdTree::kLeafPoints * KdTree::kMostDimensions];
    int64_t component;    ///< of all of them, or -1
    double reach, limit;  ///< the largest of them
  };

  void describe(int64_t node) {
    Node& all = nodes_[static_cast<size_t>(node)];
    all = {kInfinity, std::numeric_limits<int64_t>::max(), -2};
    const auto add = [&](double core, int64_t row, int64_t component) {
      all.least_core = std::min(all.least_core, core);
      all.least_row = std::min(all.least_row, row);
      all.component = all.component == -2 || all.component == component ? component : -1;
    };
    if (tree_.is_leaf(node))
      for (int64_t i = tree_.begin(node); i < tree_.end(node); ++i)
        add(components_.core(i), components_.row(i), components_.of(i));
    else
      for (const int64_t child : {2 * node, 2 * node + 1}) {
        const Node& part = nodes_[static_cast<size_t>(child)];
        add(part.least_core, part.least_row, part.component);
      }
  }

  void measure(Seekers& seekers) const {
    seekers.reach = seekers.limit = -1;
    for (int64_t i = 0; i < seekers.count; ++i) {
      seekers.reach = std::max(seekers.reach, components_.reach(seekers.points[i]));
      seekers.limit = std::max(seekers.limit, components_.limit(seekers.points[i]));
    }
  }

  bool is_worth(const Seekers& seekers, const Visit& visit) const {
    const Node& node = nodes_[static_cast<size_t>(visit.node)];
    if (node.component >= 0 && node.component == seekers.component) return false;
    const double apart = visit.apart * components_.scale();
    if (apart > seekers.reach || node.least_core > seekers.limit) return false;
    if (apart < seekers.reach) return true;
    const auto* end = seekers.points + seekers.count;
    return std::any_of(seekers.points, end, [&](int64_t point) {
      const double weight = std::max({components_.core(point), node.least_core, apart});
      return components_.may_improve(point, weight, visit.apart, node.least_row);
    });
  }

  void search(int64_t leaf);
  void compare(Seekers& seekers, int64_t leaf);

  const KdTree& tree_;
  Components& components_;
  BudgetedVector<Node> nodes_;
};

void TreeSearch::search(int64_t leaf) {
  Seekers seekers;
  const int64_t dimensions = tree_.dimensions();
  for (int64_t i = tree_.begin(leaf); i < tree_.end(leaf); ++i) {
    if (!components_.is_wanted(i)) continue;
    tree_.read_point(leaf, i, seekers.coordinates + seekers.count * dimensions);
    seekers.points[seekers.count++] = i;
  }
  if (seekers.count == 0) return;
  seekers.component = components_.of(seekers.points[0]);
  for (int64_t i = 1; i < seekers.count; ++i)
    if (components_.of(seekers.points[i]) != seekers.component) seekers.component = -1;
  measure(seekers);
  std::vector<Visit> waiting = {{1, 0.0}};
  while (!waiting.empty()) {
    const Visit visit = waiting.back();
    waiting.pop_back();
    if (!is_worth(seekers, visit)) continue;
    if (tree_.is_leaf(visit.node)) {
      compare(seekers, visit.node);
      measure(seekers);
      continue;
    }
    Visit near{2 * visit.node, tree_.between_boxes(leaf, 2 * visit.node)};
    Visit far{2 * visit.node + 1, tree_.between_boxes(leaf, 2 * visit.node + 1)};
    const auto row = [&](const Visit& each) {
      return nodes_[static_cast<size_t>(each.node)].least_row;
    };
    if (far.apart < near.apart || (far.apart == near.apart && row(far) < row(near)))
      std::swap(near, far);
    if (is_worth(seekers, far)) waiting.push_back(far);
    if (is_worth(seekers, near)) waiting.push_back(near);
  }
  for (int64_t i = 0; i < seekers.count; ++i) components_.conclude(seekers.points[i]);
}

void TreeSearch::compare(Seekers& seekers, int64_t leaf) {
  const int64_t first = tree_.begin(leaf), count = tree_.end(leaf) - first;
  double distances[KdTree::kLeafPoints];
  for (int64_t i = 0; i < seekers.count; ++i) {
    const int64_t point = seekers.points[i], own = components_.of(point);
    if (nodes_[static_cast<size_t>(leaf)].component == own) continue;
    const double* coordinates = seekers.coordinates + i * tree_.dimensions();
    double reach = components_.reach(point);
    if (tree_.to_box(coordinates, leaf) * components_.scale() > reach) continue;
    tree_.squared_distances(coordinates, leaf, distances);
    for (int64_t k = 0; k < count; ++k) {
      if (distances[k] * components_.scale() > reach || components_.of(first + k) == own) continue;
      components_.offer(point, first + k, distances[k]);
      reach = components_.reach(point);
    }
  }
}

/// A round's search in tiles, where the filter's bounds rule out most rows.
void search_tiles(const RowTiles& x, Metric metric, Components& components) {
  BudgetedVector<int64_t> wanted;
  for (int64_t i = 0; i < components.count(); ++i)
    if (components.is_wanted(i)) wanted.push_back(i);
  const int64_t d = x.columns();
  const double scale = components.scale();
  for_tiles(x, x, wanted, metric, [&](const TileRow& row) {
    const int64_t point = row.query, own = components.of(point);
    double reach = components.reach(point);
    if (reach < 0) return;
    int32_t positions[kTileColumns];
    int64_t near = row.at_most(reach / scale * (1 + 0x1p-50), positions);
    near = std::remove_if(positions, positions + near,
                          [&](int32_t k) { return components.of(row.first + k) == own; }) -
           positions;
    double most = components.limit(point);  // some edge weighs at most that
    for (int64_t p = 0; p < near; ++p) {
      const double upper = row.upper(positions[p]) * scale;
      const double core = components.core(row.first + positions[p]);
      if (!std::isnan(upper))
        most = std::min(most, std::max({components.core(point), core, upper}));
    }
    std::vector<double> one, other;
    for (int64_t p = 0; p < near; ++p) {
      const int64_t to = row.first + positions[p];
      const double lower = row.lower(positions[p]) * scale;
      if (lower > most || lower > reach || components.core(to) > most) continue;
      if (one.empty()) {
        one.resize(static_cast<size_t>(d));
        other.resize(static_cast<size_t>(d));
        x.read(point, 1, TileForm::kRows, nullptr, nullptr, one.data());
      }
      x.read(to, 1, TileForm::kRows, nullptr, nullptr, other.data());
      components.offer(point, to, exact_distance(metric, one.data(), other.data(), d));
      reach = components.reach(point);
      most = std::min(most, components.limit(point));
    }
  });
  for (const int64_t point : wanted) components.conclude(point);
}

Tensor rows_of(const Tensor& x, int64_t begin, int64_t count) {
  return Tensor(x.dtype(), {count, x.shape()[1]}, x.strides(), x.buffer(),
                x.byte_offset() + begin * x.strides()[0] * x.dtype().size_bytes());
}

bool uses_tree(const Tensor& x, const Reachability& by) {
  return by.metric == Metric::kEuclidean && x.shape()[1] <= KdTree::kMostDimensions;
}

/// Reduced distances to the nearest rows, a batch of rows after the other.
BudgetedVector<double> core_distances(const Tensor& x, int64_t count, Metric metric) {
  constexpr int64_t kBatch = 128 * kTileQueries;
  const int64_t rows = x.shape()[0];
  BudgetedVector<double> cores(static_cast<size_t>(rows));
  for (int64_t begin = 0; begin < rows; begin += kBatch) {
    const int64_t size = std::min(kBatch, rows - begin);
    const Neighbors found = nearest_neighbors(x, rows_of(x, begin, size), count, metric, false);
    for (int64_t i = 0; i < size; ++i)
      cores[static_cast<size_t>(begin + i)] = found.distances.as<double>()[i * count + count - 1];
  }
  return cores;
}

}  // namespace

WorkingBytes reachability_working_bytes(const Tensor& x, const Reachability& by) {
  constexpr int64_t kWord = static_cast<int64_t>(sizeof(int64_t));
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const bool in_tree = uses_tree(x, by);
  WorkingBytes bytes = in_tree ? WorkingBytes() : tiles_working_bytes(rows, columns);
  // Of a row its number, core distance, set, component, link, limits and edge; of the tree its
  // coordinates, and its box.
  constexpr int64_t kOfRow = 6 * kWord + int64_t{sizeof(Link)} + int64_t{sizeof(TreeEdge)};
  bytes.all += rows * (kOfRow + (in_tree ? columns * kWord : 0));
  return bytes;
}

BudgetedVector<TreeEdge> reachability_tree(const Tensor& x, const Reachability& by) {
  const bool squared = by.metric == Metric::kEuclidean;
  const Metric metric = squared ? Metric::kSquaredEuclidean : by.metric;
  const double scale = by.alpha == 1 ? 1 : squared ? 1 / (by.alpha * by.alpha) : 1 / by.alpha;
  std::unique_ptr<KdTree> tree;
  BudgetedVector<double> cores;
  BudgetedVector<int64_t> rows(static_cast<size_t>(x.shape()[0]));
  if (uses_tree(x, by)) {
    tree = std::make_unique<KdTree>(RowTiles(x));
    cores = tree->nearest_distances(by.min_samples);
    rows = tree->rows();
  } else {
    cores = core_distances(x, by.min_samples, metric);
    std::iota(rows.begin(), rows.end(), int64_t{0});
  }
  if (by.scale_cores)
    for (double& core : cores) core *= scale;
  BudgetedVector<TreeEdge> edges;
  edges.reserve(rows.size());
  Components components(std::move(rows), std::move(cores), scale);
  while (components.start_round()) {
    if (tree)
      TreeSearch(*tree, components).run();
    else
      search_tiles(RowTiles(x), metric, components);
    components.end_round(edges);
  }
  for (TreeEdge& edge : edges)
    edge.weight = edge.weight == edge.distance * scale
                      ? distance_of_reduced(by.metric, edge.distance) / by.alpha
                      : distance_of_reduced(by.metric, edge.weight);
  std::sort(edges.begin(), edges.end(), [](const TreeEdge& a, const TreeEdge& b) {
    return std::tie(a.weight, a.distance, a.from, a.to) <
           std::tie(b.weight, b.distance, b.from, b.to);
  });
  return edges;
}

}  // namespace hr
