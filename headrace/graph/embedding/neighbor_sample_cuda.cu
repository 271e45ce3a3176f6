// SPDX-License-Identifier: Apache-2.0
// Hop by hop on a CUDA device: a vertex a thread draws; new vertices are numbered by the first draw
// that found them.
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/embedding/neighbor_sample_kernels.h"
#include "headrace/graph/embedding/neighbor_sample_math.h"
#include "headrace/graph/structure/device_rows.h"
#include "headrace/plan/graph/placement.h"

#include <vector>

namespace hr::cuda {

namespace {

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

__global__ void place_seeds_kernel(const int64_t* seeds, int64_t count, uint32_t* places) {
  const int64_t i = own_item();
  if (i < count) atomicMin(&places[seeds[i]], static_cast<uint32_t>(i));
}

__global__ void repeats_kernel(const int64_t* seeds, int64_t count, const uint32_t* places,
                               unsigned* first) {
  const int64_t i = own_item();
  if (i < count && places[seeds[i]] != i) atomicMin(first, static_cast<unsigned>(i));
}

/// The vertices that are expanded, and where the draws of each begin.
struct Hop {
  Rows rows;
  const int64_t* vertices;
  int64_t count;
  const uint64_t* begins;
  RandomKey key;
  int64_t fanout;
  bool replace;

  __device__ bool takes_all(int64_t degree, int64_t drawn) const {
    return fanout < 0 || (!replace && drawn == degree);
  }
};

__global__ void counts_kernel(Hop hop, uint64_t* counts) {
  const int64_t i = own_item();
  if (i <= hop.count)
    counts[i] = i < hop.count ? static_cast<uint64_t>(num_drawn(hop.rows.degree(hop.vertices[i]),
                                                                hop.fanout, hop.replace))
                              : 0;
}

__global__ void draw_kernel(Hop hop, int64_t* entries) {
  const int64_t i = own_item();
  if (i >= hop.count) return;
  const int64_t v = hop.vertices[i];
  const int64_t degree = hop.rows.degree(v);
  const auto drawn = static_cast<int64_t>(hop.begins[i + 1] - hop.begins[i]);
  if (hop.takes_all(degree, drawn)) return;
  int64_t* const own = entries + hop.begins[i];
  draw_entries(hop.key, v, degree, drawn, hop.replace, own, [&](int64_t before, int64_t place) {
    for (int64_t k = 0; k < before; ++k)
      if (own[k] == place) return true;
    return false;
  });
}

/// Whose draw it is.
__device__ int64_t holder(const Hop& hop, uint64_t draw) {
  return partition_point(int64_t{1}, hop.count,
                         [&](int64_t vertex) { return hop.begins[vertex] <= draw; }) -
         1;
}

/// Entries of draws, and the places of what they find: those that are known are below `last`.
__global__ void find_kernel(Hop hop, int64_t draws, int64_t first, uint32_t last, int64_t* entries,
                            int64_t* columns, uint32_t* places) {
  const int64_t j = own_item();
  if (j >= draws) return;
  const int64_t i = holder(hop, static_cast<uint64_t>(j));
  const int64_t v = hop.vertices[i];
  const auto drawn = static_cast<int64_t>(hop.begins[i + 1] - hop.begins[i]);
  const int64_t own = j - static_cast<int64_t>(hop.begins[i]);
  const int64_t place = hop.takes_all(hop.rows.degree(v), drawn) ? own : entries[j];
  const int64_t entry = hop.rows.begin(v) + place;
  entries[j] = entry;
  columns[j] = first + i;
  atomicMin(&places[hop.rows.targets[entry]], last + static_cast<uint32_t>(j));
}

__global__ void is_new_kernel(Rows rows, const int64_t* entries, int64_t draws, uint32_t last,
                              const uint32_t* places, uint32_t* is_new) {
  const int64_t j = own_item();
  if (j <= draws)
    is_new[j] = j < draws && places[rows.targets[entries[j]]] == last + static_cast<uint32_t>(j);
}

__global__ void number_kernel(Rows rows, const int64_t* entries, int64_t draws, uint32_t last,
                              const uint32_t* places, const uint32_t* before, int64_t* nodes,
                              int64_t* found, int64_t* edges) {
  const int64_t j = own_item();
  if (j >= draws) return;
  const uint32_t target = rows.targets[entries[j]];
  const uint32_t place = places[target];
  found[j] = place < last ? place : last + before[place - last];
  if (place == last + static_cast<uint32_t>(j)) nodes[before[j]] = target;
  if (edges) edges[j] = rows.edges[entries[j]];
}

__global__ void settle_kernel(const int64_t* nodes, int64_t count, uint32_t last,
                              uint32_t* places) {
  const int64_t i = own_item();
  if (i < count) places[nodes[i]] = last + static_cast<uint32_t>(i);
}

class Sampling {
 public:
  Sampling(DeviceCall& call, const Csr& csr, const SampleOptions& options)
      : call_(call), rows_(rows_of(call, csr)), options_(options), places_(call, rows_.vertices) {
    places_.fill(call, 0xFF);
  }

  NeighborSample run(const Column& seeds) {
    NeighborSample made;
    start(seeds);
    made.num_nodes.push_back(total_);
    for (size_t hop = 0; hop < options_.fanout.size(); ++hop) {
      look_for_interrupt();
      made.num_edges.push_back(expand(static_cast<uint32_t>(hop)));
      made.num_nodes.push_back(of_nodes_.back().second);
    }
    made.row = joined(of_rows_);
    made.col = joined(of_columns_);
    made.node = joined(of_nodes_);
    if (rows_.edges || rows_.entries == 0) made.edge = joined(of_edges_);
    return made;
  }

 private:
  using Part = std::pair<Room<int64_t>, int64_t>;

  void start(const Column& seeds) {
    const int64_t count = seeds.num_rows();
    total_ = count;
    of_nodes_.emplace_back(Room<int64_t>(call_, count), count);
    if (count == 0) return;
    int64_t* const nodes = of_nodes_[0].first.data;
    call_.reads(seeds.values_buffer());
    check_cuda("neighbor_sample",
               cudaMemcpyAsync(nodes, seeds.values_buffer().as<int64_t>() + seeds.offset(),
                               static_cast<size_t>(8 * count), cudaMemcpyDeviceToDevice,
                               stream_of(call_)));
    const Room<unsigned> first(call_, 1);
    first.fill(call_, 0xFF);
    place_seeds_kernel<<<grid(count), kRowThreads, 0, stream_of(call_)>>>(nodes, count,
                                                                          places_.data);
    repeats_kernel<<<grid(count), kRowThreads, 0, stream_of(call_)>>>(nodes, count, places_.data,
                                                                      first.data);
    if (const unsigned found = fetched(call_, first.data); found != ~0u)
      throw_error<InvalidArgumentError>("neighbor_sample", "a seed repeats",
                                        {{"row of nodes", fetched(call_, nodes + found)}});
  }

  /// Expands what the hop before found; the number of edges.
  int64_t expand(uint32_t number) {
    const auto [vertices, count] = of_nodes_.back();
    const Room<uint64_t> begins(call_, count + 1);
    const Hop hop{rows_,           vertices.data,           count,
                  begins.data,     {options_.seed, number}, options_.fanout[number],
                  options_.replace};
    counts_kernel<<<grid(count + 1), kRowThreads, 0, stream_of(call_)>>>(hop, begins.data);
    exclusive_sums(call_, begins.data, count + 1);
    const auto draws = static_cast<int64_t>(fetched(call_, begins.data + count));
    const auto last = static_cast<uint32_t>(total_);
    const Room<int64_t> entries(call_, draws);
    const Room<int64_t> columns(call_, draws);
    const Room<int64_t> found(call_, draws);
    const Room<int64_t> edges(call_, rows_.edges ? draws : 0);
    const Room<uint32_t> before(call_, draws + 1);
    const cudaStream_t stream = stream_of(call_);
    draw_kernel<<<grid(count), kRowThreads, 0, stream>>>(hop, entries.data);
    find_kernel<<<grid(draws), kRowThreads, 0, stream>>>(hop, draws, total_ - count, last,
                                                         entries.data, columns.data, places_.data);
    is_new_kernel<<<grid(draws + 1), kRowThreads, 0, stream>>>(rows_, entries.data, draws, last,
                                                               places_.data, before.data);
    exclusive_sums(call_, before.data, draws + 1);
    const int64_t fresh = fetched(call_, before.data + draws);
    const Room<int64_t> nodes(call_, fresh);
    number_kernel<<<grid(draws), kRowThreads, 0, stream>>>(rows_, entries.data, draws, last,
                                                           places_.data, before.data, nodes.data,
                                                           found.data, edges.data);
    settle_kernel<<<grid(fresh), kRowThreads, 0, stream>>>(nodes.data, fresh, last, places_.data);
    total_ += fresh;
    of_rows_.emplace_back(found, draws);
    of_columns_.emplace_back(columns, draws);
    of_edges_.emplace_back(edges, rows_.edges ? draws : 0);
    of_nodes_.emplace_back(nodes, fresh);
    return draws;
  }

  Tensor joined(const std::vector<Part>& parts) {
    int64_t count = 0;
    for (const Part& part : parts) count += part.second;
    const Buffer made = call_.scratch(8 * count);
    auto* out = made ? call_.writes_as<int64_t>(made) : nullptr;
    for (const auto& [values, size] : parts) {
      if (size == 0) continue;
      check_cuda("neighbor_sample", cudaMemcpyAsync(out, values.data, static_cast<size_t>(8 * size),
                                                    cudaMemcpyDeviceToDevice, stream_of(call_)));
      out += size;
    }
    return Tensor(TypeId::kInt64, {count}, made);
  }

  DeviceCall& call_;
  Rows rows_;
  const SampleOptions& options_;
  Room<uint32_t> places_;  // of vertices among the nodes
  int64_t total_ = 0;
  std::vector<Part> of_nodes_{};
  std::vector<Part> of_rows_{};
  std::vector<Part> of_columns_{};
  std::vector<Part> of_edges_{};
};

}  // namespace

NeighborSample neighbor_sample(const Graph& graph, const Column& seeds,
                               const SampleOptions& options) {
  const Csr csr = graph.in_there();
  const Column there = std::get<Column>(to_place(Value(seeds), graph.place()));
  DeviceCall call("neighbor_sample", graph.place());
  NeighborSample made = Sampling(call, csr, options).run(there);
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace hr::cuda
