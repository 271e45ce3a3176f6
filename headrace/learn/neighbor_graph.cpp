// SPDX-License-Identifier: Apache-2.0
// Both directions of each edge by a counting sort, then one merge a row.
#include "headrace/learn/neighbor_graph.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/neighbor_graph_kernels.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hr {
namespace {

constexpr int64_t kBlock = 256;

struct Edge {
  int32_t to;
  float weight;
};

constexpr int64_t kEdge = static_cast<int64_t>(sizeof(Edge));

/// Calls `visit(to, forth, back)` for each neighbour in either direction, ascending.
template <class F>
void merge(const Edge* forth, const Edge* forth_end, const Edge* back, const Edge* back_end,
           F&& visit) {
  constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  while (forth != forth_end || back != back_end) {
    const int32_t to =
        std::min(forth == forth_end ? kNone : forth->to, back == back_end ? kNone : back->to);
    const bool is_forth = forth != forth_end && forth->to == to;
    const bool is_back = back != back_end && back->to == to;
    visit(to, is_forth ? forth++->weight : 0.0F, is_back ? back++->weight : 0.0F);
  }
}

}  // namespace

void check_neighbor_lists(std::string_view op, const Tensor& indices, const Tensor& distances) {
  if (indices.dtype() != dtype_of<int64_t>() || distances.dtype() != dtype_of<double>() ||
      indices.num_dimensions() != 2 || !indices.is_contiguous() || !distances.is_contiguous())
    throw_error<TypeMismatchError>(
        op, "expected contiguous matrices of int64 and float64",
        {{"indices", indices.dtype().name()}, {"distances", distances.dtype().name()}});
  if (indices.shape() != distances.shape())
    throw_error<InvalidArgumentError>(op, "indices and distances differ in shape");
}

void throw_not_finite_square(int64_t row) {
  throw_error<InvalidArgumentError>("tsne_affinities", "squares of distances are not finite",
                                    {{"row", row}}, "scale the columns");
}

Sparse joined_graph(const Tensor& indices, const Tensor& weights, JoinWeights join, double share) {
  constexpr std::string_view kOp = "joined_graph";
  const ScopedTag tag(kOp);
  const int64_t rows = indices.shape()[0], count = indices.shape()[1];
  if (rows >= std::numeric_limits<int32_t>::max())
    throw_error<InvalidArgumentError>(kOp, "too many rows", {{"rows", rows}});
  const auto* near = indices.as<int64_t>();
  const auto* weight = weights.as<float>();
  const WorkingMemory working({2 * rows * count * kEdge + 24 * rows, 0});  // both ways, and borders
  Buffer forth_buffer = Buffer::allocate(rows * count * kEdge);
  Buffer back_buffer = Buffer::allocate(rows * count * kEdge);
  auto* forth = forth_buffer.mutable_as<Edge>();
  auto* back = back_buffer.mutable_as<Edge>();
  BudgetedVector<int64_t> begins(static_cast<size_t>(rows + 1));
  for (int64_t k = 0; k < rows * count; ++k) {
    if (near[k] < 0 || near[k] >= rows)
      throw_error<InvalidArgumentError>(kOp, "no such neighbour", {{"index", near[k]}});
    ++begins[static_cast<size_t>(near[k] + 1)];
  }
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) begins[r + 1] += begins[r];
  BudgetedVector<int64_t> place(begins.begin(), begins.end() - 1);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = r * count; k < (r + 1) * count; ++k)
      back[place[static_cast<size_t>(near[k])]++] = {static_cast<int32_t>(r), weight[k]};

  Buffer offsets = Buffer::allocate((rows + 1) * static_cast<int64_t>(sizeof(int64_t)));
  auto* ends = offsets.mutable_as<int64_t>();
  ends[0] = 0;
  const auto for_rows = [&](auto&& visit_row) {
    parallel_for((rows + kBlock - 1) / kBlock, [&](int64_t block) {
      for (int64_t r = block * kBlock; r < std::min(rows, (block + 1) * kBlock); ++r) visit_row(r);
    });
  };
  const auto merge_row = [&](int64_t r, auto&& visit) {
    merge(forth + r * count, forth + (r + 1) * count, back + begins[static_cast<size_t>(r)],
          back + begins[static_cast<size_t>(r + 1)], [&](int32_t to, float there, float here) {
            const float joined = join(there, here, share);
            if (joined != 0) visit(to, joined);
          });
  };
  for_rows([&](int64_t r) {
    for (int64_t k = r * count; k < (r + 1) * count; ++k)
      forth[k] = {static_cast<int32_t>(near[k]), weight[k]};
    std::sort(forth + r * count, forth + (r + 1) * count,
              [](const Edge& a, const Edge& b) { return a.to < b.to; });
    int64_t entries = 0;
    merge_row(r, [&](int32_t, float) { ++entries; });
    ends[r + 1] = entries;
  });
  for (int64_t r = 0; r < rows; ++r) ends[r + 1] += ends[r];
  Buffer columns = Buffer::allocate(ends[rows] * static_cast<int64_t>(sizeof(int32_t)));
  Buffer values = Buffer::allocate(ends[rows] * static_cast<int64_t>(sizeof(float)));
  for_rows([&](int64_t r) {
    int64_t at = ends[r];
    merge_row(r, [&](int32_t to, float joined) {
      columns.mutable_as<int32_t>()[at] = to;
      values.mutable_as<float>()[at++] = joined;
    });
  });
  const int64_t entries = ends[rows];
  return {rows, rows, Tensor(dtype_of<int64_t>(), {rows + 1}, std::move(offsets)),
          Tensor(dtype_of<int32_t>(), {entries}, std::move(columns)),
          Tensor(dtype_of<float>(), {entries}, std::move(values))};
}

}  // namespace hr
