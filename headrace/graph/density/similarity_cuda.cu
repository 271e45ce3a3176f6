// SPDX-License-Identifier: Apache-2.0
// Similarity of pairs on a CUDA device: 8 threads a pair look the shorter row up in the longer one.
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/graph/density/similarity_kernels.h"
#include "headrace/graph/density/similarity_math.h"
#include "headrace/graph/structure/device_rows.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/plan/graph/placement.h"

namespace hr::cuda {

namespace {

constexpr int kPairThreads = 8;

/// The sums of the rows of weights, or of their squares; a warp a row.
__global__ void row_sums_kernel(Rows rows, const double* weights, bool squares, double* sums) {
  const int64_t v = own_item() / 32;
  if (v >= rows.vertices) return;
  const Team team{static_cast<int>(threadIdx.x % 32), 32};
  double sum = 0;
  for (int64_t i = rows.begin(v) + team.lane; i < rows.begin(v + 1); i += 32)
    sum += squares ? weights[i] * weights[i] : weights[i];
  sum = team.sum(sum);
  if (team.lane == 0) sums[v] = sum;
}

/// Calls f(i, j) for entries of the same target that this thread finds.
template <class F>
__device__ void each_common(const Rows& rows, int64_t a, int64_t b, int lane, F&& f) {
  const bool is_turned = rows.degree(a) > rows.degree(b);
  const int64_t few = is_turned ? b : a;
  const int64_t many = is_turned ? a : b;
  int64_t from = rows.begin(many);
  const int64_t last = rows.begin(many + 1);
  for (int64_t i = rows.begin(few) + lane; i < rows.begin(few + 1) && from < last;
       i += kPairThreads) {
    const uint32_t target = rows.targets[i];
    from = partition_point(from, last,
                           [&](int64_t place) { return __ldg(rows.targets + place) < target; });
    if (from < last && rows.targets[from] == target) f(i, from);
  }
}

template <bool kWeighted>
__global__ void similarity_kernel(Rows rows, Similarity kind, const int64_t* first,
                                  const int64_t* second, int64_t pairs, const double* weights,
                                  const double* sums, double* out) {
  const int64_t pair = own_item() / kPairThreads;
  if (pair >= pairs) return;
  const Team team{static_cast<int>(threadIdx.x) % kPairThreads, kPairThreads};
  const int64_t a = first[pair];
  const int64_t b = second[pair];
  double common = 0;
  each_common(rows, a, b, team.lane, [&](int64_t i, int64_t j) {
    if constexpr (kWeighted)
      common +=
          kind == Similarity::kCosine ? weights[i] * weights[j] : fmin(weights[i], weights[j]);
    else
      common += 1;
  });
  common = team.sum(common);
  if (team.lane != 0) return;
  const double of_a = kWeighted ? sums[a] : static_cast<double>(rows.degree(a));
  const double of_b = kWeighted ? sums[b] : static_cast<double>(rows.degree(b));
  out[pair] = similarity_share(kind, common, of_a, of_b);
}

const int64_t* values_of(DeviceCall& call, const Column& column) {
  call.reads(column.values_buffer());
  return column.values_buffer().as<int64_t>() + column.offset();
}

}  // namespace

Column similarity(const Graph& graph, Similarity kind, const Column& first, const Column& second,
                  const std::optional<Column>& weights) {
  const std::string_view op = word_of(kind);
  const int64_t pairs = first.num_rows();
  if (pairs == 0) return Column(TypeId::kFloat64, 0, Buffer());
  const Csr& csr = graph.out_there();
  Buffer given;
  if (weights) given = hr::entry_weights(op, csr, *weights, WeightRule::kNotNegative);
  const Column here[] = {std::get<Column>(to_place(Value(first), graph.place())),
                         std::get<Column>(to_place(Value(second), graph.place()))};
  DeviceCall call(op, graph.place());
  const Rows rows = rows_of(call, csr);
  const auto* const of_entries = read_as<double>(call, given);
  const Room<double> sums(call, weights ? rows.vertices : 0);
  const Buffer made = call.scratch(8 * pairs);
  auto* const out = call.writes_as<double>(made);
  const unsigned blocks = blocks_of(kPairThreads * pairs, kRowThreads);
  if (weights) {
    row_sums_kernel<<<blocks_of(32 * rows.vertices, kRowThreads), kRowThreads, 0,
                      stream_of(call)>>>(rows, of_entries, kind == Similarity::kCosine, sums.data);
    similarity_kernel<true><<<blocks, kRowThreads, 0, stream_of(call)>>>(
        rows, kind, values_of(call, here[0]), values_of(call, here[1]), pairs, of_entries,
        sums.data, out);
  } else {
    similarity_kernel<false><<<blocks, kRowThreads, 0, stream_of(call)>>>(
        rows, kind, values_of(call, here[0]), values_of(call, here[1]), pairs, nullptr, nullptr,
        out);
  }
  call.finish(cudaGetLastError());
  return Column(TypeId::kFloat64, pairs, made);
}

}  // namespace hr::cuda
