// SPDX-License-Identifier: Apache-2.0
// Kernels of graph for CUDA.
#pragma once
#include "headrace/data/column.h"
#include "headrace/graph/structure/csr.h"

#include <string_view>
#include <vector>

namespace hr {
struct GraphOptions;
}

namespace hr::cuda {

struct BuiltGraph {
  Column ids{};
  Csr out{};
  int64_t num_edges = 0;
  int64_t num_self_loops = 0;
  bool is_deduplicated = false;
  Column edge_rows{};
};

/// Whether vertices can be named by these columns there: one key of integers, times or days.
bool has_numbering(const std::vector<Column>& keys);

/// As hr::find_vertices, of keys that `has_numbering` and are all there.
Column find_vertices(const Column& ids, const Column& asked);

/// As the constructor of Graph. `nodes` may have no rows.
BuiltGraph build_graph(std::string_view op, const Column& source, const Column& target,
                       const Column& nodes, const GraphOptions& options);

}  // namespace hr::cuda
