// SPDX-License-Identifier: Apache-2.0
// Ranks by powers of the adjacency matrix.
#include "headrace/graph/rank/power_iteration.h"

#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/rank/not_converged.h"
#include "headrace/graph/rank/power_iteration_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/optional_inputs.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hr {

namespace {

using Vector = BudgetedVector<double>;

// Products with the entries of one direction.
class Rows {
 public:
  Rows(std::string_view op, Csr csr, const std::optional<Column>& weights) : csr_(std::move(csr)) {
    if (weights && csr_.entries() > 0)
      weights_ = entry_weights(op, csr_, *weights, WeightRule::kAny);
  }

  // to[v] = made(v, the sum of `from` over the entries of v).
  template <class Made>
  void multiply(const Vector& from, Vector& to, Made&& made) const {
    const CsrRows rows(csr_);
    const double* const weights = weights_ ? weights_.as<double>() : nullptr;
    parallel_rows(csr_, [&](Morsel piece) {
      for (int64_t v = piece.begin; v < piece.end; ++v) {
        double lanes[4] = {};
        for (int64_t i = rows.offsets[v], lane = 0; i < rows.offsets[v + 1];
             ++i, lane = (lane + 1) % 4)
          lanes[lane] += weights ? from[rows.targets[i]] * weights[i] : from[rows.targets[i]];
        to[static_cast<size_t>(v)] = made(v, (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
      }
    });
  }

 private:
  Csr csr_;
  Buffer weights_{};
};

// The sum of `term(v)` over all vertices, piece by piece.
template <class Term>
double sum_of(const Vector& values, Term&& term) {
  const auto rows = static_cast<int64_t>(values.size());
  std::vector<double> pieces(static_cast<size_t>(num_morsels(rows)));
  parallel_morsels(rows, [&](Morsel morsel) {
    double sum = 0;
    for (int64_t v = morsel.begin; v < morsel.end; ++v) sum += term(static_cast<size_t>(v));
    pieces[static_cast<size_t>(morsel.index)] = sum;
  });
  double sum = 0;
  for (const double piece : pieces) sum += piece;
  return sum;
}

double total_of(const Vector& values) {
  return sum_of(values, [&](size_t v) { return values[v]; });
}

double length_of(const Vector& values) {
  return std::sqrt(sum_of(values, [&](size_t v) { return values[v] * values[v]; }));
}

// Divides by what is not 0.
void divide(Vector& values, double by) {
  if (by == 0) return;
  parallel_morsels(static_cast<int64_t>(values.size()), [&](Morsel morsel) {
    for (int64_t v = morsel.begin; v < morsel.end; ++v) values[static_cast<size_t>(v)] /= by;
  });
}

// Starts with `values`; `step(from, to)` until it changes little.
template <class Step>
Vector iterate(std::string_view op, Vector values, const PowerOptions& options, Step&& step) {
  Vector next(values.size());
  step_until_still(op, options, static_cast<int64_t>(values.size()), [&] {
    step(std::as_const(values), next);
    const double change = sum_of(values, [&](size_t v) { return std::abs(next[v] - values[v]); });
    std::swap(values, next);
    return change;
  });
  return values;
}

Vector vector_of(std::string_view op, const std::optional<Column>& given, int64_t vertices,
                 double otherwise) {
  if (!given) return Vector(static_cast<size_t>(vertices), otherwise);
  const std::span<const double> values = given->values<double>();
  for (const double value : values)
    if (!std::isfinite(value))
      throw_error<InvalidArgumentError>(op, "a value is not finite", {{"value", value}});
  return {values.begin(), values.end()};
}

Column column_of(const Vector& values) {
  Buffer made = Buffer::allocate(8 * static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), made.mutable_as<double>());
  return Column(TypeId::kFloat64, static_cast<int64_t>(values.size()), std::move(made));
}

// A start that is not 0, scaled to a sum of 1.
Vector even_start(std::string_view op, const std::optional<Column>& start, int64_t vertices) {
  Vector made = vector_of(op, start, vertices, 1);
  const double total = total_of(made);
  if (total == 0)
    throw_error<InvalidArgumentError>(op, "all values are 0", {{"name", "nstart"}},
                                      "give one vertex more, or none at all");
  divide(made, total);
  return made;
}

}  // namespace

Column eigenvector_centrality(const Graph& graph, const PowerOptions& options,
                              const std::optional<Column>& start,
                              const std::optional<Column>& weights) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::eigenvector_centrality(graph, options, start, weights);
  constexpr std::string_view kOp = "eigenvector_centrality";
  if (graph.num_vertices() == 0) return column_of({});
  const Rows in(kOp, graph.in(), weights);
  return column_of(iterate(kOp, even_start(kOp, start, graph.num_vertices()), options,
                           [&](const Vector& from, Vector& to) {
                             in.multiply(from, to, [&](int64_t v, double pulled) {
                               return from[static_cast<size_t>(v)] + pulled;
                             });
                             divide(to, length_of(to));
                           }));
}

Column katz_centrality(const Graph& graph, const PowerOptions& options, const KatzOptions& katz,
                       const std::optional<Column>& beta, const std::optional<Column>& start,
                       const std::optional<Column>& weights) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu())
      return cuda::katz_centrality(graph, options, katz, beta, start, weights);
  constexpr std::string_view kOp = "katz_centrality";
  const int64_t vertices = graph.num_vertices();
  const Rows in(kOp, graph.in(), weights);
  const Vector own = vector_of(kOp, beta, vertices, katz.beta);
  Vector found = vector_of(kOp, start, vertices, 0);
  if (vertices > 0)
    found = iterate(kOp, std::move(found), options, [&](const Vector& from, Vector& to) {
      in.multiply(from, to, [&](int64_t v, double pulled) {
        return katz.alpha * pulled + own[static_cast<size_t>(v)];
      });
    });
  if (katz.normalized) divide(found, length_of(found));
  return column_of(found);
}

std::array<Column, 2> hits(const Graph& graph, const PowerOptions& options, bool normalized,
                           const std::optional<Column>& start,
                           const std::optional<Column>& weights) {
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::hits(graph, options, normalized, start, weights);
  constexpr std::string_view kOp = "hits";
  const int64_t vertices = graph.num_vertices();
  if (vertices == 0) return {column_of({}), column_of({})};
  const Rows out(kOp, graph.out(), weights), in(kOp, graph.in(), weights);
  const auto plain = [](int64_t, double pulled) { return pulled; };
  Vector authorities(static_cast<size_t>(vertices));
  Vector hubs =
      iterate(kOp, even_start(kOp, start, vertices), options, [&](const Vector& from, Vector& to) {
        in.multiply(from, authorities, plain);
        divide(authorities, total_of(authorities));
        out.multiply(authorities, to, plain);
        divide(to, total_of(to));
      });
  in.multiply(hubs, authorities, plain);
  if (normalized) {
    divide(authorities, total_of(authorities));
  } else {
    divide(authorities, length_of(authorities));
    out.multiply(authorities, hubs, plain);
  }
  return {column_of(hubs), column_of(authorities)};
}

NodePtr eigenvector_centrality_table(const Graph& graph, const PowerOptions& options,
                                     const NodePtr& start, const NodePtr& weights) {
  const auto run = [graph, options, inputs = OptionalInputs({start, weights})](
                       const std::vector<bool>&, std::span<const Value> values) {
    const auto given = inputs.columns(values);
    return std::vector{eigenvector_centrality(graph, options, given[0], given[1])};
  };
  return vertex_table(graph, "eigenvector_centrality", {},
                      {{"eigenvector_centrality", TypeId::kFloat64}},
                      OptionalInputs::given({start, weights}), run, Kernels::kHostAndCuda);
}

NodePtr katz_centrality_table(const Graph& graph, const PowerOptions& options,
                              const KatzOptions& katz, const NodePtr& beta, const NodePtr& start,
                              const NodePtr& weights) {
  const auto run = [graph, options, katz, inputs = OptionalInputs({beta, start, weights})](
                       const std::vector<bool>&, std::span<const Value> values) {
    const auto given = inputs.columns(values);
    return std::vector{katz_centrality(graph, options, katz, given[0], given[1], given[2])};
  };
  return vertex_table(graph, "katz_centrality", "alpha=" + std::to_string(katz.alpha),
                      {{"katz_centrality", TypeId::kFloat64}},
                      OptionalInputs::given({beta, start, weights}), run, Kernels::kHostAndCuda);
}

NodePtr hits_table(const Graph& graph, const PowerOptions& options, bool normalized,
                   const NodePtr& start, const NodePtr& weights) {
  const auto run = [graph, options, normalized, inputs = OptionalInputs({start, weights})](
                       const std::vector<bool>& wanted, std::span<const Value> values) {
    const auto given = inputs.columns(values);
    const std::array<Column, 2> found = hits(graph, options, normalized, given[0], given[1]);
    std::vector<Column> made;
    for (size_t i = 0; i < 2; ++i)
      if (wanted[i]) made.push_back(found[i]);
    return made;
  };
  return vertex_table(graph, "hits", {},
                      {{"hubs", TypeId::kFloat64}, {"authorities", TypeId::kFloat64}},
                      OptionalInputs::given({start, weights}), run, Kernels::kHostAndCuda);
}

}  // namespace hr
