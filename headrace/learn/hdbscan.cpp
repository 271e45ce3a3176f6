// SPDX-License-Identifier: Apache-2.0
// Merges along the spanning tree, what large clusters lose, and which of them are stable.
#include "headrace/learn/hdbscan.h"

#include "headrace/base/error.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/distance_tiles.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace hr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
Tensor column_of(const BudgetedVector<T>& values) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(T)));
  std::copy(values.begin(), values.end(), buffer.mutable_as<T>());
  return Tensor(dtype_of<T>(), {rows}, std::move(buffer));
}

/// Turns each edge so that a traversal from row 0 meets `from` first.
void orient(BudgetedVector<TreeEdge>& edges) {
  const size_t rows = edges.size() + 1;
  BudgetedVector<int64_t> begins(rows + 1), at(2 * edges.size());
  for (const TreeEdge& edge : edges)
    for (const int64_t end : {edge.from, edge.to}) ++begins[static_cast<size_t>(end) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  BudgetedVector<int64_t> next(begins.begin(), begins.end() - 1);
  for (size_t e = 0; e < edges.size(); ++e)
    for (const int64_t end : {edges[e].from, edges[e].to})
      at[static_cast<size_t>(next[static_cast<size_t>(end)]++)] = static_cast<int64_t>(e);
  BudgetedVector<bool> met(edges.size());
  BudgetedVector<int64_t> waiting = {0};
  while (!waiting.empty()) {
    const auto row = static_cast<size_t>(waiting.back());
    waiting.pop_back();
    for (int64_t i = begins[row]; i < begins[row + 1]; ++i) {
      const auto e = static_cast<size_t>(at[static_cast<size_t>(i)]);
      if (met[e]) continue;
      met[e] = true;
      TreeEdge& edge = edges[e];
      if (edge.from != static_cast<int64_t>(row)) std::swap(edge.from, edge.to);
      waiting.push_back(edge.to);
    }
  }
}

/// A linkage as it is read; nodes from `rows` on are merges.
struct Merges {
  const int64_t *left, *right, *sizes;
  const double* heights;
  int64_t rows;

  explicit Merges(const Linkage& of)
      : left(of.left.as<int64_t>()),
        right(of.right.as<int64_t>()),
        sizes(of.sizes.as<int64_t>()),
        heights(of.heights.as<double>()),
        rows(of.left.num_elements() + 1) {}

  int64_t size(int64_t node) const { return node < rows ? 1 : sizes[node - rows]; }
};

/// Nodes below a node, itself first, level by level; `visit` says whether to go below.
template <class F>
void walk_levels(const Merges& merges, int64_t root, BudgetedVector<int64_t>& queue, F visit) {
  queue.assign(1, root);
  for (size_t i = 0; i < queue.size(); ++i) {
    const int64_t node = queue[i];
    if (!visit(node) || node < merges.rows) continue;
    queue.push_back(merges.left[node - merges.rows]);
    queue.push_back(merges.right[node - merges.rows]);
  }
}

/// The clusters of a condensed tree, by their number less that of the root: parents come first.
struct Hierarchy {
  int64_t root;
  BudgetedVector<int64_t> parent, size, children;  ///< children: how many, 0 or 2
  BudgetedVector<double> birth, death, stability;

  explicit Hierarchy(const CondensedTree& tree);

  size_t count() const { return parent.size(); }

  /// The nearest cluster above that is born at a greater height, or the last one below the root.
  int64_t above(int64_t cluster, double epsilon, bool allow_root) const {
    for (;;) {
      const int64_t next = parent[static_cast<size_t>(cluster)];
      if (next <= 0) return allow_root ? std::max<int64_t>(next, 0) : cluster;
      if (1 / birth[static_cast<size_t>(next)] > epsilon) return next;
      cluster = next;
    }
  }
};

Hierarchy::Hierarchy(const CondensedTree& tree) {
  const auto* parents = tree.parents.as<int64_t>();
  const auto* below = tree.children.as<int64_t>();
  const auto* lambdas = tree.lambdas.as<double>();
  const auto* sizes = tree.sizes.as<int64_t>();
  const int64_t entries = tree.parents.num_elements();
  root = parents[0];
  const int64_t last = std::max(root, *std::max_element(below, below + entries));
  const auto clusters = static_cast<size_t>(last - root + 1);
  parent.assign(clusters, -1);
  size.assign(clusters, 0);
  children.assign(clusters, 0);
  birth.assign(clusters, 0);
  death.assign(clusters, 0);
  stability.assign(clusters, 0);
  for (int64_t e = 0; e < entries; ++e) {
    const auto from = static_cast<size_t>(parents[e] - root);
    stability[from] += (lambdas[e] - birth[from]) * static_cast<double>(sizes[e]);
    death[from] = std::max(death[from], lambdas[e]);
    if (below[e] < root) continue;
    const auto child = static_cast<size_t>(below[e] - root);
    parent[child] = static_cast<int64_t>(from);
    size[child] = sizes[e];
    birth[child] = lambdas[e];
    ++children[from];
    if (from == 0) size[0] += sizes[e];
  }
}

/// Which clusters have more mass than what is below them, the highest of them on each path.
BudgetedVector<bool> by_mass(const Hierarchy& tree, const ClusterSelection& by) {
  BudgetedVector<double> stability = tree.stability, below(tree.count());
  BudgetedVector<bool> chosen(tree.count());
  for (size_t c = tree.count(); c-- > (by.allow_single ? 0 : 1);) {
    chosen[c] = !(below[c] > stability[c] || tree.size[c] > by.most_rows);
    if (!chosen[c]) stability[c] = below[c];
    if (c > 0) below[static_cast<size_t>(tree.parent[c])] += stability[c];
  }
  BudgetedVector<bool> covered(tree.count());
  for (size_t c = 1; c < tree.count(); ++c) {
    const auto up = static_cast<size_t>(tree.parent[c]);
    covered[c] = covered[up] || chosen[up];
  }
  for (size_t c = 0; c < tree.count(); ++c) chosen[c] = chosen[c] && !covered[c];
  return chosen;
}

BudgetedVector<bool> choose(const Hierarchy& tree, const ClusterSelection& by) {
  BudgetedVector<bool> chosen(tree.count());
  if (!by.leaves)
    chosen = by_mass(tree, by);
  else if (tree.count() > 1)
    for (size_t c = 0; c < tree.count(); ++c) chosen[c] = tree.children[c] == 0;
  if (by.epsilon == 0 || tree.count() == 1 || chosen[0]) return chosen;
  BudgetedVector<bool> merged(tree.count());
  for (size_t c = 1; c < tree.count(); ++c) {
    if (!chosen[c]) continue;
    auto to = static_cast<int64_t>(c);
    if (1 / tree.birth[c] < by.epsilon) to = tree.above(to, by.epsilon, by.allow_single);
    merged[static_cast<size_t>(to)] = true;
  }
  return merged;
}

}  // namespace

Linkage reachability_linkage(const Tensor& x, const Reachability& by) {
  constexpr std::string_view kOp = "hdbscan";
  check_neighbors(kOp, x, x);
  const int64_t rows = x.shape()[0];
  if (rows < 2 || by.min_samples < 1 || by.min_samples > rows)
    throw_error<InvalidArgumentError>(kOp, "expected at least two rows, and min_samples of them",
                                      {{"rows", rows}, {"min_samples", by.min_samples}});
  const ScopedTag tag(kOp);
  const WorkingMemory working(reachability_working_bytes(x, by));
  BudgetedVector<TreeEdge> edges = reachability_tree(x, by);
  orient(edges);
  const auto merges = static_cast<int64_t>(edges.size());
  Buffer left = Buffer::allocate(merges * 8), right = Buffer::allocate(merges * 8);
  Buffer heights = Buffer::allocate(merges * 8), sizes = Buffer::allocate(merges * 8);
  BudgetedVector<int64_t> above(static_cast<size_t>(2 * rows - 1));
  std::iota(above.begin(), above.end(), int64_t{0});
  const auto top = [&](int64_t node) {
    while (above[static_cast<size_t>(node)] != node) {
      int64_t& next = above[static_cast<size_t>(node)];
      next = above[static_cast<size_t>(next)];
      node = next;
    }
    return node;
  };
  const auto size = [&](int64_t node) {
    return node < rows ? 1 : sizes.as<int64_t>()[node - rows];
  };
  for (int64_t i = 0; i < merges; ++i) {
    const TreeEdge& edge = edges[static_cast<size_t>(i)];
    const int64_t one = top(edge.from), other = top(edge.to);
    left.mutable_as<int64_t>()[i] = one;
    right.mutable_as<int64_t>()[i] = other;
    heights.mutable_as<double>()[i] = edge.weight;
    sizes.mutable_as<int64_t>()[i] = size(one) + size(other);
    above[static_cast<size_t>(one)] = above[static_cast<size_t>(other)] = rows + i;
  }
  const auto tensor = [&](Dtype dtype, Buffer& buffer) {
    return Tensor(dtype, {merges}, std::move(buffer));
  };
  return {tensor(dtype_of<int64_t>(), left), tensor(dtype_of<int64_t>(), right),
          tensor(dtype_of<double>(), heights), tensor(dtype_of<int64_t>(), sizes)};
}

CondensedTree condense(const Linkage& linkage, int64_t min_cluster_size) {
  const ScopedTag tag("hdbscan");
  const Merges merges(linkage);
  const int64_t rows = merges.rows, root = 2 * rows - 2;
  BudgetedVector<int64_t> parents, children, sizes, queue, lost;
  BudgetedVector<double> lambdas;
  for (auto* each : {&parents, &children, &sizes}) each->reserve(static_cast<size_t>(rows));
  lambdas.reserve(static_cast<size_t>(rows));
  const auto add = [&](int64_t parent, int64_t child, double lambda, int64_t size) {
    parents.push_back(parent);
    children.push_back(child);
    lambdas.push_back(lambda);
    sizes.push_back(size);
  };
  BudgetedVector<int64_t> cluster(static_cast<size_t>(root + 1),
                                  -1);  // of the nodes that are large
  cluster[static_cast<size_t>(root)] = rows;
  int64_t next = rows + 1;
  walk_levels(merges, root, queue, [&](int64_t node) {
    const int64_t own = cluster[static_cast<size_t>(node)];
    if (own < 0 || node < rows) return false;
    const double height = merges.heights[node - rows];
    const double lambda = height > 0 ? 1 / height : kInfinity;
    const int64_t pair[] = {merges.left[node - rows], merges.right[node - rows]};
    const bool large[] = {merges.size(pair[0]) >= min_cluster_size,
                          merges.size(pair[1]) >= min_cluster_size};
    for (int side = 0; side < 2; ++side) {
      int64_t& child = cluster[static_cast<size_t>(pair[side])];
      if (large[side]) child = own;
      if (large[0] && large[1]) add(own, child = next++, lambda, merges.size(pair[side]));
      if (!large[side])
        walk_levels(merges, pair[side], lost, [&](int64_t below) {
          if (below < rows) add(own, below, lambda, 1);
          return true;
        });
    }
    return true;
  });
  return {column_of(parents), column_of(children), column_of(lambdas), column_of(sizes)};
}

ClusterLabels select_clusters(const CondensedTree& condensed, const ClusterSelection& by) {
  const ScopedTag tag("hdbscan");
  const Hierarchy tree(condensed);
  const BudgetedVector<bool> chosen = choose(tree, by);
  BudgetedVector<int64_t> owner(tree.count(), -1), number(tree.count());
  int64_t clusters = 0;
  for (size_t c = 0; c < tree.count(); ++c) {
    number[c] = clusters;
    clusters += chosen[c] ? 1 : 0;
    if (chosen[c])
      owner[c] = static_cast<int64_t>(c);
    else if (c > 0)
      owner[c] = owner[static_cast<size_t>(tree.parent[c])];
  }
  const bool single = by.allow_single && clusters == 1;
  const double latest = by.epsilon != 0 ? 1 / by.epsilon : tree.death[0];
  const int64_t rows = tree.root;
  Buffer labels = Buffer::allocate(rows * 8), probabilities = Buffer::allocate(rows * 8);
  for (int64_t e = 0; e < condensed.parents.num_elements(); ++e) {
    const int64_t row = condensed.children.as<int64_t>()[e];
    if (row >= rows) continue;
    const double lambda = condensed.lambdas.as<double>()[e];
    const int64_t own = owner[static_cast<size_t>(condensed.parents.as<int64_t>()[e] - tree.root)];
    const bool kept = own > 0 || (own == 0 && single && lambda >= latest);
    labels.mutable_as<int64_t>()[row] = kept ? number[static_cast<size_t>(own)] : -1;
    double& probability = probabilities.mutable_as<double>()[row];
    probability = 0;
    if (!kept) continue;
    const double death = tree.death[static_cast<size_t>(own)];
    probability = death == 0 || std::isinf(lambda) ? 1 : std::min(lambda, death) / death;
  }
  return {Tensor(dtype_of<int64_t>(), {rows}, std::move(labels)),
          Tensor(dtype_of<double>(), {rows}, std::move(probabilities))};
}

Tensor cut_linkage(const Linkage& linkage, double height, int64_t min_cluster_size) {
  const Merges merges(linkage);
  const int64_t rows = merges.rows;
  // The representative of a node is a row or a merge, as unions by rank choose it: its number
  // orders the labels.
  BudgetedVector<int64_t> kept(static_cast<size_t>(rows), 0),
      head(static_cast<size_t>(2 * rows - 1));
  BudgetedVector<int64_t> rank(head.size());
  std::iota(head.begin(), head.end(), int64_t{0});
  const auto join = [&](int64_t node, int64_t merge) {
    int64_t& to = head[static_cast<size_t>(merge)];
    const int64_t from = head[static_cast<size_t>(node)];
    int64_t &mine = rank[static_cast<size_t>(from)], theirs = rank[static_cast<size_t>(to)];
    if (mine == theirs) ++mine;
    if (mine > theirs) to = from;
  };
  for (int64_t i = 0; i + 1 < rows; ++i) {
    if (!(merges.heights[i] < height)) continue;
    join(merges.left[i], rows + i);
    join(merges.right[i], rows + i);
  }
  // From the top down, what is merged has the representative of its merge.
  for (int64_t i = rows - 2; i >= 0; --i)
    if (merges.heights[i] < height)
      for (const int64_t child : {merges.left[i], merges.right[i]})
        head[static_cast<size_t>(child)] = head[static_cast<size_t>(rows + i)];
  BudgetedVector<int64_t> sizes(head.size()), number(head.size(), -1);
  for (int64_t i = 0; i < rows; ++i) ++sizes[static_cast<size_t>(head[static_cast<size_t>(i)])];
  int64_t clusters = 0;
  for (size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] > 0 && sizes[c] >= min_cluster_size) number[c] = clusters++;
  Buffer labels = Buffer::allocate(rows * 8);
  for (int64_t i = 0; i < rows; ++i)
    labels.mutable_as<int64_t>()[i] = number[static_cast<size_t>(head[static_cast<size_t>(i)])];
  return Tensor(dtype_of<int64_t>(), {rows}, std::move(labels));
}

}  // namespace hr
