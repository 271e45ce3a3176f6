// SPDX-License-Identifier: Apache-2.0
// Triangles on a CUDA device, each at its vertex of the last rank by falling degree: what lies
// before a vertex in its row is in order, so it is looked up by bits of one row or by search in the
// other.
#include "headrace/graph/density/triangles_kernels.h"
#include "headrace/graph/structure/device_rows.h"

namespace hr::cuda {

namespace {

constexpr int kLongRow = 48;     // entries before a vertex for a block of threads
constexpr int kRanks = 1 << 18;  // of neighbours that bits tell
constexpr int kHubs = 1 << 12;   // whose counts a block keeps
constexpr int kFlush = 1 << 12;  // rows after which it hands them on
constexpr int kWarps = kRowThreads / 32;
constexpr int kBlocksAProcessor = 4;

struct Before {
  Rows rows;
  const uint32_t* counts;  // of each row's entries: those before the vertex

  const __device__ uint32_t* row(uint32_t v) const { return rows.targets + rows.begin(v); }
};

/// The first place of an ascending row whose value is not below `value`.
__device__ uint32_t place_in(const uint32_t* row, uint32_t count, uint32_t value) {
  uint32_t low = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    const bool right = row[low + half] < value;
    low = right ? low + half + 1 : low;
    count = right ? count - half - 1 : half;
  }
  return low;
}

__device__ bool contains(const uint32_t* row, uint32_t count, uint32_t value) {
  const uint32_t at = place_in(row, count, value);
  return at < count && row[at] == value;
}

__global__ void before_kernel(Rows rows, uint32_t* counts, uint32_t* few, uint32_t* many,
                              unsigned* found) {
  const int64_t v = own_item();
  if (v >= rows.vertices) return;
  const uint32_t count = place_in(rows.targets + rows.begin(v),
                                  static_cast<uint32_t>(rows.degree(v)), static_cast<uint32_t>(v));
  counts[v] = count;
  if (count >= kLongRow)
    many[next_place(found + 1)] = static_cast<uint32_t>(v);
  else if (count > 1)
    few[next_place(found)] = static_cast<uint32_t>(v);
}

__device__ void add(unsigned long long* to, unsigned long long count) {
  if (count != 0) atomicAdd(to, count);
}

/// A warp for each vertex of few: its pairs of neighbours, of which one has the other or not.
__global__ void few_kernel(Before before, const uint32_t* queue, const unsigned* found,
                           unsigned long long* triangles) {
  __shared__ uint32_t shared_rows[kWarps][kLongRow];
  __shared__ unsigned shared_hits[kWarps][kLongRow];
  const int lane = static_cast<int>(threadIdx.x % 32);
  uint32_t* const row = shared_rows[threadIdx.x / 32];
  unsigned* const hits = shared_hits[threadIdx.x / 32];
  const int64_t warps = int64_t{gridDim.x} * kWarps;
  for (int64_t i = own_item() / 32; i < *found; i += warps) {
    const uint32_t u = queue[i];
    const auto count = static_cast<int>(before.counts[u]);
    const uint32_t* const from = before.row(u);
    for (int k = lane; k < count; k += 32) {
      row[k] = from[k];
      hits[k] = 0;
    }
    __syncwarp();
    unsigned own = 0;
    // Pair p is of places low < high: high (high - 1) / 2 + low.
    for (int p = lane; p < count * (count - 1) / 2; p += 32) {
      int high = static_cast<int>((1.0f + sqrtf(1.0f + 8.0f * static_cast<float>(p))) / 2);
      while (high * (high - 1) / 2 > p) --high;
      while ((high + 1) * high / 2 <= p) ++high;
      const int low = p - high * (high - 1) / 2;
      const uint32_t v = row[high];
      if (!contains(before.row(v), before.counts[v], row[low])) continue;
      atomicAdd(&hits[low], 1u);
      atomicAdd(&hits[high], 1u);
      ++own;
    }
    own = __reduce_add_sync(kAllLanes, own);
    __syncwarp();
    if (own == 0) continue;
    if (lane == 0) atomicAdd(&triangles[u], own);
    for (int k = lane; k < count; k += 32) add(&triangles[row[k]], hits[k]);
    __syncwarp();
  }
}

/// A block of threads for each vertex of many, a warp for each of its neighbours.
__global__ void many_kernel(Before before, const uint32_t* queue, unsigned count, unsigned* taken,
                            unsigned long long* triangles) {
  extern __shared__ unsigned shared_room[];
  unsigned* const bits = shared_room;
  unsigned* const of_hubs = bits + kRanks / 32;
  __shared__ unsigned place;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto flush = [&] {
    __syncthreads();
    for (int hub = static_cast<int>(threadIdx.x); hub < kHubs; hub += kRowThreads) {
      add(&triangles[hub], of_hubs[hub]);
      of_hubs[hub] = 0;
    }
  };
  for (int i = static_cast<int>(threadIdx.x); i < kRanks / 32; i += kRowThreads) bits[i] = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kHubs; i += kRowThreads) of_hubs[i] = 0;
  const auto hit = [&](uint32_t w) {
    if (w < kHubs)
      atomicAdd(&of_hubs[w], 1u);
    else
      atomicAdd(&triangles[w], 1ull);
  };
  for (int turn = 1;; ++turn) {
    __syncthreads();
    if (threadIdx.x == 0) place = atomicAdd(taken, 1u);
    __syncthreads();
    if (place >= count) break;
    const uint32_t u = queue[place];
    const uint32_t* const row = before.row(u);
    const uint32_t length = before.counts[u];
    for (uint32_t k = threadIdx.x; k < length; k += kRowThreads)
      if (row[k] < kRanks) atomicOr(&bits[row[k] / 32], 1u << row[k] % 32);
    __syncthreads();
    unsigned long long of_warp = 0;
    for (uint32_t k = 1 + threadIdx.x / 32; k < length; k += kWarps) {
      const uint32_t v = row[k];
      const uint32_t* const others = before.row(v);
      const uint32_t many = before.counts[v];
      unsigned own = 0;
      // What u has before v is looked up in the row of v, or that row in the bits of u.
      const auto steps = static_cast<uint32_t>(32 - __clz(static_cast<int>(many)));
      if (k * steps < many) {
        for (uint32_t i = lane; i < k; i += 32) {
          if (!contains(others, many, row[i])) continue;
          hit(row[i]);
          ++own;
        }
      } else {
        for (uint32_t i = lane; i < many; i += 32) {
          const uint32_t w = others[i];
          const bool is_hit = w < kRanks ? (bits[w / 32] >> w % 32 & 1) != 0 : contains(row, k, w);
          if (!is_hit) continue;
          hit(w);
          ++own;
        }
      }
      own = __reduce_add_sync(kAllLanes, own);
      if (lane == 0 && own != 0) {
        if (v < kHubs)
          atomicAdd(&of_hubs[v], own);
        else
          atomicAdd(&triangles[v], static_cast<unsigned long long>(own));
      }
      of_warp += own;
    }
    if (lane == 0) add(&triangles[u], of_warp);
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < length; k += kRowThreads)
      if (row[k] < kRanks) bits[row[k] / 32] = 0;
    if (turn % kFlush == 0) flush();
  }
  flush();
}

__global__ void by_vertex_kernel(const unsigned long long* counts, const uint32_t* ranks,
                                 int64_t vertices, int64_t* out) {
  const int64_t v = own_item();
  if (v < vertices) out[v] = static_cast<int64_t>(counts[ranks[v]]);
}

__global__ void neighbors_kernel(Rows rows, bool has_loops, int64_t* out) {
  const int64_t v = own_item();
  if (v >= rows.vertices) return;
  const auto degree = static_cast<uint32_t>(rows.degree(v));
  const bool is_own =
      has_loops && contains(rows.targets + rows.begin(v), degree, static_cast<uint32_t>(v));
  out[v] = degree - (is_own ? 1 : 0);
}

}  // namespace

Column triangle_count(const Graph& graph) {
  if (graph.num_vertices() == 0) return Column(TypeId::kInt64, 0, Buffer());
  const std::shared_ptr<const OrderedRows> ordered = graph.ordered_there();
  DeviceCall call("triangle_count", graph.place());
  const cudaStream_t stream = stream_of(call);
  const Rows rows = rows_of(call, ordered->rows);
  const int64_t vertices = rows.vertices;
  const Room<uint32_t> counts(call, vertices);
  const Room<uint32_t> few(call, vertices);
  const Room<uint32_t> many(call, vertices);
  const Room<unsigned> found(call, 3);  // of each, and how many of the many are taken
  const Room<unsigned long long> triangles(call, std::max<int64_t>(vertices, kHubs));
  found.fill(call, 0);
  triangles.fill(call, 0);
  before_kernel<<<blocks_of(vertices, kRowThreads), kRowThreads, 0, stream>>>(
      rows, counts.data, few.data, many.data, found.data);
  const Before before{rows, counts.data};
  few_kernel<<<blocks_in_turn(vertices, kWarps, graph.place().index, 32), kRowThreads, 0, stream>>>(
      before, few.data, found.data, triangles.data);
  if (const unsigned long_rows = fetched(call, found.data + 1); long_rows > 0) {
    constexpr int kRoom = kRanks / 8 + kHubs * 4;
    check_cuda(
        "triangle_count",
        cudaFuncSetAttribute(many_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRoom));
    many_kernel<<<blocks_in_turn(long_rows, 1, graph.place().index, kBlocksAProcessor), kRowThreads,
                  kRoom, stream>>>(before, many.data, long_rows, found.data + 2, triangles.data);
  }
  const Buffer made = call.scratch(8 * vertices);
  by_vertex_kernel<<<blocks_of(vertices, kRowThreads), kRowThreads, 0, stream>>>(
      triangles.data, read_as<uint32_t>(call, ordered->ranks), vertices,
      call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, vertices, made);
}

Column neighbor_counts(const Graph& graph) {
  if (graph.num_vertices() == 0) return Column(TypeId::kInt64, 0, Buffer());
  DeviceCall call("triangle_count", graph.place());
  const Rows rows = rows_of(call, graph.out_there());
  const Buffer made = call.scratch(8 * rows.vertices);
  neighbors_kernel<<<blocks_of(rows.vertices, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      rows, graph.num_self_loops() > 0, call.writes_as<int64_t>(made));
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, rows.vertices, made);
}

}  // namespace hr::cuda
