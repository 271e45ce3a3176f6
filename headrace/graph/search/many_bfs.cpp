// SPDX-License-Identifier: Apache-2.0
// Searches side by side, a bit each.
#include "headrace/graph/search/many_bfs.h"

#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/bfs_lanes.h"
#include "headrace/graph/search/many_bfs_kernels.h"
#include "headrace/graph/structure/vertex_columns.h"

#include <algorithm>

namespace hr {

Buffer many_bfs_levels(const Graph& graph, std::span<const int64_t> sources, int64_t most) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::many_bfs_levels(graph, sources, most);
  constexpr size_t kLanes = BfsLanes::kLanes;
  const int64_t vertices = graph.num_vertices();
  const int64_t rows = vertices * static_cast<int64_t>(sources.size());
  Buffer levels = Buffer::allocate(4 * rows);
  if (rows == 0) return levels;
  auto* out = levels.mutable_as<uint32_t>();
  parallel_morsels(
      rows, [&](Morsel morsel) { std::fill(out + morsel.begin, out + morsel.end, kNoLevel); });
  BfsLanes searches(graph.out(), !graph.is_directed());
  for (size_t first = 0; first < sources.size(); first += kLanes, out += kLanes * vertices) {
    const auto some = sources.subspan(first, std::min(kLanes, sources.size() - first));
    for (size_t lane = 0; lane < some.size(); ++lane)
      out[static_cast<int64_t>(lane) * vertices + some[lane]] = 0;
    searches.run(
        some, most,
        [&](int64_t, int64_t v, uint64_t lanes, uint32_t level) {
          for (; lanes != 0; lanes &= lanes - 1)
            out[std::countr_zero(lanes) * vertices + v] = level;
        },
        [](uint32_t) {});
  }
  return levels;
}

Buffer many_bfs_predecessors(const Graph& graph, const Buffer& levels, int64_t sources) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::many_bfs_predecessors(graph, levels, sources);
  const int64_t vertices = graph.num_vertices();
  Buffer all = Buffer::allocate(8 * vertices * sources);
  for (int64_t lane = 0; lane < sources; ++lane) {
    const int64_t begin = lane * vertices;
    Buffer own = Buffer::allocate(4 * vertices);
    std::copy_n(levels.as<uint32_t>() + begin, vertices, own.mutable_as<uint32_t>());
    const Buffer found = bfs_predecessors(graph, own);
    std::copy_n(found.as<int64_t>(), vertices, all.mutable_as<int64_t>() + begin);
  }
  return all;
}

Tensor row_starts(const Graph& graph, std::span<const int64_t> sources) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::row_starts(graph, sources);
  const int64_t vertices = graph.num_vertices();
  return numbers_of(vertices * static_cast<int64_t>(sources.size()),
                    [&](int64_t i) { return sources[static_cast<size_t>(i / vertices)]; });
}

Tensor row_vertices(const Graph& graph, int64_t sources) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::row_vertices(graph, sources);
  const int64_t vertices = graph.num_vertices();
  return numbers_of(vertices * sources, [&](int64_t i) { return i % vertices; });
}

}  // namespace hr
