// SPDX-License-Identifier: Apache-2.0
// Graphs of frames, and frames of what algorithms find on them.
#pragma once
#include "headrace/frame/frame.h"
#include "headrace/graph/graph.h"

#include <string>
#include <utility>
#include <vector>

namespace hr {

/// The graph of the edges that are rows of a frame; runs its plan. Of several edges between two
/// vertices the last one stays, or as `options` say. Throws as `Graph` does.
HR_API Graph graph_from_edges(const Frame& edges, std::string_view source = "source",
                              std::string_view target = "target", GraphOptions options = {});

/// Numbers of the edges' rows as the weights that algorithms take, float64: those of the edges that
/// are in the graph. It must keep edges (GraphOptions).
HR_API Column edge_weights(const Graph& graph, const Series& weights);

/// The number of the vertex with this id, a series of one value, of a graph with one key. Throws
/// InvalidArgumentError where there is none.
HR_API int64_t find_vertex(const Graph& graph, const Series& id);
HR_API int64_t find_vertex(const Graph& graph, int64_t id);

/// A row a vertex: its id as `vertex` (of several keys `vertex_0`, ...) and these values, one for
/// each vertex, as algorithms give them: all such frames of a graph have one row set.
HR_API Frame vertex_frame(const Graph& graph,
                          const std::vector<std::pair<std::string, Column>>& values = {});

/// The same of the columns of a table of an algorithm, such as `bfs_table`; nothing runs yet.
HR_API Frame vertex_frame(const Graph& graph, const NodePtr& table);

}  // namespace hr
