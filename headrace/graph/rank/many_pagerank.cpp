// SPDX-License-Identifier: Apache-2.0
// PageRank of 8 personalizations side by side.
#include "headrace/graph/rank/many_pagerank.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/rank/not_converged.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/optional_inputs.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <array>
#include <cmath>

namespace hr {

namespace {

constexpr size_t kLanes = 8;

using Lanes = std::array<double, kLanes>;
using Vector = BudgetedVector<Lanes>;

struct Sums {
  Lanes lost{};  // the ranks of vertices without edges out
  Lanes change{};
};

class Pulling {
 public:
  Pulling(const Graph& graph, const std::optional<Column>& weights)
      : in_(graph.in()),
        inverse_(static_cast<size_t>(in_.vertices)),
        anew_(inverse_.size()),
        ranks_(inverse_.size()),
        given_(inverse_.size()),
        next_(inverse_.size()),
        pieces_(static_cast<size_t>(num_pieces(in_))) {
    const Csr& out = graph.out();
    Buffer of_entries;
    if (weights && in_.entries() > 0) {
      weights_ = entry_weights("pagerank", in_, *weights, WeightRule::kNotNegative);
      of_entries = entry_weights("pagerank", out, *weights, WeightRule::kNotNegative);
    }
    parallel_rows(out, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        double sum = of_entries ? 0 : static_cast<double>(out.degree(v));
        if (of_entries)
          for (int64_t i = out.begin(v); i < out.begin(v + 1); ++i)
            sum += of_entries.as<double>()[i];
        inverse_[static_cast<size_t>(v)] = sum > 0 ? 1 / sum : 0;
      }
    });
  }

  // The ranks of `count` personalizations.
  void run(const PageRankOptions& options, const double* shares, size_t count, double* out) {
    start(options.alpha, shares, count);
    const auto vertices = static_cast<double>(in_.vertices);
    std::array<bool, kLanes> is_done{};
    Lanes change{};
    for (int64_t i = 0;; ++i) {
      if (i == options.max_iter) {
        double worst = 0;
        for (size_t lane = 0; lane < count; ++lane)
          if (!is_done[lane]) worst = std::max(worst, change[lane]);
        not_converged("pagerank", i, worst / vertices, options.tolerance, options.strict);
      } else {
        look_for_interrupt();
        change = step(options.alpha);
      }
      bool are_done = true;
      for (size_t lane = 0; lane < count; ++lane) {
        if (is_done[lane]) continue;
        is_done[lane] = i == options.max_iter || change[lane] < vertices * options.tolerance;
        are_done &= is_done[lane];
        if (is_done[lane]) copy(lane, out + static_cast<int64_t>(lane) * in_.vertices);
      }
      if (are_done) return;
    }
  }

 private:
  void start(double alpha, const double* shares, size_t count) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double* const own = shares + static_cast<int64_t>(lane) * in_.vertices;
      double sum = 0;
      for (int64_t v = 0; lane < count && v < in_.vertices; ++v) {
        if (!std::isfinite(own[v]) || own[v] < 0)
          throw_error<InvalidArgumentError>("pagerank", "a share is negative or not finite",
                                            {{"personalization", own[v]}});
        sum += own[v];
      }
      if (lane < count && sum == 0)
        throw_error<InvalidArgumentError>("pagerank", "all shares of a start are 0");
      for (int64_t v = 0; v < in_.vertices; ++v) {
        const auto at = static_cast<size_t>(v);
        anew_[at][lane] = lane < count ? own[v] / sum : 0;
        ranks_[at][lane] = 1 / static_cast<double>(in_.vertices);
      }
    }
    parallel_rows(in_, [&](Morsel piece) {
      Sums own;
      for (int64_t v = piece.begin; v < piece.end; ++v)
        give(static_cast<size_t>(v), alpha, given_, own);
      pieces_[static_cast<size_t>(piece.index)] = own;
    });
    combine();
  }

  // One step; the sums of changes.
  Lanes step(double alpha) {
    const CsrRows rows(in_);
    const double* const weights = weights_ ? weights_.as<double>() : nullptr;
    parallel_rows(in_, [&](Morsel piece) {
      Sums own;
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        Lanes pulled{};
        for (int64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
          const Lanes& from = given_[rows.targets[i]];
          const double weight = weights ? weights[i] : 1;
          for (size_t lane = 0; lane < kLanes; ++lane) pulled[lane] += from[lane] * weight;
        }
        const auto at = static_cast<size_t>(v);
        for (size_t lane = 0; lane < kLanes; ++lane) {
          const double rank = pulled[lane] + (alpha * lost_[lane] + (1 - alpha)) * anew_[at][lane];
          own.change[lane] += std::abs(rank - ranks_[at][lane]);
          ranks_[at][lane] = rank;
        }
        give(at, alpha, next_, own);
      }
      pieces_[static_cast<size_t>(piece.index)] = own;
    });
    std::swap(given_, next_);
    return combine();
  }

  // What a vertex gives on along each edge.
  void give(size_t v, double alpha, Vector& to, Sums& own) const {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      to[v][lane] = alpha * ranks_[v][lane] * inverse_[v];
      if (inverse_[v] == 0) own.lost[lane] += ranks_[v][lane];
    }
  }

  Lanes combine() {
    lost_ = {};
    Lanes change{};
    for (const Sums& each : pieces_)
      for (size_t lane = 0; lane < kLanes; ++lane) {
        lost_[lane] += each.lost[lane];
        change[lane] += each.change[lane];
      }
    return change;
  }

  void copy(size_t lane, double* out) const {
    for (size_t v = 0; v < ranks_.size(); ++v) out[v] = ranks_[v][lane];
  }

  Csr in_;
  Buffer weights_{};  // of entries
  BudgetedVector<double> inverse_;
  Vector anew_;
  Vector ranks_;
  Vector given_;
  Vector next_;
  std::vector<Sums> pieces_;
  Lanes lost_{};
};

}  // namespace

Column many_pagerank(const Graph& graph, const PageRankOptions& options, const Column& shares,
                     const std::optional<Column>& weights) {
  const int64_t vertices = graph.num_vertices(), rows = shares.num_rows();
  Buffer made = Buffer::allocate(8 * rows);
  if (rows == 0) return Column(TypeId::kFloat64, 0, std::move(made));
  Pulling pulling(graph, weights);
  const int64_t step = static_cast<int64_t>(kLanes) * vertices;
  for (int64_t first = 0; first < rows; first += step) {
    report_progress(first, rows);
    const auto count = static_cast<size_t>(std::min(step, rows - first) / vertices);
    pulling.run(options, shares.values<double>().data() + first, count,
                made.mutable_as<double>() + first);
  }
  return Column(TypeId::kFloat64, rows, std::move(made));
}

NodePtr many_pagerank_table(const Graph& graph, const PageRankOptions& options,
                            std::vector<int64_t> starts, const NodePtr& shares,
                            const NodePtr& weights) {
  std::vector<VertexColumn> columns;
  add_keys(graph, "start", columns);
  add_keys(graph, "vertex", columns);
  columns.push_back({"pagerank", TypeId::kFloat64});
  const int64_t vertices = graph.num_vertices();
  const int64_t rows = vertices * static_cast<int64_t>(starts.size());
  const std::string arguments = std::to_string(starts.size()) + " starts";
  const auto run = [graph, options, starts = std::move(starts), rows, vertices,
                    inputs = OptionalInputs({shares, weights})](const std::vector<bool>& wanted,
                                                                std::span<const Value> values) {
    const auto given = inputs.columns(values);
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    out.ids(graph, [&] {
      return numbers_of(rows, [&](int64_t i) { return starts[static_cast<size_t>(i / vertices)]; });
    });
    out.ids(graph, [&] { return numbers_of(rows, [&](int64_t i) { return i % vertices; }); });
    out.column([&] { return many_pagerank(graph, options, *given[0], given[1]); });
    return made;
  };
  return graph_table("pagerank", arguments, columns, OptionalInputs::given({shares, weights}), rows,
                     new_domain(), run);
}

}  // namespace hr
