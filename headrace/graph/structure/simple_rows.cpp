// SPDX-License-Identifier: Apache-2.0
// Entries without repeats.
#include "headrace/graph/structure/simple_rows.h"

#include <algorithm>
#include <limits>

namespace hr {

SimpleRows simple_rows(std::string_view op, const Graph& graph,
                       const std::optional<Column>& weights, WeightRule rule) {
  const Csr& csr = graph.out();
  Buffer of_entries;
  if (weights) of_entries = entry_weights(op, csr, *weights, rule);
  if (!graph.is_multigraph()) return {csr, std::move(of_entries)};
  SimpleRows made;
  made.csr.vertices = csr.vertices;
  made.csr.offsets = Buffer::allocate(8 * (csr.vertices + 1));
  auto* const offsets = made.csr.offsets.mutable_as<int64_t>();
  offsets[0] = 0;
  const auto is_first = [](std::span<const uint32_t> row, size_t i) {
    return i == 0 || row[i] != row[i - 1];
  };
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = csr.row(v);
      int64_t count = 0;
      for (size_t i = 0; i < row.size(); ++i) count += is_first(row, i);
      offsets[v + 1] = count;
    }
  });
  for (int64_t v = 0; v < csr.vertices; ++v) offsets[v + 1] += offsets[v];
  made.csr.targets = Buffer::allocate(4 * offsets[csr.vertices]);
  if (weights) made.weights = Buffer::allocate(8 * offsets[csr.vertices]);
  if (csr.entries() == 0) return made;
  auto* const targets = made.csr.targets.mutable_as<uint32_t>();
  auto* const least = weights ? made.weights.mutable_as<double>() : nullptr;
  const double* const given = weights ? of_entries.as<double>() : nullptr;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = csr.row(v);
      int64_t at = offsets[v] - 1;
      for (size_t i = 0; i < row.size(); ++i) {
        if (is_first(row, i)) {
          targets[++at] = row[i];
          if (least) least[at] = std::numeric_limits<double>::infinity();
        }
        if (least) least[at] = std::min(least[at], given[csr.begin(v) + static_cast<int64_t>(i)]);
      }
    }
  });
  return made;
}

}  // namespace hr
