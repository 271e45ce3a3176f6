// SPDX-License-Identifier: Apache-2.0
// Entries back to edges.
#include "headrace/graph/structure/edge_ends.h"

#include "headrace/algo/select/compact_offsets.h"
#include "headrace/base/error.h"

namespace hr {

EdgeEnds edge_ends(std::string_view op, const Graph& graph) {
  const Csr& csr = graph.out();
  EdgeEnds made(static_cast<size_t>(graph.num_edges()));
  if (made.empty()) return made;
  if (!csr.edges) throw_error<InternalError>(op, "the graph keeps no edges");
  const auto* const edges = csr.edges.as<uint32_t>();
  const auto* const targets = csr.targets.as<uint32_t>();
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v)
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
        if (graph.is_directed() || targets[i] >= static_cast<uint32_t>(v))
          made[edges[i]] = {static_cast<uint32_t>(v), targets[i]};
  });
  return made;
}

Column wanted_edges(std::span<const uint8_t> is_wanted) {
  const auto edges = static_cast<int64_t>(is_wanted.size());
  const std::vector<int64_t> places = compact_offsets(edges, {}, [&](Morsel morsel) {
    int64_t count = 0;
    for (int64_t i = morsel.begin; i < morsel.end; ++i) count += is_wanted[static_cast<size_t>(i)];
    return count;
  });
  Buffer made = Buffer::allocate(8 * places.back());
  auto* const out = made.mutable_as<int64_t>();
  parallel_morsels(edges, [&](Morsel morsel) {
    int64_t at = places[static_cast<size_t>(morsel.index)];
    const int64_t end = places[static_cast<size_t>(morsel.index) + 1];
    for (int64_t i = morsel.begin; i < morsel.end && at < end; ++i) {
      out[at] = i;  // without a branch: the next one takes its place
      at += is_wanted[static_cast<size_t>(i)];
    }
  });
  made.seal();
  return Column(TypeId::kInt64, places.back(), std::move(made));
}

}  // namespace hr
