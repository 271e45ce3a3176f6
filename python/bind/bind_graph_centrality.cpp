// SPDX-License-Identifier: Apache-2.0
// Centralities of vertices and edges, order and flow.
#include "python/bind/bind.h"

#include "headrace/base/error.h"
#include "headrace/graph/rank/betweenness.h"
#include "headrace/graph/rank/closeness.h"
#include "headrace/graph/rank/many_pagerank.h"
#include "headrace/graph/rank/power_iteration.h"
#include "headrace/graph/search/bellman_ford.h"
#include "headrace/graph/search/maximum_flow.h"
#include "headrace/graph/search/strong_components.h"
#include "headrace/graph/search/topological.h"
#include "headrace/plan/graph/placement.h"

namespace {

using hr::Graph;
using hr::NodePtr;
using Given = std::optional<NodePtr>;

hr::Column column_of(const NodePtr& node) {
  hr::force({node});
  return std::get<hr::Column>(hr::to_place(node->value(), hr::host));
}

NodePtr node_of(const Given& node) {
  return node.value_or(nullptr);
}

}  // namespace

void bind_graph_centrality(nb::module_& m) {
  m.def(
      "graph_betweenness",
      [](const Graph& graph, std::vector<int64_t> sources, bool is_sample, bool normalized,
         bool endpoints, const Given& weights) {
        return hr::betweenness_table(graph, {std::move(sources), is_sample, normalized, endpoints},
                                     node_of(weights));
      },
      "graph"_a, "sources"_a, "is_sample"_a, "normalized"_a, "endpoints"_a, "weights"_a);
  m.def(
      "graph_edge_betweenness",
      [](const Graph& graph, std::vector<int64_t> sources, bool is_sample, bool normalized,
         const Given& weights, uint64_t domain) {
        return hr::edge_betweenness_table(graph, {std::move(sources), is_sample, normalized, true},
                                          node_of(weights), domain);
      },
      "graph"_a, "sources"_a, "is_sample"_a, "normalized"_a, "weights"_a, "domain"_a);
  m.def(
      "graph_closeness",
      [](const Graph& graph, std::string_view kind, std::vector<int64_t> asked,
         const Given& weights, uint64_t domain) {
        return hr::closeness_table(graph,
                                   kind == "plain"      ? hr::ClosenessKind::kPlain
                                   : kind == "improved" ? hr::ClosenessKind::kImproved
                                                        : hr::ClosenessKind::kReciprocal,
                                   std::move(asked), node_of(weights), domain);
      },
      "graph"_a, "kind"_a, "asked"_a, "weights"_a, "domain"_a);
  m.def(
      "graph_reciprocal_distances",
      [](const Graph& graph, std::vector<int64_t> sources, const Given& weights) {
        return hr::reciprocal_distance_table(graph, std::move(sources), node_of(weights));
      },
      "graph"_a, "sources"_a, "weights"_a);
  m.def(
      "graph_eigenvector_centrality",
      [](const Graph& graph, int64_t max_iter, double tol, bool strict, const Given& nstart,
         const Given& weights) {
        return hr::eigenvector_centrality_table(graph, {max_iter, tol, strict}, node_of(nstart),
                                                node_of(weights));
      },
      "graph"_a, "max_iter"_a, "tol"_a, "strict"_a, "nstart"_a, "weights"_a);
  m.def(
      "graph_katz_centrality",
      [](const Graph& graph, int64_t max_iter, double tol, bool strict, double alpha, double beta,
         bool normalized, const Given& betas, const Given& nstart, const Given& weights) {
        return hr::katz_centrality_table(graph, {max_iter, tol, strict}, {alpha, beta, normalized},
                                         node_of(betas), node_of(nstart), node_of(weights));
      },
      "graph"_a, "max_iter"_a, "tol"_a, "strict"_a, "alpha"_a, "beta"_a, "normalized"_a, "betas"_a,
      "nstart"_a, "weights"_a);
  m.def(
      "graph_hits",
      [](const Graph& graph, int64_t max_iter, double tol, bool strict, bool normalized,
         const Given& nstart, const Given& weights) {
        return hr::hits_table(graph, {max_iter, tol, strict}, normalized, node_of(nstart),
                              node_of(weights));
      },
      "graph"_a, "max_iter"_a, "tol"_a, "strict"_a, "normalized"_a, "nstart"_a, "weights"_a);
  m.def(
      "graph_many_pagerank",
      [](const Graph& graph, double alpha, int64_t max_iter, double tol, bool strict,
         std::vector<int64_t> starts, const NodePtr& shares, const Given& weights) {
        return hr::many_pagerank_table(graph, {alpha, max_iter, tol, strict}, std::move(starts),
                                       shares, node_of(weights));
      },
      "graph"_a, "alpha"_a, "max_iter"_a, "tol"_a, "strict"_a, "starts"_a, "shares"_a, "weights"_a);
  m.def("graph_strong_components", &hr::strong_component_table, "graph"_a);
  m.def("graph_generations", &hr::generation_table, "graph"_a);
  m.def("graph_is_acyclic", &hr::is_acyclic, "graph"_a, Unlocked());
  m.def("graph_bellman_ford", &hr::bellman_ford_table, "graph"_a, "weights"_a, "source"_a);
  m.def(
      "graph_maximum_flow",
      [](int64_t vertices, bool directed, const NodePtr& source, const NodePtr& target,
         const NodePtr& capacity, int64_t from, int64_t to) {
        const hr::Flow made = hr::maximum_flow(
            {vertices, directed, column_of(source), column_of(target), column_of(capacity)}, from,
            to);
        return std::tuple(made.value, hr::lazy_value(made.along), hr::lazy_value(made.behind));
      },
      "vertices"_a, "directed"_a, "source"_a, "target"_a, "capacity"_a, "from_"_a, "to"_a,
      Unlocked());
}
