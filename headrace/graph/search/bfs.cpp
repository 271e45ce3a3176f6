// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, from the frontier or from what is not yet reached.
#include "headrace/graph/search/bfs.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/team.h"
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
// Frontiers of so few entries are too short for a job. A team shares those of kTeam vertices, in
// pieces of kTeamStep: a grid of 2000 x 2000 takes two thirds of the time of one thread.
constexpr int64_t kFewEntries = 1 << 14, kTeam = 512, kTeamStep = 128;

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
  Search(const Graph& graph, uint32_t* levels, int64_t most)
      : vertices_(graph.num_vertices()),
        rows_(graph.out()),
        is_symmetric_(!graph.is_directed()),
        most_(most),
        left_(graph.out().entries()),
        levels_(levels) {}

  void run(int64_t source) {
    levels_[source] = 0;
    frontier_.assign(1, static_cast<uint32_t>(source));
    Reached reached = counted({1, rows_.degree(source)});
    while (next_level(reached)) {
      if (pulls(reached))
        reached = pull_levels(reached);
      else if (reached.entries > kFewEntries)
        reached = push();
      else
        reached = is_for_team(reached, kTeam) ? push_together() : push_alone();
    }
  }

 private:
  // What a thread found.
  struct alignas(128) Found {
    BudgetedVector<uint32_t> vertices{};  // the first `count`
    size_t count = 0;
    int64_t entries = 0;  // of their rows

    std::span<const uint32_t> list() const { return std::span(vertices).first(count); }
    void clear() { count = 0, entries = 0; }
  };

  Reached counted(Reached reached) {
    left_ -= reached.entries;
    return reached;
  }

  // False at the end.
  bool next_level(Reached reached) {
    look_for_interrupt();
    if (reached.vertices == 0 || level_ == most_) return false;
    ++level_;
    return true;
  }

  bool pulls(Reached reached) const {
    return is_symmetric_ && reached.entries > std::max(left_ / kAlpha, vertices_ / kBeta);
  }

  bool is_for_team(Reached reached, int64_t least) const {
    return reached.vertices >= least && reached.entries <= kFewEntries && !pulls(reached) &&
           threads() > 1;
  }

  // Vertices mark their neighbours; `mark` says whether one had no mark. Memory is asked for ahead:
  // offsets, rows and levels some vertices before, and the offsets of what is found at once.
  template <class Mark>
  void push_from(std::span<const uint32_t> vertices, Found& found, Mark&& mark) const {
    constexpr size_t kPointers = 32, kRows = 16, kLevels = 8;
    const int64_t* const offsets = rows_.offsets;
    const uint32_t* const targets = rows_.targets;
    const size_t before = found.count;
    size_t count = before, room = found.vertices.size();
    uint32_t* out = found.vertices.data();
    for (size_t k = 0; k < vertices.size(); ++k) {
      if (k + kPointers < vertices.size()) {
        __builtin_prefetch(&offsets[vertices[k + kPointers]]);
        __builtin_prefetch(&targets[offsets[vertices[k + kRows]]]);
      }
      if (k + kLevels < vertices.size()) {
        const std::span<const uint32_t> soon = rows_[vertices[k + kLevels]];
        for (const uint32_t target : soon.first(std::min<size_t>(4, soon.size())))
          __builtin_prefetch(&levels_[target], 1);
      }
      const std::span<const uint32_t> row = rows_[vertices[k]];
      if (room < count + row.size()) {
        found.vertices.resize(std::max(2 * room, count + row.size()));
        room = found.vertices.size();
        out = found.vertices.data();
      }
      for (const uint32_t target : row) {
        if (!mark(target)) continue;
        __builtin_prefetch(&offsets[target]);
        out[count++] = target;
      }
    }
    found.count = count;
    for (size_t k = before; k < count; ++k) {
      const int64_t begin = offsets[out[k]];
      __builtin_prefetch(&targets[begin]);
      found.entries += offsets[out[k] + 1] - begin;
    }
  }

  // The same where others mark, too: who marks a vertex has it in its list.
  void push_with_others(std::span<const uint32_t> vertices, Found& found) const {
    push_from(vertices, found, [this](uint32_t target) {
      const std::atomic_ref at(levels_[target]);
      uint32_t expected = kNoLevel;
      return at.load(std::memory_order_relaxed) == kNoLevel &&
             at.compare_exchange_strong(expected, level_, std::memory_order_relaxed);
    });
  }

  // The entries of the frontier are few: done before others have begun.
  Reached push_alone() {
    found_.clear();
    push_from(frontier_, found_, [this](uint32_t target) {
      if (levels_[target] != kNoLevel) return false;
      levels_[target] = level_;
      return true;
    });
    frontier_.assign(found_.vertices.begin(), found_.vertices.begin() + found_.count);
    return counted({static_cast<int64_t>(found_.count), found_.entries});
  }

  Reached push() {
    const auto rows = static_cast<int64_t>(frontier_.size());
    std::vector<Found> found(static_cast<size_t>((rows + kStep - 1) / kStep));
    parallel_for(static_cast<int64_t>(found.size()), [&](int64_t task) {
      const Morsel morsel = morsel_at(task, rows, kStep);
      push_with_others(std::span(frontier_).subspan(static_cast<size_t>(morsel.begin),
                                                    static_cast<size_t>(morsel.end - morsel.begin)),
                       found[static_cast<size_t>(task)]);
    });
    list_found(found);
    return counted(sum(found));
  }

  // Levels of some thousand entries, one after the other, each thread beginning with what it found.
  Reached push_together() {
    Reached reached;
    with_team([&](Team& team) {
      const auto members = static_cast<size_t>(team.members());
      std::vector<Found> found(members), next(members);
      std::vector<int64_t> rows(members);
      std::swap(found[0].vertices, frontier_);
      found[0].count = found[0].vertices.size();
      do {
        for (size_t i = 0; i < members; ++i) rows[i] = static_cast<int64_t>(found[i].count);
        team.round(rows, kTeamStep, [&](int member, int list, Morsel piece) {
          const std::span<const uint32_t> from = found[static_cast<size_t>(list)].list();
          push_with_others(from.subspan(static_cast<size_t>(piece.begin),
                                        static_cast<size_t>(piece.end - piece.begin)),
                           next[static_cast<size_t>(member)]);
        });
        std::swap(found, next);
        reached = counted(sum(found));
        for (Found& each : next) each.clear();
      } while (is_for_team(reached, kTeam / 2) && next_level(reached));
      list_found(found);
    });
    return reached;
  }

  static Reached sum(const std::vector<Found>& found) {
    Reached reached;
    for (const Found& each : found) {
      reached.vertices += static_cast<int64_t>(each.count);
      reached.entries += each.entries;
    }
    return reached;
  }

  // Makes it the frontier.
  void list_found(const std::vector<Found>& found) {
    frontier_.clear();
    for (const Found& each : found)
      frontier_.insert(frontier_.end(), each.list().begin(), each.list().end());
  }

  Reached pull_levels(Reached reached) {
    fill_bits();
    int64_t before = 0;
    do {
      before = reached.vertices;
      reached = counted(pull());
      std::swap(bits_, next_bits_);
    } while ((reached.vertices >= before || reached.vertices > vertices_ / kBeta) &&
             next_level(reached));
    list_bits();
    return reached;
  }

  // Every vertex that is not reached asks its neighbours, up to the first in the frontier.
  Reached pull() {
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
          levels_[v] = level_;
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
  CsrRows rows_;
  bool is_symmetric_;
  int64_t most_;
  uint32_t level_ = 0;  // that which is looked for
  int64_t left_;        // entries of the vertices that are not reached
  uint32_t* levels_;
  BudgetedVector<uint32_t> frontier_{};
  Found found_{};  // by push_alone
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
  Search(graph, out, limit_of(most)).run(source);
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
