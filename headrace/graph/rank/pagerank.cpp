// SPDX-License-Identifier: Apache-2.0
// PageRank by pulling along edges.
#include "headrace/graph/rank/pagerank.h"

#include "headrace/exec/interrupt.h"
#include "headrace/graph/rank/not_converged.h"
#include "headrace/graph/rank/pagerank_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hr {

namespace {

using Vector = BudgetedVector<double>;

// Without hubs nearly every value comes from the last cache, and rows alone keep as many on their
// way as a processor can have: fetching ahead costs a fifth more, on Zen 4. Values of more vertices
// come from memory, where it saves an eighth; with hubs it saves a quarter.
constexpr int64_t kVerticesInCache = int64_t{1} << 20;

double sum_of(const double* values, int64_t count) {
  double lanes[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int64_t lane = 0; lane < 4; ++lane) lanes[lane] += values[i + lane];
  for (int64_t lane = 0; i < count; ++i, ++lane) lanes[lane] += values[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Values scaled to a sum of 1; empty: even.
Vector shares(std::string_view name, const std::optional<Column>& given, int64_t vertices) {
  if (!given) return {};
  const std::span<const double> values = given->values<double>();
  for (const double value : values)
    if (!std::isfinite(value) || value < 0)
      throw_error<InvalidArgumentError>("pagerank", "a share is negative or not finite",
                                        {{name, value}});
  const double sum = sum_of(values.data(), vertices);
  if (sum == 0)
    throw_error<InvalidArgumentError>("pagerank", "all shares are 0", {{"name", name}},
                                      "give one vertex more, or none at all");
  Vector made(values.begin(), values.end());
  for (double& value : made) value /= sum;
  return made;
}

class Pulling {
 public:
  Pulling(const Graph& graph, const PageRankVectors& vectors, const std::optional<Column>& weights)
      : in_(graph.in()),
        hubs_(graph.hubs()),
        vertices_(in_.vertices),
        even_(1.0 / static_cast<double>(vertices_)) {
    if (hubs_) places_ = hubs_.places.as<uint32_t>();
    if (weights) weights_ = entry_weights("pagerank", in_, *weights, WeightRule::kNotNegative);
    anew_ = shares("personalization", vectors.personalization, vertices_);
    dangling_ = vectors.dangling ? shares("dangling", vectors.dangling, vertices_) : anew_;
    // Nothing is zeroed: the workers that fill these touch their memory first.
    for (Buffer* each : {&ranks_buffer_, &inverse_buffer_, &given_buffer_, &next_buffer_})
      *each = Buffer::allocate(8 * vertices_);
    ranks_ = ranks_buffer_.mutable_as<double>();
    inverse_ = inverse_buffer_.mutable_as<double>();
    given_ = given_buffer_.mutable_as<double>();
    next_ = next_buffer_.mutable_as<double>();
    fill_start(graph.out(), weights, shares("nstart", vectors.start, vertices_));
    pieces_.resize(static_cast<size_t>(num_pieces(in_)));
  }

  // Prepares what vertices give on; later steps do so themselves.
  void start(double alpha) {
    parallel_rows(in_, [&](Morsel piece) {
      double lost = 0;
      for (int64_t first = piece.begin; first < piece.end; first += kBlockRows)
        lost += give(first, std::min(first + kBlockRows, piece.end), alpha, given_);
      pieces_[static_cast<size_t>(piece.index)].lost = lost;
    });
    combine();
  }

  // One step; the sum of changes.
  double step(double alpha) {
    const double lost = alpha * lost_, anew = 1 - alpha;
    const double* const dangling = dangling_.empty() ? nullptr : dangling_.data();
    const double* const personal = anew_.empty() ? nullptr : anew_.data();
    const Buffer& targets = hubs_ ? hubs_.targets : in_.targets;
    const auto* const offsets = in_.offsets.as<int64_t>();
    const auto* const places = targets ? targets.as<uint32_t>() : nullptr;
    const double* const weights = weights_ ? weights_.as<double>() : nullptr;
    const bool fetch_ahead = hubs_ || vertices_ > kVerticesInCache;
    parallel_pieces(in_, targets, [&](Morsel piece) {
      const cpu::Pull pull{offsets, places, weights, given_, fetch_ahead ? offsets[piece.end] : 0};
      Sums own;
      std::array<double, kBlockRows> pulled, changes;
      for (int64_t first = piece.begin; first < piece.end; first += kBlockRows) {
        const int64_t last = std::min(first + kBlockRows, piece.end);
        cpu::pull_rows(pull, first, last, pulled.data());
        const int64_t count = last - first;
        double* const ranks = ranks_ + first;
        for (int64_t i = 0; i < count; ++i) {
          const double rank = pulled[static_cast<size_t>(i)] +
                              lost * (dangling ? dangling[first + i] : even_) +
                              anew * (personal ? personal[first + i] : even_);
          changes[static_cast<size_t>(i)] = std::abs(rank - ranks[i]);
          ranks[i] = rank;
        }
        own.change += sum_of(changes.data(), count);
        own.lost += give(first, last, alpha, next_);
      }
      pieces_[static_cast<size_t>(piece.index)] = own;
    });
    std::swap(given_, next_);
    return combine();
  }

  Column ranks() && { return Column(TypeId::kFloat64, vertices_, std::move(ranks_buffer_)); }

 private:
  struct Sums {
    double lost = 0;  // the ranks of vertices without edges out
    double change = 0;
  };

  // The first ranks, and 1 over the weights of edges out; 0 where there are none.
  void fill_start(const Csr& out, const std::optional<Column>& weights, const Vector& start) {
    Buffer made;
    if (weights) made = entry_weights("pagerank", out, *weights, WeightRule::kNotNegative);
    const double* const of_entries = made ? made.as<double>() : nullptr;
    const auto* const offsets = out.offsets.as<int64_t>();
    parallel_rows(out, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        const int64_t degree = offsets[v + 1] - offsets[v];
        const double sum =
            of_entries ? sum_of(of_entries + offsets[v], degree) : static_cast<double>(degree);
        const double inverse = 1 / (sum > 0 ? sum : 1);  // no branch: which have edges is random
        inverse_[v] = sum > 0 ? inverse : 0;
        ranks_[v] = start.empty() ? even_ : start[static_cast<size_t>(v)];
      }
    });
  }

  // What vertices [first, last) give on, at most kBlockRows; the ranks of those without edges out.
  double give(int64_t first, int64_t last, double alpha, double* to) const {
    std::array<double, kBlockRows> lost;
    for (int64_t v = first; v < last; ++v) {
      to[places_ ? places_[v] : v] = alpha * ranks_[v] * inverse_[v];
      lost[static_cast<size_t>(v - first)] = inverse_[v] == 0 ? ranks_[v] : 0;
    }
    return sum_of(lost.data(), last - first);
  }

  double combine() {
    lost_ = 0;
    double change = 0;
    for (const Sums& each : pieces_) {
      lost_ += each.lost;
      change += each.change;
    }
    return change;
  }

  Csr in_;
  HubOrder hubs_;
  const uint32_t* places_ = nullptr;  // of hubs_
  int64_t vertices_;
  double even_;
  Buffer weights_{};  // of entries
  Vector anew_{};
  Vector dangling_{};
  Buffer ranks_buffer_{};
  Buffer inverse_buffer_{};
  Buffer given_buffer_{};
  Buffer next_buffer_{};
  double* ranks_;
  double* inverse_;
  double* given_;
  double* next_;
  std::vector<Sums> pieces_{};
  double lost_ = 0;
};

}  // namespace

Column pagerank(const Graph& graph, const PageRankOptions& options, const PageRankVectors& vectors,
                const std::optional<Column>& weights) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::pagerank(graph, options, vectors, weights);
  const int64_t vertices = graph.num_vertices();
  if (vertices == 0) return Column(TypeId::kFloat64, 0, Buffer::allocate(0));
  Pulling pulling(graph, vectors, weights);
  pulling.start(options.alpha);
  step_until_still("pagerank", options, vertices, [&] { return pulling.step(options.alpha); });
  return std::move(pulling).ranks();
}

NodePtr pagerank_table(const Graph& graph, const PageRankOptions& options,
                       const NodePtr& personalization, const NodePtr& start,
                       const NodePtr& dangling, const NodePtr& weights) {
  std::vector<NodePtr> inputs;
  for (const NodePtr& each : {personalization, start, dangling, weights})
    if (each) inputs.push_back(each);
  const std::vector<bool> is_given{personalization != nullptr, start != nullptr,
                                   dangling != nullptr, weights != nullptr};
  const auto run = [graph, options, is_given](const std::vector<bool>&,
                                              std::span<const Value> values) {
    size_t next = 0;
    const auto take = [&](size_t place) -> std::optional<Column> {
      return is_given[place] ? std::optional(std::get<Column>(values[next++])) : std::nullopt;
    };
    PageRankVectors vectors;
    vectors.personalization = take(0);
    vectors.start = take(1);
    vectors.dangling = take(2);
    return std::vector{pagerank(graph, options, vectors, take(3))};
  };
  return vertex_table(graph, "pagerank", "alpha=" + std::to_string(options.alpha),
                      {{"pagerank", TypeId::kFloat64}}, std::move(inputs), run,
                      Kernels::kHostAndCuda);
}

}  // namespace hr
