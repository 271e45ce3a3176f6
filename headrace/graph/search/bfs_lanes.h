// SPDX-License-Identifier: Apache-2.0
// BfsLanes: 64 breadth-first searches side by side, a bit each.
#pragma once
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/csr.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>
#include <vector>

namespace hr {

/// Searches along `csr`, whose entries may go both ways; 24 bytes a vertex. Used again by further
/// ones.
class BfsLanes {
 public:
  static constexpr int64_t kLanes = 64;

  BfsLanes(const Csr& csr, bool is_symmetric)
      : csr_(csr),
        rows_(csr_),
        is_symmetric_(is_symmetric),
        seen_(static_cast<size_t>(csr_.vertices)),
        frontier_(seen_.size()),
        next_(seen_.size()) {}

  /// The pieces that vertices are in.
  int64_t pieces() const { return num_morsels(csr_.vertices); }

  /// From `sources`, up to 64, at most `most` edges far. Calls `found(piece, v, lanes, level)` for
  /// those of the searches that reach v, pieces at the same time; the sources themselves are left
  /// out. After each level it calls `done(level)`.
  template <class Found, class Done>
  void run(std::span<const int64_t> sources, int64_t most, Found&& found, Done&& done) {
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill(frontier_.begin(), frontier_.end(), 0);
    for (size_t lane = 0; lane < sources.size(); ++lane) {
      const auto at = static_cast<size_t>(sources[lane]);
      seen_[at] |= uint64_t{1} << lane;
      frontier_[at] |= uint64_t{1} << lane;
    }
    const uint64_t all = ~uint64_t{0} >> (kLanes - static_cast<int64_t>(sources.size()));
    int64_t active = static_cast<int64_t>(sources.size());
    for (uint32_t level = 1; active > 0 && level <= most; ++level) {
      look_for_interrupt();
      if (is_symmetric_ && active > csr_.vertices / kDense)
        pull(all);
      else
        push();
      active = settle(level, found);
      done(level);
    }
  }

 private:
  static constexpr int64_t kDense = 20;  // pull when more than 1 of 20 vertices is in the frontier

  void push() {
    std::fill(next_.begin(), next_.end(), 0);
    parallel_rows(csr_, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        const uint64_t lanes = frontier_[static_cast<size_t>(v)];
        if (lanes == 0) continue;
        for (const uint32_t target : rows_[v]) {
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
          for (const uint32_t target : rows_[v]) {
            lanes |= frontier_[target];
            if (lanes == all) break;
          }
        next_[static_cast<size_t>(v)] = lanes;
      }
    });
  }

  // What is new becomes the frontier; how many vertices that is.
  template <class Found>
  int64_t settle(uint32_t level, Found&& found) {
    std::vector<int64_t> counts(static_cast<size_t>(pieces()));
    parallel_morsels(csr_.vertices, [&](Morsel morsel) {
      int64_t count = 0;
      for (int64_t v = morsel.begin; v < morsel.end; ++v) {
        const auto at = static_cast<size_t>(v);
        const uint64_t fresh = next_[at] & ~seen_[at];
        frontier_[at] = fresh;
        if (fresh == 0) continue;
        seen_[at] |= fresh;
        ++count;
        found(morsel.index, v, fresh, level);
      }
      counts[static_cast<size_t>(morsel.index)] = count;
    });
    int64_t active = 0;
    for (const int64_t count : counts) active += count;
    return active;
  }

  Csr csr_;
  CsrRows rows_;
  bool is_symmetric_;
  BudgetedVector<uint64_t> seen_;
  BudgetedVector<uint64_t> frontier_;
  BudgetedVector<uint64_t> next_;
};

}  // namespace hr
