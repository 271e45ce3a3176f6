// SPDX-License-Identifier: Apache-2.0
// Shortest paths: a near pile that is worked off, and a far one that waits.
#include "headrace/graph/search/shortest_paths.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/select/gather.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/search/shortest_paths_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace hr {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kStep = 1 << 8;      // vertices of the near pile that one task expands
constexpr int64_t kFarStep = 1 << 14;  // of the far one that one task reads

// Entries of a row whose distances are on their way: a fifth less time at 2^20 vertices.
constexpr int64_t kAhead = 16;

using Pile = BudgetedVector<uint32_t>;

// Doubles that are not negative are ordered as their bits.
uint64_t bits_of_double(double value) {
  return std::bit_cast<uint64_t>(value);
}

class Paths {
 public:
  Paths(const Graph& graph, const Buffer& weights, double cutoff, double* distances)
      : csr_(graph.out()),
        weights_(weights ? weights.as<double>() : nullptr),
        cutoff_(cutoff),
        distances_(reinterpret_cast<uint64_t*>(distances)),
        expanded_(static_cast<size_t>(csr_.vertices), bits_of_double(kInfinity)) {}

  void run(int64_t source, double width) {
    distances_[source] = bits_of_double(0);
    near_.assign(1, static_cast<uint32_t>(source));
    border_ = width;
    for (;;) {
      while (!near_.empty()) expand();
      const double least = least_far();
      if (least == kInfinity) return;
      border_ = std::max(least + width, std::nextafter(least, kInfinity));
      split_far();
    }
  }

 private:
  struct Found {
    Pile near{};
    Pile far{};
    double least = kInfinity;
  };

  double distance(uint32_t v) const {
    const std::atomic_ref at(distances_[v]);
    return std::bit_cast<double>(at.load(std::memory_order_relaxed));
  }

  bool is_expanded(uint32_t v) const { return expanded_[v] <= bits_of_double(distance(v)); }

  // Whether the way is shorter than what was known.
  bool improve(uint32_t v, double length) {
    const std::atomic_ref at(distances_[v]);
    const uint64_t bits = bits_of_double(length);
    uint64_t known = at.load(std::memory_order_relaxed);
    while (bits < known)
      if (at.compare_exchange_weak(known, bits, std::memory_order_relaxed)) return true;
    return false;
  }

  template <class Body>
  std::vector<Found> each(const Pile& pile, int64_t step, Body&& body) {
    const auto rows = static_cast<int64_t>(pile.size());
    std::vector<Found> found(static_cast<size_t>((rows + step - 1) / step));
    parallel_for(static_cast<int64_t>(found.size()), [&](int64_t task) {
      Found& own = found[static_cast<size_t>(task)];
      const Morsel morsel = morsel_at(task, rows, step);
      for (int64_t i = morsel.begin; i < morsel.end; ++i) body(pile[static_cast<size_t>(i)], own);
    });
    return found;
  }

  void expand() {
    look_for_interrupt();
    const std::vector<Found> found = each(near_, kStep, [&](uint32_t v, Found& own) {
      const double here = distance(v);
      const std::atomic_ref expanded(expanded_[v]);
      // Who comes later with the same distance has nothing to do.
      if (expanded.exchange(bits_of_double(here), std::memory_order_relaxed) ==
          bits_of_double(here))
        return;
      const auto* const targets = csr_.targets.as<uint32_t>();
      const int64_t end = csr_.begin(v + 1);
      for (int64_t i = csr_.begin(v); i < end; ++i) {
        if (i + kAhead < end) __builtin_prefetch(&distances_[targets[i + kAhead]]);
        const double length = here + weights_[i];
        if (length > cutoff_ || !improve(targets[i], length)) continue;
        (length < border_ ? own.near : own.far).push_back(targets[i]);
      }
    });
    near_.clear();
    for (const Found& each : found) {
      near_.insert(near_.end(), each.near.begin(), each.near.end());
      far_.insert(far_.end(), each.far.begin(), each.far.end());
    }
  }

  double least_far() {
    double least = kInfinity;
    for (const Found& found : each(far_, kFarStep, [&](uint32_t v, Found& own) {
           if (!is_expanded(v)) own.least = std::min(own.least, distance(v));
         }))
      least = std::min(least, found.least);
    return least;
  }

  void split_far() {
    const std::vector<Found> found = each(far_, kFarStep, [&](uint32_t v, Found& own) {
      if (!is_expanded(v)) (distance(v) < border_ ? own.near : own.far).push_back(v);
    });
    far_.clear();
    for (const Found& each : found) {
      near_.insert(near_.end(), each.near.begin(), each.near.end());
      far_.insert(far_.end(), each.far.begin(), each.far.end());
    }
  }

  const Csr& csr_;
  const double* weights_;
  double cutoff_;
  uint64_t* distances_;
  BudgetedVector<uint64_t> expanded_;  // the distance at which each vertex was, as bits
  double border_ = 0;
  Pile near_{};
  Pile far_{};
};

// How far the border moves: the heaviest weight over the edges of a vertex, after Meyer and
// Sanders, but no less than an eighth of the mean one. Only the time depends on it.
double border_width(const Csr& csr, const Column& weights) {
  double sum = 0, most = 0;
  for (const double weight : weights.values<double>()) {
    sum += weight;
    most = std::max(most, weight);
  }
  if (sum == 0) return 1;
  const double edges = static_cast<double>(csr.entries()) / static_cast<double>(csr.vertices);
  return std::max(most / std::max(edges, 1.0) * 4,
                  sum / static_cast<double>(weights.num_rows()) / 8);
}

// Takes the least of those that lead to a vertex.
void take_least(int64_t& place, int64_t v) {
  const std::atomic_ref least(place);
  int64_t known = least.load(std::memory_order_relaxed);
  while ((known < 0 || known > v) &&
         !least.compare_exchange_weak(known, v, std::memory_order_relaxed)) {
  }
}

// Calls `edge(v, target)` for the edges that are the end of a shortest path.
template <class Edge>
void on_shortest(const Csr& csr, const double* weights, const double* distances, Edge&& edge) {
  parallel_rows(csr, [&](Morsel piece) {
    const auto* const targets = csr.targets.as<uint32_t>();
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      if (distances[v] == kInfinity) continue;
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
        if (distances[v] + weights[i] == distances[targets[i]]) edge(v, targets[i]);
    }
  });
}

Buffer predecessors(const Csr& csr, const Buffer& weights, const Buffer& distances,
                    int64_t source) {
  const int64_t vertices = csr.vertices;
  Buffer made = Buffer::allocate(8 * vertices);
  auto* const out = made.mutable_as<int64_t>();
  std::fill(out, out + vertices, int64_t{-1});
  const auto* const distance = distances.as<double>();
  const double* const weight = csr.entries() > 0 ? weights.as<double>() : nullptr;
  on_shortest(csr, weight, distance, [&](int64_t v, uint32_t target) {
    if (distance[v] < distance[target]) take_least(out[target], v);
  });
  // Those that only edges of weight 0 lead to, round by round.
  const auto is_open = [&](int64_t v) {
    return out[v] < 0 && v != source && distance[v] != kInfinity;
  };
  for (;;) {
    look_for_interrupt();
    std::vector<int64_t> open(static_cast<size_t>(num_morsels(vertices)));
    parallel_morsels(vertices, [&](Morsel morsel) {
      for (int64_t v = morsel.begin; v < morsel.end; ++v)
        open[static_cast<size_t>(morsel.index)] += is_open(v);
    });
    if (std::all_of(open.begin(), open.end(), [](int64_t count) { return count == 0; }))
      return made;
    BudgetedVector<int64_t> next(out, out + vertices);
    on_shortest(csr, weight, distance, [&](int64_t v, uint32_t target) {
      if (!is_open(v) && is_open(target)) take_least(next[target], v);
    });
    std::copy(next.begin(), next.end(), out);
  }
}

Buffer lengths(const Graph& graph, const Column& weights, const Buffer& of_entries, int64_t source,
               double cutoff) {
  const int64_t vertices = graph.num_vertices();
  Buffer made = Buffer::allocate(8 * vertices);
  auto* const out = made.mutable_as<double>();
  std::fill(out, out + vertices, kInfinity);
  if (graph.out().entries() == 0)
    out[source] = 0;
  else
    Paths(graph, of_entries, cutoff, out).run(source, border_width(graph.out(), weights));
  return made;
}

}  // namespace

Buffer shortest_path_lengths(const Graph& graph, const Column& weights, int64_t source,
                             double cutoff) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu())
      return cuda::shortest_path_lengths(graph, weights, source, cutoff).lengths;
  const Buffer of_entries =
      entry_weights("shortest_path_length", graph.out(), weights, WeightRule::kNotNegative);
  return lengths(graph, weights, of_entries, source, cutoff);
}

NodePtr shortest_path_table(const Graph& graph, const NodePtr& weights, int64_t source,
                            double cutoff) {
  std::vector<VertexColumn> columns{{"distance", TypeId::kFloat64}};
  add_keys(graph, "predecessor", columns);
  const auto run = [graph, source, cutoff](const std::vector<bool>& wanted,
                                           std::span<const Value> values) {
    const auto& given = std::get<Column>(values[0]);
    const int64_t vertices = graph.num_vertices();
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    if constexpr (built_with_cuda)
      if (graph.place().is_gpu()) {
        const cuda::PathLengths found = cuda::shortest_path_lengths(graph, given, source, cutoff);
        out.column([&] { return cuda::length_column(found.lengths, vertices); });
        out.ids(graph, [&] {
          return Tensor(TypeId::kInt64, {vertices},
                        cuda::path_predecessors(graph, found, source, given));
        });
        return made;
      }
    const Buffer of_entries =
        entry_weights("shortest_path_length", graph.out(), given, WeightRule::kNotNegative);
    const Buffer found = lengths(graph, given, of_entries, source, cutoff);
    out.column([&] {
      const auto* const distance = found.as<double>();
      Buffer valid = bits_of(vertices, {}, [&](int64_t v) { return distance[v] != kInfinity; });
      return Column(TypeId::kFloat64, vertices, found, std::move(valid), -1);
    });
    out.ids(graph, [&] {
      return Tensor(TypeId::kInt64, {vertices},
                    predecessors(graph.out(), of_entries, found, source));
    });
    return made;
  };
  return vertex_table(graph, "shortest_path_length", {}, columns, {weights}, run,
                      Kernels::kHostAndCuda);
}

}  // namespace hr
