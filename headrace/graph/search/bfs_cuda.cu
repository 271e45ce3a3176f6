// SPDX-License-Identifier: Apache-2.0
// Breadth-first search on a CUDA device: the frontier's entries shared out evenly, or vertices that
// ask their neighbours, those of large degree first.
#include "headrace/exec/interrupt.h"
#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/bfs_kernels.h"
#include "headrace/graph/structure/device_rows.h"

#include <utility>

namespace hr::cuda {

namespace {

constexpr int64_t kAlpha = 15, kBeta = 18;  // as on the host
constexpr int kProbes = 64;                 // of a vertex alone; longer rows are for a warp

/// What a step reached, and the rows it left to warps.
struct Counts {
  unsigned long long entries;
  unsigned vertices;  // in pushes: those with entries
  unsigned open;
};

struct Push {
  Rows rows;
  uint32_t* levels;
  uint32_t level;
  uint32_t* next;
  Counts* counts;

  __device__ void operator()(uint32_t, int64_t entry) const {
    const uint32_t target = rows.targets[entry];
    if (levels[target] != kNoLevel || atomicCAS(&levels[target], kNoLevel, level) != kNoLevel)
      return;
    const auto degree = static_cast<unsigned long long>(rows.degree(target));
    if (degree == 0) return;
    next[next_place(&counts->vertices)] = target;
    atomicAdd(&counts->entries, degree);
  }
};

__device__ bool has(const unsigned* bits, uint32_t v) {
  return (bits[v / 32] >> v % 32 & 1) != 0;
}

/// Each vertex that is not reached asks its first neighbours.
__global__ void pull_kernel(Rows rows, const unsigned* frontier, uint32_t level, uint32_t* levels,
                            unsigned* next, uint32_t* open, Counts* counts) {
  const int64_t v = own_item();
  bool is_found = false;
  int64_t degree = 0;
  if (v < rows.vertices && levels[v] == kNoLevel) {
    const int64_t begin = rows.begin(v);
    degree = rows.degree(v);
    const int64_t end = begin + min(degree, int64_t{kProbes});
    for (int64_t entry = begin; entry < end && !is_found; ++entry)
      is_found = has(frontier, rows.targets[entry]);
    if (is_found)
      levels[v] = level;
    else if (degree > kProbes)
      open[next_place(&counts->open)] = static_cast<uint32_t>(v);
  }
  const unsigned found = __ballot_sync(kAllLanes, is_found);
  if (threadIdx.x % 32 == 0 && v < rows.vertices) next[v / 32] = found;
  add_of_warp(&counts->entries, is_found ? static_cast<unsigned long long>(degree) : 0);
  if (threadIdx.x % 32 == 0 && found != 0)
    atomicAdd(&counts->vertices, static_cast<unsigned>(__popc(found)));
}

__global__ void pull_open_kernel(Rows rows, const unsigned* frontier, uint32_t level,
                                 uint32_t* levels, unsigned* next, const uint32_t* open,
                                 Counts* counts) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t warps = int64_t{gridDim.x} * kRowThreads / 32;
  for (int64_t i = own_item() / 32; i < counts->open; i += warps) {
    const uint32_t v = open[i];
    const int64_t end = rows.begin(v + 1);
    bool is_found = false;
    for (int64_t entry = rows.begin(v) + kProbes; entry < end && !is_found; entry += 32)
      is_found =
          __any_sync(kAllLanes, entry + lane < end && has(frontier, rows.targets[entry + lane]));
    if (!is_found || lane != 0) continue;
    levels[v] = level;
    atomicOr(&next[v / 32], 1u << v % 32);
    atomicAdd(&counts->entries, static_cast<unsigned long long>(end - rows.begin(v)));
    atomicAdd(&counts->vertices, 1u);
  }
}

__global__ void fill_bits_kernel(const uint32_t* queue, int64_t count, unsigned* bits) {
  const int64_t i = own_item();
  if (i < count) atomicOr(&bits[queue[i] / 32], 1u << queue[i] % 32);
}

__global__ void list_bits_kernel(const unsigned* bits, int64_t vertices, uint32_t* queue,
                                 unsigned* count) {
  const int64_t v = own_item();
  if (v < vertices && has(bits, static_cast<uint32_t>(v)))
    queue[next_place(count)] = static_cast<uint32_t>(v);
}

__global__ void start_kernel(const uint32_t* ranks, int64_t source, uint32_t* levels,
                             uint32_t* queue) {
  const uint32_t first = ranks ? ranks[source] : static_cast<uint32_t>(source);
  levels[first] = 0;
  queue[0] = first;
}

__global__ void by_vertex_kernel(const uint32_t* levels, const uint32_t* ranks, int64_t vertices,
                                 uint32_t* out) {
  const int64_t v = own_item();
  if (v < vertices) out[v] = levels[ranks[v]];
}

class Search {
 public:
  Search(DeviceCall& call, const Rows& rows, bool pulls, uint32_t* levels)
      : call_(call),
        rows_(rows),
        pulls_(pulls),
        levels_(levels),
        expansion_(call, rows),
        queues_{{call, rows.vertices}, {call, rows.vertices}},
        counts_(call, 1) {
    if (!pulls) return;
    const int64_t words = (rows.vertices + 31) / 32;
    for (Room<unsigned>& each : bits_) each = Room<unsigned>(call, words);
  }

  void run(int64_t source, const uint32_t* ranks, int64_t most) {
    start_kernel<<<1, 1, 0, stream_of(call_)>>>(ranks, source, levels_, queues_[0].data);
    const uint32_t first = fetched(call_, queues_[0].data);
    int64_t ends[2];
    call_.fetch(ends, rows_.offsets + first, sizeof ends);
    Counts reached{static_cast<unsigned long long>(ends[1] - ends[0]), 1, 0};
    int64_t left = rows_.entries;
    bool is_listed = true;  // the frontier is in the queue, else in bits
    for (uint32_t level = 1; reached.entries > 0 && level <= most; ++level) {
      look_for_interrupt();
      left -= static_cast<int64_t>(reached.entries);
      const auto entries = static_cast<int64_t>(reached.entries);
      const bool pulls = pulls_ && (is_listed ? entries > std::max<int64_t>(left, 0) / kAlpha
                                              : reached.vertices > rows_.vertices / kBeta);
      counts_.fill(call_, 0);
      if (pulls) {
        if (is_listed) fill_bits(reached.vertices);
        pull(level);
      } else {
        if (!is_listed) list_bits();
        expansion_.run(queues_[0].data, reached.vertices, entries,
                       Push{rows_, levels_, level, queues_[1].data, counts_.data});
        std::swap(queues_[0], queues_[1]);
      }
      is_listed = !pulls;
      reached = fetched(call_, counts_.data);
    }
  }

 private:
  void pull(uint32_t level) {
    pull_kernel<<<blocks_of(rows_.vertices, kRowThreads), kRowThreads, 0, stream_of(call_)>>>(
        rows_, bits_[0].data, level, levels_, bits_[1].data, queues_[1].data, counts_.data);
    pull_open_kernel<<<512, kRowThreads, 0, stream_of(call_)>>>(
        rows_, bits_[0].data, level, levels_, bits_[1].data, queues_[1].data, counts_.data);
    std::swap(bits_[0], bits_[1]);
  }

  void fill_bits(int64_t count) {
    bits_[0].fill(call_, 0);
    fill_bits_kernel<<<blocks_of(count, kRowThreads), kRowThreads, 0, stream_of(call_)>>>(
        queues_[0].data, count, bits_[0].data);
  }

  // All that a pull reached has entries.
  void list_bits() {
    list_bits_kernel<<<blocks_of(rows_.vertices, kRowThreads), kRowThreads, 0, stream_of(call_)>>>(
        bits_[0].data, rows_.vertices, queues_[0].data, &counts_.data->open);
    counts_.fill(call_, 0);
  }

  DeviceCall& call_;
  Rows rows_;
  bool pulls_;
  uint32_t* levels_;
  Expansion expansion_;
  Room<uint32_t> queues_[2];
  Room<unsigned> bits_[2];
  Room<Counts> counts_;
};

/// The first neighbour a level before each vertex; those with long rows wait.
__global__ void predecessor_kernel(Rows rows, const uint32_t* levels, int64_t* out, uint32_t* open,
                                   unsigned* waiting) {
  const int64_t v = own_item();
  if (v >= rows.vertices) return;
  out[v] = -1;
  const uint32_t level = levels[v];
  if (level == kNoLevel || level == 0) return;
  const int64_t begin = rows.begin(v);
  const int64_t end = begin + min(rows.degree(v), int64_t{kProbes});
  for (int64_t entry = begin; entry < end; ++entry) {
    if (levels[rows.targets[entry]] != level - 1) continue;
    out[v] = rows.targets[entry];
    return;
  }
  open[next_place(waiting)] = static_cast<uint32_t>(v);
}

__global__ void open_predecessor_kernel(Rows rows, const uint32_t* levels, int64_t* out,
                                        const uint32_t* open, const unsigned* waiting) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t warps = int64_t{gridDim.x} * kRowThreads / 32;
  for (int64_t i = own_item() / 32; i < *waiting; i += warps) {
    const uint32_t v = open[i];
    const int64_t end = rows.begin(v + 1);
    for (int64_t entry = rows.begin(v) + kProbes; entry < end; entry += 32) {
      const unsigned found = __ballot_sync(
          kAllLanes, entry + lane < end && levels[rows.targets[entry + lane]] == levels[v] - 1);
      if (found == 0) continue;
      if (lane == 0) out[v] = rows.targets[entry + __ffs(static_cast<int>(found)) - 1];
      break;
    }
  }
}

__global__ void distance_kernel(const uint32_t* levels, int64_t rows, int64_t* out,
                                unsigned* valid) {
  const int64_t i = own_item();
  const uint32_t level = i < rows ? levels[i] : kNoLevel;
  const unsigned reached = __ballot_sync(kAllLanes, level != kNoLevel);
  if (i >= rows) return;
  out[i] = level == kNoLevel ? 0 : level;
  if (threadIdx.x % 32 == 0) valid[i / 32] = reached;
}

}  // namespace

Buffer bfs_levels(const Graph& graph, int64_t source, int64_t most) {
  const int64_t vertices = graph.num_vertices();
  const bool pulls = !graph.is_directed();
  const std::shared_ptr<const OrderedRows> ordered = pulls ? graph.ordered_there() : nullptr;
  DeviceCall call("bfs", graph.place());
  const Rows rows = rows_of(call, pulls ? ordered->rows : graph.out_there());
  const Room<uint32_t> levels(call, vertices);
  levels.fill(call, 0xFF);
  const auto* const ranks = pulls ? read_as<uint32_t>(call, ordered->ranks) : nullptr;
  Search(call, rows, pulls, levels.data).run(source, ranks, most);
  Buffer made = levels.buffer;
  call.writes(made);
  if (pulls) {
    made = call.scratch(4 * vertices);
    by_vertex_kernel<<<blocks_of(vertices, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
        levels.data, ranks, vertices, call.writes_as<uint32_t>(made));
  }
  call.finish(cudaGetLastError());
  return made;
}

Buffer bfs_predecessors(const Graph& graph, const Buffer& levels) {
  const Csr in = graph.in_there();
  DeviceCall call("bfs", graph.place());
  const Rows rows = rows_of(call, in);
  const auto* const level = read_as<uint32_t>(call, levels);
  const Buffer made = call.scratch(8 * rows.vertices);
  const Room<uint32_t> open(call, rows.vertices);
  const Room<unsigned> waiting(call, 1);
  waiting.fill(call, 0);
  auto* const out = call.writes_as<int64_t>(made);
  predecessor_kernel<<<blocks_of(rows.vertices, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      rows, level, out, open.data, waiting.data);
  open_predecessor_kernel<<<512, kRowThreads, 0, stream_of(call)>>>(rows, level, out, open.data,
                                                                    waiting.data);
  call.finish(cudaGetLastError());
  return made;
}

Column distance_column(const Buffer& levels, int64_t rows) {
  DeviceCall call("bfs", levels.place());
  const auto* const from = read_as<uint32_t>(call, levels);
  const Buffer made = call.scratch(8 * rows);
  const Buffer valid = call.scratch((rows + 31) / 32 * 4);
  distance_kernel<<<blocks_of(rows, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      from, rows, call.writes_as<int64_t>(made), call.writes_as<unsigned>(valid));
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, rows, made, valid, -1);
}

}  // namespace hr::cuda
