// SPDX-License-Identifier: Apache-2.0
// Topological order: generations of vertices that edges lead from one to a later one.
#pragma once
#include "headrace/graph/structure/graph.h"
#include "headrace/memory/adaptors/allocator.h"

namespace hr {

/// How many edges the longest path to each vertex has along `out`; -1 for vertices that a cycle
/// leads to. `in`: the same entries the other way round. Vertices without edges in are taken away,
/// all at once, until there are none (A. Kahn, 1962); 8 bytes a vertex.
HR_API BudgetedVector<int32_t> generations(const Csr& out, const Csr& in);

/// Whether a directed graph has no cycle.
HR_API bool is_acyclic(const Graph& graph);

/// `generation`, int64, of a directed graph, later. Throws InvalidArgumentError for a cycle.
HR_API NodePtr generation_table(const Graph& graph);

}  // namespace hr
