// SPDX-License-Identifier: Apache-2.0
// Shortest paths of any weights, round by round.
#include "headrace/graph/search/bellman_ford.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <limits>

namespace hr {

namespace {

constexpr std::string_view kOp = "bellman_ford";
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

using Vertices = BudgetedVector<uint32_t>;

[[noreturn]] void throw_cycle(uint32_t v) {
  throw_error<InvalidArgumentError>(kOp, "a cycle has negative length",
                                    {{"row_of_vertex", static_cast<int64_t>(v)}},
                                    "no path to what it leads to is the shortest");
}

// Throws if following predecessors from some vertex comes back to it.
void refuse_cycle(const Vertices& before) {
  Vertices seen(before.size(), kNone);  // the vertex that the walk began at
  for (uint32_t first = 0; first < before.size(); ++first) {
    uint32_t v = first;
    while (v != kNone && seen[v] == kNone) {
      seen[v] = first;
      v = before[v];
    }
    if (v != kNone && seen[v] == first) throw_cycle(v);
  }
}

void find_distances(const Csr& csr, const double* weights, uint32_t source, double* distances) {
  const CsrRows rows(csr);
  Vertices before(static_cast<size_t>(csr.vertices), kNone);
  Vertices changed{source}, next;
  BudgetedVector<uint8_t> waits(before.size());
  distances[source] = 0;
  for (int64_t round = 1; !changed.empty(); ++round) {
    look_for_interrupt();
    for (const uint32_t v : changed) {
      waits[v] = 0;
      for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
        const uint32_t w = rows.targets[i];
        const double length = distances[v] + weights[i];
        if (length >= distances[w]) continue;
        distances[w] = length;
        before[w] = v;
        if (waits[w]) continue;
        waits[w] = 1;
        next.push_back(w);
      }
    }
    std::swap(changed, next);
    next.clear();
    if ((round & (round - 1)) == 0) refuse_cycle(before);
    if (round >= csr.vertices && !changed.empty()) throw_cycle(changed[0]);
  }
}

// Of each vertex the first that leads to it on a shortest path of the fewest edges; -1: none.
Buffer find_predecessors(const Csr& csr, const double* weights, uint32_t source,
                         const double* distances) {
  const CsrRows rows(csr);
  Buffer made = Buffer::allocate(8 * csr.vertices);
  auto* const out = made.mutable_as<int64_t>();
  std::fill(out, out + csr.vertices, int64_t{-1});
  BudgetedVector<uint32_t> rounds(static_cast<size_t>(csr.vertices), kNone);
  Vertices frontier{source}, next;
  rounds[source] = 0;
  for (uint32_t round = 1; !frontier.empty(); ++round) {
    look_for_interrupt();
    for (const uint32_t v : frontier)
      for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
        const uint32_t w = rows.targets[i];
        if (distances[v] + weights[i] != distances[w] || rounds[w] < round) continue;
        if (rounds[w] == kNone) {
          rounds[w] = round;
          out[w] = v;
          next.push_back(w);
        } else {
          out[w] = std::min<int64_t>(out[w], v);
        }
      }
    std::swap(frontier, next);
    next.clear();
  }
  return made;
}

}  // namespace

NodePtr bellman_ford_table(const Graph& graph, const NodePtr& weights, int64_t source) {
  std::vector<VertexColumn> columns{{"distance", TypeId::kFloat64}};
  add_keys(graph, "predecessor", columns);
  const auto run = [graph, start = static_cast<uint32_t>(source)](const std::vector<bool>& wanted,
                                                                  std::span<const Value> values) {
    const Csr& csr = graph.out();
    const int64_t vertices = csr.vertices;
    const Buffer of_entries = graph.out_weights(kOp, std::get<Column>(values[0]), WeightRule::kAny);
    const double* const lengths = csr.entries() > 0 ? of_entries.as<double>() : nullptr;
    Buffer found = Buffer::allocate(8 * vertices);
    auto* const distances = found.mutable_as<double>();
    std::fill(distances, distances + vertices, kInfinity);
    find_distances(csr, lengths, start, distances);
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    out.column([&] {
      Buffer valid = bits_of(vertices, {}, [&](int64_t v) { return distances[v] != kInfinity; });
      return Column(TypeId::kFloat64, vertices, found, std::move(valid), -1);
    });
    out.ids(graph, [&] {
      return Tensor(TypeId::kInt64, {vertices}, find_predecessors(csr, lengths, start, distances));
    });
    return made;
  };
  return vertex_table(graph, kOp, {}, columns, {weights}, run);
}

}  // namespace hr
