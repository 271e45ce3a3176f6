// SPDX-License-Identifier: Apache-2.0
// Columns in the rows of vertices.
#include "headrace/frame/graph_frame.h"

#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/graph/structure/number_vertices.h"
#include "headrace/graph/structure/vertex_columns.h"

#include <algorithm>

namespace hr {
namespace {

std::vector<std::pair<std::string, Series>> ids_of(const Graph& graph) {
  std::vector<VertexColumn> names;
  add_keys(graph, "vertex", names);
  std::vector<std::pair<std::string, Series>> made;
  for (size_t key = 0; key < names.size(); ++key)
    made.emplace_back(names[key].name, lazy_value(graph.ids()[key], "vertex", graph.domain()));
  return made;
}

}  // namespace

Graph graph_from_edges(const Frame& edges, std::string_view source, std::string_view target,
                       GraphOptions options) {
  const Table table = edges.select({std::string(source), std::string(target)}).table();
  return {"graph_from_edges", {table.columns()[0]}, {table.columns()[1]}, {}, options};
}

Column edge_weights(const Graph& graph, const Series& weights) {
  const Column all = weights.astype(TypeId::kFloat64).column();
  if (!graph.is_deduplicated()) return all;
  const Column rows = graph.edge_rows();
  if (rows.num_rows() != graph.num_edges())
    throw_error<InvalidArgumentError>("edge_weights", "the graph does not keep its edges", {},
                                      "make it with keep_edges");
  return gather(all, Tensor(TypeId::kInt64, {rows.num_rows()}, rows.values_buffer()));
}

int64_t find_vertex(const Graph& graph, const Series& id) {
  const Column found = find_vertices(graph.ids(), {id.astype(graph.ids().at(0).dtype()).column()});
  if (found.num_rows() != 1 || found.values<int64_t>()[0] < 0)
    throw_error<InvalidArgumentError>("find_vertex", "no such vertex",
                                      {{"vertices", graph.num_vertices()}});
  return found.values<int64_t>()[0];
}

int64_t find_vertex(const Graph& graph, int64_t id) {
  return find_vertex(graph, Series(std::vector{id}));
}

Frame vertex_frame(const Graph& graph, const std::vector<std::pair<std::string, Column>>& values) {
  std::vector<std::pair<std::string, Series>> made = ids_of(graph);
  for (const auto& [name, column] : values) {
    if (column.num_rows() != graph.num_vertices())
      throw_error<InvalidArgumentError>(
          "vertex_frame", "expected a value for each vertex",
          {{"name", name}, {"vertices", graph.num_vertices()}, {"values", column.num_rows()}});
    made.emplace_back(name, lazy_value(column, name, graph.domain()));
  }
  return made;
}

Frame vertex_frame(const Graph& graph, const NodePtr& table) {
  std::vector<std::pair<std::string, Series>> made = ids_of(graph);
  const Frame found(table);
  for (const std::string& name : found.columns()) made.emplace_back(name, found[name]);
  return made;
}

}  // namespace hr
