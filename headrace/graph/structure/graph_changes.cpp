// SPDX-License-Identifier: Apache-2.0
// The last word on each vertex and on each pair decides: what was said before is not done at all.
#include "headrace/graph/structure/graph_changes.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/gather.h"
#include "headrace/base/error.h"
#include "headrace/graph/structure/graph.h"
#include "headrace/graph/structure/number_vertices.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kNever = -2, kBefore = -1;  // steps before the first change

// Vertices that changes name: where they are in the graph, and when they were last said and
// removed.
struct Named {
  std::vector<Column> ids{};
  std::vector<int64_t> found{};   // numbers in the graph, -1: none
  std::vector<int64_t> places{};  // how many of the graph's ids are below
  std::vector<int64_t> said{};
  std::vector<int64_t> gone{};
  std::vector<uint32_t> after{};  // numbers afterwards of those that are there

  bool is_there(size_t i) const { return said[i] > gone[i]; }
};

uint64_t pair_of(uint32_t a, uint32_t b, bool directed) {
  if (!directed && a > b) std::swap(a, b);
  return uint64_t{a} << 32 | b;
}

// When the edges of each pair were last removed; ascending.
class Removals {
 public:
  void add(uint64_t pair, int64_t step) { last_.emplace_back(pair, step); }

  void finish() { std::ranges::sort(last_); }

  int64_t step_of(uint64_t pair) const {
    const auto end =
        std::ranges::upper_bound(last_, pair, {}, &std::pair<uint64_t, int64_t>::first);
    return end != last_.begin() && std::prev(end)->first == pair ? std::prev(end)->second : kNever;
  }

  const std::vector<std::pair<uint64_t, int64_t>>& all() const { return last_; }

 private:
  std::vector<std::pair<uint64_t, int64_t>> last_{};
};

template <class T>
std::vector<T> values_of(const Column& column) {
  const std::span<const T> values = column.values<T>();
  return {values.begin(), values.end()};
}

// The vertices that stay, leave and come; gives the named ones their numbers afterwards.
VertexChanges vertex_changes(Named& named, int64_t before) {
  VertexChanges made{before, {}, {}};
  std::vector<size_t> further;
  for (size_t i = 0; i < named.found.size(); ++i) {
    const bool stays = named.found[i] >= 0 && named.gone[i] == kNever;
    if (named.found[i] >= 0 && !stays)
      made.removed.push_back(static_cast<uint32_t>(named.found[i]));
    if (stays || !named.is_there(i)) continue;
    made.places.push_back(static_cast<uint32_t>(named.places[i]));
    further.push_back(i);
  }
  named.after.resize(named.found.size());
  for (size_t i = 0; i < named.found.size(); ++i)
    if (named.found[i] >= 0 && named.gone[i] == kNever)
      named.after[i] = made.number(static_cast<uint32_t>(named.found[i]));
  for (size_t i = 0; i < further.size(); ++i) named.after[further[i]] = made.number_of_further(i);
  return made;
}

std::vector<Column> ids_after(std::string_view op, const std::vector<Column>& ids,
                              const Named& named, const VertexChanges& vertices) {
  if (vertices.none()) return ids;
  const int64_t before = vertices.before, after = vertices.after();
  Buffer order = Buffer::allocate(8 * after);
  auto* const out = after ? order.mutable_as<int64_t>() : nullptr;
  size_t left = 0;
  for (int64_t v = 0, came = 0, at = 0; at < after || v < before;) {
    if (came < std::ssize(vertices.places) && vertices.places[static_cast<size_t>(came)] <= v) {
      ++at, ++came;  // below
    } else if (left < vertices.removed.size() && vertices.removed[left] == v) {
      ++left, ++v;
    } else {
      out[at++] = v++;
    }
  }
  for (size_t i = 0; i < named.found.size(); ++i)
    if (named.is_there(i) && (named.found[i] < 0 || named.gone[i] != kNever))
      out[named.after[i]] = before + static_cast<int64_t>(i);
  order.seal();
  const Tensor positions(TypeId::kInt64, {after}, order);
  std::vector<Column> made;
  for (size_t key = 0; key < ids.size(); ++key) {
    const std::vector<Column> chunks{ids[key], named.ids[key]};
    made.push_back(gather(concatenate(op, ids[key].dtype(), chunks), positions));
  }
  return made;
}

void add_both_ways(std::vector<ChangedEntry>& entries, ChangedEntry entry, bool directed) {
  entries.push_back(entry);
  if (!directed && entry.row != entry.target)
    entries.push_back({entry.target, entry.row, entry.edge});
}

void sort_entries(std::vector<ChangedEntry>& entries) {
  std::ranges::sort(entries, {},
                    [](const ChangedEntry& e) { return std::tuple(e.row, e.target, e.edge); });
}

}  // namespace

GraphChanges graph_changes(std::string_view op, const std::vector<Column>& ids, bool directed,
                           int64_t edges, const Column& kinds, const std::vector<Column>& first,
                           const std::vector<Column>& second) {
  NumberedVertices numbered = number_vertices(op, {first, second});
  const auto count = static_cast<size_t>(numbered.count);
  Named named{std::move(numbered.ids), {}, {}, {}, std::vector<int64_t>(count, kNever), {}};
  named.found = values_of<int64_t>(find_vertices(ids, named.ids));
  named.places = values_of<int64_t>(count_below(ids, named.ids));
  for (const int64_t found : named.found) named.said.push_back(found < 0 ? kNever : kBefore);
  const auto* const u = numbered.numbers[0].as<uint32_t>();
  const auto* const v = numbered.numbers[1].as<uint32_t>();
  const std::span<const uint8_t> steps = kinds.values<uint8_t>();
  const auto kind = [&](size_t i) { return static_cast<GraphChange>(steps[i]); };
  Removals removals;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto step = static_cast<int64_t>(i);
    if (kind(i) == GraphChange::kRemoveEdges)
      removals.add(pair_of(u[i], v[i], directed), step);
    else if (kind(i) == GraphChange::kRemoveVertex)
      named.gone[u[i]] = step;
    else
      named.said[u[i]] = named.said[v[i]] = step;
  }
  removals.finish();
  GraphChanges made;
  made.vertices = vertex_changes(named, ids[0].num_rows());
  if (made.vertices.after() > std::numeric_limits<uint32_t>::max() - 1)
    throw_error<UnsupportedError>(op, "more than 2^32 - 1 vertices",
                                  {{"vertices", made.vertices.after()}});
  for (size_t i = 0; i < steps.size(); ++i) {
    if (kind(i) != GraphChange::kAddEdge) continue;
    const int64_t row = edges + made.further_edges++;
    if (row >= std::numeric_limits<uint32_t>::max())
      throw_error<UnsupportedError>(op, "more than 2^32 - 1 edges", {{"edges", row}});
    const int64_t last = std::max(
        {named.gone[u[i]], named.gone[v[i]], removals.step_of(pair_of(u[i], v[i], directed))});
    if (static_cast<int64_t>(i) < last) continue;
    add_both_ways(made.added, {named.after[u[i]], named.after[v[i]], static_cast<uint32_t>(row)},
                  directed);
  }
  const auto stays = [&](uint32_t i) { return named.found[i] >= 0 && named.gone[i] == kNever; };
  for (const auto& [pair, step] : removals.all()) {
    const auto a = static_cast<uint32_t>(pair >> 32), b = static_cast<uint32_t>(pair);
    if (stays(a) && stays(b))
      add_both_ways(made.removed, {named.after[a], named.after[b], 0}, directed);
  }
  sort_entries(made.added);
  sort_entries(made.removed);
  made.ids = ids_after(op, ids, named, made.vertices);
  return made;
}

}  // namespace hr
