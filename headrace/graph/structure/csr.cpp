// SPDX-License-Identifier: Apache-2.0
// Compressed rows the other way round.
#include "headrace/graph/structure/csr.h"

#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/algo/sort/rows_by_key.h"

#include <algorithm>
#include <vector>

namespace hr {

int64_t first_vertex(const Csr& csr, int64_t piece, int64_t pieces) {
  if (piece >= pieces) return csr.vertices;
  // Vertex v and its entries are numbers begin(v) + v to begin(v + 1) + v of all.
  const int64_t wanted = piece * morsel_rows(csr.vertices + csr.entries());
  const auto* const offsets = csr.offsets.as<int64_t>();
  return partition_point(int64_t{0}, csr.vertices,
                         [&](int64_t vertex) { return offsets[vertex] + vertex < wanted; });
}

Buffer sources_of(const Csr& csr) {
  Buffer made = Buffer::allocate_temporary(4 * csr.entries());
  if (csr.entries() == 0) return made;
  auto* const out = made.mutable_as<uint32_t>();
  const auto* const offsets = csr.offsets.as<int64_t>();
  parallel_rows(csr, [&](Morsel piece) {
    const Pin pin({{&made, 4 * csr.begin(piece.begin), 4 * csr.begin(piece.end), true}});
    for (int64_t v = piece.begin; v < piece.end; ++v)
      std::fill(out + offsets[v], out + offsets[v + 1], static_cast<uint32_t>(v));
  });
  made.seal();
  return made;
}

Csr transposed(Csr csr) {
  Buffer sources = sources_of(csr);
  std::vector<KeyedColumn> columns{{&sources, 4, 0, csr.vertices}};
  if (csr.edges) columns.push_back({&csr.edges, 4, 0, int64_t{1} << 32});
  const bool has_edges = static_cast<bool>(csr.edges);
  const int64_t vertices = csr.vertices;
  RowsByKey made = rows_by_key({&csr.targets}, csr.entries(), vertices, columns, [&] {
    csr = {};
    sources = {};
  });
  return {vertices, std::move(made.offsets), std::move(made.columns[0]),
          has_edges ? std::move(made.columns[1]) : Buffer()};
}

}  // namespace hr
