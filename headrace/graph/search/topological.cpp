// SPDX-License-Identifier: Apache-2.0
// Topological order by generations.
#include "headrace/graph/search/topological.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"

#include <algorithm>
#include <atomic>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 10;  // vertices of a generation that one task takes away

using Vertices = BudgetedVector<uint32_t>;

Vertices joined(const std::vector<Vertices>& parts) {
  Vertices made;
  for (const Vertices& each : parts) made.insert(made.end(), each.begin(), each.end());
  return made;
}

}  // namespace

BudgetedVector<int32_t> generations(const Csr& out, const Csr& in) {
  const int64_t vertices = out.vertices;
  const CsrRows rows_out(out), rows_in(in);
  BudgetedVector<int32_t> made(static_cast<size_t>(vertices), -1);
  if (vertices == 0) return made;
  BudgetedVector<int32_t> left(made.size());
  std::vector<Vertices> found(static_cast<size_t>(num_morsels(vertices)));
  parallel_morsels(vertices, [&](Morsel morsel) {
    for (int64_t v = morsel.begin; v < morsel.end; ++v) {
      left[static_cast<size_t>(v)] = static_cast<int32_t>(rows_in.degree(v));
      if (rows_in.degree(v) == 0)
        found[static_cast<size_t>(morsel.index)].push_back(static_cast<uint32_t>(v));
    }
  });
  Vertices taken = joined(found);
  for (int32_t generation = 0; !taken.empty(); ++generation) {
    look_for_interrupt();
    const auto rows = static_cast<int64_t>(taken.size());
    found.assign(static_cast<size_t>((rows + kStep - 1) / kStep), {});
    parallel_for(static_cast<int64_t>(found.size()), [&](int64_t task) {
      const Morsel morsel = morsel_at(task, rows, kStep);
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const uint32_t v = taken[static_cast<size_t>(i)];
        made[v] = generation;
        for (const uint32_t w : rows_out[v])
          if (std::atomic_ref(left[w]).fetch_sub(1, std::memory_order_relaxed) == 1)
            found[static_cast<size_t>(task)].push_back(w);
      }
    });
    taken = joined(found);
  }
  return made;
}

bool is_acyclic(const Graph& graph) {
  const BudgetedVector<int32_t> found = generations(graph.out(), graph.in());
  return std::ranges::find(found, -1) == found.end();
}

NodePtr generation_table(const Graph& graph) {
  const auto run = [graph](const std::vector<bool>&, std::span<const Value>) {
    const BudgetedVector<int32_t> found = generations(graph.out(), graph.in());
    const auto behind = std::ranges::count(found, -1);
    if (behind > 0)
      throw_error<InvalidArgumentError>("topological_generations", "the graph has a cycle",
                                        {{"vertices_behind", static_cast<int64_t>(behind)}},
                                        "its strongly_connected_components show where");
    Buffer made = Buffer::allocate(8 * graph.num_vertices());
    std::copy(found.begin(), found.end(), made.mutable_as<int64_t>());
    return std::vector{Column(TypeId::kInt64, graph.num_vertices(), std::move(made))};
  };
  return vertex_table(graph, "topological_generations", {}, {{"generation", TypeId::kInt64}}, {},
                      run);
}

}  // namespace hr
