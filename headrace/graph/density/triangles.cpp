// SPDX-License-Identifier: Apache-2.0
// Triangles by edges from vertices of small degree to those of large degree.
#include "headrace/graph/density/triangles.h"

#include "headrace/algo/sort/rows_by_key.h"
#include "headrace/base/error.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/density/triangles_kernels.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace hr {

namespace {

// Kernels for CUDA do not skip repeated neighbours.
bool has_kernels(const Graph& graph) {
  return graph.place().is_gpu() && !graph.is_multigraph();
}

constexpr int64_t kHubs = 1 << 15;  // their counts are kept by each task: they are hit most

// Distinct neighbours other than the vertex itself. Rows are sorted.
template <class F>
void each_neighbor(const Csr& csr, int64_t v, F&& f) {
  const std::span<const uint32_t> row = csr.row(v);
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i] != static_cast<uint32_t>(v) && (i == 0 || row[i] != row[i - 1])) f(row[i]);
}

// Vertices by falling degree, and their edges to vertices before them.
struct Oriented {
  Buffer ranks{};  // uint32 [vertices]
  Csr rows{};
};

Buffer falling_degrees(const Csr& csr, int64_t& most) {
  std::vector<int64_t> largest(static_cast<size_t>(num_morsels(csr.vertices)));
  parallel_morsels(csr.vertices, [&](Morsel morsel) {
    int64_t own = 0;
    for (int64_t v = morsel.begin; v < morsel.end; ++v) own = std::max(own, csr.degree(v));
    largest[static_cast<size_t>(morsel.index)] = own;
  });
  most = *std::ranges::max_element(largest);
  Buffer keys = Buffer::allocate(4 * csr.vertices);
  auto* const out = keys.mutable_as<uint32_t>();
  parallel_morsels(csr.vertices, [&](Morsel morsel) {
    for (int64_t v = morsel.begin; v < morsel.end; ++v)
      out[v] = static_cast<uint32_t>(most - csr.degree(v));
  });
  return keys;
}

Oriented oriented(const Csr& csr) {
  const int64_t vertices = csr.vertices;
  int64_t most = 0;
  const Buffer keys = falling_degrees(csr, most);
  const KeyedColumn numbers;
  const RowsByKey sorted = rows_by_key({&keys}, vertices, most + 1, {&numbers, 1});
  const auto* const order = sorted.columns[0].as<uint32_t>();
  Oriented made;
  made.ranks = Buffer::allocate(4 * vertices);
  auto* const ranks = made.ranks.mutable_as<uint32_t>();
  parallel_morsels(vertices, [&](Morsel morsel) {
    for (int64_t r = morsel.begin; r < morsel.end; ++r) ranks[order[r]] = static_cast<uint32_t>(r);
  });
  Csr& rows = made.rows;
  rows.vertices = vertices;
  rows.offsets = Buffer::allocate(8 * (vertices + 1));
  auto* const offsets = rows.offsets.mutable_as<int64_t>();
  offsets[0] = 0;
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      int64_t count = 0;
      each_neighbor(csr, v, [&](uint32_t target) { count += ranks[target] < ranks[v]; });
      offsets[ranks[v] + 1] = count;
    }
  });
  for (int64_t r = 0; r < vertices; ++r) offsets[r + 1] += offsets[r];
  rows.targets = Buffer::allocate(4 * offsets[vertices]);
  if (offsets[vertices] == 0) return made;
  auto* const targets = rows.targets.mutable_as<uint32_t>();
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      uint32_t* const first = targets + offsets[ranks[v]];
      uint32_t* next = first;
      each_neighbor(csr, v, [&](uint32_t target) {
        if (ranks[target] < ranks[v]) *next++ = ranks[target];
      });
      std::sort(first, next);
    }
  });
  return made;
}

void add(int64_t& to, int64_t count) {
  std::atomic_ref(to).fetch_add(count, std::memory_order_relaxed);
}

// What a task needs, used again by the next one.
struct Scratch {
  BudgetedVector<uint64_t> bits{};     // the row's neighbours
  BudgetedVector<uint32_t> of_hubs{};  // their triangles: at most one an edge
};

class Counting {
 public:
  Counting(const Csr& rows, int64_t* counts) : rows_(rows), counts_(counts) {}

  void run() {
    parallel_rows(rows_, [&](Morsel piece) {
      pool_.lend([&](Scratch& own) {
        for (int64_t u = piece.begin; u < piece.end; ++u)
          if (rows_.degree(u) > 1) count(u, own);
        for (size_t hub = 0; hub < own.of_hubs.size(); ++hub)
          if (const uint32_t found = std::exchange(own.of_hubs[hub], 0)) add(counts_[hub], found);
      });
    });
  }

 private:
  // The triangles of u and two vertices before it.
  void count(int64_t u, Scratch& own) {
    uint64_t* const bits = own.bits.data();
    uint32_t* const of_hubs = own.of_hubs.data();
    const std::span<const uint32_t> row = rows_.row(u);
    for (const uint32_t v : row) bits[v / 64] |= uint64_t{1} << v % 64;
    int64_t of_row = 0;
    for (const uint32_t v : row) {
      const std::span<const uint32_t> others = rows_.row(v);
      uint32_t found = 0;
      size_t i = 0;
      for (; i < others.size() && others[i] < kHubs; ++i) {
        const uint32_t w = others[i];
        const auto hit = static_cast<uint32_t>(bits[w / 64] >> w % 64 & 1);
        of_hubs[w] += hit;
        found += hit;
      }
      for (; i < others.size(); ++i) {
        const uint32_t w = others[i];
        if ((bits[w / 64] >> w % 64 & 1) == 0) continue;
        add(counts_[w], 1);
        ++found;
      }
      if (found == 0) continue;
      of_row += found;
      if (v < kHubs)
        of_hubs[v] += found;
      else
        add(counts_[v], found);
    }
    if (of_row > 0) add(counts_[u], of_row);
    for (const uint32_t v : row) bits[v / 64] = 0;
  }

  const Csr& rows_;
  int64_t* counts_;
  ScratchPool<Scratch> pool_{[this] {
    Scratch made;
    made.bits.resize(static_cast<size_t>(rows_.vertices / 64 + 1));
    made.of_hubs.resize(static_cast<size_t>(std::min(rows_.vertices, kHubs)));
    return made;
  }};
};

Column neighbor_counts(const Graph& graph) {
  if constexpr (built_with_cuda)
    if (has_kernels(graph)) return cuda::neighbor_counts(graph);
  const Csr& csr = graph.out();
  Buffer made = Buffer::allocate(8 * csr.vertices);
  if (csr.vertices > 0) {
    auto* const out = made.mutable_as<int64_t>();
    parallel_rows(csr, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        out[v] = 0;
        each_neighbor(csr, v, [&](uint32_t) { ++out[v]; });
      }
    });
  }
  return Column(TypeId::kInt64, csr.vertices, std::move(made));
}

}  // namespace

Column triangle_count(const Graph& graph) {
  if (graph.is_directed())
    throw_error<InvalidArgumentError>("triangle_count", "the graph is directed", {},
                                      "use graph.to_undirected()");
  if constexpr (built_with_cuda)
    if (has_kernels(graph)) return cuda::triangle_count(graph);
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate(8 * vertices);
  if (vertices > 0) {
    const Oriented rows = oriented(graph.out());
    Buffer by_rank = Buffer::allocate_zeroed(8 * vertices);
    Counting(rows.rows, by_rank.mutable_as<int64_t>()).run();
    const auto* const counts = by_rank.as<int64_t>();
    const auto* const ranks = rows.ranks.as<uint32_t>();
    auto* const out = made.mutable_as<int64_t>();
    parallel_morsels(vertices, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v) out[v] = counts[ranks[v]];
    });
  }
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr triangle_table(const Graph& graph) {
  const auto run = [graph](const std::vector<bool>& wanted, std::span<const Value>) {
    std::vector<Column> made;
    if (wanted[0]) made.push_back(triangle_count(graph));
    if (wanted[1]) made.push_back(neighbor_counts(graph));
    return made;
  };
  return vertex_table(graph, "triangle_count", {},
                      {{"count", TypeId::kInt64}, {"neighbors", TypeId::kInt64}}, {}, run,
                      graph.is_multigraph() ? Kernels::kHost : Kernels::kHostAndCuda);
}

}  // namespace hr
