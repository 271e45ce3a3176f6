// SPDX-License-Identifier: Apache-2.0
// Components by joining sets of vertices.
#include "headrace/graph/search/components.h"

#include "headrace/algo/random/philox.h"
#include "headrace/algo/select/compact_offsets.h"
#include "headrace/algo/sparse/disjoint_sets.h"
#include "headrace/graph/search/components_kernels.h"

#include <algorithm>
#include <unordered_map>

namespace hr {

namespace {

constexpr int64_t kFirst = 2;      // neighbours of each vertex that are joined first
constexpr int64_t kSample = 1024;  // vertices that tell which component is the largest

using Sets = DisjointSets<uint32_t>;

// The root that is most often met: which one changes how fast it goes, and nothing else.
uint32_t most_frequent_root(Sets& sets, int64_t vertices) {
  std::unordered_map<uint32_t, int64_t> counts;
  for (int64_t i = 0; i < kSample; ++i) {
    const uint64_t word = philox_word(philox_block({0, 0}, static_cast<uint64_t>(i)), 0);
    ++counts[sets.root(static_cast<uint32_t>(word % static_cast<uint64_t>(vertices)))];
  }
  return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
}

}  // namespace

Column connected_components(const Graph& graph) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::connected_components(graph);
  const Csr& csr = graph.out();
  const int64_t vertices = csr.vertices;
  Buffer made = Buffer::allocate(8 * vertices);
  if (vertices == 0) return Column(TypeId::kInt64, 0, std::move(made));
  Sets sets(vertices);
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = csr.row(v);
      for (size_t i = 0; i < std::min<size_t>(kFirst, row.size()); ++i)
        sets.join(static_cast<uint32_t>(v), row[i]);
    }
  });
  // Entries of the largest component may be left out where the other end has them too.
  const bool skips = !graph.is_directed();
  const uint32_t largest = skips ? most_frequent_root(sets, vertices) : 0;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = csr.row(v);
      if (row.size() <= kFirst) continue;
      if (skips && sets.root(static_cast<uint32_t>(v)) == largest) continue;
      for (const uint32_t target : row.subspan(kFirst)) sets.join(static_cast<uint32_t>(v), target);
    }
  });
  // A root is the first vertex of its component: number these in order.
  auto* const out = made.mutable_as<int64_t>();
  const auto is_root = [&](int64_t v) {
    return sets.root(static_cast<uint32_t>(v)) == static_cast<uint32_t>(v);
  };
  const std::vector<int64_t> firsts = compact_offsets(vertices, {}, [&](Morsel morsel) {
    int64_t count = 0;
    for (int64_t v = morsel.begin; v < morsel.end; ++v) count += is_root(v);
    return count;
  });
  parallel_morsels(vertices, [&](Morsel morsel) {
    int64_t number = firsts[static_cast<size_t>(morsel.index)];
    for (int64_t v = morsel.begin; v < morsel.end; ++v)
      if (is_root(v)) out[v] = number++;
  });
  parallel_morsels(vertices, [&](Morsel morsel) {
    for (int64_t v = morsel.begin; v < morsel.end; ++v)
      if (!is_root(v)) out[v] = out[sets.root(static_cast<uint32_t>(v))];
  });
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr component_table(const Graph& graph) {
  return vertex_table(
      graph, "connected_components", {}, {{"component", TypeId::kInt64}}, {},
      [graph](const std::vector<bool>&, std::span<const Value>) {
        return std::vector{connected_components(graph)};
      },
      Kernels::kHostAndCuda);
}

}  // namespace hr
