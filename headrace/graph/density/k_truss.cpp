// SPDX-License-Identifier: Apache-2.0
// Triangles of edges, and peeling.
#include "headrace/graph/density/k_truss.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/density/intersect_rows.h"
#include "headrace/graph/structure/edge_ends.h"

#include <atomic>
#include <limits>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 8;  // edges that one task takes away
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

using Counts = BudgetedVector<int64_t>;

void check(std::string_view op, const Graph& graph) {
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
  if (graph.is_multigraph())
    throw_error<InvalidArgumentError>(op, "the graph is a multigraph", {},
                                      "make one of its edges() that has one for several");
  if (graph.num_edges() > 0 && !graph.out().edges)
    throw_error<InternalError>(op, "the graph keeps no edges");
}

// Whether edges between these go from v to target: to the larger degree, then the larger number.
bool goes_up(const Csr& csr, int64_t v, uint32_t target) {
  const int64_t own = csr.degree(v), other = csr.degree(target);
  return own != other ? own < other : v < static_cast<int64_t>(target);
}

// Entries that go up, in the order of rows; `edges` their numbers.
Csr upward(const Csr& csr) {
  Csr made{csr.vertices, Buffer::allocate(8 * (csr.vertices + 1)), {}, {}};
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  offsets[0] = 0;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      int64_t count = 0;
      for (const uint32_t target : csr.row(v)) count += goes_up(csr, v, target);
      offsets[v + 1] = count;
    }
  });
  for (int64_t v = 0; v < csr.vertices; ++v) offsets[v + 1] += offsets[v];
  made.targets = Buffer::allocate(4 * offsets[csr.vertices]);
  made.edges = Buffer::allocate(4 * offsets[csr.vertices]);
  auto* const targets = made.targets.mutable_as<uint32_t>();
  auto* const edges = made.edges.mutable_as<uint32_t>();
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      int64_t at = offsets[v];
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i) {
        const uint32_t target = csr.targets.as<uint32_t>()[i];
        if (!goes_up(csr, v, target)) continue;
        targets[at] = target;
        edges[at++] = csr.edges.as<uint32_t>()[i];
      }
    }
  });
  return made;
}

void add(int64_t& to, int64_t count) {
  std::atomic_ref(to).fetch_add(count, std::memory_order_relaxed);
}

Counts supports(const Graph& graph) {
  Counts made(static_cast<size_t>(graph.num_edges()));
  if (made.empty()) return made;
  const Csr rows = upward(graph.out());
  const auto* const targets = rows.targets.as<uint32_t>();
  const auto* const edges = rows.edges.as<uint32_t>();
  // The edges of a row by their targets.
  ScratchPool<BudgetedVector<uint32_t>> pool(
      [&] { return BudgetedVector<uint32_t>(static_cast<size_t>(rows.vertices), kNone); });
  parallel_rows(rows, [&](Morsel piece) {
    pool.lend([&](BudgetedVector<uint32_t>& edge_to) {
      for (int64_t u = piece.begin; u < piece.end; ++u) {
        if (rows.degree(u) < 2) continue;
        const int64_t begin = rows.begin(u), end = rows.begin(u + 1);
        for (int64_t i = begin; i < end; ++i) edge_to[targets[i]] = edges[i];
        for (int64_t i = begin; i < end; ++i) {
          int64_t found = 0;
          for (int64_t j = rows.begin(targets[i]); j < rows.begin(targets[i] + 1); ++j) {
            const uint32_t third = edge_to[targets[j]];
            if (third == kNone) continue;
            ++found;
            add(made[third], 1);
            add(made[edges[j]], 1);
          }
          if (found > 0) add(made[edges[i]], found);
        }
        for (int64_t i = begin; i < end; ++i) edge_to[targets[i]] = kNone;
      }
    });
  });
  return made;
}

class Peeling {
 public:
  Peeling(const Graph& graph, int64_t least)
      : csr_(graph.out()),
        least_(least),
        ends_(edge_ends("k_truss", graph)),
        supports_(supports(graph)),
        rounds_(ends_.size(), kNone) {}

  Column run() {
    BudgetedVector<uint32_t> taken;
    for (size_t edge = 0; edge < ends_.size(); ++edge)
      if (supports_[edge] < least_) taken.push_back(static_cast<uint32_t>(edge));
    for (uint32_t round = 0; !taken.empty(); ++round) {
      look_for_interrupt();
      for (const uint32_t edge : taken) rounds_[edge] = round;
      taken = take_away(taken, round);
    }
    BudgetedVector<uint8_t> is_left(ends_.size());
    for (size_t edge = 0; edge < ends_.size(); ++edge) is_left[edge] = rounds_[edge] == kNone;
    return wanted_edges(is_left);
  }

 private:
  // Those that have too few triangles when `taken` are gone.
  BudgetedVector<uint32_t> take_away(const BudgetedVector<uint32_t>& taken, uint32_t round) {
    const auto count = static_cast<int64_t>(taken.size());
    std::vector<BudgetedVector<uint32_t>> parts(static_cast<size_t>((count + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(parts.size()), [&](int64_t task) {
      auto& next = parts[static_cast<size_t>(task)];
      const Morsel morsel = morsel_at(task, count, kStep);
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const uint32_t edge = taken[static_cast<size_t>(i)];
        const auto [u, v] = ends_[edge];
        const auto* const edges = csr_.edges.as<uint32_t>();
        each_common(csr_.row(u), csr_.row(v), [&](size_t a, size_t b) {
          const uint32_t one = edges[csr_.begin(u) + static_cast<int64_t>(a)];
          const uint32_t other = edges[csr_.begin(v) + static_cast<int64_t>(b)];
          // A triangle goes once: with the first of its edges that go, the least of these.
          if (goes_before(one, edge, round) || goes_before(other, edge, round)) return;
          for (const uint32_t left : {one, other})
            if (rounds_[left] == kNone && drop(left)) next.push_back(left);
        });
      }
    });
    BudgetedVector<uint32_t> made;
    for (const auto& part : parts) made.insert(made.end(), part.begin(), part.end());
    return made;
  }

  bool goes_before(uint32_t other, uint32_t edge, uint32_t round) const {
    return rounds_[other] < round || (rounds_[other] == round && other < edge);
  }

  // Takes a triangle off; whether there are too few for the first time.
  bool drop(uint32_t edge) {
    return std::atomic_ref(supports_[edge]).fetch_sub(1, std::memory_order_relaxed) == least_;
  }

  const Csr& csr_;
  int64_t least_;
  EdgeEnds ends_;
  Counts supports_;
  BudgetedVector<uint32_t> rounds_;  // in which edges go
};

}  // namespace

Column edge_support(const Graph& graph) {
  check("edge_support", graph);
  const Counts counts = supports(graph);
  Buffer made = Buffer::allocate(8 * static_cast<int64_t>(counts.size()));
  std::copy(counts.begin(), counts.end(), made.mutable_as<int64_t>());
  made.seal();
  return Column(TypeId::kInt64, static_cast<int64_t>(counts.size()), std::move(made));
}

Column k_truss(const Graph& graph, int64_t k) {
  check("k_truss", graph);
  if (graph.num_self_loops() > 0)
    throw_error<InvalidArgumentError>("k_truss", "the graph has self loops",
                                      {{"self_loops", graph.num_self_loops()}},
                                      "leave these edges out");
  return Peeling(graph, k - 2).run();
}

}  // namespace hr
