// SPDX-License-Identifier: Apache-2.0
// PageRank on a CUDA device: pulled along rows by falling degree, so that what is read most stays
// near, with a block of threads, a warp or a thread for a row. Sums are made in orders that the
// rows alone fix.
#include "headrace/graph/rank/device_vectors.h"
#include "headrace/graph/rank/not_converged.h"
#include "headrace/graph/rank/pagerank_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/entry_weights_kernels.h"

#include <utility>

namespace hr::cuda {

namespace {

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

__global__ void sum_kernel(const double* values, int64_t count, double* out) {
  double own = 0;
  for (int64_t i = threadIdx.x; i < count; i += kRowThreads) own += values[i];
  own = sum_of_block(own);
  if (threadIdx.x == 0) *out = own;
}

__global__ void scaled_kernel(const double* values, const uint32_t* order, const double* sum,
                              int64_t count, double* out) {
  const int64_t rank = own_item();
  if (rank < count) out[rank] = values[order[rank]] / *sum;
}

/// 1 over the number of entries of vertices, 0 where there are none.
__global__ void inverse_degree_kernel(Rows out, const uint32_t* order, double* inverse) {
  const int64_t rank = own_item();
  if (rank >= out.vertices) return;
  const int64_t degree = out.degree(order[rank]);
  inverse[rank] = degree > 0 ? 1.0 / static_cast<double>(degree) : 0;
}

/// The same of weights; a warp a row.
__global__ void inverse_weight_kernel(Rows out, const double* weights, const uint32_t* order,
                                      double* inverse) {
  const int64_t rank = own_item() / 32;
  if (rank >= out.vertices) return;
  const uint32_t v = order[rank];
  const Team team{static_cast<int>(threadIdx.x % 32), 32};
  double sum = 0;
  for (int64_t i = out.begin(v) + team.lane; i < out.begin(v + 1); i += 32) sum += weights[i];
  sum = team.sum(sum);
  if (team.lane == 0) inverse[rank] = sum > 0 ? 1 / sum : 0;
}

struct Vectors {
  double* ranks;
  const double* inverse;
  double* next;            // of the next step
  const uint32_t* places;  // of rows among what is given; null: alike
  const double* anew;      // null: even
  const double* dangling;
  double even;
  double alpha;
};

/// What vertices without entries keep, and changes; of each block.
struct Sums {
  double* lost;
  double* change;
};

__device__ double give(const Vectors& x, int64_t v, double rank, double* to) {
  to[x.places ? x.places[v] : v] = x.alpha * rank * x.inverse[v];
  return x.inverse[v] == 0 ? rank : 0;
}

__global__ void start_kernel(Vectors x, int64_t vertices, double* given, Sums sums) {
  const int64_t v = own_item();
  double lost = v < vertices ? give(x, v, x.ranks[v], given) : 0;
  lost = sum_of_block(lost);
  if (threadIdx.x == 0) sums.lost[blockIdx.x] = lost;
}

__global__ void step_kernel(const double* pulled, int64_t vertices, Vectors x, const double* lost,
                            Sums sums) {
  const int64_t v = own_item();
  double own_lost = 0;
  double change = 0;
  if (v < vertices) {
    const double rank = pulled[v] + x.alpha * *lost * (x.dangling ? x.dangling[v] : x.even) +
                        (1 - x.alpha) * (x.anew ? x.anew[v] : x.even);
    change = fabs(rank - x.ranks[v]);
    x.ranks[v] = rank;
    own_lost = give(x, v, rank, x.next);
  }
  own_lost = sum_of_block(own_lost);
  if (threadIdx.x == 0) sums.lost[blockIdx.x] = own_lost;
  change = sum_of_block(change);
  if (threadIdx.x == 0) sums.change[blockIdx.x] = change;
}

/// Sums of blocks, in parts, then of these.
__global__ void parts_kernel(Sums sums, int64_t count, double* parts) {
  const double* const from = blockIdx.y == 0 ? sums.lost : sums.change;
  const int64_t each = (count + gridDim.x - 1) / gridDim.x;
  const int64_t begin = each * blockIdx.x;
  const int64_t end = min(count, begin + each);
  double own = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += kRowThreads) own += from[i];
  own = sum_of_block(own);
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = own;
}

__global__ void totals_kernel(const double* parts, int count, double* totals) {
  const double own = sum_of_block(
      static_cast<int>(threadIdx.x) < count ? parts[blockIdx.x * count + threadIdx.x] : 0);
  if (threadIdx.x == 0) totals[blockIdx.x] = own;
}

class Pulling {
 public:
  Pulling(DeviceCall& call, const OrderedRows& ordered)
      : call_(call),
        rows_(rows_of(call, ordered.rows)),
        bins_(ordered, ordered.rows.vertices),
        ranks_of_(read_as<uint32_t>(call, ordered.ranks)),
        order_(read_as<uint32_t>(call, ordered.order)),
        places_(read_as<uint32_t>(call, ordered.places)),
        lost_(call, grid(rows_.vertices)),
        change_(call, grid(rows_.vertices)),
        parts_(call, 2 * kRowThreads),
        totals_(call, 2),
        ranks_(call, rows_.vertices),
        pulled_(call, rows_.vertices),
        inverse_(call, rows_.vertices),
        given_{{call, rows_.vertices}, {call, rows_.vertices}} {}

  void take_degrees(const Rows& out) {
    inverse_degree_kernel<<<grid(out.vertices), kRowThreads, 0, stream_of(call_)>>>(out, order_,
                                                                                    inverse_.data);
  }

  void take_weights(const Rows& out, const double* of_out, const double* of_rows) {
    inverse_weight_kernel<<<grid(32 * out.vertices), kRowThreads, 0, stream_of(call_)>>>(
        out, of_out, order_, inverse_.data);
    weights_ = of_rows;
  }

  /// Values scaled to a sum of 1, by rank; none: even, as null.
  Room<double> shares(std::string_view name, const std::optional<Column>& given) {
    if (!given) return {};
    if (const int64_t bad = first_bad_value("pagerank", *given, WeightRule::kNotNegative); bad >= 0)
      throw_error<InvalidArgumentError>("pagerank", "a share is negative or not finite",
                                        {{name, value_there("pagerank", *given, bad)}});
    call_.reads(given->values_buffer());
    const double* const from = given->values_buffer().as<double>() + given->offset();
    Room<double> made(call_, rows_.vertices);
    sum_kernel<<<1, kRowThreads, 0, stream_of(call_)>>>(from, rows_.vertices, totals_.data);
    if (fetched(call_, totals_.data) == 0)
      throw_error<InvalidArgumentError>("pagerank", "all shares are 0", {{"name", name}},
                                        "give one vertex more, or none at all");
    scaled_kernel<<<grid(rows_.vertices), kRowThreads, 0, stream_of(call_)>>>(
        from, order_, totals_.data, rows_.vertices, made.data);
    return made;
  }

  void start(const PageRankVectors& vectors, double alpha) {
    const double even = 1.0 / static_cast<double>(rows_.vertices);
    anew_ = shares("personalization", vectors.personalization);
    if (vectors.dangling) dangling_ = shares("dangling", vectors.dangling);
    if (vectors.start)
      ranks_ = shares("nstart", vectors.start);
    else
      each_item(call_, rows_.vertices, Fill{even, ranks_.data});
    x_ = {ranks_.data, inverse_.data, nullptr,
          places_,     anew_.data,    vectors.dangling ? dangling_.data : anew_.data,
          even,        alpha};
    const unsigned blocks = grid(rows_.vertices);
    change_.fill(call_, 0);
    start_kernel<<<blocks, kRowThreads, 0, stream_of(call_)>>>(x_, rows_.vertices, given_[0].data,
                                                               Sums{lost_.data, change_.data});
    add_up(blocks);
  }

  /// One step; the sum of changes.
  double step() {
    multiply_kernel<<<bins_.blocks(), kRowThreads, 0, stream_of(call_)>>>(
        rows_, bins_, weights_, given_[0].data, Plain{pulled_.data});
    x_.next = given_[1].data;
    const unsigned blocks = grid(rows_.vertices);
    step_kernel<<<blocks, kRowThreads, 0, stream_of(call_)>>>(
        pulled_.data, rows_.vertices, x_, totals_.data, Sums{lost_.data, change_.data});
    std::swap(given_[0], given_[1]);
    add_up(blocks);
    return fetched(call_, totals_.data + 1);
  }

  Buffer by_vertex() {
    const Buffer made = call_.scratch(8 * rows_.vertices);
    each_item(call_, rows_.vertices, Take{ranks_.data, ranks_of_, call_.writes_as<double>(made)});
    return made;
  }

 private:
  void add_up(unsigned blocks) {
    parts_kernel<<<dim3(kRowThreads, 2), kRowThreads, 0, stream_of(call_)>>>(
        Sums{lost_.data, change_.data}, blocks, parts_.data);
    totals_kernel<<<2, kRowThreads, 0, stream_of(call_)>>>(parts_.data, kRowThreads, totals_.data);
  }

  DeviceCall& call_;
  Rows rows_;
  Bins bins_;
  const uint32_t* ranks_of_;
  const uint32_t* order_;
  const uint32_t* places_;
  const double* weights_ = nullptr;
  Room<double> lost_;
  Room<double> change_;
  Room<double> parts_;
  Room<double> totals_;  // lost, change
  Room<double> ranks_;
  Room<double> pulled_;
  Room<double> inverse_;
  Room<double> given_[2];
  Room<double> anew_;
  Room<double> dangling_;
  Vectors x_{};
};

}  // namespace

Column pagerank(const Graph& graph, const PageRankOptions& options, const PageRankVectors& vectors,
                const std::optional<Column>& weights) {
  const int64_t vertices = graph.num_vertices();
  if (vertices == 0) return Column(TypeId::kFloat64, 0, Buffer());
  const std::shared_ptr<const OrderedRows> ordered = graph.ordered_there();
  Buffer of_rows;
  Buffer of_out;
  if (weights) {
    of_rows = hr::entry_weights("pagerank", ordered->rows, *weights, WeightRule::kNotNegative);
    of_out = hr::entry_weights("pagerank", graph.out_there(), *weights, WeightRule::kNotNegative);
  }
  DeviceCall call("pagerank", graph.place());
  Pulling pulling(call, *ordered);
  const Rows out = rows_of(call, graph.out_there());
  if (weights)
    pulling.take_weights(out, read_as<double>(call, of_out), read_as<double>(call, of_rows));
  else
    pulling.take_degrees(out);
  pulling.start(vectors, options.alpha);
  step_until_still("pagerank", options, vertices, [&] { return pulling.step(); });
  const Buffer made = pulling.by_vertex();
  call.finish(cudaGetLastError());
  return Column(TypeId::kFloat64, vertices, made);
}

}  // namespace hr::cuda
