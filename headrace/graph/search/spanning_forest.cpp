// SPDX-License-Identifier: Apache-2.0
// Rounds of lightest edges; edges within a component drop out. Weight and number of an edge are one
// key.
#include "headrace/graph/search/spanning_forest.h"

#include "headrace/algo/select/compact_offsets.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/zeroed.h"
#include "headrace/graph/structure/edge_ends.h"
#include "headrace/graph/structure/entry_weights.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace hr {

namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// A float in an unsigned order.
uint32_t code_of(float weight) {
  const auto bits = std::bit_cast<uint32_t>(weight);
  return bits >> 31 != 0 ? ~bits : bits | 1u << 31;
}

/// Keys of edges in the order of weights, then of numbers: the weight as a float above the number.
class Keys {
 public:
  Keys(const std::optional<Column>& weights, int64_t edges, bool maximum)
      : codes_(Buffer::allocate(4 * edges)), sign_(maximum ? -1 : 1) {
    auto* const made = codes_.mutable_as<uint32_t>();
    if (weights) weights_ = weights->values<double>();
    std::atomic<bool> fit = true;
    parallel_morsels(edges, [&](Morsel morsel) {
      bool all = true;
      for (int64_t i = morsel.begin; i < morsel.end; ++i) {
        const double weight = weights_.empty() ? 0 : weights_[static_cast<size_t>(i)];
        const auto narrow = static_cast<float>(weight);
        all = all && static_cast<double>(narrow) == weight;
        made[i] = code_of((maximum ? -narrow : narrow) + 0.0f);
      }
      if (!all) fit.store(false, std::memory_order_relaxed);
    });
    if (fit) weights_ = {};
    code_ = codes_.as<uint32_t>();
  }

  uint64_t operator()(uint32_t edge) const { return uint64_t{code_[edge]} << 32 | edge; }

  /// Weights that one float stands for are compared themselves.
  bool less(uint64_t a, uint64_t b) const {
    if (weights_.empty() || a >> 32 != b >> 32 || a == kNone || b == kNone) return a < b;
    const double x = sign_ * weights_[static_cast<uint32_t>(a)];
    const double y = sign_ * weights_[static_cast<uint32_t>(b)];
    return x != y ? x < y : a < b;
  }

 private:
  Buffer codes_;
  const uint32_t* code_ = nullptr;
  std::span<const double> weights_{};  // none: floats tell them all apart
  double sign_;
};

/// An edge between components.
struct Edge {
  uint64_t key;
  uint32_t from;
  uint32_t to;
};

/// Each component hangs below the one that its lightest edge leads to; keys have no equals, so the
/// only circles are two components with the same edge, of which the lesser stays the root.
class Forest {
 public:
  Forest(const Graph& graph, const std::optional<Column>& weights, bool maximum)
      : csr_(graph.out()),
        offset_of_(csr_.offsets.as<int64_t>()),
        edge_of_(csr_.edges.as<uint32_t>()),
        target_of_(csr_.targets.as<uint32_t>()),
        keys_(weights, graph.num_edges(), maximum),
        components_(csr_.vertices),
        lightest_buffer_(Buffer::allocate(8 * components_)),
        parents_buffer_(Buffer::allocate(4 * components_)),
        numbers_buffer_(Buffer::allocate(4 * components_)),
        taken_buffer_(allocate_zeroed_by_workers(graph.num_edges())),
        lightest_(lightest_buffer_.mutable_as<uint64_t>()),
        parents_(parents_buffer_.mutable_as<uint32_t>()),
        numbers_(numbers_buffer_.mutable_as<uint32_t>()),
        is_taken_(taken_buffer_.mutable_as<uint8_t>()) {}

  Column run() {
    find_lightest_of_vertices();
    join();
    collect();
    while (has_edges()) {
      look_for_interrupt();
      find_lightest();
      join();
      keep();
    }
    return wanted_edges({is_taken_, static_cast<size_t>(taken_buffer_.size_bytes())});
  }

 private:
  // The first round: components are vertices, whose edges are their rows.
  void find_lightest_of_vertices() {
    parallel_rows(csr_, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        uint64_t least = kNone;
        auto to = static_cast<uint32_t>(v);
        for (int64_t i = offset_of_[v]; i < offset_of_[v + 1]; ++i) {
          if (target_of_[i] == v) continue;
          if (const uint64_t key = keys_(edge_of_[i]); keys_.less(key, least)) {
            least = key;
            to = target_of_[i];
          }
        }
        lightest_[v] = least;
        parents_[v] = to;
      }
    });
  }

  void find_lightest() {
    parallel_morsels(components_, [&](Morsel morsel) {
      std::fill(lightest_ + morsel.begin, lightest_ + morsel.end, kNone);
      std::iota(parents_ + morsel.begin, parents_ + morsel.end,
                static_cast<uint32_t>(morsel.begin));
    });
    each_chunk([&](std::span<Edge> edges) {
      for (const Edge& edge : edges) {
        lower(edge.from, edge.key);
        lower(edge.to, edge.key);
      }
      return edges.size();
    });
    each_chunk([&](std::span<Edge> edges) {
      for (const Edge& edge : edges) {
        if (lightest_[edge.from] == edge.key) parents_[edge.from] = edge.to;
        if (lightest_[edge.to] == edge.key) parents_[edge.to] = edge.from;
      }
      return edges.size();
    });
  }

  void lower(uint32_t component, uint64_t key) {
    const std::atomic_ref place(lightest_[component]);
    uint64_t known = place.load(std::memory_order_relaxed);
    while (keys_.less(key, known) &&
           !place.compare_exchange_weak(known, key, std::memory_order_relaxed)) {
    }
  }

  uint32_t parent(uint32_t component) const {
    return std::atomic_ref(parents_[component]).load(std::memory_order_relaxed);
  }

  void hang(uint32_t component, uint32_t below) {
    std::atomic_ref(parents_[component]).store(below, std::memory_order_relaxed);
  }

  // Takes the lightest edges. Components become what they hang below, numbered by their roots.
  void join() {
    std::vector<int64_t> roots = compact_offsets(components_, {}, [&](Morsel morsel) {
      int64_t count = 0;
      for (auto c = static_cast<uint32_t>(morsel.begin); c < static_cast<uint64_t>(morsel.end);
           ++c) {
        const uint32_t above = parent(c);
        // The other of two may have been made a root by now.
        const bool is_root = above == c || (c < above && lightest_[above] == lightest_[c]);
        if (is_root)
          hang(c, c);
        else
          is_taken_[static_cast<uint32_t>(lightest_[c])] = 1;
        count += is_root;
      }
      return count;
    });
    parallel_morsels(components_, [&](Morsel morsel) {
      auto next = static_cast<uint32_t>(roots[static_cast<size_t>(morsel.index)]);
      for (auto c = static_cast<uint32_t>(morsel.begin); c < static_cast<uint64_t>(morsel.end); ++c)
        if (parent(c) == c) numbers_[c] = next++;
    });
    parallel_morsels(components_, [&](Morsel morsel) {
      for (auto c = static_cast<uint32_t>(morsel.begin); c < static_cast<uint64_t>(morsel.end);
           ++c) {
        uint32_t root = c;
        // Shorter ways for those who come later.
        for (uint32_t above = parent(root); above != root; above = parent(root)) {
          const uint32_t two_above = parent(above);
          if (two_above != above) hang(root, two_above);
          root = two_above;
        }
        if (root != c) numbers_[c] = numbers_[root];
      }
    });
    components_ = roots.back();
  }

  // The edges between components, a chunk for each piece of rows.
  void collect() {
    const auto each = [&](Morsel piece, auto&& f) {
      for (int64_t v = piece.begin; v < piece.end; ++v)
        for (int64_t i = offset_of_[v]; i < offset_of_[v + 1]; ++i)
          if (target_of_[i] > v && numbers_[target_of_[i]] != numbers_[v])
            f(i, numbers_[v], numbers_[target_of_[i]]);
    };
    begins_.assign(static_cast<size_t>(num_pieces(csr_)) + 1, 0);
    parallel_rows(csr_, [&](Morsel piece) {
      int64_t count = 0;
      each(piece, [&](int64_t, uint32_t, uint32_t) { ++count; });
      begins_[static_cast<size_t>(piece.index) + 1] = count;
    });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    ends_.assign(begins_.begin() + 1, begins_.end());
    if (begins_.back() == 0) return;
    edges_buffer_ = Buffer::allocate(static_cast<int64_t>(sizeof(Edge)) * begins_.back());
    edges_ = edges_buffer_.mutable_as<Edge>();
    parallel_rows(csr_, [&](Morsel piece) {
      Edge* out = edges_ + begins_[static_cast<size_t>(piece.index)];
      each(piece,
           [&](int64_t i, uint32_t from, uint32_t to) { *out++ = {keys_(edge_of_[i]), from, to}; });
    });
  }

  // Those that are still between components stay in front in their chunk.
  void keep() {
    each_chunk([&](std::span<Edge> edges) {
      Edge* out = edges.data();
      for (const Edge& edge : edges) {
        *out = {edge.key, numbers_[edge.from], numbers_[edge.to]};
        out += out->from != out->to;
      }
      return static_cast<size_t>(out - edges.data());
    });
  }

  bool has_edges() const { return !std::equal(ends_.begin(), ends_.end(), begins_.begin()); }

  // Calls `f` with the edges of each chunk; it returns how many of them stay.
  template <class F>
  void each_chunk(F&& f) {
    parallel_for(static_cast<int64_t>(ends_.size()), [&](int64_t chunk) {
      const auto at = static_cast<size_t>(chunk);
      const std::span<Edge> edges(edges_ + begins_[at], edges_ + ends_[at]);
      if (!edges.empty()) ends_[at] = begins_[at] + static_cast<int64_t>(f(edges));
    });
  }

  Csr csr_;
  const int64_t* offset_of_;
  const uint32_t* edge_of_;
  const uint32_t* target_of_;
  Keys keys_;
  int64_t components_;
  Buffer lightest_buffer_;
  Buffer parents_buffer_;
  Buffer numbers_buffer_;
  Buffer taken_buffer_;
  Buffer edges_buffer_{};
  uint64_t* lightest_;  // keys of edges, of components
  uint32_t* parents_;
  uint32_t* numbers_;  // of components in the next round
  uint8_t* is_taken_;  // of all edges
  Edge* edges_ = nullptr;
  std::vector<int64_t> begins_{};  // of chunks of edges
  std::vector<int64_t> ends_{};
};

}  // namespace

Column spanning_forest(const Graph& graph, const std::optional<Column>& weights, bool maximum) {
  const char* const op = maximum ? "maximum_spanning_edges" : "minimum_spanning_edges";
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
  if (weights) check_weights(op, *weights, WeightRule::kAny);
  if (graph.num_edges() == 0) return wanted_edges({});
  if (!graph.out().edges) throw_error<InternalError>(op, "the graph keeps no edges");
  return Forest(graph, weights, maximum).run();
}

}  // namespace hr
