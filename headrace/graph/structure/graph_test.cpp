// SPDX-License-Identifier: Apache-2.0
// Graphs and their algorithms against the naive definitions.
#include "headrace/graph/structure/graph.h"

#include "headrace/base/convergence.h"
#include "headrace/data/column_testing.h"
#include "headrace/exec/simd_and_threads_testing.h"
#include "headrace/graph/rank/pagerank.h"
#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/components.h"
#include "headrace/graph/search/many_bfs.h"
#include "headrace/graph/search/shortest_paths.h"
#include "headrace/graph/structure/degrees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

namespace hr {
namespace {

using testing::column_of;

struct Edges {
  std::vector<int64_t> source{};
  std::vector<int64_t> target{};
  std::vector<double> weights{};

  Graph graph(GraphOptions options, const std::vector<int64_t>& nodes = {}) const {
    std::vector<Column> more;
    if (!nodes.empty()) more.push_back(column_of(nodes));
    return Graph("graph", {column_of(source)}, {column_of(target)}, more, options);
  }
};

/// With a hub, loops and edges that repeat.
Edges some_edges(int64_t count, int64_t vertices, uint64_t seed, int64_t factor = 1) {
  std::mt19937_64 random(seed);
  const auto vertex = [&] {
    return random() % 8 == 0 ? int64_t{0}
                             : static_cast<int64_t>(static_cast<uint64_t>(factor) *
                                                    (random() % static_cast<uint64_t>(vertices)));
  };
  Edges made;
  for (int64_t i = 0; i < count; ++i) {
    made.source.push_back(vertex());
    made.target.push_back(vertex());
    made.weights.push_back(static_cast<double>(random() % 16));
  }
  return made;
}

class GraphTest : public testing::ThreadsTest {};

INSTANTIATE_TEST_SUITE_P(Threads, GraphTest, ::testing::Values(1, 2, 4));

TEST_P(GraphTest, HasTheLastOfEdgesThatRepeat) {
  for (const int64_t count : {0, 1, 63, 5000, 40000}) {
    for (const int64_t factor : {int64_t{1}, int64_t{1} << 50}) {
      for (const bool directed : {false, true}) {
        const Edges edges = some_edges(count, 1 + count / 4, 7, factor);
        const Graph graph = edges.graph({directed, false, false, true});
        std::set<int64_t> ids(edges.source.begin(), edges.source.end());
        ids.insert(edges.target.begin(), edges.target.end());
        const std::vector<int64_t> sorted(ids.begin(), ids.end());
        ASSERT_EQ(graph.num_vertices(), static_cast<int64_t>(sorted.size()));
        for (size_t v = 0; v < sorted.size(); ++v)
          ASSERT_EQ(graph.ids()[0].values<int64_t>()[v], sorted[v]);
        const auto number = [&](int64_t id) {
          return std::lower_bound(sorted.begin(), sorted.end(), id) - sorted.begin();
        };
        std::map<std::pair<int64_t, int64_t>, int64_t> last;
        for (size_t i = 0; i < edges.source.size(); ++i) {
          const int64_t s = number(edges.source[i]), t = number(edges.target[i]);
          last[{s, t}] = static_cast<int64_t>(i);
          if (!directed) last[{t, s}] = static_cast<int64_t>(i);
        }
        const Csr& csr = graph.out();
        ASSERT_EQ(csr.entries(), static_cast<int64_t>(last.size()));
        const Column edge_rows = graph.edge_rows();
        const std::span<const int64_t> rows = edge_rows.values<int64_t>();
        int64_t place = 0, loops = 0;
        std::set<int64_t> kept;
        for (const auto& [ends, row] : last) {
          ASSERT_LE(csr.begin(ends.first), place);
          ASSERT_LT(place, csr.begin(ends.first + 1));
          ASSERT_EQ(csr.targets.as<uint32_t>()[place], ends.second);
          ASSERT_EQ(rows[csr.edges.as<uint32_t>()[place]], row);
          kept.insert(row);
          loops += ends.first == ends.second;
          ++place;
        }
        ASSERT_EQ(graph.num_edges(), static_cast<int64_t>(kept.size()));
        ASSERT_EQ(graph.num_self_loops(), loops);
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), kept.begin(), kept.end()));
        const Csr in = graph.in();
        place = 0;
        std::map<std::pair<int64_t, int64_t>, int64_t> turned;
        for (const auto& [ends, row] : last) turned[{ends.second, ends.first}] = row;
        for (const auto& [ends, row] : turned) {
          ASSERT_LE(in.begin(ends.first), place);
          ASSERT_EQ(in.targets.as<uint32_t>()[place], ends.second);
          ASSERT_EQ(rows[in.edges.as<uint32_t>()[place++]], row);
        }
      }
    }
  }
}

TEST_P(GraphTest, KeepsSeveralEdgesAndLoneVertices) {
  const Edges edges{{1, 1, 5, 5}, {5, 5, 1, 5}, {}};
  const Graph graph = edges.graph({false, true}, {9, 5});
  EXPECT_EQ(graph.num_vertices(), 3);
  EXPECT_EQ(graph.num_edges(), 4);
  const Column found = degrees(graph, DegreeKind::kAll);
  EXPECT_EQ(std::vector<int64_t>(found.values<int64_t>().begin(), found.values<int64_t>().end()),
            (std::vector<int64_t>{3, 5, 0}));
  const Graph directed = edges.graph({true, true}, {9, 5});
  const Column in = degrees(directed, DegreeKind::kIn);
  EXPECT_EQ(std::vector<int64_t>(in.values<int64_t>().begin(), in.values<int64_t>().end()),
            (std::vector<int64_t>{1, 3, 0}));
}

TEST_P(GraphTest, ComponentsAreThoseOfAWalk) {
  for (const bool directed : {false, true}) {
    const Edges edges = some_edges(30000, 60000, 3);
    Edges apart;  // the hub would join all
    for (size_t i = 0; i < edges.source.size(); ++i) {
      if (edges.source[i] == 0 || edges.target[i] == 0) continue;
      apart.source.push_back(edges.source[i]);
      apart.target.push_back(edges.target[i]);
    }
    const Graph graph = apart.graph({directed});
    const Graph plain = apart.graph({});
    const int64_t vertices = graph.num_vertices();
    std::vector<int64_t> expected(static_cast<size_t>(vertices), -1);
    int64_t count = 0;
    for (int64_t first = 0; first < vertices; ++first) {
      if (expected[static_cast<size_t>(first)] >= 0) continue;
      std::vector<int64_t> open{first};
      expected[static_cast<size_t>(first)] = count;
      while (!open.empty()) {
        const int64_t v = open.back();
        open.pop_back();
        for (const uint32_t target : plain.out().row(v))
          if (std::exchange(expected[target], count) != count) open.push_back(target);
      }
      ++count;
    }
    ASSERT_GT(count, 100);
    const Column found = connected_components(graph);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), found.values<int64_t>().begin()));
  }
}

TEST_P(GraphTest, LevelsAreUniqueAndMoveByOne) {
  for (const bool directed : {false, true}) {
    const Graph graph = some_edges(60000, 20000, 5).graph({directed});
    const std::vector<int64_t> sources{0, 17, 17, 300};
    const Buffer many = many_bfs_levels(graph, sources, kNoLevel - 1);
    for (size_t lane = 0; lane < sources.size(); ++lane) {
      const Buffer levels = bfs_levels(graph, sources[lane], -1);
      const auto* const level = levels.as<uint32_t>();
      std::vector<uint32_t> expected(static_cast<size_t>(graph.num_vertices()), kNoLevel);
      std::vector<uint32_t> queue{static_cast<uint32_t>(sources[lane])};
      expected[queue[0]] = 0;
      for (size_t i = 0; i < queue.size(); ++i)
        for (const uint32_t target : graph.out().row(queue[i]))
          if (expected[target] == kNoLevel) {
            expected[target] = expected[queue[i]] + 1;
            queue.push_back(target);
          }
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), level));
      ASSERT_TRUE(
          std::equal(expected.begin(), expected.end(),
                     many.as<uint32_t>() + static_cast<int64_t>(lane) * graph.num_vertices()));
    }
  }
}

// Levels of up to 700 vertices, which a team shares.
TEST_P(GraphTest, LevelsOfAGridAreItsSteps) {
  constexpr int64_t kSide = 700;
  Edges edges;
  const auto add = [&](int64_t source, int64_t target) {
    edges.source.push_back(source);
    edges.target.push_back(target);
  };
  for (int64_t v = 0; v < kSide * kSide; ++v) {
    if ((v + 1) % kSide != 0) add(v, v + 1);
    if (v + kSide < kSide * kSide) add(v, v + kSide);
  }
  for (const bool directed : {false, true}) {
    const Graph graph = edges.graph({directed});
    for (const int64_t most : {int64_t{-1}, int64_t{650}}) {
      const Buffer levels = bfs_levels(graph, 0, most);
      const auto* const level = levels.as<uint32_t>();
      for (int64_t v = 0; v < kSide * kSide; ++v) {
        const int64_t steps = v / kSide + v % kSide;
        ASSERT_EQ(level[v], most < 0 || steps <= most ? steps : int64_t{kNoLevel});
      }
    }
  }
}

TEST_P(GraphTest, RanksAreAFixedPoint) {
  const Edges edges = some_edges(40000, 5000, 9);
  const Graph graph = edges.graph({true, false, false, true});
  const Column edge_rows = graph.edge_rows();
  const std::span<const int64_t> rows = edge_rows.values<int64_t>();
  std::vector<double> kept;
  for (const int64_t row : rows) kept.push_back(edges.weights[static_cast<size_t>(row)]);
  const Column found = pagerank(graph, {0.85, 500, 1e-15}, {}, column_of(kept));
  const std::span<const double> rank = found.values<double>();
  const Csr& csr = graph.out();
  const auto n = static_cast<double>(csr.vertices);
  std::vector<double> next(rank.size(), 0.15 / n);
  double sum = 0;
  for (int64_t v = 0; v < csr.vertices; ++v) {
    const double own = rank[static_cast<size_t>(v)];
    sum += own;
    double total = 0;
    for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
      total += kept[csr.edges.as<uint32_t>()[i]];
    for (int64_t i = csr.begin(v); i < csr.begin(v + 1) && total > 0; ++i)
      next[csr.targets.as<uint32_t>()[i]] += 0.85 * own * kept[csr.edges.as<uint32_t>()[i]] / total;
    if (total == 0)
      for (double& each : next) each += 0.85 * own / n;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  for (size_t v = 0; v < next.size(); ++v) ASSERT_NEAR(rank[v], next[v], 1e-12);
  EXPECT_THROW(pagerank(graph, {0.85, 2, 1e-15}, {}, {}), ConvergenceError);
}

TEST_P(GraphTest, NoEdgeIsAShortcut) {
  for (const bool directed : {false, true}) {
    const Edges edges = some_edges(40000, 8000, 11);
    const Graph graph = edges.graph({directed, true, false, true});
    const Column weights = column_of(edges.weights);
    const Buffer found = shortest_path_lengths(graph, weights, 3, INFINITY);
    const auto* const distance = found.as<double>();
    std::vector<double> expected(static_cast<size_t>(graph.num_vertices()), INFINITY);
    std::set<std::pair<double, int64_t>> open{{0.0, 3}};
    expected[3] = 0;
    while (!open.empty()) {
      const auto [length, v] = *open.begin();
      open.erase(open.begin());
      for (int64_t i = graph.out().begin(v); i < graph.out().begin(v + 1); ++i) {
        const uint32_t target = graph.out().targets.as<uint32_t>()[i];
        const double next = length + edges.weights[graph.out().edges.as<uint32_t>()[i]];
        if (next >= expected[target]) continue;
        open.erase({expected[target], target});
        expected[target] = next;
        open.insert({next, target});
      }
    }
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), distance));
  }
}

TEST_P(GraphTest, WeightsOfEntriesAreKeptForTheSameColumn) {
  const Edges edges = some_edges(1000, 100, 5);
  const Graph graph = edges.graph({false, true, false, true});
  const auto weights_of = [&](const Column& weights, WeightRule rule) {
    return graph.out_weights("paths", weights, rule);
  };
  const Column weights = column_of(edges.weights);
  const Buffer made = weights_of(weights, WeightRule::kNotNegative);
  EXPECT_EQ(weights_of(weights, WeightRule::kNotNegative), made);
  EXPECT_THROW(weights_of(weights, WeightRule::kPositive), InvalidArgumentError);

  std::vector<double> twice = edges.weights;
  for (double& weight : twice) weight *= 2;
  const Buffer others = weights_of(column_of(twice), WeightRule::kNotNegative);
  for (int64_t i = 0; i < graph.out().entries(); ++i)
    ASSERT_EQ(others.as<double>()[i], 2 * made.as<double>()[i]);
}

TEST_P(GraphTest, WeightsInMemoryOfOthersAreReadAnew) {
  const Edges edges = some_edges(1000, 100, 5);
  const Graph graph = edges.graph({false, true, false, true});
  std::vector<double> memory = edges.weights;
  const auto bytes = static_cast<int64_t>(8 * memory.size());
  const Column weights(TypeId::kFloat64, static_cast<int64_t>(memory.size()),
                       Buffer::adopt(memory.data(), bytes, {nullptr, [](void*) noexcept {}}));
  const double before = graph.out_weights("paths", weights, WeightRule::kAny).as<double>()[0];
  for (double& weight : memory) weight += 1;
  EXPECT_EQ(graph.out_weights("paths", weights, WeightRule::kAny).as<double>()[0], before + 1);
}

}  // namespace
}  // namespace hr
