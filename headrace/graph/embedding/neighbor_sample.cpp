// SPDX-License-Identifier: Apache-2.0
// Hop by hop: draws side by side, then new vertices numbered in the order of the draws.
#include "headrace/graph/embedding/neighbor_sample.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/embedding/neighbor_sample_kernels.h"
#include "headrace/graph/embedding/neighbor_sample_math.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 7;  // vertices of a task
constexpr int64_t kFew = 64;       // draws that are looked through for one that repeats
constexpr uint32_t kNone = ~uint32_t{0};

using Numbers = BudgetedVector<int64_t>;

// Vertices and the places at which they were found: open addressing.
class Places {
 public:
  // Room for that many vertices in all.
  void reserve(size_t count) {
    const size_t slots = std::bit_ceil(std::max<size_t>(2 * count, 16));
    if (slots <= keys_.size()) return;
    const BudgetedVector<uint32_t> keys = std::move(keys_), places = std::move(places_);
    keys_.assign(slots, kNone);
    places_.assign(slots, 0);
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] != kNone) insert(keys[i], places[i]);
  }

  // The place of the vertex, which is `place` if it is new.
  uint32_t insert(uint32_t vertex, uint32_t place) {
    const size_t mask = keys_.size() - 1;
    for (size_t slot = (vertex * 0x9E3779B97F4A7C15u >> 32) & mask;; slot = (slot + 1) & mask) {
      if (keys_[slot] == vertex) return places_[slot];
      if (keys_[slot] != kNone) continue;
      keys_[slot] = vertex;
      return places_[slot] = place;
    }
  }

 private:
  BudgetedVector<uint32_t> keys_{};
  BudgetedVector<uint32_t> places_{};
};

class Sampling {
 public:
  Sampling(const Graph& graph, const SampleOptions& options)
      : csr_(graph.in()), options_(options) {}

  NeighborSample run(std::span<const int64_t> seeds) {
    NeighborSample made;
    places_.reserve(seeds.size());
    for (const int64_t v : seeds) {
      const auto next = static_cast<int64_t>(nodes_.size());
      if (find(static_cast<uint32_t>(v)) != next)
        throw_error<InvalidArgumentError>("neighbor_sample", "a seed repeats",
                                          {{"row of nodes", v}});
    }
    made.num_nodes.push_back(static_cast<int64_t>(nodes_.size()));
    size_t first = 0;
    for (size_t hop = 0; hop < options_.fanout.size(); ++hop) {
      look_for_interrupt();
      const size_t last = nodes_.size(), edges = rows_.size();
      expand(first, last, hop);
      first = last;
      made.num_nodes.push_back(static_cast<int64_t>(nodes_.size() - last));
      made.num_edges.push_back(static_cast<int64_t>(rows_.size() - edges));
    }
    made.row = tensor_of(rows_);
    made.col = tensor_of(columns_);
    made.node = tensor_of(nodes_);
    if (csr_.edges || csr_.entries() == 0) made.edge = tensor_of(edges_);
    return made;
  }

 private:
  int64_t find(uint32_t vertex) {
    const auto next = static_cast<uint32_t>(nodes_.size());
    const uint32_t place = places_.insert(vertex, next);
    if (place == next) nodes_.push_back(vertex);
    return place;
  }

  void expand(size_t first, size_t last, size_t hop) {
    const int64_t fanout = options_.fanout[hop];
    const auto count = static_cast<int64_t>(last - first);
    Numbers begins(static_cast<size_t>(count) + 1);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i)
      begins[i + 1] =
          begins[i] + num_drawn(csr_.degree(nodes_[first + i]), fanout, options_.replace);
    Numbers entries(static_cast<size_t>(begins.back()));
    parallel_morsels(count, kStep, {}, [&](Morsel morsel) {
      for (auto i = static_cast<size_t>(morsel.begin); i < static_cast<size_t>(morsel.end); ++i)
        draw(nodes_[first + i], static_cast<uint32_t>(hop), fanout < 0,
             {entries.data() + begins[i], entries.data() + begins[i + 1]});
    });
    places_.reserve(nodes_.size() + entries.size());
    const auto* const targets = csr_.targets.as<uint32_t>();
    for (size_t i = 0; i < static_cast<size_t>(count); ++i)
      for (int64_t j = begins[i]; j < begins[i + 1]; ++j) {
        const int64_t entry = entries[static_cast<size_t>(j)];
        rows_.push_back(find(targets[entry]));
        columns_.push_back(static_cast<int64_t>(first + i));
        if (csr_.edges) edges_.push_back(csr_.edges.as<uint32_t>()[entry]);
      }
  }

  // The entries of a vertex that are taken.
  void draw(int64_t vertex, uint32_t hop, bool all, std::span<int64_t> out) const {
    const int64_t begin = csr_.begin(vertex), degree = csr_.degree(vertex);
    const auto count = static_cast<int64_t>(out.size());
    if (all || (!options_.replace && count == degree)) {
      for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = begin + i;
      return;
    }
    std::unordered_set<int64_t> many;  // of those drawn, where they are many
    draw_entries({options_.seed, hop}, vertex, degree, count, options_.replace, out.data(),
                 [&](int64_t i, int64_t place) {
                   const auto before = out.first(static_cast<size_t>(i));
                   if (count <= kFew) return std::ranges::find(before, place) != before.end();
                   if (i > 0) many.insert(before.back());
                   return many.contains(place);
                 });
    for (int64_t& entry : out) entry += begin;
  }

  static Tensor tensor_of(const Numbers& values) {
    const auto count = static_cast<int64_t>(values.size());
    Buffer made = Buffer::allocate(8 * count);
    std::copy(values.begin(), values.end(), made.mutable_as<int64_t>());
    made.seal();
    return Tensor(TypeId::kInt64, {count}, std::move(made));
  }

  Csr csr_;
  const SampleOptions& options_;
  Places places_{};
  Numbers nodes_{}, rows_{}, columns_{}, edges_{};
};

}  // namespace

NeighborSample neighbor_sample(const Graph& graph, const Column& seeds,
                               const SampleOptions& options) {
  for (const int64_t fanout : options.fanout)
    if (fanout < -1)
      throw_error<InvalidArgumentError>("neighbor_sample", "a negative number of neighbours",
                                        {{"fanout", fanout}}, "-1 takes all");
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::neighbor_sample(graph, seeds, options);
  return Sampling(graph, options).run(seeds.values<int64_t>());
}

}  // namespace hr
