// SPDX-License-Identifier: Apache-2.0
// Searches in the order of a queue.
#include "headrace/graph/search/queue_order.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kRowsPerCheck = 1 << 12;

/// Vertices with the one before each, up to all of the graph.
class Reached {
 public:
  explicit Reached(int64_t vertices)
      : vertices_(Buffer::allocate(4 * vertices)), before_(Buffer::allocate(4 * vertices)) {}

  void add(uint32_t vertex, uint32_t before) {
    vertices_.mutable_as<uint32_t>()[count_] = vertex;
    before_.mutable_as<uint32_t>()[count_] = before;
    ++count_;
  }

  uint32_t vertex(int64_t place) const { return vertices_.as<uint32_t>()[place]; }

  int64_t count() const { return count_; }

  void finish(SearchOrder& out) {
    vertices_.seal();
    before_.seal();
    out.count = count_;
    out.vertices = vertices_;
    out.before = before_;
  }

 private:
  Buffer vertices_;
  Buffer before_;
  int64_t count_ = 0;
};

Pin pinned(const Csr& rows) {
  return Pin({{&rows.offsets, 0, 8 * rows.vertices + 8}, {&rows.targets, 0, 4 * rows.entries()}});
}

/// For each vertex a list of those before it, which may begin anew.
class ListsBefore {
 public:
  explicit ListsBefore(int64_t vertices) : lists_(static_cast<size_t>(vertices), List{0, 0}) {}

  void begin(uint32_t vertex) {
    if (lists_[vertex].last == 0) met_.push_back(vertex);
    links_.push_back({0, kNone});  // an anchor, so that an empty list is known as met
    lists_[vertex] = {links_.size(), links_.size()};
  }

  void add(uint32_t vertex, uint32_t before) {
    links_.push_back({0, before});
    links_[lists_[vertex].last - 1].next = links_.size();
    lists_[vertex].last = links_.size();
  }

  template <class F>
  bool any(uint32_t vertex, F&& is_wanted) const {
    for (size_t at = links_[lists_[vertex].first - 1].next; at != 0; at = links_[at - 1].next)
      if (is_wanted(links_[at - 1].before)) return true;
    return false;
  }

  void finish(SearchOrder& out) const {
    out.met.assign(met_.begin(), met_.end());
    for (const uint32_t vertex : met_) {
      out.met_begins.push_back(static_cast<int64_t>(out.met_before.size()));
      for (size_t at = links_[lists_[vertex].first - 1].next; at != 0; at = links_[at - 1].next)
        out.met_before.push_back(links_[at - 1].before);
    }
    out.met_begins.push_back(static_cast<int64_t>(out.met_before.size()));
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  struct List {
    size_t first, last;  // numbers of links, from 1 on
  };

  struct Link {
    size_t next;
    uint32_t before;
  };

  BudgetedVector<List> lists_;
  BudgetedVector<Link> links_{};
  BudgetedVector<uint32_t> met_{};
};

}  // namespace

SearchOrder queue_bfs(const Csr& rows, std::span<const int64_t> sources, int64_t most,
                      bool all_before) {
  SearchOrder made;
  if (rows.vertices == 0) return made;
  const Pin held = pinned(rows);
  Reached reached(rows.vertices);
  constexpr int64_t kNever = -1;
  BudgetedVector<int64_t> met_at(static_cast<size_t>(rows.vertices), kNever);
  std::optional<ListsBefore> lists;
  if (all_before) lists.emplace(rows.vertices);
  for (const int64_t source : sources) {
    if (met_at[static_cast<size_t>(source)] != kNever) continue;
    met_at[static_cast<size_t>(source)] = 0;
    reached.add(static_cast<uint32_t>(source), static_cast<uint32_t>(source));
    if (lists) lists->begin(static_cast<uint32_t>(source));
  }
  int64_t begin = 0;
  for (int64_t level = 0; begin < reached.count(); ++level) {
    made.levels.push_back(begin);
    const int64_t end = reached.count();
    if (level == most || end == rows.vertices) {
      begin = end;
      break;
    }
    for (; begin < end; ++begin) {
      if (begin % kRowsPerCheck == 0) look_for_interrupt();
      const uint32_t vertex = reached.vertex(begin);
      for (const uint32_t target : rows.row(vertex)) {
        if (met_at[target] == kNever) {
          met_at[target] = level + 1;
          reached.add(target, vertex);
          if (lists) lists->begin(target);
        } else if (!lists || met_at[target] != level + 1) {
          continue;
        }
        if (lists) lists->add(target, vertex);
      }
    }
  }
  made.levels.push_back(begin);
  reached.finish(made);
  if (lists) lists->finish(made);
  return made;
}

SearchOrder queue_dijkstra(const Csr& rows, const Buffer& weights, std::span<const int64_t> sources,
                           const DijkstraOptions& options) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  SearchOrder made;
  if (rows.vertices == 0) return made;
  const Pin held = pinned(rows);
  const Pin held_weights({{&weights, 0, 8 * rows.entries()}});
  const auto count = static_cast<size_t>(rows.vertices);
  const auto* const weight = weights.as<double>();
  BudgetedVector<double> seen(count, kFar);
  BudgetedVector<uint8_t> state(count);  // 1: seen, 2: its distance is final
  BudgetedVector<uint32_t> before(count);
  BudgetedVector<double> distances;
  Reached reached(rows.vertices);
  std::optional<ListsBefore> lists;
  if (options.all_before) lists.emplace(rows.vertices);
  using Item = std::tuple<double, int64_t, uint32_t>;
  std::priority_queue<Item, BudgetedVector<Item>, std::greater<>> fringe;
  int64_t number = 0;
  for (const int64_t source : sources) {
    const auto vertex = static_cast<uint32_t>(source);
    seen[vertex] = 0;
    state[vertex] = 1;
    before[vertex] = vertex;
    if (lists) lists->begin(vertex);
    fringe.emplace(0.0, number++, vertex);
  }
  while (!fringe.empty()) {
    const auto [distance, order, vertex] = fringe.top();
    fringe.pop();
    if (state[vertex] == 2) continue;
    if (reached.count() % kRowsPerCheck == 0) look_for_interrupt();
    state[vertex] = 2;
    reached.add(vertex, before[vertex]);
    distances.push_back(distance);
    if (vertex == options.target) break;
    for (int64_t i = rows.begin(vertex); i < rows.begin(vertex + int64_t{1}); ++i) {
      const uint32_t target = rows.targets.as<uint32_t>()[i];
      const double length = distance + weight[i];
      if (length > options.cutoff) continue;
      if (state[target] == 2 && length < seen[target])
        throw_error<InvalidArgumentError>("dijkstra", "a weight is negative",
                                          {{"weight", weight[i]}}, "use Bellman-Ford");
      if (state[target] == 0 || length < seen[target]) {
        seen[target] = length;
        state[target] = 1;
        before[target] = vertex;
        fringe.emplace(length, number++, target);
        if (!lists) continue;
        lists->begin(target);
        lists->add(target, vertex);
      } else if (lists && length == seen[target]) {
        lists->add(target, vertex);
      }
    }
  }
  reached.finish(made);
  made.distances = Buffer::allocate(8 * made.count);
  if (made.count > 0) {
    std::copy(distances.begin(), distances.end(), made.distances.mutable_as<double>());
    made.distances.seal();
  }
  if (lists) lists->finish(made);
  return made;
}

SearchOrder queue_bellman_ford(const Csr& rows, const Buffer& weights,
                               std::span<const int64_t> sources, bool early) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  SearchOrder made;
  const Pin held = pinned(rows);
  const Pin held_weights({{&weights, 0, 8 * rows.entries()}});
  const auto* const weight = weights.as<double>();
  const auto count = static_cast<size_t>(rows.vertices);
  BudgetedVector<double> distance(count, kFar);
  BudgetedVector<uint8_t> is_waiting(count);
  BudgetedVector<uint32_t> times(count), before(count, kNone);
  BudgetedVector<std::pair<uint32_t, uint32_t>> last_change(count, {kNone, kNone});
  ListsBefore lists(rows.vertices);
  std::deque<uint32_t, allocator<uint32_t>> queue;
  const auto refuse = [] {
    throw_error<InvalidArgumentError>("bellman_ford", "a cycle of negative weight");
  };
  for (const int64_t source : sources) {
    const auto vertex = static_cast<uint32_t>(source);
    distance[vertex] = 0;
    lists.begin(vertex);
    queue.push_back(vertex);
    is_waiting[vertex] = 1;
  }
  for (int64_t step = 0; !queue.empty(); ++step) {
    if (step % kRowsPerCheck == 0) look_for_interrupt();
    const uint32_t vertex = queue.front();
    queue.pop_front();
    is_waiting[vertex] = 0;
    if (lists.any(vertex, [&](uint32_t each) { return is_waiting[each] != 0; })) continue;
    for (int64_t i = rows.begin(vertex); i < rows.begin(vertex + int64_t{1}); ++i) {
      const uint32_t target = rows.targets.as<uint32_t>()[i];
      const double length = distance[vertex] + weight[i];
      if (length < distance[target]) {
        if (early) {
          const auto [from, to] = last_change[vertex];
          if (target == from || target == to) refuse();
          last_change[target] =
              before[target] == vertex ? last_change[vertex] : std::pair(vertex, target);
        }
        if (!is_waiting[target]) {
          queue.push_back(target);
          is_waiting[target] = 1;
          if (++times[target] == rows.vertices) refuse();
        }
        distance[target] = length;
        before[target] = vertex;
        lists.begin(target);
        lists.add(target, vertex);
      } else if (length == distance[target] && length < kFar) {
        lists.add(target, vertex);
      }
    }
  }
  lists.finish(made);
  made.count = static_cast<int64_t>(made.met.size());
  made.distances = Buffer::allocate(8 * made.count);
  for (int64_t i = 0; i < made.count; ++i)
    made.distances.mutable_as<double>()[i] = distance[made.met[static_cast<size_t>(i)]];
  made.distances.seal();
  return made;
}

namespace {

constexpr uint32_t kUnmet = std::numeric_limits<uint32_t>::max();

/// From `middle` back to where a side began: each vertex has the one before, which has itself.
std::vector<uint32_t> traced(const BudgetedVector<uint32_t>& before, uint32_t middle) {
  std::vector<uint32_t> made{middle};
  while (before[made.back()] != made.back()) made.push_back(before[made.back()]);
  return made;
}

std::vector<uint32_t> joined(const std::array<BudgetedVector<uint32_t>, 2>& before,
                             uint32_t middle) {
  std::vector<uint32_t> made = traced(before[0], middle);
  std::reverse(made.begin(), made.end());
  const std::vector<uint32_t> rest = traced(before[1], middle);
  made.insert(made.end(), rest.begin() + 1, rest.end());
  return made;
}

std::array<BudgetedVector<uint32_t>, 2> both_sides(int64_t vertices, int64_t source,
                                                   int64_t target) {
  const auto count = static_cast<size_t>(vertices);
  std::array<BudgetedVector<uint32_t>, 2> made{BudgetedVector<uint32_t>(count, kUnmet),
                                               BudgetedVector<uint32_t>(count, kUnmet)};
  made[0][static_cast<size_t>(source)] = static_cast<uint32_t>(source);
  made[1][static_cast<size_t>(target)] = static_cast<uint32_t>(target);
  return made;
}

}  // namespace

std::vector<uint32_t> path_between(const Csr& rows, const Csr& backward, int64_t source,
                                   int64_t target) {
  const std::array<const Csr*, 2> sides{&rows, &backward};
  const Pin held = pinned(rows), held_backward = pinned(backward);
  auto before = both_sides(rows.vertices, source, target);
  if (source == target) return joined(before, static_cast<uint32_t>(source));
  std::array<BudgetedVector<uint32_t>, 2> fringes;
  fringes[0].push_back(static_cast<uint32_t>(source));
  fringes[1].push_back(static_cast<uint32_t>(target));
  while (!fringes[0].empty() && !fringes[1].empty()) {
    look_for_interrupt();
    const size_t side = fringes[0].size() <= fringes[1].size() ? 0 : 1;
    const BudgetedVector<uint32_t> level = std::exchange(fringes[side], {});
    for (const uint32_t vertex : level)
      for (const uint32_t next : sides[side]->row(vertex)) {
        if (before[side][next] == kUnmet) {
          before[side][next] = vertex;
          fringes[side].push_back(next);
        }
        if (before[1 - side][next] != kUnmet) return joined(before, next);
      }
  }
  return {};
}

WeighedPath weighed_path_between(const Csr& rows, const Buffer& weights, const Csr& backward,
                                 const Buffer& backward_weights, int64_t source, int64_t target) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const std::array<const Csr*, 2> sides{&rows, &backward};
  const std::array<const double*, 2> weight{weights.as<double>(), backward_weights.as<double>()};
  const Pin held = pinned(rows), held_backward = pinned(backward);
  const Pin held_weights(
      {{&weights, 0, 8 * rows.entries()}, {&backward_weights, 0, 8 * backward.entries()}});
  auto before = both_sides(rows.vertices, source, target);
  if (source == target) return {joined(before, static_cast<uint32_t>(source)), 0};
  const auto count = static_cast<size_t>(rows.vertices);
  const BudgetedVector<double> far(count, kFar);
  std::array<BudgetedVector<double>, 2> seen{far, far};
  std::array<BudgetedVector<uint8_t>, 2> is_final{BudgetedVector<uint8_t>(count),
                                                  BudgetedVector<uint8_t>(count)};
  using Item = std::tuple<double, int64_t, uint32_t>;
  std::array<std::priority_queue<Item, BudgetedVector<Item>, std::greater<>>, 2> fringes;
  int64_t number = 0;
  for (const size_t side : {0, 1}) {
    const auto end = static_cast<uint32_t>(side == 0 ? source : target);
    seen[side][end] = 0;
    fringes[side].emplace(0.0, number++, end);
  }
  WeighedPath best{{}, kFar};
  uint32_t middle = kUnmet;
  for (size_t side = 1; !fringes[0].empty() && !fringes[1].empty();) {
    side = 1 - side;
    if (number % kRowsPerCheck == 0) look_for_interrupt();
    const auto [distance, order, vertex] = fringes[side].top();
    fringes[side].pop();
    if (is_final[side][vertex]) continue;
    is_final[side][vertex] = 1;
    if (is_final[1 - side][vertex]) {
      best.vertices = joined(before, middle);
      return best;
    }
    const Csr& own = *sides[side];
    for (int64_t i = own.begin(vertex); i < own.begin(vertex + int64_t{1}); ++i) {
      const uint32_t next = own.targets.as<uint32_t>()[i];
      const double length = distance + weight[side][i];
      if (is_final[side][next] && length < seen[side][next])
        throw_error<InvalidArgumentError>("dijkstra", "a weight is negative",
                                          {{"weight", weight[side][i]}}, "use Bellman-Ford");
      if (length >= seen[side][next]) continue;
      seen[side][next] = length;
      before[side][next] = vertex;
      fringes[side].emplace(length, number++, next);
      if (const double whole = length + seen[1 - side][next]; whole < best.length) {
        best.length = whole;
        middle = next;
      }
    }
  }
  return {};
}

Buffer ordered_weights(const Graph& graph, const Csr& rows, const Column& weights) {
  const Csr& sorted = graph.out();
  const Buffer of_sorted = entry_weights("networkx", sorted, weights, WeightRule::kAny);
  Buffer made = Buffer::allocate_temporary(8 * rows.entries());
  if (rows.entries() == 0) return made;
  auto* const out = made.mutable_as<double>();
  const auto* const from = of_sorted.as<double>();
  parallel_rows(rows, [&](Morsel piece) {
    const Pin pin({{&sorted.offsets, 8 * piece.begin, 8 * piece.end + 8},
                   {&sorted.targets, 4 * sorted.begin(piece.begin), 4 * sorted.begin(piece.end)},
                   {&of_sorted, 8 * sorted.begin(piece.begin), 8 * sorted.begin(piece.end)},
                   {&made, 8 * rows.begin(piece.begin), 8 * rows.begin(piece.end), true}});
    BudgetedVector<uint32_t> places;
    for (int64_t v = piece.begin; v < piece.end; ++v) {
      const std::span<const uint32_t> row = rows.row(v), same = sorted.row(v);
      places.resize(row.size());
      std::iota(places.begin(), places.end(), uint32_t{0});
      std::sort(places.begin(), places.end(),
                [&](uint32_t a, uint32_t b) { return row[a] < row[b]; });
      size_t at = 0;
      for (const uint32_t place : places) {
        double least = std::numeric_limits<double>::infinity();
        for (; at < same.size() && same[at] == row[place]; ++at)
          least = std::min(least, from[sorted.begin(v) + static_cast<int64_t>(at)]);
        out[rows.begin(v) + place] = least;
      }
    }
  });
  made.seal();
  return made;
}

}  // namespace hr
