// SPDX-License-Identifier: Apache-2.0
// Whole weights of entries, and groups of vertices as vertices.
#include "headrace/graph/structure/weighted_rows.h"

#include "headrace/algo/sort/rows_by_key.h"
#include "headrace/base/error.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/weight_scale.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>

namespace hr {

namespace {

double scale_for(const double* weights, int64_t entries) {
  const auto pieces = static_cast<size_t>(num_morsels(entries));
  std::vector<double> greatest(pieces);
  std::vector<int64_t> parts(pieces);
  std::atomic<bool> is_whole = true;
  parallel_morsels(entries, [&](Morsel morsel) {
    const std::span own(weights + morsel.begin, weights + morsel.end);
    for (const double weight : own) {
      greatest[static_cast<size_t>(morsel.index)] =
          std::max(greatest[static_cast<size_t>(morsel.index)], weight);
      if (weight != std::rint(weight)) is_whole.store(false, std::memory_order_relaxed);
    }
  });
  const double most = greatest.empty() ? 0 : std::ranges::max(greatest);
  if (most == 0) return 1;
  const int exponent = std::ilogb(most);
  parallel_morsels(entries, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i)
      parts[static_cast<size_t>(morsel.index)] += weight_parts(weights[i], exponent);
  });
  return scale_of(std::accumulate(parts.begin(), parts.end(), int64_t{0}), exponent, is_whole);
}

}  // namespace

void add_up(WeightedRows& rows, int64_t vertices) {
  rows.total = 0;
  rows.degrees.resize(static_cast<size_t>(vertices));
  parallel_morsels(vertices, [&](Morsel morsel) {
    for (auto v = static_cast<size_t>(morsel.begin); v < static_cast<size_t>(morsel.end); ++v) {
      int64_t sum = 0;
      for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i)
        sum += rows.weights[static_cast<size_t>(i)];
      rows.degrees[v] = sum;
    }
  });
  for (const int64_t degree : rows.degrees) rows.total += degree;
}

void check_undirected(std::string_view op, const Graph& graph) {
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
}

WeightedRows weighted_rows(std::string_view op, const Graph& graph,
                           const std::optional<Column>& weights) {
  check_undirected(op, graph);
  const Csr& csr = graph.out();
  const int64_t entries = csr.entries();
  Buffer given;
  if (weights) given = entry_weights(op, csr, *weights, WeightRule::kNotNegative);
  WeightedRows made;
  if (weights) made.scale = scale_for(given.as<double>(), entries);
  const auto* const targets = csr.targets.as<uint32_t>();
  made.offsets.assign(csr.offsets.as<int64_t>(), csr.offsets.as<int64_t>() + csr.vertices + 1);
  made.targets.resize(static_cast<size_t>(entries));
  made.weights.resize(static_cast<size_t>(entries));
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v)
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t weight = given ? std::llrint(given.as<double>()[i] * made.scale) : 1;
        made.targets[at] = targets[i];
        made.weights[at] = targets[i] == static_cast<uint32_t>(v) ? 2 * weight : weight;
      }
  });
  add_up(made, csr.vertices);
  return made;
}

int64_t number_groups(BudgetedVector<uint32_t>& groups, size_t bound) {
  constexpr uint32_t kNone = ~0u;
  BudgetedVector<uint32_t> numbers(bound, kNone);
  uint32_t next = 0;
  for (uint32_t& group : groups) {
    uint32_t& number = numbers[group];
    if (number == kNone) number = next++;
    group = number;
  }
  return next;
}

WeightedRows aggregate(const WeightedRows& rows, const BudgetedVector<uint32_t>& groups,
                       int64_t count) {
  const int64_t vertices = rows.vertices();
  Buffer keys = Buffer::allocate(4 * vertices);
  std::copy(groups.begin(), groups.end(), keys.mutable_as<uint32_t>());
  const KeyedColumn numbers;
  const RowsByKey members = rows_by_key({&keys}, vertices, count, {&numbers, 1});
  const auto* const first = members.offsets.as<int64_t>();
  const auto* const member = members.columns[0].as<uint32_t>();
  // Where the entries of a group would begin if none came together.
  BudgetedVector<int64_t> places(static_cast<size_t>(count) + 1);
  for (int64_t g = 0; g < count; ++g) {
    int64_t entries = 0;
    for (int64_t i = first[g]; i < first[g + 1]; ++i)
      entries += rows.offsets[member[i] + 1] - rows.offsets[member[i]];
    places[static_cast<size_t>(g) + 1] = places[static_cast<size_t>(g)] + entries;
  }
  BudgetedVector<uint32_t> targets(rows.targets.size());
  BudgetedVector<int64_t> weights(rows.weights.size());
  WeightedRows made;
  made.scale = rows.scale;
  made.offsets.resize(static_cast<size_t>(count) + 1);
  ScratchPool<GroupSums> pool = GroupSums::pool(count);
  parallel_vertices(count, [&](Morsel morsel) {
    pool.lend([&](GroupSums& sums) {
      for (int64_t g = morsel.begin; g < morsel.end; ++g) {
        for (int64_t i = first[g]; i < first[g + 1]; ++i)
          for (int64_t j = rows.offsets[member[i]]; j < rows.offsets[member[i] + 1]; ++j)
            sums.add(groups[rows.targets[static_cast<size_t>(j)]],
                     rows.weights[static_cast<size_t>(j)]);
        std::ranges::sort(sums.used());
        auto at = static_cast<size_t>(places[static_cast<size_t>(g)]);
        for (const uint32_t other : sums.used()) {
          targets[at] = other;
          weights[at++] = sums.of(other);
        }
        made.offsets[static_cast<size_t>(g) + 1] = static_cast<int64_t>(sums.used().size());
        sums.clear();
      }
    });
  });
  for (size_t g = 1; g < made.offsets.size(); ++g) made.offsets[g] += made.offsets[g - 1];
  made.targets.resize(static_cast<size_t>(made.offsets.back()));
  made.weights.resize(made.targets.size());
  parallel_vertices(count, [&](Morsel morsel) {
    for (auto g = static_cast<size_t>(morsel.begin); g < static_cast<size_t>(morsel.end); ++g) {
      const int64_t entries = made.offsets[g + 1] - made.offsets[g];
      std::copy_n(targets.begin() + places[g], entries, made.targets.begin() + made.offsets[g]);
      std::copy_n(weights.begin() + places[g], entries, made.weights.begin() + made.offsets[g]);
    }
  });
  add_up(made, count);
  return made;
}

}  // namespace hr
