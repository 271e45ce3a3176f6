// SPDX-License-Identifier: Apache-2.0
// Degrees from offsets.
#include "headrace/graph/structure/degrees.h"

namespace hr {

namespace {

// Adds the lengths of rows.
void add_lengths(const Csr& csr, int64_t* out) {
  parallel_morsels(csr.vertices, {{&csr.offsets, 0, 64, 64, csr.vertices + 1, 0, 1}},
                   [&](Morsel morsel) {
                     for (int64_t v = morsel.begin; v < morsel.end; ++v) out[v] += csr.degree(v);
                   });
}

// Adds 1 where a vertex is its own neighbour: several where edges are several.
void add_loops(const Csr& csr, int64_t* out) {
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v)
      for (const uint32_t target : csr.row(v)) out[v] += target == static_cast<uint32_t>(v);
  });
}

}  // namespace

Column degrees(const Graph& graph, DegreeKind kind) {
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate_zeroed(8 * vertices);
  if (vertices > 0) {
    auto* const out = made.mutable_as<int64_t>();
    if (!graph.is_directed()) {
      add_lengths(graph.out(), out);
      if (graph.num_self_loops() > 0) add_loops(graph.out(), out);
    } else {
      if (kind != DegreeKind::kIn) add_lengths(graph.out(), out);
      if (kind != DegreeKind::kOut) add_lengths(graph.in(), out);
    }
  }
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr degree_table(const Graph& graph, DegreeKind kind) {
  constexpr std::string_view kWords[] = {"degree", "in_degree", "out_degree"};
  const std::string_view word = kWords[static_cast<size_t>(kind)];
  return vertex_table(graph, word, {}, {{std::string(word), TypeId::kInt64}}, {},
                      [graph, kind](const std::vector<bool>&, std::span<const Value>) {
                        return std::vector{degrees(graph, kind)};
                      });
}

}  // namespace hr
