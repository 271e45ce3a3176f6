// SPDX-License-Identifier: Apache-2.0
// Csr: the entries of a graph in compressed rows, one row a vertex.
#pragma once
#include "headrace/exec/workers.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <span>

namespace hr {

/// Entries offsets[v] to offsets[v + 1] of `targets` are the neighbours of vertex v, ascending;
/// several of one vertex are in the order of their edges. Immutable; copying it shares the buffers.
struct Csr {
  int64_t vertices = 0;
  Buffer offsets{};  ///< int64 [vertices + 1]
  Buffer targets{};  ///< uint32 [entries]
  Buffer edges{};    ///< uint32 [entries]: the row of each entry's edge; empty: not kept

  int64_t begin(int64_t vertex) const { return offsets.as<int64_t>()[vertex]; }

  int64_t entries() const { return begin(vertices); }

  int64_t degree(int64_t vertex) const { return begin(vertex + 1) - begin(vertex); }

  std::span<const uint32_t> row(int64_t vertex) const {
    return {targets.as<uint32_t>() + begin(vertex), static_cast<size_t>(degree(vertex))};
  }
};

/// The rows of a Csr by plain pointers, for loops over many; the Csr must stay.
struct CsrRows {
  const int64_t* offsets;
  const uint32_t* targets;

  explicit CsrRows(const Csr& csr)
      : offsets(csr.offsets.as<int64_t>()),
        targets(csr.targets ? csr.targets.as<uint32_t>() : nullptr) {}

  int64_t degree(int64_t vertex) const { return offsets[vertex + 1] - offsets[vertex]; }

  std::span<const uint32_t> operator[](int64_t vertex) const {
    return {targets + offsets[vertex], static_cast<size_t>(degree(vertex))};
  }
};

/// The entries the other way round: row v has the vertices whose rows have v. About 9 ns an entry
/// and core, 12 bytes of temporary memory an entry (20 where edges are kept). `csr`, unless it is
/// shared, is freed before the result takes room.
HR_API Csr transposed(Csr csr);

/// The vertex of each entry's row, uint32 [entries]; sealed.
HR_API Buffer sources_of(const Csr& csr);

/// The first of the vertices of piece `piece` of `pieces`: each has about as many entries and
/// vertices together, whatever their number of threads.
HR_API int64_t first_vertex(const Csr& csr, int64_t piece, int64_t pieces);

/// How many pieces `parallel_rows` makes.
inline int64_t num_pieces(const Csr& csr) {
  return num_morsels(csr.vertices + csr.entries());
}

/// Runs `body(Morsel)` over all vertices, cut where `first_vertex` says, with offsets and `values`
/// of the piece's entries (4 bytes each) in memory. A vertex is in one piece however many entries
/// it has.
template <class F>
void parallel_pieces(const Csr& csr, const Buffer& values, F&& body) {
  const int64_t pieces = num_pieces(csr);
  parallel_for(pieces, [&](int64_t piece) {
    const int64_t first = first_vertex(csr, piece, pieces);
    const int64_t last = first_vertex(csr, piece + 1, pieces);
    if (first == last) return;
    const Pin pin({{&csr.offsets, 8 * first, 8 * last + 8},
                   {&values, 4 * csr.begin(first), 4 * csr.begin(last)}});
    body(Morsel{piece, first, last});
  });
}

/// The same with the targets.
template <class F>
void parallel_rows(const Csr& csr, F&& body) {
  parallel_pieces(csr, csr.targets, body);
}

}  // namespace hr
