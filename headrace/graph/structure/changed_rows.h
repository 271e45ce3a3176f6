// SPDX-License-Identifier: Apache-2.0
// Rows of a graph after a few changes: those that nothing changes are copied.
#pragma once
#include "headrace/graph/structure/csr.h"
#include "headrace/memory/adaptors/allocator.h"

#include <cstdint>
#include <vector>

namespace hr {

/// What happens to the vertices of a graph of `before` vertices: they keep their order.
struct VertexChanges {
  int64_t before = 0;
  std::vector<uint32_t> removed{};  ///< ascending
  std::vector<uint32_t> places{};   ///< ascending: before which vertex each further one comes

  int64_t after() const {
    return before - static_cast<int64_t>(removed.size()) + static_cast<int64_t>(places.size());
  }

  bool none() const { return removed.empty() && places.empty(); }

  /// How many of the vertices afterwards come before `vertex` and those that are put before it.
  int64_t first_at(int64_t vertex) const;

  /// The number afterwards of a vertex that stays, and of the i-th further one.
  uint32_t number(uint32_t vertex) const;
  uint32_t number_of_further(size_t i) const;
};

/// An entry by its numbers afterwards, and the row of its edge.
struct ChangedEntry {
  uint32_t row;
  uint32_t target;
  uint32_t edge;
};

/// Which of several entries between two vertices stay.
enum class Repeated { kAll, kFirst, kLast };

struct ChangedRows {
  Csr csr{};  ///< `edges` are rows of edges, where they are kept
  int64_t self_loops = 0;
};

/// The rows after `removed` entries left (all between their vertices) and `added` ones came behind
/// those that are there; both by row and target, in the order of edges. `edge_rows`: of the edges
/// that `csr` counts, or null: their numbers are the rows. 4 ns an entry on one core where vertices
/// stay, twice that where they change.
ChangedRows changed_rows(const Csr& csr, int64_t self_loops, const int64_t* edge_rows,
                         const VertexChanges& vertices, const std::vector<ChangedEntry>& removed,
                         const std::vector<ChangedEntry>& added, Repeated repeated);

}  // namespace hr
