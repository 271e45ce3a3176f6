// SPDX-License-Identifier: Apache-2.0
// Many searches on a CUDA device: 64 are the bits of a word a vertex, which asks its neighbours.
#include "headrace/exec/interrupt.h"
#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/bfs_kernels.h"
#include "headrace/graph/search/many_bfs_kernels.h"
#include "headrace/graph/structure/device_rows.h"

#include <algorithm>
#include <utility>

namespace hr::cuda {

namespace {

using Word = unsigned long long;

constexpr size_t kLanes = 64;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

struct Searches {
  const uint32_t* order;   // the vertex of each row
  const uint32_t* places;  // of rows among targets; null: alike
  const Word* frontier;    // by place among targets
  Word* next;
  Word* seen;
  Word all;
  uint32_t* levels;
  int64_t vertices;

  __device__ int64_t place(int64_t row) const { return places ? places[row] : row; }

  /// What is new of a row becomes the next frontier; whether there is any.
  __device__ bool settle(int64_t row, Word lanes, uint32_t level) const {
    Word fresh = lanes & ~seen[row];
    next[place(row)] = fresh;
    if (fresh == 0) return false;
    seen[row] |= fresh;
    uint32_t* const own = levels + order[row];
    for (; fresh != 0; fresh &= fresh - 1) own[(__ffsll(fresh) - 1) * vertices] = level;
    return true;
  }
};

/// Searches from `first` on.
__global__ void start_kernel(Searches x, const uint32_t* ranks, const int64_t* sources, int count,
                             Word* frontier) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane >= count) return;
  const int64_t row = ranks[sources[lane]];
  atomicOr(&x.seen[row], Word{1} << lane);
  atomicOr(&frontier[x.place(row)], Word{1} << lane);
  x.levels[lane * x.vertices + sources[lane]] = 0;
}

__global__ void pull_kernel(Rows rows, Bins bins, Searches x, uint32_t level, unsigned* reached) {
  __shared__ Word parts[kRowThreads / 32];
  bins.own_row([&](int64_t row, Team team) {
    const Word seen = x.seen[row];
    Word lanes = seen;
    const int64_t end = rows.begin(row + 1);
    for (int64_t entry = rows.begin(row) + team.lane; entry < end && lanes != x.all;
         entry += team.lanes)
      lanes |= __ldg(x.frontier + rows.targets[entry]);
    if (team.lanes > 1) {
      const int width = min(team.lanes, 32);
      const unsigned together = width == 8 ? 0xFFu << (threadIdx.x & 24) : kAllLanes;
      for (int half = width / 2; half > 0; half /= 2)
        lanes |= __shfl_xor_sync(together, lanes, half, width);
    }
    if (team.lanes > 32) {
      if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = lanes;
      __syncthreads();
      for (const Word part : parts) lanes |= part;
    }
    if (team.lane == 0 && x.settle(row, lanes, level)) *reached = 1;
  });
}

__global__ void starts_kernel(const int64_t* sources, int64_t rows, int64_t vertices,
                              int64_t* out) {
  const int64_t i = own_item();
  if (i < rows) out[i] = sources ? sources[i / vertices] : i % vertices;
}

Tensor row_numbers(const Graph& graph, const int64_t* sources, int64_t count) {
  const int64_t rows = count * graph.num_vertices();
  if (rows == 0) return Tensor(TypeId::kInt64, {0}, Buffer());
  DeviceCall call("bfs", graph.place());
  const Buffer there = sources ? call.table(sources, 8 * count) : Buffer();
  const Buffer made = call.scratch(8 * rows);
  starts_kernel<<<grid(rows), kRowThreads, 0, stream_of(call)>>>(
      there ? there.as<int64_t>() : nullptr, rows, graph.num_vertices(),
      call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Tensor(TypeId::kInt64, {rows}, made);
}

}  // namespace

Buffer many_bfs_levels(const Graph& graph, std::span<const int64_t> sources, int64_t most) {
  const int64_t vertices = graph.num_vertices();
  const int64_t count = vertices * static_cast<int64_t>(sources.size());
  if (count == 0) return Buffer::allocate(0);
  const std::shared_ptr<const OrderedRows> ordered = graph.ordered_there();
  DeviceCall call("bfs", graph.place());
  const Rows rows = rows_of(call, ordered->rows);
  const Bins bins(*ordered, ordered->live);
  const Room<Word> seen(call, vertices);
  Room<Word> frontier(call, vertices);
  Room<Word> next(call, vertices);
  const Room<unsigned> reached(call, 1);
  const Buffer made = call.scratch(4 * count);
  auto* levels = call.writes_as<uint32_t>(made);
  call.fill(reinterpret_cast<std::byte*>(levels), 0xFF, 4 * count);
  for (size_t first = 0; first < sources.size(); first += kLanes, levels += kLanes * vertices) {
    const auto some = sources.subspan(first, std::min(kLanes, sources.size() - first));
    seen.fill(call, 0);
    frontier.fill(call, 0);
    next.fill(call, 0);
    Searches x{read_as<uint32_t>(call, ordered->order),
               read_as<uint32_t>(call, ordered->places),
               frontier.data,
               next.data,
               seen.data,
               ~Word{0} >> (kLanes - some.size()),
               levels,
               vertices};
    const Buffer there = call.table(some.data(), 8 * static_cast<int64_t>(some.size()));
    start_kernel<<<1, kLanes, 0, stream_of(call)>>>(x, read_as<uint32_t>(call, ordered->ranks),
                                                    there.as<int64_t>(),
                                                    static_cast<int>(some.size()), frontier.data);
    for (uint32_t level = 1; level <= most; ++level) {
      look_for_interrupt();
      reached.fill(call, 0);
      x.frontier = frontier.data;
      x.next = next.data;
      pull_kernel<<<bins.blocks(), kRowThreads, 0, stream_of(call)>>>(rows, bins, x, level,
                                                                      reached.data);
      std::swap(frontier, next);
      // Vertices without entries to them are in no frontier but the first.
      if (level == 1) next.fill(call, 0);
      if (fetched(call, reached.data) == 0) break;
    }
  }
  call.finish(cudaGetLastError());
  return made;
}

Buffer many_bfs_predecessors(const Graph& graph, const Buffer& levels, int64_t sources) {
  const int64_t vertices = graph.num_vertices();
  if (vertices * sources == 0) return Buffer::allocate(0);
  DeviceCall call("bfs", graph.place());
  const auto* const from = read_as<uint32_t>(call, levels);
  const Buffer made = call.scratch(8 * vertices * sources);
  auto* const out = call.writes_as<int64_t>(made);
  for (int64_t lane = 0; lane < sources; ++lane) {
    const Buffer own = call.scratch(4 * vertices);
    check_cuda("bfs", cudaMemcpyAsync(call.writes(own), from + lane * vertices,
                                      static_cast<size_t>(4 * vertices), cudaMemcpyDeviceToDevice,
                                      stream_of(call)));
    const Buffer found = cuda::bfs_predecessors(graph, own);
    check_cuda("bfs", cudaMemcpyAsync(out + lane * vertices, found.data(),
                                      static_cast<size_t>(8 * vertices), cudaMemcpyDeviceToDevice,
                                      stream_of(call)));
  }
  call.finish(cudaGetLastError());
  return made;
}

Tensor row_starts(const Graph& graph, std::span<const int64_t> sources) {
  return row_numbers(graph, sources.data(), static_cast<int64_t>(sources.size()));
}

Tensor row_vertices(const Graph& graph, int64_t sources) {
  return row_numbers(graph, nullptr, sources);
}

}  // namespace hr::cuda
