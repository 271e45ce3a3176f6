// SPDX-License-Identifier: Apache-2.0
// Searches side by side, a bit each.
#include "headrace/graph/many_bfs.h"

#include "headrace/exec/interrupt.h"
#include "headrace/graph/bfs.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace hr {

namespace {

constexpr int64_t kLanes = 64;
constexpr int64_t kDense = 20;  // pull when more than 1 of 20 vertices is in the frontier

class Searches {
 public:
  explicit Searches(const Graph& graph)
      : csr_(graph.out()),
        is_symmetric_(!graph.is_directed()),
        seen_(static_cast<size_t>(csr_.vertices)),
        frontier_(seen_.size()),
        next_(seen_.size()) {}

  void run(std::span<const int64_t> sources, int64_t most, uint32_t* levels) {
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill(frontier_.begin(), frontier_.end(), 0);
    for (size_t lane = 0; lane < sources.size(); ++lane) {
      const auto at = static_cast<size_t>(sources[lane]);
      seen_[at] |= uint64_t{1} << lane;
      frontier_[at] |= uint64_t{1} << lane;
      levels[static_cast<int64_t>(lane) * csr_.vertices + sources[lane]] = 0;
    }
    const uint64_t all = ~uint64_t{0} >> (kLanes - static_cast<int64_t>(sources.size()));
    int64_t active = static_cast<int64_t>(sources.size());
    for (uint32_t level = 1; active > 0 && level <= most; ++level) {
      look_for_interrupt();
      if (is_symmetric_ && active > csr_.vertices / kDense)
        pull(all);
      else
        push();
      active = settle(level, levels);
    }
  }

 private:
  void push() {
    std::fill(next_.begin(), next_.end(), 0);
    parallel_rows(csr_, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        const uint64_t lanes = frontier_[static_cast<size_t>(v)];
        if (lanes == 0) continue;
        for (const uint32_t target : csr_.row(v)) {
          const std::atomic_ref at(next_[target]);
          if ((lanes & ~at.load(std::memory_order_relaxed)) != 0)
            at.fetch_or(lanes, std::memory_order_relaxed);
        }
      }
    });
  }

  void pull(uint64_t all) {
    parallel_rows(csr_, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        uint64_t lanes = seen_[static_cast<size_t>(v)];
        if (lanes != all)
          for (const uint32_t target : csr_.row(v)) {
            lanes |= frontier_[target];
            if (lanes == all) break;
          }
        next_[static_cast<size_t>(v)] = lanes;
      }
    });
  }

  // What is new becomes the frontier; how many vertices that is.
  int64_t settle(uint32_t level, uint32_t* levels) {
    std::vector<int64_t> counts(static_cast<size_t>(num_morsels(csr_.vertices)));
    parallel_morsels(csr_.vertices, [&](Morsel morsel) {
      int64_t count = 0;
      for (int64_t v = morsel.begin; v < morsel.end; ++v) {
        const auto at = static_cast<size_t>(v);
        const uint64_t fresh = next_[at] & ~seen_[at];
        frontier_[at] = fresh;
        seen_[at] |= fresh;
        count += fresh != 0;
        for (uint64_t lanes = fresh; lanes != 0; lanes &= lanes - 1)
          levels[std::countr_zero(lanes) * csr_.vertices + v] = level;
      }
      counts[static_cast<size_t>(morsel.index)] = count;
    });
    int64_t active = 0;
    for (const int64_t count : counts) active += count;
    return active;
  }

  const Csr& csr_;
  bool is_symmetric_;
  BudgetedVector<uint64_t> seen_;
  BudgetedVector<uint64_t> frontier_;
  BudgetedVector<uint64_t> next_;
};

}  // namespace

Buffer many_bfs_levels(const Graph& graph, std::span<const int64_t> sources, int64_t most) {
  const int64_t vertices = graph.num_vertices();
  const int64_t rows = vertices * static_cast<int64_t>(sources.size());
  Buffer levels = Buffer::allocate(4 * rows);
  if (rows == 0) return levels;
  auto* const out = levels.mutable_as<uint32_t>();
  parallel_morsels(
      rows, [&](Morsel morsel) { std::fill(out + morsel.begin, out + morsel.end, kNoLevel); });
  Searches searches(graph);
  for (size_t first = 0; first < sources.size(); first += kLanes)
    searches.run(sources.subspan(first, std::min<size_t>(kLanes, sources.size() - first)), most,
                 out + static_cast<int64_t>(first) * vertices);
  return levels;
}

}  // namespace hr
