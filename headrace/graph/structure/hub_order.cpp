// SPDX-License-Identifier: Apache-2.0
// Vertices by the power of two of how often they are named.
#include "headrace/graph/structure/hub_order.h"

#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace hr {

namespace {

constexpr size_t kClasses = 65;
// Values of fewer vertices are in the nearest caches anyhow.
constexpr int64_t kFewVertices = int64_t{1} << 13;
// Hubs that have half of the entries must be fewer than one of this many vertices.
constexpr int64_t kHubs = 8;
// It is not worth more than this part of the limit.
constexpr int64_t kShareOfLimit = 8;

using Counts = std::array<int64_t, kClasses>;

size_t class_of(int64_t degree) {
  return kClasses - 1 - static_cast<size_t>(std::bit_width(static_cast<uint64_t>(degree)));
}

struct Classes {
  std::vector<Counts> vertices;  // of each morsel
  Counts entries{};
};

Classes count_classes(const Csr& named) {
  const CsrRows rows(named);
  Classes made{std::vector<Counts>(static_cast<size_t>(num_morsels(named.vertices)), Counts{})};
  std::vector<Counts> entries = made.vertices;
  parallel_morsels(named.vertices, {{&named.offsets, 0, 64, 64, named.vertices + 1, 0, 1}},
                   [&](Morsel morsel) {
                     const auto index = static_cast<size_t>(morsel.index);
                     for (int64_t v = morsel.begin; v < morsel.end; ++v) {
                       const int64_t degree = rows.degree(v);
                       ++made.vertices[index][class_of(degree)];
                       entries[index][class_of(degree)] += degree;
                     }
                   });
  for (const Counts& each : entries)
    for (size_t c = 0; c < kClasses; ++c) made.entries[c] += each[c];
  return made;
}

bool has_hubs(const Classes& classes, const Csr& rows) {
  int64_t vertices = 0, entries = 0;
  for (size_t c = 0; 2 * entries < rows.entries(); ++c) {
    for (const Counts& each : classes.vertices) vertices += each[c];
    entries += classes.entries[c];
  }
  return vertices < rows.vertices / kHubs;
}

}  // namespace

HubOrder hub_order(const Csr& rows, const Csr& named) {
  const int64_t vertices = rows.vertices, entries = rows.entries();
  if (vertices < kFewVertices || 4 * entries > memory_limit() / kShareOfLimit) return {};
  Classes classes = count_classes(named);
  if (!has_hubs(classes, rows)) return {};
  int64_t place = 0;
  for (size_t c = 0; c < kClasses; ++c)
    for (Counts& each : classes.vertices) place += std::exchange(each[c], place);
  HubOrder made{Buffer::allocate(4 * vertices), Buffer::allocate_spillable(4 * entries)};
  auto* const places = made.places.mutable_as<uint32_t>();
  const CsrRows of_named(named);
  parallel_morsels(vertices, {{&named.offsets, 0, 64, 64, vertices + 1, 0, 1}}, [&](Morsel morsel) {
    Counts& next = classes.vertices[static_cast<size_t>(morsel.index)];
    for (int64_t v = morsel.begin; v < morsel.end; ++v)
      places[v] = static_cast<uint32_t>(next[class_of(of_named.degree(v))]++);
  });
  const auto* const targets = rows.targets.as<uint32_t>();
  auto* const out = made.targets.mutable_as<uint32_t>();
  parallel_morsels(
      entries,
      {{&rows.targets, 0, 32, 32, entries}, {&made.targets, 0, 32, 32, entries, 0, 0, true}},
      [&](Morsel morsel) {
        for (int64_t i = morsel.begin; i < morsel.end; ++i) out[i] = places[targets[i]];
      });
  made.targets.seal();
  return made;
}

}  // namespace hr
