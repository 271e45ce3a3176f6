// SPDX-License-Identifier: Apache-2.0
// Graphs: made at once, asked later.
#include "python/bind/bind.h"
#include "python/bind/protocols.h"

#include "headrace/base/error.h"
#include "headrace/graph/community/communities.h"
#include "headrace/graph/density/core_number.h"
#include "headrace/graph/density/triangles.h"
#include "headrace/graph/embedding/layout.h"
#include "headrace/graph/rank/pagerank.h"
#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/components.h"
#include "headrace/graph/search/shortest_paths.h"
#include "headrace/graph/structure/degrees.h"
#include "headrace/graph/structure/graph.h"
#include "headrace/graph/structure/graph_places.h"
#include "headrace/graph/structure/number_vertices.h"
#include "headrace/graph/structure/rmat.h"
#include "headrace/plan/graph/placement.h"

void bind_graph_structure(nb::module_& m);

namespace {

using hr::Column;
using hr::Graph;
using hr::NodePtr;

std::vector<Column> columns_of(const std::vector<NodePtr>& nodes) {
  hr::force(nodes);
  std::vector<Column> made;
  for (const NodePtr& node : nodes) {
    if (!std::holds_alternative<Column>(node->value()))
      hr::throw_error<hr::TypeMismatchError>("Graph", "expected columns of ids");
    made.push_back(std::get<Column>(node->value()));
  }
  return made;
}

}  // namespace

void bind_graph(nb::module_& m) {
  bind_graph_structure(m);
  nb::class_<Graph>(m, "Graph")
      .def_prop_ro("num_vertices", &Graph::num_vertices)
      .def_prop_ro("num_edges", &Graph::num_edges)
      .def_prop_ro("num_self_loops", &Graph::num_self_loops)
      .def_prop_ro("is_deduplicated", &Graph::is_deduplicated)
      .def_prop_ro("is_directed", &Graph::is_directed)
      .def_prop_ro("is_multigraph", &Graph::is_multigraph)
      .def_prop_ro("domain", &Graph::domain)
      .def_prop_ro("place", [](const Graph& graph) { return graph.place().name(); })
      .def(
          "to",
          [](const Graph& graph, const std::string& device) {
            return graph.to(place_from(device));
          },
          "device"_a, Unlocked())
      .def(
          "changed",
          [](const Graph& graph, const NodePtr& kinds, const std::vector<NodePtr>& first,
             const std::vector<NodePtr>& second) {
            return graph.changed("Graph", columns_of({kinds})[0], columns_of(first),
                                 columns_of(second));
          },
          "kinds"_a, "first"_a, "second"_a, Unlocked())
      .def("edge_rows", [](const Graph& graph) { return hr::lazy_value(graph.edge_rows()); })
      .def("ids",
           [](const Graph& graph) {
             std::vector<NodePtr> made;
             for (const Column& each : graph.ids())
               made.push_back(hr::lazy_value(each, "vertex", graph.domain()));
             return made;
           })
      .def(
          "entries",
          [](const Graph& graph) {
            const hr::Csr& csr = graph.out();
            const int64_t entries = csr.entries();
            const auto tensor = [](hr::TypeId dtype, int64_t rows, const hr::Buffer& buffer) {
              return hr::lazy_value(hr::Tensor(dtype, {rows}, buffer));
            };
            return std::tuple(tensor(hr::TypeId::kInt64, csr.vertices + 1, csr.offsets),
                              tensor(hr::TypeId::kUInt32, entries, csr.targets),
                              csr.edges
                                  ? std::optional(tensor(hr::TypeId::kUInt32, entries, csr.edges))
                                  : std::nullopt);
          },
          "Offsets of rows, targets, and edges where these are kept.")
      .def(
          "find",
          [](const Graph& graph, const std::vector<NodePtr>& asked) {
            return hr::lazy_value(hr::find_vertices(graph, columns_of(asked)));
          },
          "asked"_a, Unlocked());
  m.def(
      "graph",
      [](const std::vector<NodePtr>& source, const std::vector<NodePtr>& target,
         const std::vector<NodePtr>& nodes, bool directed, bool multigraph, bool keep_first,
         bool keep_edges) {
        return Graph("Graph", columns_of(source), columns_of(target), columns_of(nodes),
                     {directed, multigraph, keep_first, keep_edges});
      },
      "source"_a, "target"_a, "nodes"_a, "directed"_a, "multigraph"_a, "keep_first"_a,
      "keep_edges"_a, Unlocked());
  m.def(
      "counted_ids", [](int64_t count) { return hr::lazy_value(hr::counted_ids(count)); },
      "count"_a, Unlocked());
  m.def(
      "graph_degrees",
      [](const Graph& graph, std::string_view kind) {
        mark(kind);
        return hr::degree_table(graph, kind == "in_degree"    ? hr::DegreeKind::kIn
                                       : kind == "out_degree" ? hr::DegreeKind::kOut
                                                              : hr::DegreeKind::kAll);
      },
      "graph"_a, "kind"_a);
  m.def(
      "graph_louvain",
      [](const Graph& graph, const std::optional<NodePtr>& weights, double resolution,
         double threshold, int64_t max_level, uint64_t seed) {
        return hr::louvain_table(graph, weights.value_or(nullptr),
                                 {resolution, threshold, max_level, seed});
      },
      "graph"_a, "weights"_a, "resolution"_a, "threshold"_a, "max_level"_a, "seed"_a);
  m.def(
      "graph_leiden",
      [](const Graph& graph, const std::optional<NodePtr>& weights, double resolution,
         int64_t n_iterations, uint64_t seed) {
        return hr::leiden_table(graph, weights.value_or(nullptr), {resolution, n_iterations, seed});
      },
      "graph"_a, "weights"_a, "resolution"_a, "n_iterations"_a, "seed"_a);
  m.def(
      "graph_modularity",
      [](const Graph& graph, const NodePtr& labels, const std::optional<NodePtr>& weights,
         double resolution) {
        const std::vector<Column> numbers = columns_of({labels});
        std::optional<Column> given;
        if (weights) given = columns_of({*weights})[0];
        return hr::modularity(graph, numbers[0], given, resolution);
      },
      "graph"_a, "labels"_a, "weights"_a, "resolution"_a, Unlocked());
  m.def("graph_components", &hr::component_table, "graph"_a);
  m.def("graph_core_number", &hr::core_number_table, "graph"_a);
  m.def("graph_triangles", &hr::triangle_table, "graph"_a);
  m.def("graph_bfs", &hr::bfs_table, "graph"_a, "source"_a, "most"_a);
  m.def("graph_many_bfs", &hr::many_bfs_table, "graph"_a, "sources"_a, "most"_a);
  m.def(
      "graph_pagerank",
      [](const Graph& graph, double alpha, int64_t max_iter, double tol, bool strict,
         const std::optional<NodePtr>& personalization, const std::optional<NodePtr>& nstart,
         const std::optional<NodePtr>& dangling, const std::optional<NodePtr>& weights) {
        const auto given = [](const std::optional<NodePtr>& node) {
          return node.value_or(nullptr);
        };
        return hr::pagerank_table(graph, {alpha, max_iter, tol, strict}, given(personalization),
                                  given(nstart), given(dangling), given(weights));
      },
      "graph"_a, "alpha"_a, "max_iter"_a, "tol"_a, "strict"_a, "personalization"_a, "nstart"_a,
      "dangling"_a, "weights"_a);
  m.def("graph_shortest_paths", &hr::shortest_path_table, "graph"_a, "weights"_a, "source"_a,
        "cutoff"_a);
  m.def(
      "graph_rmat",
      [](int64_t scale, int64_t edges, double a, double b, double c, uint64_t seed) {
        return hr::rmat({scale, edges, a, b, c, seed});
      },
      "scale"_a, "edges"_a, "a"_a, "b"_a, "c"_a, "seed"_a);
  m.def(
      "graph_layout",
      [](const hr::Graph& graph, const std::optional<hr::NodePtr>& weights,
         const std::vector<hr::NodePtr>& start, std::string_view pull, bool by_degree,
         int64_t dimensions, int64_t iterations, double scaling_ratio, double gravity,
         bool strong_gravity, double scale, uint64_t seed) {
        return hr::layout_table(graph, weights.value_or(nullptr), start,
                                {pull == "square"        ? hr::LayoutPull::kSquare
                                 : pull == "logarithmic" ? hr::LayoutPull::kLogarithmic
                                                         : hr::LayoutPull::kLinear,
                                 by_degree, dimensions, iterations, scaling_ratio, gravity,
                                 strong_gravity, scale, seed});
      },
      "graph"_a, "weights"_a, "start"_a, "pull"_a, "by_degree"_a, "dimensions"_a, "iterations"_a,
      "scaling_ratio"_a, "gravity"_a, "strong_gravity"_a, "scale"_a, "seed"_a);
}
