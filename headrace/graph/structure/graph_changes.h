// SPDX-License-Identifier: Apache-2.0
// Changes of a graph by ids, told as changes of its rows.
#pragma once
#include "headrace/data/column.h"
#include "headrace/graph/structure/changed_rows.h"

#include <string_view>
#include <vector>

namespace hr {

struct GraphChanges {
  VertexChanges vertices{};
  std::vector<Column> ids{};  ///< of the vertices afterwards
  std::vector<ChangedEntry> removed{};
  std::vector<ChangedEntry> added{};
  int64_t further_edges = 0;  ///< added, whether they stay or not
};

/// What `Graph::changed` asks of a graph with these `ids` that was made of `edges` edges.
GraphChanges graph_changes(std::string_view op, const std::vector<Column>& ids, bool directed,
                           int64_t edges, const Column& kinds, const std::vector<Column>& first,
                           const std::vector<Column>& second);

}  // namespace hr
