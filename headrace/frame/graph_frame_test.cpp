// SPDX-License-Identifier: Apache-2.0
#include "headrace/frame/graph_frame.h"

#include "headrace/base/error.h"
#include "headrace/graph/bfs.h"
#include "headrace/graph/communities.h"
#include "headrace/graph/components.h"
#include "headrace/graph/pagerank.h"
#include "headrace/graph/triangles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr {
namespace {

using ::testing::ElementsAre;

// A triangle with a tail; its second edge is there twice.
Frame edges() {
  return std::vector<std::pair<std::string, Series>>{
      {"from", Series(std::vector<int64_t>{7, 9, 3, 3, 9})},
      {"to", Series(std::vector<int64_t>{9, 3, 7, 1, 3})},
      {"weight", Series(std::vector<int32_t>{1, 2, 3, 4, 5})}};
}

template <class T>
std::vector<T> values(const Series& series) {
  const Column column = series.column();
  const std::span<const T> found = column.values<T>();
  return {found.begin(), found.end()};
}

TEST(GraphFrame, PutsResultsBesideIds) {
  const Graph graph = graph_from_edges(edges(), "from", "to", {.keep_edges = true});
  EXPECT_EQ(graph.num_vertices(), 4);
  EXPECT_EQ(graph.num_edges(), 4);
  const Frame found = vertex_frame(graph, {{"triangles", triangle_count(graph)},
                                           {"component", connected_components(graph)},
                                           {"rank", pagerank(graph, {}, {}, {})}});
  EXPECT_THAT(values<int64_t>(found["vertex"]), ElementsAre(1, 3, 7, 9));
  EXPECT_THAT(values<int64_t>(found["triangles"]), ElementsAre(0, 1, 1, 1));
  EXPECT_NEAR(found["rank"].sum().item<double>(), 1, 1e-12);
  // All frames of a graph have one row set.
  const Frame steps = vertex_frame(graph, bfs_table(graph, find_vertex(graph, 1)));
  const Frame both = found.assign("distance", steps["distance"]);
  EXPECT_THAT(values<int64_t>(both["distance"]), ElementsAre(0, 1, 2, 2));
}

TEST(GraphFrame, WeighsTheEdgesThatAreThere) {
  const Graph graph = graph_from_edges(edges(), "from", "to", {.keep_edges = true});
  const Column weights = edge_weights(graph, edges()["weight"]);
  EXPECT_THAT(values<double>(Series(weights)), ElementsAre(1, 3, 4, 5));
  EXPECT_EQ(louvain(graph, weights).num_rows(), 4);
  EXPECT_THROW(edge_weights(graph_from_edges(edges(), "from", "to"), edges()["weight"]),
               InvalidArgumentError);
}

TEST(GraphFrame, RefusesWhatIsNotThere) {
  const Graph graph = graph_from_edges(edges(), "from", "to");
  EXPECT_THROW(find_vertex(graph, 2), InvalidArgumentError);
  EXPECT_THROW(vertex_frame(graph, {{"x", Column(TypeId::kInt64, 0, Buffer::allocate(0))}}),
               InvalidArgumentError);
  EXPECT_THROW(graph_from_edges(edges(), "from", "none"), ColumnNotFoundError);
}

}  // namespace
}  // namespace hr
