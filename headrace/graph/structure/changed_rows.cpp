// SPDX-License-Identifier: Apache-2.0
// Base and delta in one pass: pieces of rows count what they become, then are written side by side.
#include "headrace/graph/structure/changed_rows.h"

#include <algorithm>
#include <limits>
#include <span>

namespace hr {

namespace {

constexpr uint32_t kGone = std::numeric_limits<uint32_t>::max();

template <class T>
int64_t count_below(const std::vector<T>& sorted, T value) {
  return std::ranges::lower_bound(sorted, value) - sorted.begin();
}

// The entries of `row` in a list that is sorted by row.
std::span<const ChangedEntry> entries_of(const std::vector<ChangedEntry>& sorted, uint32_t row) {
  const auto [begin, end] = std::ranges::equal_range(sorted, row, {}, &ChangedEntry::row);
  return {begin, end};
}

// Vertices' numbers afterwards, kGone for those that left; empty where none changes.
BudgetedVector<uint32_t> numbers_of(const VertexChanges& vertices) {
  BudgetedVector<uint32_t> made;
  if (vertices.none()) return made;
  made.resize(static_cast<size_t>(vertices.before));
  parallel_morsels(vertices.before, [&](Morsel morsel) {
    auto at = static_cast<uint32_t>(morsel.begin);
    auto left = static_cast<size_t>(count_below(vertices.removed, at));
    auto came = static_cast<size_t>(count_below(vertices.places, at));
    for (; at < static_cast<uint64_t>(morsel.end); ++at) {
      while (came < vertices.places.size() && vertices.places[came] <= at) ++came;
      const bool is_gone = left < vertices.removed.size() && vertices.removed[left] == at;
      made[at] = is_gone ? kGone : at - static_cast<uint32_t>(left) + static_cast<uint32_t>(came);
      left += is_gone;
    }
  });
  return made;
}

class Changing {
 public:
  Changing(const Csr& csr, const int64_t* edge_rows, const VertexChanges& vertices,
           const std::vector<ChangedEntry>& removed, const std::vector<ChangedEntry>& added,
           Repeated repeated)
      : rows_(csr),
        edges_(csr.edges ? csr.edges.as<uint32_t>() : nullptr),
        edge_rows_(edge_rows),
        vertices_(vertices),
        numbers_(numbers_of(vertices)),
        removed_(removed),
        added_(added),
        repeated_(repeated),
        is_changed_(static_cast<size_t>(vertices.after())) {
    for (const auto* list : {&removed, &added})
      for (const ChangedEntry& each : *list) is_changed_[each.row] = 1;
  }

  // Calls `row(after, before)` for the vertices that piece [first, last) becomes, -1 for further
  // ones, and `gone(before)` for those that leave.
  template <class Row, class Gone>
  void each_row(int64_t first, int64_t last, Row&& row, Gone&& gone) const {
    const std::vector<uint32_t>& places = vertices_.places;
    int64_t after = vertices_.first_at(first);
    auto came = static_cast<size_t>(count_below(places, static_cast<uint32_t>(first)));
    for (int64_t before = first; before < last; ++before) {
      for (; came < places.size() && places[came] <= before; ++came) row(after++, int64_t{-1});
      if (number(before) == kGone)
        gone(before);
      else
        row(after++, before);
    }
    if (last == vertices_.before)
      for (; came < places.size(); ++came) row(after++, int64_t{-1});
  }

  bool is_copied(int64_t after) const {
    return numbers_.empty() && !is_changed_[static_cast<size_t>(after)];
  }

  // Calls `put(target, row of its edge)` for the entries of a vertex afterwards.
  template <class Put>
  void merge(int64_t after, int64_t before, Put&& put) const {
    const std::span<const uint32_t> row = before < 0 ? std::span<const uint32_t>() : rows_[before];
    const int64_t begin = before < 0 ? 0 : rows_.offsets[before];
    const auto own = static_cast<uint32_t>(after);
    const auto removed = entries_of(removed_, own), added = entries_of(added_, own);
    auto left = removed.begin();
    auto came = added.begin();
    for (size_t i = 0;;) {
      uint32_t target = kGone;
      for (; i < row.size(); ++i) {
        target = number(row[i]);
        if (target == kGone) continue;
        while (left != removed.end() && left->target < target) ++left;
        if (left == removed.end() || left->target != target) break;
      }
      if (i == row.size()) target = kGone;
      if (target == kGone && came == added.end()) return;
      const bool comes = came != added.end() && came->target <= target;
      if (target != kGone && !(comes && came->target < target)) {
        const bool is_replaced = comes && repeated_ == Repeated::kLast;
        if (!is_replaced) put(target, edge_row(begin + static_cast<int64_t>(i)));
        ++i;
        if (!comes || repeated_ == Repeated::kAll) continue;
      }
      came = put_run(came, added.end(), target, put);
    }
  }

  // The row of an entry's edge.
  uint32_t edge_row(int64_t entry) const {
    if (!edges_) return 0;
    const uint32_t edge = edges_[entry];
    return edge_rows_ ? static_cast<uint32_t>(edge_rows_[edge]) : edge;
  }

  void copy_edges(int64_t before, uint32_t* out) const {
    const int64_t begin = rows_.offsets[before], end = rows_.offsets[before + 1];
    if (!edge_rows_)
      std::copy(edges_ + begin, edges_ + end, out);
    else
      for (int64_t at = begin; at < end; ++at) *out++ = edge_row(at);
  }

  int64_t loops_of(int64_t before) const {
    const auto found = std::ranges::equal_range(rows_[before], static_cast<uint32_t>(before));
    return std::ssize(found);
  }

  const CsrRows& rows() const { return rows_; }

 private:
  using Place = std::span<const ChangedEntry>::iterator;

  uint32_t number(int64_t before) const {
    return numbers_.empty() ? static_cast<uint32_t>(before) : numbers_[static_cast<size_t>(before)];
  }

  // Further entries of one target; `there`: the target that has an entry already, if it is this.
  template <class Put>
  Place put_run(Place begin, Place end, uint32_t there, Put&& put) const {
    const uint32_t target = begin->target;
    const Place last = std::find_if(begin, end, [&](const auto& e) { return e.target != target; });
    if (repeated_ == Repeated::kAll)
      for (Place at = begin; at != last; ++at) put(target, at->edge);
    else if (repeated_ == Repeated::kLast)
      put(target, std::prev(last)->edge);
    else if (target != there)
      put(target, begin->edge);
    return last;
  }

  CsrRows rows_;
  const uint32_t* edges_;
  const int64_t* edge_rows_;
  const VertexChanges& vertices_;
  BudgetedVector<uint32_t> numbers_;
  const std::vector<ChangedEntry>& removed_;
  const std::vector<ChangedEntry>& added_;
  Repeated repeated_;
  BudgetedVector<uint8_t> is_changed_;  // vertices afterwards
};

// Runs `body(piece, first, last)` over pieces of the rows as they were, with these in memory.
template <class F>
void over_pieces(const Csr& csr, F&& body) {
  const int64_t pieces = std::max<int64_t>(num_pieces(csr), 1);
  parallel_for(pieces, [&](int64_t piece) {
    const int64_t first = first_vertex(csr, piece, pieces);
    const int64_t last = first_vertex(csr, piece + 1, pieces);
    std::vector<PinnedRange> held{{&csr.offsets, 8 * first, 8 * last + 8}};
    for (const Buffer* each : {&csr.targets, &csr.edges})
      if (*each && csr.begin(last) > csr.begin(first))
        held.push_back({each, 4 * csr.begin(first), 4 * csr.begin(last)});
    const Pin pin(held);
    body(static_cast<size_t>(piece), first, last);
  });
}

}  // namespace

int64_t VertexChanges::first_at(int64_t vertex) const {
  const auto at = static_cast<uint32_t>(vertex);
  return vertex - count_below(removed, at) + count_below(places, at);
}

uint32_t VertexChanges::number(uint32_t vertex) const {
  return vertex - static_cast<uint32_t>(count_below(removed, vertex)) +
         static_cast<uint32_t>(std::ranges::upper_bound(places, vertex) - places.begin());
}

uint32_t VertexChanges::number_of_further(size_t i) const {
  return places[i] - static_cast<uint32_t>(count_below(removed, places[i])) +
         static_cast<uint32_t>(i);
}

ChangedRows changed_rows(const Csr& csr, int64_t self_loops, const int64_t* edge_rows,
                         const VertexChanges& vertices, const std::vector<ChangedEntry>& removed,
                         const std::vector<ChangedEntry>& added, Repeated repeated) {
  const Changing changing(csr, edge_rows, vertices, removed, added, repeated);
  const auto pieces = static_cast<size_t>(std::max<int64_t>(num_pieces(csr), 1));
  std::vector<int64_t> begins(pieces + 1), loops(pieces);
  over_pieces(csr, [&](size_t piece, int64_t first, int64_t last) {
    int64_t count = csr.begin(last) - csr.begin(first);  // of rows that are copied, as they were
    changing.each_row(
        first, last,
        [&](int64_t after, int64_t before) {
          if (before >= 0 && changing.is_copied(after)) return;
          if (before >= 0) {
            count -= changing.rows().degree(before);
            loops[piece] -= changing.loops_of(before);
          }
          changing.merge(after, before, [&](uint32_t target, uint32_t) {
            ++count;
            loops[piece] += target == static_cast<uint64_t>(after);
          });
        },
        [&](int64_t before) {
          count -= changing.rows().degree(before);
          loops[piece] -= changing.loops_of(before);
        });
    begins[piece + 1] = count;
  });
  for (size_t i = 0; i < pieces; ++i) {
    begins[i + 1] += begins[i];
    self_loops += loops[i];
  }
  const int64_t entries = begins[pieces], count = vertices.after();
  Csr made{count, Buffer::allocate_spillable(8 * (count + 1)),
           Buffer::allocate_spillable(4 * entries),
           csr.edges ? Buffer::allocate_spillable(4 * entries) : Buffer()};
  auto* const offsets = made.offsets.mutable_as<int64_t>();
  auto* const targets = entries ? made.targets.mutable_as<uint32_t>() : nullptr;
  auto* const edges = csr.edges && entries ? made.edges.mutable_as<uint32_t>() : nullptr;
  over_pieces(csr, [&](size_t piece, int64_t first, int64_t last) {
    const int64_t begin = vertices.first_at(first);
    const int64_t end = last == vertices.before ? count : vertices.first_at(last);
    std::vector<PinnedRange> held{{&made.offsets, 8 * begin, 8 * end, true}};
    if (begins[piece + 1] > begins[piece])
      for (const Buffer* each : {&made.targets, &made.edges})
        if (*each) held.push_back({each, 4 * begins[piece], 4 * begins[piece + 1], true});
    const Pin pin(held);
    int64_t at = begins[piece];
    changing.each_row(
        first, last,
        [&](int64_t after, int64_t before) {
          offsets[after] = at;
          if (before < 0 || !changing.is_copied(after)) {
            changing.merge(after, before, [&](uint32_t target, uint32_t edge) {
              targets[at] = target;
              if (edges) edges[at] = edge;
              ++at;
            });
            return;
          }
          const std::span<const uint32_t> row = changing.rows()[before];
          std::ranges::copy(row, targets + at);
          if (edges) changing.copy_edges(before, edges + at);
          at += std::ssize(row);
        },
        [](int64_t) {});
  });
  {
    const Pin pin({{&made.offsets, 8 * count, 8 * count + 8, true}});
    offsets[count] = entries;
  }
  for (const Buffer* each : {&made.offsets, &made.targets, &made.edges})
    if (*each) each->seal();
  return {std::move(made), self_loops};
}

}  // namespace hr
