// SPDX-License-Identifier: Apache-2.0
// The spanning tree against all edges in order, by the tree of boxes and by tiles, at each SIMD
// level; sums of distances against plain loops.
#include "headrace/learn/hdbscan.h"

#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/base/error.h"
#include "headrace/data/tensor_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/learn/distance_tiles.h"
#include "headrace/learn/pairwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace hr {
namespace {

using testing::tensor_with_shape;

/// Rows on a grid of `steps` values, so that many are equal, or of any values.
Tensor points(int64_t rows, int64_t columns, double steps) {
  std::vector<double> values;
  uint64_t state = 7;
  for (int64_t i = 0; i < rows * columns; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double value = static_cast<double>(state >> 33) / 2147483648.0;
    values.push_back(steps > 0 ? std::floor(value * steps) : value);
  }
  return tensor_with_shape(values, {rows, columns});
}

double distance(const Tensor& x, Metric metric, int64_t i, int64_t j) {
  const int64_t d = x.shape()[1];
  return exact_distance(metric, x.as<double>() + i * d, x.as<double>() + j * d, d);
}

/// The first edges that join, of all edges in order.
std::vector<TreeEdge> plain_tree(const Tensor& x, int64_t samples, Metric metric) {
  const int64_t rows = x.shape()[0];
  std::vector<double> cores;
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> all;
    for (int64_t j = 0; j < rows; ++j) all.push_back(distance(x, metric, i, j));
    std::sort(all.begin(), all.end());
    cores.push_back(all[static_cast<size_t>(samples - 1)]);
  }
  std::vector<TreeEdge> edges, kept;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j) {
      const double apart = distance(x, metric, i, j);
      const double weight =
          std::max({cores[static_cast<size_t>(i)], cores[static_cast<size_t>(j)], apart});
      edges.push_back({i, j, distance_of_reduced(metric, weight), apart});
    }
  std::sort(edges.begin(), edges.end(), [](const TreeEdge& a, const TreeEdge& b) {
    return std::tie(a.weight, a.distance, a.from, a.to) <
           std::tie(b.weight, b.distance, b.from, b.to);
  });
  DisjointSets sets(rows);
  for (const TreeEdge& edge : edges)
    if (sets.root(edge.from) != sets.root(edge.to)) {
      sets.join(edge.from, edge.to);
      kept.push_back(edge);
    }
  return kept;
}

using HdbscanTest = testing::SimdAndThreadsTest;

TEST_F(HdbscanTest, TheTreeIsThatOfAllEdgesInOrder) {
  for (const int64_t columns : {1, 2, 5, 12, 13})
    for (const double steps : {0.0, 3.0})
      for (const Metric metric : {Metric::kEuclidean, Metric::kManhattan})
        for (const int64_t samples : {1, 2, 6}) {
          const Tensor x = points(230, columns, steps);
          const std::vector<TreeEdge> expected = plain_tree(x, samples, metric);
          for (const SimdLevel level : {SimdLevel::kBase, level_}) {
            set_simd_level(level);
            set_threads(level == SimdLevel::kBase ? 1 : 3);
            const BudgetedVector<TreeEdge> made = reachability_tree(x, {samples, 1, false, metric});
            ASSERT_EQ(made.size(), expected.size());
            for (size_t e = 0; e < made.size(); ++e) {
              EXPECT_EQ(made[e].from, expected[e].from);
              EXPECT_EQ(made[e].to, expected[e].to);
              EXPECT_EQ(made[e].weight, expected[e].weight);
            }
          }
        }
}

TEST_F(HdbscanTest, SumsOfDistancesAtAnyLevel) {
  const Tensor x = points(300, 7, 0);
  std::vector<int64_t> labels;
  std::vector<double> weights;
  for (int64_t i = 0; i < 300; ++i) {
    labels.push_back(i % 7 == 0 ? -1 : i % 3);
    weights.push_back(static_cast<double>(i % 5));
  }
  for (const Metric metric : {Metric::kEuclidean, Metric::kSquaredEuclidean, Metric::kCosine,
                              Metric::kManhattan, Metric::kChebyshev}) {
    for (const SimdLevel level : {SimdLevel::kBase, level_}) {
      set_simd_level(level);
      const Tensor all = pairwise_distances(x, x, metric, false);
      for (int64_t i = 0; i < 300; ++i)
        for (int64_t j = 0; j < 300; ++j)
          ASSERT_EQ(all.as<double>()[i * 300 + j],
                    distance_of_reduced(metric, distance(x, metric, i, j)));
      const Tensor middle =
          medoids(x, tensor_with_shape(labels, {300}), tensor_with_shape(weights, {300}), metric);
      for (int64_t c = 0; c < 3; ++c) {
        std::vector<std::pair<double, int64_t>> sums;
        for (int64_t i = 0; i < 300; ++i) {
          if (labels[static_cast<size_t>(i)] != c) continue;
          double sum = 0;
          for (int64_t j = 0; j < 300; ++j)
            if (labels[static_cast<size_t>(j)] == c)
              sum += all.as<double>()[i * 300 + j] * weights[static_cast<size_t>(j)];
          sums.emplace_back(sum, i);
        }
        EXPECT_EQ(middle.as<int64_t>()[c], std::min_element(sums.begin(), sums.end())->second);
      }
    }
  }
}

TEST(Hdbscan, RefusesWhatDoesNotFit) {
  const Tensor x = points(5, 2, 0);
  EXPECT_THROW(reachability_linkage(x, {6}), InvalidArgumentError);
  EXPECT_THROW(reachability_linkage(points(1, 2, 0), {1}), InvalidArgumentError);
  EXPECT_THROW(silhouettes(x, x, Metric::kEuclidean), InvalidArgumentError);
}

}  // namespace
}  // namespace hr
