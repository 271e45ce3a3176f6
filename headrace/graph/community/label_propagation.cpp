// SPDX-License-Identifier: Apache-2.0
// Labels spread in sub-rounds.
#include "headrace/graph/community/label_propagation.h"

#include "headrace/exec/interrupt.h"
#include "headrace/graph/community/sub_rounds.h"

#include <atomic>
#include <numeric>

namespace hr {

namespace {

constexpr uint32_t kRounds = 50;  // of snapshots

class Spreading {
 public:
  Spreading(const WeightedRows& rows, uint64_t seed)
      : rows_(rows),
        seed_(seed),
        pool_(GroupSums::pool(rows.vertices())),
        labels_(static_cast<size_t>(rows.vertices())),
        active_(labels_.size(), 1) {
    std::iota(labels_.begin(), labels_.end(), 0u);
  }

  BudgetedVector<uint32_t> run() {
    for (uint32_t i = 0; i < kRounds; ++i)
      if (round({seed_, i}) == 0) return std::move(labels_);
    // Each step adds to the weight between vertices of one label: there is an end.
    while (pass() > 0) {
    }
    return std::move(labels_);
  }

 private:
  int64_t round(RandomKey key) {
    int64_t moved = 0;
    for (const auto& vertices :
         draw_sub_rounds(rows_.vertices(), key, [&](uint32_t v) { return active_[v] != 0; })) {
      look_for_interrupt();
      const Moves moves =
          decide_all(vertices, pool_, [&](uint32_t v, GroupSums& sums) { return best(v, sums); });
      for (const Move& move : moves) labels_[move.vertex] = move.group;
      parallel_vertices(static_cast<int64_t>(moves.size()), [&](Morsel morsel) {
        for (int64_t i = morsel.begin; i < morsel.end; ++i)
          wake(moves[static_cast<size_t>(i)].vertex);
      });
      moved += static_cast<int64_t>(moves.size());
    }
    return moved;
  }

  int64_t pass() {
    int64_t moved = 0;
    pool_.lend([&](GroupSums& sums) {
      for (uint32_t v = 0; v < rows_.vertices(); ++v) {
        look_for_interrupt();
        if (active_[v] == 0) continue;
        const uint32_t label = best(v, sums);
        sums.clear();
        if (label == kStays) continue;
        labels_[v] = label;
        wake(v);
        ++moved;
      }
    });
    return moved;
  }

  // Of the heaviest labels the one with the least draw, unless its own is one of them.
  uint32_t best(uint32_t v, GroupSums& sums) {
    active_[v] = 0;
    for (int64_t i = rows_.offsets[v]; i < rows_.offsets[v + 1]; ++i) {
      const auto at = static_cast<size_t>(i);
      const uint32_t target = rows_.targets[at];
      const int64_t weight = target == v ? rows_.weights[at] / 2 : rows_.weights[at];
      if (weight > 0) sums.add(labels_[target], weight);
    }
    int64_t most = 0;
    for (const uint32_t label : sums.used()) most = std::max(most, sums.of(label));
    const uint32_t own = labels_[v];
    if (sums.of(own) == most) return kStays;
    const auto draw = [&](uint32_t label) {
      return philox_word(philox_block({seed_, kRounds}, uint64_t{v} << 32 | label), 0);
    };
    uint32_t chosen = kStays;
    for (const uint32_t label : sums.used())
      if (sums.of(label) == most && (chosen == kStays || draw(label) < draw(chosen)))
        chosen = label;
    return chosen;
  }

  void wake(uint32_t v) {
    for (int64_t i = rows_.offsets[v]; i < rows_.offsets[v + 1]; ++i)
      std::atomic_ref(active_[rows_.targets[static_cast<size_t>(i)]])
          .store(1, std::memory_order_relaxed);
  }

  const WeightedRows& rows_;
  uint64_t seed_;
  ScratchPool<GroupSums> pool_;
  BudgetedVector<uint32_t> labels_;
  BudgetedVector<uint8_t> active_;
};

}  // namespace

Column label_propagation(const Graph& graph, const std::optional<Column>& weights, uint64_t seed) {
  const WeightedRows rows = weighted_rows("label_propagation", graph, weights);
  BudgetedVector<uint32_t> labels = Spreading(rows, seed).run();
  number_groups(labels, labels.size());
  const auto vertices = static_cast<int64_t>(labels.size());
  Buffer made = Buffer::allocate(8 * vertices);
  std::copy(labels.begin(), labels.end(), made.mutable_as<int64_t>());
  return Column(TypeId::kInt64, vertices, std::move(made));
}

NodePtr label_propagation_table(const Graph& graph, const NodePtr& weights, uint64_t seed) {
  const auto run = [graph, seed](const std::vector<bool>&, std::span<const Value> values) {
    const auto given = values.empty() ? std::nullopt : std::optional(std::get<Column>(values[0]));
    return std::vector{label_propagation(graph, given, seed)};
  };
  std::vector<NodePtr> inputs;
  if (weights) inputs.push_back(weights);
  return vertex_table(graph, "label_propagation", "seed=" + std::to_string(seed),
                      {{"community", TypeId::kInt64}}, std::move(inputs), run);
}

}  // namespace hr
