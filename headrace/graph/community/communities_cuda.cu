// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden on a CUDA device; levels of few vertices are the host's.
#include "headrace/algo/sparse/device_sets.h"
#include "headrace/graph/community/communities_kernels.h"
#include "headrace/graph/community/levels.h"
#include "headrace/graph/community/local_moving_kernels.h"
#include "headrace/graph/structure/entry_weights.h"

namespace hr::cuda {

namespace {

using Groups = Room<uint32_t>;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

__global__ void alone_kernel(int64_t vertices, uint32_t* out) {
  const int64_t v = own_item();
  if (v < vertices) out[v] = static_cast<uint32_t>(v);
}

__global__ void compose_kernel(const uint32_t* of_groups, int64_t vertices, uint32_t* groups) {
  const int64_t v = own_item();
  if (v < vertices) groups[v] = of_groups[groups[v]];
}

/// All members of a part are in one group.
__global__ void of_parts_kernel(const uint32_t* parts, const uint32_t* groups, int64_t vertices,
                                uint32_t* out) {
  const int64_t v = own_item();
  if (v < vertices) out[parts[v]] = groups[v];
}

__global__ void column_kernel(const uint32_t* groups, int64_t vertices, int64_t* out) {
  const int64_t v = own_item();
  if (v < vertices) out[v] = groups[v];
}

/// Joins vertices of one group that an entry connects; a warp a row.
__global__ void connect_kernel(Rows rows, const uint32_t* groups, Sets sets) {
  const int64_t v = own_item() / 32;
  if (v >= rows.vertices) return;
  const int64_t end = rows.begin(v + 1);
  for (int64_t entry = rows.begin(v) + threadIdx.x % 32; entry < end; entry += 32) {
    const uint32_t target = rows.targets[entry];
    if (target < v && groups[target] == groups[v]) sets.join(static_cast<uint32_t>(v), target);
  }
}

__global__ void roots_kernel(Sets sets, int64_t vertices) {
  const int64_t v = own_item();
  if (v < vertices) sets.parents[v] = sets.root(static_cast<uint32_t>(v));
}

int64_t size_of(const Groups& groups) {
  return groups.buffer.size_bytes() / 4;
}

/// The steps of levels.
class Work {
 public:
  explicit Work(DeviceCall& call) : call_(call) {}

  static int64_t vertices(const WeightedRows& rows) { return rows.vertices; }

  Groups alone(int64_t vertices) const {
    Groups made(call_, vertices);
    alone_kernel<<<grid(vertices), kRowThreads, 0, stream_of(call_)>>>(vertices, made.data);
    return made;
  }

  Groups copy(const Groups& groups) const {
    Groups made(call_, size_of(groups));
    write(made, groups.data);
    return made;
  }

  int64_t move_vertices(const WeightedRows& rows, Resolution resolution, const MoveRules& rules,
                        Groups& groups) {
    if (rows.vertices > kFewVertices)
      return cuda::move_vertices(call_, rows, resolution, rules, groups);
    BudgetedVector<uint32_t> here = fetched_groups(groups);
    const int64_t moved = hr::move_vertices(fetched(rows), resolution, rules, here);
    write(groups, here.data());
    return moved;
  }

  Groups refine(const WeightedRows& rows, Resolution resolution, uint64_t seed,
                const Groups& groups) {
    if (rows.vertices > kFewVertices) return cuda::refine(call_, rows, resolution, seed, groups);
    const BudgetedVector<uint32_t> here =
        hr::refine(fetched(rows), resolution, seed, fetched_groups(groups));
    return sent(here);
  }

  Groups sent(const BudgetedVector<uint32_t>& here) const {
    Groups made(call_, static_cast<int64_t>(here.size()));
    write(made, here.data());
    return made;
  }

  hr::WeightedRows fetched(const WeightedRows& rows) const { return fetched_rows(call_, rows); }

  int64_t number_groups(Groups& groups, int64_t bound) {
    return cuda::number_groups(call_, groups.data, size_of(groups), bound);
  }

  WeightedRows aggregate(const WeightedRows& rows, const Groups& groups, int64_t count) {
    return cuda::aggregate(call_, rows, groups.data, count);
  }

  void compose(Groups& of_vertices, const Groups& of_groups) const {
    const int64_t count = size_of(of_vertices);
    compose_kernel<<<grid(count), kRowThreads, 0, stream_of(call_)>>>(of_groups.data, count,
                                                                      of_vertices.data);
  }

  Groups of_parts(const Groups& parts, const Groups& groups, int64_t count) const {
    Groups made(call_, count);
    of_parts_kernel<<<grid(size_of(parts)), kRowThreads, 0, stream_of(call_)>>>(
        parts.data, groups.data, size_of(parts), made.data);
    return made;
  }

  Groups connected_parts(const WeightedRows& rows, const Groups& groups) const {
    Groups made = alone(rows.vertices);
    const Sets sets{made.data};
    connect_kernel<<<grid(32 * rows.vertices), kRowThreads, 0, stream_of(call_)>>>(
        rows.rows(), groups.data, sets);
    roots_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call_)>>>(sets, rows.vertices);
    return made;
  }

  double modularity(const WeightedRows& rows, double resolution) {
    return modularity_alone(call_, rows, resolution);
  }

 private:
  BudgetedVector<uint32_t> fetched_groups(const Groups& groups) const {
    BudgetedVector<uint32_t> made(static_cast<size_t>(size_of(groups)));
    call_.fetch(made.data(), groups.data, groups.buffer.size_bytes());
    return made;
  }

  /// From either side.
  void write(const Groups& to, const uint32_t* from) const {
    check_cuda("graph", cudaMemcpyAsync(to.data, from, static_cast<size_t>(to.buffer.size_bytes()),
                                        cudaMemcpyDefault, stream_of(call_)));
  }

  DeviceCall& call_;
};

/// Where vertices decide one by one, the host finds them.
template <class Options, class Find, class Pass>
Groups groups_of(Work& work, const WeightedRows& rows, const Options& options, Find&& find,
                 Pass&& pass) {
  if (rows.total == 0) return work.alone(rows.vertices);
  return rows.vertices > kFewVertices ? pass(work, rows, options, options.seed)
                                      : work.sent(find(work.fetched(rows), options));
}

template <class Options, class Pass>
Column communities(std::string_view op, const Graph& graph, const std::optional<Column>& weights,
                   const Options& options, Pass&& pass) {
  check_undirected(op, graph);
  if (graph.num_vertices() == 0) return Column(TypeId::kInt64, 0, Buffer());
  const Csr& csr = graph.out_there();
  Buffer given;
  if (weights) given = hr::entry_weights(op, csr, *weights, WeightRule::kNotNegative);
  DeviceCall call(op, graph.place());
  Work work(call);
  const WeightedRows rows = weighted_rows(call, csr, given);
  Groups groups = pass(work, rows, options);
  work.number_groups(groups, rows.vertices);
  const Buffer made = call.scratch(8 * rows.vertices);
  column_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call)>>>(
      groups.data, rows.vertices, call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, rows.vertices, made);
}

}  // namespace

Column louvain(const Graph& graph, const std::optional<Column>& weights,
               const LouvainOptions& options) {
  return communities("louvain", graph, weights, options,
                     [](Work& work, const WeightedRows& rows, const LouvainOptions& given) {
                       return groups_of(work, rows, given, louvain_groups,
                                        pass_of_louvain<Work, WeightedRows>);
                     });
}

Column leiden(const Graph& graph, const std::optional<Column>& weights,
              const LeidenOptions& options) {
  return communities("leiden", graph, weights, options,
                     [](Work& work, const WeightedRows& rows, const LeidenOptions& given) {
                       return groups_of(work, rows, given, leiden_groups,
                                        pass_of_leiden<Work, WeightedRows>);
                     });
}

}  // namespace hr::cuda
