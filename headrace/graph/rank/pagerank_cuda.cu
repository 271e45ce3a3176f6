// SPDX-License-Identifier: Apache-2.0
// PageRank on a CUDA device: pulled along rows by falling degree, so that what is read most stays
// near, with a block of threads, a warp or a thread for a row. Sums are made in orders that the
// rows alone fix.
#include "headrace/graph/rank/device_vectors.h"
#include "headrace/graph/rank/not_converged.h"
#include "headrace/graph/rank/pagerank_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/entry_weights_kernels.h"

#include <algorithm>
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

/// What vertices give on, in the order of those who take it.
struct Give {
  double alpha;
  const double* ranks;
  const double* inverse;
  const uint32_t* places;  // null: alike
  double* given;

  __device__ void operator()(int64_t v) const {
    given[places ? places[v] : v] = alpha * ranks[v] * inverse[v];
  }
};

/// Ranks of the next step.
struct Step {
  double alpha;
  double even;
  const double* anew;  // null: even
  const double* dangling;
  const double* lost;
  double* next;

  __device__ void operator()(int64_t v, double pulled) const {
    next[v] = pulled + alpha * *lost * (dangling ? dangling[v] : even) +
              (1 - alpha) * (anew ? anew[v] : even);
  }
};

/// Of each block: what vertices without entries keep of `after`, and changes.
__global__ void sums_kernel(const double* before, const double* after, const double* inverse,
                            int64_t vertices, double* parts) {
  double lost = 0;
  double change = 0;
  for (int64_t v = own_item(); v < vertices; v += int64_t{gridDim.x} * kRowThreads) {
    const double rank = after[v];
    if (inverse[v] == 0) lost += rank;
    change += fabs(rank - before[v]);
  }
  lost = sum_of_block(lost);
  if (threadIdx.x == 0) parts[blockIdx.x] = lost;
  change = sum_of_block(change);
  if (threadIdx.x == 0) parts[gridDim.x + blockIdx.x] = change;
}

/// A block for each of the sums.
__global__ void totals_kernel(const double* parts, unsigned count, double* totals) {
  double own = 0;
  for (unsigned i = threadIdx.x; i < count; i += kRowThreads) own += parts[blockIdx.x * count + i];
  own = sum_of_block(own);
  if (threadIdx.x == 0) totals[blockIdx.x] = own;
}

/// Reads what a step has made while the next one runs.
class Reader {
 public:
  Reader() {
    check_cuda("pagerank", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check_cuda("pagerank", cudaEventCreateWithFlags(&made_, cudaEventDisableTiming));
  }
  ~Reader() {
    cudaEventDestroy(made_);
    cudaStreamDestroy(stream_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// What is queued so far is what `fetch` waits for.
  void mark(cudaStream_t stream) const {
    check_cuda("pagerank", cudaEventRecord(made_, stream));
    check_cuda("pagerank", cudaStreamWaitEvent(stream_, made_, 0));
  }

  double fetch(const double* from) const {
    double made = 0;
    check_cuda("pagerank",
               cudaMemcpyAsync(&made, from, sizeof made, cudaMemcpyDeviceToHost, stream_));
    check_cuda("pagerank", cudaStreamSynchronize(stream_));
    return made;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t made_ = nullptr;
};

class Pulling {
 public:
  Pulling(DeviceCall& call, const OrderedRows& ordered)
      : call_(call),
        rows_(rows_of(call, ordered.rows)),
        bins_(ordered, ordered.rows.vertices),
        ranks_of_(read_as<uint32_t>(call, ordered.ranks)),
        order_(read_as<uint32_t>(call, ordered.order)),
        places_(read_as<uint32_t>(call, ordered.places)),
        parts_(call, 2 * kSumBlocks),
        totals_(call, 4),
        ranks_{{call, rows_.vertices}, {call, rows_.vertices}},
        inverse_(call, rows_.vertices),
        given_(call, rows_.vertices) {}

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
      ranks_[0] = shares("nstart", vectors.start);
    else
      each_item(call_, rows_.vertices, Fill{even, ranks_[0].data});
    step_ = {alpha,   even,   anew_.data, vectors.dangling ? dangling_.data : anew_.data,
             nullptr, nullptr};
    add_up(ranks_[0].data, ranks_[0].data, totals_.data);
  }

  /// One step of at most `most`; the sum of changes. The next one is queued before they are read,
  /// and its ranks are in a place of their own.
  double step(int64_t most) {
    if (queued_ == steps_) queue();
    ++steps_;
    reader_.mark(stream_of(call_));
    if (queued_ < most) queue();
    return reader_.fetch(totals_of(steps_) + 1);
  }

  Buffer by_vertex() {
    const Buffer made = call_.scratch(8 * rows_.vertices);
    each_item(call_, rows_.vertices,
              Take{ranks_[steps_ % 2].data, ranks_of_, call_.writes_as<double>(made)});
    return made;
  }

 private:
  double* totals_of(int64_t step) const { return totals_.data + 2 * (step % 2); }

  /// What is given is written right before it is read at random, so that it is still in the cache
  /// that all share.
  void queue() {
    const double* const before = ranks_[queued_ % 2].data;
    step_.lost = totals_of(queued_);
    step_.next = ranks_[++queued_ % 2].data;
    each_item(call_, rows_.vertices,
              Give{step_.alpha, before, inverse_.data, places_, given_.data});
    multiply_kernel<<<bins_.blocks(), kRowThreads, 0, stream_of(call_)>>>(rows_, bins_, weights_,
                                                                          given_.data, step_);
    add_up(before, step_.next, totals_of(queued_));
  }

  void add_up(const double* before, const double* after, double* totals) {
    const unsigned blocks = std::min(grid(rows_.vertices), kSumBlocks);
    sums_kernel<<<blocks, kRowThreads, 0, stream_of(call_)>>>(before, after, inverse_.data,
                                                              rows_.vertices, parts_.data);
    totals_kernel<<<2, kRowThreads, 0, stream_of(call_)>>>(parts_.data, blocks, totals);
  }

  DeviceCall& call_;
  Rows rows_;
  Bins bins_;
  const uint32_t* ranks_of_;
  const uint32_t* order_;
  const uint32_t* places_;
  const double* weights_ = nullptr;
  Room<double> parts_;
  Room<double> totals_;  // lost, change; of two steps in turn
  Room<double> ranks_[2];
  Room<double> inverse_;
  Room<double> given_;
  Room<double> anew_;
  Room<double> dangling_;
  Step step_{};
  Reader reader_{};
  int64_t queued_ = 0;  // steps
  int64_t steps_ = 0;   // that were read
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
  step_until_still("pagerank", options, vertices, [&] { return pulling.step(options.max_iter); });
  const Buffer made = pulling.by_vertex();
  call.finish(cudaGetLastError());
  return Column(TypeId::kFloat64, vertices, made);
}

}  // namespace hr::cuda
