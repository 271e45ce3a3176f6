// SPDX-License-Identifier: Apache-2.0
// Ranks by powers of the adjacency matrix on a CUDA device: pulled along rows by falling degree.
#include "headrace/base/error.h"
#include "headrace/graph/rank/device_vectors.h"
#include "headrace/graph/rank/not_converged.h"
#include "headrace/graph/rank/power_iteration_kernels.h"
#include "headrace/graph/structure/entry_weights.h"
#include "headrace/graph/structure/entry_weights_kernels.h"

#include <utility>

namespace hr::cuda {

namespace {

struct AddOwn {
  const double* own;
  double* to;

  __device__ void operator()(int64_t v, double pulled) const { to[v] = own[v] + pulled; }
};

struct Attenuated {
  double alpha;
  const double* own;
  double* to;

  __device__ void operator()(int64_t v, double pulled) const { to[v] = alpha * pulled + own[v]; }
};

struct Value {
  const double* values;

  __device__ double operator()(int64_t v) const { return values[v]; }
};

struct Square {
  const double* values;

  __device__ double operator()(int64_t v) const { return values[v] * values[v]; }
};

struct Change {
  const double* before;
  const double* after;

  __device__ double operator()(int64_t v) const { return fabs(after[v] - before[v]); }
};

/// Divides by what is not 0.
struct Divide {
  double* values;
  const double* by;

  __device__ void operator()(int64_t v) const {
    if (*by != 0) values[v] /= *by;
  }
};

struct Scatter {
  const double* values;
  const uint32_t* places;
  double* out;

  __device__ void operator()(int64_t v) const { out[places[v]] = values[v]; }
};

/// Products with the entries of one direction.
class Adjacency {
 public:
  Adjacency(DeviceCall& call, const OrderedRows& ordered, const Buffer& weights)
      : call_(call),
        rows_(rows_of(call, ordered.rows)),
        bins_(ordered, ordered.rows.vertices),
        places_(read_as<uint32_t>(call, ordered.places)),
        weights_(read_as<double>(call, weights)),
        spare_(call, places_ ? rows_.vertices : 0) {}

  /// Of `from` in the order of targets.
  template <class Made>
  void multiply(const double* from, const Made& made) const {
    multiply_kernel<<<bins_.blocks(), kRowThreads, 0, stream_of(call_)>>>(rows_, bins_, weights_,
                                                                          from, made);
  }

  /// Of `from` in the order of rows.
  template <class Made>
  void multiply_rows(const double* from, const Made& made) const {
    if (places_) each_item(call_, rows_.vertices, Scatter{from, places_, spare_.data});
    multiply(places_ ? spare_.data : from, made);
  }

 private:
  DeviceCall& call_;
  Rows rows_;
  Bins bins_;
  const uint32_t* places_;
  const double* weights_;
  Room<double> spare_;
};

/// Vectors in the order of the rows.
class Iteration {
 public:
  Iteration(DeviceCall& call, std::string_view op, int64_t vertices, const uint32_t* order,
            const uint32_t* ranks)
      : call_(call),
        op_(op),
        vertices_(vertices),
        order_(order),
        ranks_(ranks),
        parts_(call, kSumBlocks),
        sum_(call, 1) {}

  Room<double> vector() const { return {call_, vertices_}; }

  /// Given values, or the same of each.
  Room<double> vector_of(const std::optional<Column>& given, double otherwise) {
    Room<double> made = vector();
    if (!given) {
      each_item(call_, vertices_, Fill{otherwise, made.data});
      return made;
    }
    if (const int64_t bad = first_bad_value(op_, *given, WeightRule::kAny); bad >= 0)
      throw_error<InvalidArgumentError>(op_, "a value is not finite",
                                        {{"value", value_there(op_, *given, bad)}});
    call_.reads(given->values_buffer());
    each_item(call_, vertices_,
              Take{given->values_buffer().as<double>() + given->offset(), order_, made.data});
    return made;
  }

  /// A start that is not 0, scaled to a sum of 1.
  Room<double> even_start(const std::optional<Column>& start) {
    Room<double> made = vector_of(start, 1);
    add_up<false>(Value{made.data});
    if (fetched(call_, sum_.data) == 0)
      throw_error<InvalidArgumentError>(op_, "all values are 0", {{"name", "nstart"}},
                                        "give one vertex more, or none at all");
    each_item(call_, vertices_, Divide{made.data, sum_.data});
    return made;
  }

  void divide_by_total(double* values) {
    add_up<false>(Value{values});
    each_item(call_, vertices_, Divide{values, sum_.data});
  }

  void divide_by_length(double* values) {
    add_up<true>(Square{values});
    each_item(call_, vertices_, Divide{values, sum_.data});
  }

  /// `step(from, to)` until it changes little.
  template <class Step>
  Room<double> run(Room<double> values, const PowerOptions& options, Step&& step) {
    Room<double> next = vector();
    step_until_still(op_, options, vertices_, [&] {
      step(std::as_const(values.data), next.data);
      add_up<false>(Change{values.data, next.data});
      std::swap(values, next);
      return fetched(call_, sum_.data);
    });
    return values;
  }

  Column column_of(const Room<double>& values) const { return column_of(values, ranks_); }

  Column column_of(const Room<double>& values, const uint32_t* ranks) const {
    const Buffer made = call_.scratch(8 * vertices_);
    each_item(call_, vertices_, Take{values.data, ranks, call_.writes_as<double>(made)});
    return Column(TypeId::kFloat64, vertices_, made);
  }

 private:
  template <bool kRoot, class Term>
  void add_up(const Term& term) {
    const unsigned blocks = std::min(blocks_of(vertices_, kRowThreads), kSumBlocks);
    term_sums_kernel<<<blocks, kRowThreads, 0, stream_of(call_)>>>(term, vertices_, parts_.data);
    sum_parts_kernel<kRoot>
        <<<1, kRowThreads, 0, stream_of(call_)>>>(parts_.data, blocks, sum_.data);
  }

  DeviceCall& call_;
  std::string_view op_;
  int64_t vertices_;
  const uint32_t* order_;
  const uint32_t* ranks_;
  Room<double> parts_;
  Room<double> sum_;
};

Buffer weights_of(std::string_view op, const Csr& csr, const std::optional<Column>& weights) {
  return weights ? hr::entry_weights(op, csr, *weights, WeightRule::kAny) : Buffer();
}

/// The rows of entries out by falling degree.
std::shared_ptr<const OrderedRows> ordered_out(const Graph& graph) {
  if (!graph.is_directed()) return graph.ordered_there();
  return std::make_shared<const OrderedRows>(order_by_degree(graph.out_there(), graph.in_there()));
}

/// Calls `find(adjacency, iteration)` with the rows of entries in, by falling degree.
template <class Find>
Column pulled(std::string_view op, const Graph& graph, const std::optional<Column>& weights,
              Find&& find) {
  const int64_t vertices = graph.num_vertices();
  if (vertices == 0) return Column(TypeId::kFloat64, 0, Buffer());
  const std::shared_ptr<const OrderedRows> ordered = graph.ordered_there();
  const Buffer given = weights_of(op, ordered->rows, weights);
  DeviceCall call(op, graph.place());
  const Adjacency adjacency(call, *ordered, given);
  Iteration iteration(call, op, vertices, read_as<uint32_t>(call, ordered->order),
                      read_as<uint32_t>(call, ordered->ranks));
  Column made = iteration.column_of(find(adjacency, iteration));
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace

Column eigenvector_centrality(const Graph& graph, const PowerOptions& options,
                              const std::optional<Column>& start,
                              const std::optional<Column>& weights) {
  return pulled("eigenvector_centrality", graph, weights,
                [&](const Adjacency& in, Iteration& iteration) {
                  return iteration.run(iteration.even_start(start), options,
                                       [&](const double* from, double* to) {
                                         in.multiply_rows(from, AddOwn{from, to});
                                         iteration.divide_by_length(to);
                                       });
                });
}

Column katz_centrality(const Graph& graph, const PowerOptions& options, const KatzOptions& katz,
                       const std::optional<Column>& beta, const std::optional<Column>& start,
                       const std::optional<Column>& weights) {
  return pulled("katz_centrality", graph, weights, [&](const Adjacency& in, Iteration& iteration) {
    const Room<double> own = iteration.vector_of(beta, katz.beta);
    Room<double> found =
        iteration.run(iteration.vector_of(start, 0), options, [&](const double* from, double* to) {
          in.multiply_rows(from, Attenuated{katz.alpha, own.data, to});
        });
    if (katz.normalized) iteration.divide_by_length(found.data);
    return found;
  });
}

// Hubs are in the order of rows of entries out, authorities in that of entries in.
std::array<Column, 2> hits(const Graph& graph, const PowerOptions& options, bool normalized,
                           const std::optional<Column>& start,
                           const std::optional<Column>& weights) {
  constexpr std::string_view kOp = "hits";
  const int64_t vertices = graph.num_vertices();
  if (vertices == 0) {
    const Column none(TypeId::kFloat64, 0, Buffer());
    return {none, none};
  }
  const std::shared_ptr<const OrderedRows> of_out = ordered_out(graph);
  const std::shared_ptr<const OrderedRows> of_in = graph.ordered_there();
  const Buffer out_weights = weights_of(kOp, of_out->rows, weights);
  const Buffer in_weights =
      graph.is_directed() ? weights_of(kOp, of_in->rows, weights) : out_weights;
  DeviceCall call(kOp, graph.place());
  const Adjacency out(call, *of_out, out_weights);
  const Adjacency in(call, *of_in, in_weights);
  Iteration iteration(call, kOp, vertices, read_as<uint32_t>(call, of_out->order),
                      read_as<uint32_t>(call, of_out->ranks));
  const Room<double> authorities = iteration.vector();
  const Room<double> hubs =
      iteration.run(iteration.even_start(start), options, [&](const double* from, double* to) {
        in.multiply(from, Plain{authorities.data});
        iteration.divide_by_total(authorities.data);
        out.multiply(authorities.data, Plain{to});
        iteration.divide_by_total(to);
      });
  in.multiply(hubs.data, Plain{authorities.data});
  if (normalized) {
    iteration.divide_by_total(authorities.data);
  } else {
    iteration.divide_by_length(authorities.data);
    out.multiply(authorities.data, Plain{hubs.data});
  }
  const std::array<Column, 2> made{
      iteration.column_of(hubs),
      iteration.column_of(authorities, read_as<uint32_t>(call, of_in->ranks))};
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace hr::cuda
