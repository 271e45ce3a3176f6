// SPDX-License-Identifier: Apache-2.0
// Searches side by side, a bit each.
#include "headrace/graph/search/many_bfs.h"

#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/bfs_lanes.h"

namespace hr {

Buffer many_bfs_levels(const Graph& graph, std::span<const int64_t> sources, int64_t most) {
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

}  // namespace hr
