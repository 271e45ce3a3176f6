// SPDX-License-Identifier: Apache-2.0
// Tables and rows of graphs that may be on a device.
#pragma once
#include "headrace/graph/structure/graph.h"

namespace hr {

/// As `graph_table`, of work that has kernels: it runs where the graph is, with its inputs brought
/// there.
HR_API NodePtr placed_table(const Graph& graph, std::string_view op, std::string arguments,
                            const std::vector<VertexColumn>& columns, std::vector<NodePtr> inputs,
                            int64_t rows, VertexWork work);

/// The numbers of the vertices that rows name, int64, -1 where there is none; of columns of the
/// dtypes of the ids. Found on the graph's device if `asked` is there and its keys are numbered
/// there.
HR_API Column find_vertices(const Graph& graph, const std::vector<Column>& asked);

}  // namespace hr
