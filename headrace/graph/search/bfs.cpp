// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, from the frontier or from what is not yet reached.
#include "headrace/graph/search/bfs.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/search/bfs_kernels.h"
#include "headrace/graph/search/many_bfs.h"
#include "headrace/graph/structure/graph_places.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>
#include <utility>

namespace hr {

namespace {

// Beamer's: from the frontier while it has fewer than 1 of kAlpha of the entries that are left, or
// so few that going over all vertices costs more; back when it has fewer than 1 of kBeta of the
// vertices.
constexpr int64_t kAlpha = 15, kBeta = 18;
constexpr int64_t kStep = 1 << 10;  // vertices of a frontier that one task expands
// Entries that one thread follows by itself: a grid of 2000 x 2000 takes two thirds of the time.
constexpr int64_t kFewEntries = 1 << 14;

using Bits = BudgetedVector<uint64_t>;

bool has(const Bits& bits, uint32_t v) {
  return bits[v / 64] >> v % 64 & 1;
}

struct Reached {
  int64_t vertices = 0;
  int64_t entries = 0;  // of their rows
};

class Search {
 public:
  Search(const Graph& graph, uint32_t* levels)
      : vertices_(graph.num_vertices()),
        entries_(graph.out().entries()),
        rows_(graph.out()),
        is_symmetric_(!graph.is_directed()),
        levels_(levels) {}

  void run(int64_t source, int64_t most) {
    levels_[source] = 0;
    frontier_.assign(1, static_cast<uint32_t>(source));
    Reached reached{1, rows_.degree(source)};
    int64_t left = entries_;
    for (uint32_t level = 1; reached.vertices > 0 && level <= most; ++level) {
      look_for_interrupt();
      left -= reached.entries;
      const int64_t most_pushed = std::max(left / kAlpha, vertices_ / kBeta);
      const bool pulls = is_symmetric_ && reached.entries > most_pushed;
      if (pulls) {
        fill_bits();
        int64_t before = 0;
        do {
          before = reached.vertices;
          reached = pull(level++);
          left -= reached.entries;
          std::swap(bits_, next_bits_);
        } while (reached.vertices > 0 && level <= most &&
                 (reached.vertices >= before || reached.vertices > vertices_ / kBeta));
        list_bits();
        --level;
        left += reached.entries;  // the next turn takes them off
      } else {
        reached = reached.entries <= kFewEntries ? push_alone(level) : push(level);
      }
    }
  }

 private:
  struct Found {
    BudgetedVector<uint32_t> vertices{};
    int64_t entries = 0;
  };

  // Vertices mark their neighbours; `mark` says whether one had no mark. What they ask for is on
  // its way a few vertices before.
  template <class Mark>
  void push_from(std::span<const uint32_t> vertices, Found& found, Mark&& mark) const {
    constexpr size_t kPointers = 16, kRows = 8, kLevels = 4;
    for (size_t k = 0; k < vertices.size(); ++k) {
      if (k + kPointers < vertices.size()) {
        __builtin_prefetch(&rows_.offsets[vertices[k + kPointers]]);
        __builtin_prefetch(&rows_.targets[rows_.offsets[vertices[k + kRows]]]);
        const std::span<const uint32_t> soon = rows_[vertices[k + kLevels]];
        for (const uint32_t target : soon.first(std::min<size_t>(4, soon.size())))
          __builtin_prefetch(&levels_[target], 1);
      }
      for (const uint32_t target : rows_[vertices[k]]) {
        if (!mark(target)) continue;
        found.vertices.push_back(target);
        found.entries += rows_.degree(target);
      }
    }
  }

  // The entries of the frontier are few: done before others have begun.
  Reached push_alone(uint32_t level) {
    found_.vertices.clear();
    found_.entries = 0;
    push_from(frontier_, found_, [&](uint32_t target) {
      if (levels_[target] != kNoLevel) return false;
      levels_[target] = level;
      return true;
    });
    std::swap(frontier_, found_.vertices);
    return {static_cast<int64_t>(frontier_.size()), found_.entries};
  }

  // Who marks a vertex has it in its list.
  Reached push(uint32_t level) {
    const auto rows = static_cast<int64_t>(frontier_.size());
    std::vector<Found> found(static_cast<size_t>((rows + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(found.size()), [&](int64_t task) {
      const Morsel morsel = morsel_at(task, rows, kStep);
      const auto vertices = std::span(frontier_).subspan(
          static_cast<size_t>(morsel.begin), static_cast<size_t>(morsel.end - morsel.begin));
      push_from(vertices, found[static_cast<size_t>(task)], [&](uint32_t target) {
        const std::atomic_ref at(levels_[target]);
        uint32_t expected = kNoLevel;
        return at.load(std::memory_order_relaxed) == kNoLevel &&
               at.compare_exchange_strong(expected, level, std::memory_order_relaxed);
      });
    });
    frontier_.clear();
    Reached reached;
    for (const Found& each : found) {
      frontier_.insert(frontier_.end(), each.vertices.begin(), each.vertices.end());
      reached.entries += each.entries;
    }
    reached.vertices = static_cast<int64_t>(frontier_.size());
    return reached;
  }

  // Every vertex that is not reached asks its neighbours, up to the first in the frontier.
  Reached pull(uint32_t level) {
    std::vector<Reached> pieces(static_cast<size_t>(num_morsels(vertices_)));
    parallel_morsels(vertices_, [&](Morsel morsel) {
      Reached own;
      for (auto word = static_cast<size_t>(morsel.begin / 64);
           static_cast<int64_t>(word) * 64 < morsel.end; ++word) {
        uint64_t found = 0;
        for (uint64_t left = open_bits_[word]; left != 0; left &= left - 1) {
          const int64_t v = static_cast<int64_t>(word) * 64 + std::countr_zero(left);
          const std::span<const uint32_t> row = rows_[v];
          if (std::ranges::none_of(row, [&](uint32_t target) { return has(bits_, target); }))
            continue;
          levels_[v] = level;
          found |= left & -left;
          own.entries += static_cast<int64_t>(row.size());
        }
        own.vertices += std::popcount(found);
        open_bits_[word] &= ~found;
        next_bits_[word] = found;
      }
      pieces[static_cast<size_t>(morsel.index)] = own;
    });
    Reached reached;
    for (const Reached& each : pieces) {
      reached.vertices += each.vertices;
      reached.entries += each.entries;
    }
    return reached;
  }

  void fill_bits() {
    const auto words = static_cast<size_t>((vertices_ + 63) / 64);
    bits_.assign(words, 0);
    next_bits_.resize(words);
    open_bits_.resize(words);
    for (const uint32_t v : frontier_) bits_[v / 64] |= uint64_t{1} << v % 64;
    parallel_morsels(vertices_, [&](Morsel morsel) {
      for (int64_t first = morsel.begin; first < morsel.end; first += 64) {
        const int64_t last = std::min(first + 64, morsel.end);
        uint64_t open = 0;
        for (int64_t v = first; v < last; ++v)
          open |= uint64_t{levels_[v] == kNoLevel && rows_.degree(v) > 0} << (v - first);
        open_bits_[static_cast<size_t>(first / 64)] = open;
      }
    });
  }

  void list_bits() {
    frontier_.clear();
    for (size_t word = 0; word < bits_.size(); ++word)
      for (uint64_t bits = bits_[word]; bits != 0; bits &= bits - 1)
        frontier_.push_back(static_cast<uint32_t>(word * 64) +
                            static_cast<uint32_t>(std::countr_zero(bits)));
  }

  int64_t vertices_;
  int64_t entries_;
  CsrRows rows_;
  bool is_symmetric_;
  uint32_t* levels_;
  BudgetedVector<uint32_t> frontier_{};
  Found found_{};  // that of push_alone
  Bits bits_{};
  Bits next_bits_{};
  Bits open_bits_{};  // not reached, with neighbours
};

int64_t limit_of(int64_t most) {
  return most < 0 ? int64_t{kNoLevel} - 1 : std::min<int64_t>(most, int64_t{kNoLevel} - 1);
}

Column distance_column(const Buffer& levels, int64_t rows) {
  if constexpr (built_with_cuda)
    if (levels.place().is_gpu()) return cuda::distance_column(levels, rows);
  const auto* const from = levels.as<uint32_t>();
  Buffer made = Buffer::allocate(8 * rows);
  if (rows == 0) return Column(TypeId::kInt64, 0, std::move(made));
  auto* const out = made.mutable_as<int64_t>();
  parallel_morsels(rows, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) out[i] = from[i] == kNoLevel ? 0 : from[i];
  });
  Buffer valid = bits_of(rows, {}, [&](int64_t i) { return from[i] != kNoLevel; });
  return Column(TypeId::kInt64, rows, std::move(made), std::move(valid), -1);
}

}  // namespace

Buffer bfs_levels(const Graph& graph, int64_t source, int64_t most) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::bfs_levels(graph, source, limit_of(most));
  const int64_t vertices = graph.num_vertices();
  Buffer levels = Buffer::allocate(4 * vertices);
  auto* const out = levels.mutable_as<uint32_t>();
  parallel_morsels(
      vertices, [&](Morsel morsel) { std::fill(out + morsel.begin, out + morsel.end, kNoLevel); });
  Search(graph, out).run(source, limit_of(most));
  return levels;
}

Buffer bfs_predecessors(const Graph& graph, const Buffer& levels) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::bfs_predecessors(graph, levels);
  const Csr& csr = graph.out();
  const int64_t vertices = csr.vertices;
  Buffer made = Buffer::allocate(8 * vertices);
  if (vertices == 0) return made;
  const CsrRows rows(csr);
  const auto* const level = levels.as<uint32_t>();
  auto* const out = made.mutable_as<int64_t>();
  parallel_morsels(vertices, [&](Morsel morsel) {
    std::fill(out + morsel.begin, out + morsel.end, int64_t{-1});
  });
  if (!graph.is_directed()) {
    parallel_rows(csr, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        if (level[v] == kNoLevel || level[v] == 0) continue;
        for (const uint32_t target : rows[v]) {
          if (level[target] != level[v] - 1) continue;
          out[v] = target;
          break;
        }
      }
    });
    return made;
  }
  // Without the transpose: the least of those that lead there.
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      if (level[v] == kNoLevel) continue;
      for (const uint32_t target : rows[v]) {
        if (level[target] != level[v] + 1) continue;
        const std::atomic_ref least(out[target]);
        int64_t known = least.load(std::memory_order_relaxed);
        while ((known < 0 || known > v) &&
               !least.compare_exchange_weak(known, v, std::memory_order_relaxed)) {
        }
      }
    }
  });
  return made;
}

NodePtr bfs_table(const Graph& graph, int64_t source, int64_t most) {
  std::vector<VertexColumn> columns{{"distance", TypeId::kInt64}};
  add_keys(graph, "predecessor", columns);
  const auto run = [graph, source, most](const std::vector<bool>& wanted, std::span<const Value>) {
    const int64_t vertices = graph.num_vertices();
    const Buffer levels = bfs_levels(graph, source, most);
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    out.column([&] { return distance_column(levels, vertices); });
    out.ids(graph,
            [&] { return Tensor(TypeId::kInt64, {vertices}, bfs_predecessors(graph, levels)); });
    return made;
  };
  return vertex_table(graph, "bfs", {}, columns, {}, run, Kernels::kHostAndCuda);
}

NodePtr many_bfs_table(const Graph& graph, std::vector<int64_t> sources, int64_t most) {
  std::vector<VertexColumn> columns;
  add_keys(graph, "start", columns);
  add_keys(graph, "vertex", columns);
  columns.push_back({"distance", TypeId::kInt64});
  add_keys(graph, "predecessor", columns);
  const int64_t vertices = graph.num_vertices();
  const int64_t rows = vertices * static_cast<int64_t>(sources.size());
  const size_t keys = graph.ids().size();
  const auto run = [graph, sources, most, rows, keys](const std::vector<bool>& wanted,
                                                      std::span<const Value>) {
    const bool needs_search = std::find(wanted.begin() + static_cast<int64_t>(2 * keys),
                                        wanted.end(), true) != wanted.end();
    Buffer levels;
    if (needs_search) levels = many_bfs_levels(graph, sources, limit_of(most));
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    const auto count = static_cast<int64_t>(sources.size());
    out.ids(graph, [&] { return row_starts(graph, sources); });
    out.ids(graph, [&] { return row_vertices(graph, count); });
    out.column([&] { return distance_column(levels, rows); });
    out.ids(graph, [&] {
      return Tensor(TypeId::kInt64, {rows}, many_bfs_predecessors(graph, levels, count));
    });
    return made;
  };
  return placed_table(graph, "bfs", std::to_string(sources.size()) + " sources", columns, {}, rows,
                      run);
}

}  // namespace hr
