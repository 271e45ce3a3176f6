// SPDX-License-Identifier: Apache-2.0
// Paths of two edges, counted in a dense table of a row at a time.
#include "headrace/graph/density/two_hop.h"

#include "headrace/exec/scratch_pool.h"
#include "headrace/graph/structure/vertex_columns.h"
#include "headrace/memory/adaptors/allocator.h"

#include <algorithm>
#include <utility>

namespace hr {

namespace {

constexpr int64_t kStep = 1 << 6;  // vertices of a task

// How many paths lead to each vertex, and which have any.
struct Counts {
  BudgetedVector<uint32_t> paths{};
  BudgetedVector<uint32_t> used{};
};

class TwoHop {
 public:
  TwoHop(Graph graph, std::optional<std::vector<int64_t>> starts)
      : graph_(std::move(graph)),
        starts_(std::move(starts)),
        is_half_(!starts_ && !graph_.is_directed()) {
    const int64_t rows = starts_ ? static_cast<int64_t>(starts_->size()) : graph_.num_vertices();
    offsets_.resize(static_cast<size_t>(rows) + 1);
    each_start([&](int64_t i, Counts& found) {
      offsets_[static_cast<size_t>(i) + 1] = static_cast<int64_t>(found.used.size());
    });
    for (size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
  }

  int64_t pairs() const { return offsets_.back(); }

  // First, second and how many are between them.
  std::vector<Buffer> fill() const {
    std::vector<Buffer> made;
    std::vector<int64_t*> out;
    for (int part = 0; part < 3; ++part) {
      made.push_back(Buffer::allocate(8 * pairs()));
      out.push_back(made.back().mutable_as<int64_t>());
    }
    each_start([&](int64_t i, Counts& found) {
      std::ranges::sort(found.used);
      int64_t at = offsets_[static_cast<size_t>(i)];
      for (const uint32_t v : found.used) {
        out[0][at] = start(i);
        out[1][at] = v;
        out[2][at++] = found.paths[v];
      }
    });
    for (Buffer& each : made) each.seal();
    return made;
  }

 private:
  int64_t start(int64_t i) const { return starts_ ? (*starts_)[static_cast<size_t>(i)] : i; }

  template <class F>
  static void each_once(std::span<const uint32_t> row, F&& f) {
    for (size_t i = 0; i < row.size(); ++i)
      if (i == 0 || row[i] != row[i - 1]) f(row[i]);
  }

  template <class F>
  void each_start(F&& f) const {
    const Csr& csr = graph_.out();
    ScratchPool<Counts> pool(
        [&] { return Counts{BudgetedVector<uint32_t>(static_cast<size_t>(csr.vertices)), {}}; });
    parallel_morsels(static_cast<int64_t>(offsets_.size()) - 1, kStep, {}, [&](Morsel morsel) {
      pool.lend([&](Counts& found) {
        for (int64_t i = morsel.begin; i < morsel.end; ++i) {
          count(csr, static_cast<uint32_t>(start(i)), found);
          f(i, found);
          for (const uint32_t v : found.used) found.paths[v] = 0;
          found.used.clear();
        }
      });
    });
  }

  void count(const Csr& csr, uint32_t u, Counts& found) const {
    each_once(csr.row(u), [&](uint32_t between) {
      std::span<const uint32_t> row = csr.row(between);
      if (is_half_)
        row = row.subspan(static_cast<size_t>(std::ranges::upper_bound(row, u) - row.begin()));
      each_once(row, [&](uint32_t v) {
        if (v != u && found.paths[v]++ == 0) found.used.push_back(v);
      });
    });
  }

  Graph graph_;
  std::optional<std::vector<int64_t>> starts_;
  bool is_half_;
  BudgetedVector<int64_t> offsets_{};  // where the pairs of each start begin
};

}  // namespace

NodePtr two_hop_table(const Graph& graph, const std::optional<std::vector<int64_t>>& starts) {
  const auto found = std::make_shared<const TwoHop>(graph, starts);
  std::vector<VertexColumn> columns;
  add_keys(graph, "first", columns);
  add_keys(graph, "second", columns);
  for (const char* word : {"common", "first_row", "second_row"})
    columns.push_back({word, TypeId::kInt64});
  const int64_t pairs = found->pairs();
  const auto run = [graph, found, pairs](const std::vector<bool>& wanted, std::span<const Value>) {
    const std::vector<Buffer> parts = found->fill();
    std::vector<Column> made;
    WantedColumns out(wanted, made);
    for (size_t part : {0, 1})
      out.ids(graph, [&] { return Tensor(TypeId::kInt64, {pairs}, parts[part]); });
    for (size_t part : {2, 0, 1})
      out.column([&] { return Column(TypeId::kInt64, pairs, parts[part]); });
    return made;
  };
  return graph_table("two_hop_neighbors", {}, columns, {}, pairs, new_domain(), run);
}

}  // namespace hr
