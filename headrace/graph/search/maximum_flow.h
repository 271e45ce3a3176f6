// SPDX-License-Identifier: Apache-2.0
// Maximum flow and minimum cut.
#pragma once
#include "headrace/data/column.h"

#include <cstdint>

namespace hr {

/// Edges, each with the numbers of its ends, int64, and what it can carry, float64.
struct FlowNetwork {
  int64_t vertices = 0;
  bool directed = false;  ///< else an edge carries as much either way, in sum
  Column source;
  Column target;
  Column capacity;  ///< not negative; infinity: without a limit
};

struct Flow {
  double value = 0;
  Column along;   ///< float64 of each edge; of undirected ones negative from target to source
  Column behind;  ///< bool of each vertex: the side of the sink, as small as can be
};

/// The most that goes from one vertex to another, and a minimum cut between them: level graphs and
/// blocking flows (E. Dinic, 1970) on one thread, 24 bytes a vertex and 32 an edge. Throws
/// InvalidArgumentError for a capacity that is negative or NaN, and where nothing limits the flow.
HR_API Flow maximum_flow(const FlowNetwork& network, int64_t source, int64_t sink);

}  // namespace hr
