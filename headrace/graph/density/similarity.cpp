// SPDX-License-Identifier: Apache-2.0
// Rows of two vertices merged.
#include "headrace/graph/density/similarity.h"

#include "headrace/base/error.h"
#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/density/intersect_rows.h"
#include "headrace/graph/density/similarity_kernels.h"
#include "headrace/graph/density/similarity_math.h"
#include "headrace/graph/structure/graph_places.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 12;  // pairs of a task
constexpr int64_t kAhead = 16;      // pairs whose rows are fetched meanwhile

// Calls f(i, u, v) for pairs, the rows of those that follow on their way.
template <class F>
void each_pair(const Csr& csr, const Column& first, const Column& second, F&& f) {
  const std::span<const int64_t> one = first.values<int64_t>(), other = second.values<int64_t>();
  const auto* const offsets = csr.offsets.as<int64_t>();
  const auto* const targets = csr.targets.as<uint32_t>();
  parallel_morsels(first.num_rows(), kStep, {}, [&](Morsel morsel) {
    for (int64_t i = morsel.begin; i < morsel.end; ++i) {
      if (const auto far = static_cast<size_t>(i + 2 * kAhead); far < one.size()) {
        __builtin_prefetch(offsets + one[far]);
        __builtin_prefetch(offsets + other[far]);
      }
      if (const auto near = static_cast<size_t>(i + kAhead); near < one.size()) {
        __builtin_prefetch(targets + offsets[one[near]]);
        __builtin_prefetch(targets + offsets[other[near]]);
      }
      const auto at = static_cast<size_t>(i);
      f(i, one[at], other[at]);
    }
  });
}

// The sums of the rows of weights, or of their squares.
BudgetedVector<double> sums_of(const Csr& csr, const double* weights, bool squares) {
  BudgetedVector<double> made(static_cast<size_t>(csr.vertices));
  parallel_rows(csr, [&](Morsel piece) {
    for (int64_t v = piece.begin; v < piece.end; ++v)
      for (int64_t i = csr.begin(v); i < csr.begin(v + 1); ++i)
        made[static_cast<size_t>(v)] += squares ? weights[i] * weights[i] : weights[i];
  });
  return made;
}

void check(const Graph& graph, std::string_view op) {
  if (graph.is_directed())
    throw_error<InvalidArgumentError>(op, "the graph is directed", {}, "use graph.to_undirected()");
  if (graph.is_multigraph())
    throw_error<InvalidArgumentError>(op, "the graph is a multigraph", {},
                                      "make one of its edges() that has one for several");
}

}  // namespace

std::string_view word_of(Similarity kind) {
  constexpr std::array<std::string_view, 4> kWords{"jaccard", "overlap", "sorensen", "cosine"};
  return kWords[static_cast<size_t>(kind)];
}

Column similarity(const Graph& graph, Similarity kind, const Column& first, const Column& second,
                  const std::optional<Column>& weights) {
  check(graph, word_of(kind));
  if constexpr (built_with_cuda)
    if (graph.place().is_gpu()) return cuda::similarity(graph, kind, first, second, weights);
  const int64_t pairs = first.num_rows();
  const Csr& csr = graph.out();
  Buffer made = Buffer::allocate(8 * pairs);
  auto* const out = made.mutable_as<double>();
  if (!weights) {
    each_pair(csr, first, second, [&](int64_t i, int64_t u, int64_t v) {
      int64_t common = 0;
      each_common(csr.row(u), csr.row(v), [&](size_t, size_t) { ++common; });
      out[i] =
          similarity_share(kind, static_cast<double>(common), static_cast<double>(csr.degree(u)),
                           static_cast<double>(csr.degree(v)));
    });
  } else {
    const bool is_cosine = kind == Similarity::kCosine;
    const Buffer given = graph.out_weights(word_of(kind), *weights, WeightRule::kNotNegative);
    const auto* const weight = given.as<double>();
    const BudgetedVector<double> sums = sums_of(csr, weight, is_cosine);
    each_pair(csr, first, second, [&](int64_t i, int64_t u, int64_t v) {
      const double* const of_u = weight + csr.begin(u);
      const double* const of_v = weight + csr.begin(v);
      double common = 0;
      each_common(csr.row(u), csr.row(v), [&](size_t a, size_t b) {
        common += is_cosine ? of_u[a] * of_v[b] : std::min(of_u[a], of_v[b]);
      });
      out[i] = similarity_share(kind, common, sums[static_cast<size_t>(u)],
                                sums[static_cast<size_t>(v)]);
    });
  }
  made.seal();
  return Column(TypeId::kFloat64, pairs, std::move(made));
}

namespace {

constexpr int64_t kStarts = 1 << 6;  // of a task
constexpr double kUnmet = -1;

// What each vertex has in common with one, and which have anything.
struct Common {
  BudgetedVector<double> sums{};
  BudgetedVector<uint32_t> met{};
};

struct SimilarVertex {
  double share;
  uint32_t vertex;
};

// The lists of all tasks as one column.
template <class T, class F>
Column column_of(TypeId dtype, const std::vector<BudgetedVector<SimilarVertex>>& lists,
                 std::span<const int64_t> begins, F&& value) {
  Buffer made = Buffer::allocate(8 * begins.back());
  auto* const out = begins.back() ? made.mutable_as<T>() : nullptr;
  parallel_for(static_cast<int64_t>(lists.size()), [&](int64_t task) {
    T* to = out + begins[static_cast<size_t>(task)];
    for (size_t i = 0; i < lists[static_cast<size_t>(task)].size(); ++i)
      *to++ = value(static_cast<size_t>(task), i);
  });
  made.seal();
  return Column(dtype, begins.back(), std::move(made));
}

}  // namespace

SimilarVertices most_similar(const Graph& graph, Similarity kind, std::span<const int64_t> starts,
                             int64_t most, const std::optional<Column>& weights) {
  const std::string_view op = word_of(kind);
  check(graph, op);
  if (most < 1)
    throw_error<InvalidArgumentError>(op, "expected a positive number of vertices",
                                      {{"top_k", most}});
  const Csr& csr = graph.out();
  const CsrRows rows(csr);
  const bool is_cosine = kind == Similarity::kCosine;
  Buffer given;
  BudgetedVector<double> sums;
  if (weights) {
    given = graph.out_weights(op, *weights, WeightRule::kNotNegative);
    sums = sums_of(csr, given.as<double>(), is_cosine);
  }
  const double* const weight = weights ? given.as<double>() : nullptr;
  const auto size_of = [&](int64_t v) {
    return weight ? sums[static_cast<size_t>(v)] : static_cast<double>(rows.degree(v));
  };
  const auto add_up = [&](int64_t u, Common& found) {
    for (int64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      const uint32_t between = rows.targets[i];
      for (int64_t j = rows.offsets[between]; j < rows.offsets[between + 1]; ++j) {
        const uint32_t v = rows.targets[j];
        if (v == u) continue;
        if (found.sums[v] == kUnmet) {
          found.sums[v] = 0;
          found.met.push_back(v);
        }
        found.sums[v] += !weight     ? 1
                         : is_cosine ? weight[i] * weight[j]
                                     : std::min(weight[i], weight[j]);
      }
    }
  };
  ScratchPool<Common> pool([&] {
    return Common{BudgetedVector<double>(static_cast<size_t>(csr.vertices), kUnmet), {}};
  });
  const auto count = static_cast<int64_t>(starts.size());
  const auto tasks = static_cast<size_t>((count + kStarts - 1) / kStarts);
  std::vector<BudgetedVector<SimilarVertex>> lists(tasks);
  std::vector<BudgetedVector<int64_t>> firsts(tasks);
  parallel_morsels(count, kStarts, {}, [&](Morsel morsel) {
    pool.lend([&](Common& found) {
      BudgetedVector<SimilarVertex> all;
      for (int64_t at = morsel.begin; at < morsel.end; ++at) {
        const int64_t u = starts[static_cast<size_t>(at)];
        add_up(u, found);
        for (const uint32_t v : found.met) {
          all.push_back({similarity_share(kind, found.sums[v], size_of(u), size_of(v)), v});
          found.sums[v] = kUnmet;
        }
        found.met.clear();
        const auto kept = std::min<size_t>(all.size(), static_cast<size_t>(most));
        std::ranges::partial_sort(
            all, all.begin() + static_cast<int64_t>(kept), {},
            [](const SimilarVertex& each) { return std::pair(-each.share, each.vertex); });
        const auto task = static_cast<size_t>(morsel.index);
        lists[task].insert(lists[task].end(), all.begin(),
                           all.begin() + static_cast<int64_t>(kept));
        firsts[task].insert(firsts[task].end(), kept, u);
        all.clear();
      }
    });
  });
  std::vector<int64_t> begins{0};
  for (const auto& list : lists) begins.push_back(begins.back() + std::ssize(list));
  const auto rows_of = [&](size_t task, size_t i) { return firsts[task][i]; };
  const auto vertex_of = [&](size_t task, size_t i) { return int64_t{lists[task][i].vertex}; };
  const auto share_of = [&](size_t task, size_t i) { return lists[task][i].share; };
  return {column_of<int64_t>(TypeId::kInt64, lists, begins, rows_of),
          column_of<int64_t>(TypeId::kInt64, lists, begins, vertex_of),
          column_of<double>(TypeId::kFloat64, lists, begins, share_of)};
}

NodePtr similarity_table(const Graph& graph, Similarity kind, const NodePtr& first,
                         const NodePtr& second, const NodePtr& weights) {
  check(graph, word_of(kind));
  std::vector<VertexColumn> columns;
  add_keys(graph, "first", columns);
  add_keys(graph, "second", columns);
  columns.push_back({std::string(word_of(kind)), TypeId::kFloat64});
  const auto run = [graph, kind](const std::vector<bool>& wanted, std::span<const Value> values) {
    const auto column = [&](size_t i) { return std::get<Column>(values[i]); };
    const Column one = column(0), other = column(1);
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    out.ids(graph, [&] { return as_tensor(one); });
    out.ids(graph, [&] { return as_tensor(other); });
    out.column([&] {
      const auto given = values.size() > 2 ? std::optional(column(2)) : std::nullopt;
      return similarity(graph, kind, one, other, given);
    });
    return made;
  };
  std::vector<NodePtr> inputs{first, second};
  if (weights) inputs.push_back(weights);
  return placed_table(graph, word_of(kind), {}, columns, std::move(inputs),
                      first->signature().rows(), run);
}

}  // namespace hr
