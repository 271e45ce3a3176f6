// SPDX-License-Identifier: Apache-2.0
// What graphs are like inside: pairs, trees, matchings, walks.
#include "python/bind/bind.h"

#include "headrace/graph/community/communities.h"
#include "headrace/graph/community/label_propagation.h"
#include "headrace/graph/density/k_truss.h"
#include "headrace/graph/density/matching.h"
#include "headrace/graph/density/similarity.h"
#include "headrace/graph/density/two_hop.h"
#include "headrace/graph/density/weighted_matching.h"
#include "headrace/graph/embedding/neighbor_sample.h"
#include "headrace/graph/embedding/random_walks.h"
#include "headrace/graph/search/spanning_forest.h"
#include "headrace/plan/graph/placement.h"

namespace {

using hr::Column;
using hr::Graph;
using hr::NodePtr;
using MaybeNode = std::optional<NodePtr>;

Column column_of(const NodePtr& node, hr::Place place = hr::host) {
  const NodePtr nodes[] = {node};
  hr::force(nodes);
  return std::get<Column>(hr::to_place(node->value(), place));
}

std::optional<Column> column_of(const MaybeNode& node, hr::Place place = hr::host) {
  return node ? std::optional(column_of(*node, place)) : std::nullopt;
}

// Where kernels of CUDA read what comes with a graph; else the host does.
hr::Place place_of(const Graph& graph) {
  return graph.place().is_gpu() ? graph.place() : hr::host;
}

}  // namespace

void bind_graph_structure(nb::module_& m) {
  m.def(
      "graph_most_similar",
      [](const Graph& graph, int kind, const std::vector<int64_t>& starts, int64_t most,
         const MaybeNode& weights) {
        hr::SimilarVertices found = hr::most_similar(graph, static_cast<hr::Similarity>(kind),
                                                     starts, most, column_of(weights));
        return std::vector{hr::lazy_value(found.first), hr::lazy_value(found.second),
                           hr::lazy_value(found.share)};
      },
      "graph"_a, "kind"_a, "starts"_a, "most"_a, "weights"_a, Unlocked());
  m.def(
      "graph_similarity",
      [](const Graph& graph, int kind, const NodePtr& first, const NodePtr& second,
         const MaybeNode& weights) {
        return hr::similarity_table(graph, static_cast<hr::Similarity>(kind), first, second,
                                    weights.value_or(nullptr));
      },
      "graph"_a, "kind"_a, "first"_a, "second"_a, "weights"_a);
  m.def("graph_two_hop", &hr::two_hop_table, "graph"_a, "starts"_a, Unlocked());
  m.def(
      "graph_spanning_forest",
      [](const Graph& graph, const MaybeNode& weights, bool maximum) {
        return hr::lazy_value(hr::spanning_forest(graph, column_of(weights), maximum));
      },
      "graph"_a, "weights"_a, "maximum"_a, Unlocked());
  m.def(
      "graph_edge_support",
      [](const Graph& graph) { return hr::lazy_value(hr::edge_support(graph)); }, "graph"_a,
      Unlocked());
  m.def(
      "graph_k_truss",
      [](const Graph& graph, int64_t k) { return hr::lazy_value(hr::k_truss(graph, k)); },
      "graph"_a, "k"_a, Unlocked());
  m.def(
      "graph_greedy_matching",
      [](std::string_view op, const Graph& graph, const MaybeNode& order) {
        return hr::lazy_value(hr::greedy_matching(op, graph, column_of(order)));
      },
      "op"_a, "graph"_a, "order"_a, Unlocked());
  m.def(
      "graph_max_weight_matching",
      [](const Graph& graph, const MaybeNode& weights, bool max_cardinality) {
        return hr::lazy_value(hr::max_weight_matching(graph, column_of(weights), max_cardinality));
      },
      "graph"_a, "weights"_a, "max_cardinality"_a, Unlocked());
  m.def(
      "graph_hopcroft_karp",
      [](const Graph& graph, const NodePtr& top) {
        return hr::lazy_value(hr::hopcroft_karp_matching(graph, column_of(top)));
      },
      "graph"_a, "top"_a, Unlocked());
  m.def("graph_is_bipartite", &hr::is_bipartite, "graph"_a, Unlocked());
  m.def("graph_bipartite_color", &hr::bipartite_color_table, "graph"_a);
  m.def(
      "graph_label_propagation",
      [](const Graph& graph, const MaybeNode& weights, uint64_t seed) {
        return hr::label_propagation_table(graph, weights.value_or(nullptr), seed);
      },
      "graph"_a, "weights"_a, "seed"_a);
  m.def(
      "graph_ecg",
      [](const Graph& graph, const MaybeNode& weights, double min_weight, int64_t ensemble_size,
         int64_t max_level, double threshold, double resolution, uint64_t seed) {
        return hr::ensemble_clustering_table(
            graph, weights.value_or(nullptr),
            {min_weight, ensemble_size, {resolution, threshold, max_level, seed}});
      },
      "graph"_a, "weights"_a, "min_weight"_a, "ensemble_size"_a, "max_level"_a, "threshold"_a,
      "resolution"_a, "seed"_a);
  m.def(
      "graph_random_walks",
      [](const Graph& graph, const NodePtr& starts, int64_t length, double p, double q,
         uint64_t seed, const MaybeNode& weights) {
        return hr::lazy_value(hr::random_walks(graph, column_of(starts, place_of(graph)),
                                               {length, p, q, seed},
                                               column_of(weights, place_of(graph))));
      },
      "graph"_a, "starts"_a, "length"_a, "p"_a, "q"_a, "seed"_a, "weights"_a, Unlocked());
  m.def(
      "graph_neighbor_sample",
      [](const Graph& graph, const NodePtr& seeds, const std::vector<int64_t>& fanout, bool replace,
         uint64_t seed) {
        const hr::NeighborSample made =
            hr::neighbor_sample(graph, column_of(seeds, place_of(graph)), {fanout, replace, seed});
        MaybeNode edge;
        if (made.edge) edge = hr::lazy_value(*made.edge);
        return std::tuple(hr::lazy_value(made.node), hr::lazy_value(made.row),
                          hr::lazy_value(made.col), edge, made.num_nodes, made.num_edges);
      },
      "graph"_a, "seeds"_a, "fanout"_a, "replace"_a, "seed"_a, Unlocked());
}
