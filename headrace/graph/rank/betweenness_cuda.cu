// SPDX-License-Identifier: Apache-2.0
// Betweenness on a CUDA device: a search, then vertices level by level forth and back, each of
// which pulls along its row.
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/graph/rank/betweenness_kernels.h"
#include "headrace/graph/search/bfs.h"
#include "headrace/graph/search/bfs_kernels.h"
#include "headrace/graph/structure/device_rows.h"

#include <bit>
#include <vector>

namespace hr::cuda {

namespace {

constexpr int kClasses = 4;  // of rows: for a block, a warp, 8 threads, one
constexpr int64_t kHubEntries = 2048;
constexpr int64_t kWideEntries = 64;
constexpr int64_t kNarrowEntries = 8;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

__global__ void last_level_kernel(const uint32_t* levels, int64_t vertices, unsigned* last,
                                  unsigned* reached) {
  const int64_t v = own_item();
  const uint32_t level = v < vertices ? levels[v] : kNoLevel;
  unsigned own = level == kNoLevel ? 0 : level;
  for (int half = 16; half > 0; half /= 2) own = max(own, __shfl_xor_sync(kAllLanes, own, half));
  const unsigned count = __popc(__ballot_sync(kAllLanes, level != kNoLevel));
  if (threadIdx.x % 32 != 0) return;
  if (own > *last) atomicMax(last, own);
  if (count > 0) atomicAdd(reached, count);
}

/// Keys of vertices: their level, then how long their row is; what is not reached comes last.
__global__ void keys_kernel(Rows rows, const uint32_t* levels, uint32_t none, uint32_t* keys,
                            uint32_t* vertices) {
  const int64_t v = own_item();
  if (v >= rows.vertices) return;
  const int64_t degree = rows.degree(v);
  const uint32_t kind = degree >= kHubEntries      ? 0
                        : degree >= kWideEntries   ? 1
                        : degree >= kNarrowEntries ? 2
                                                   : 3;
  keys[v] = levels[v] == kNoLevel ? none : levels[v] * kClasses + kind;
  vertices[v] = static_cast<uint32_t>(v);
}

__global__ void begins_kernel(const uint32_t* keys, int64_t vertices, int64_t count,
                              uint32_t* begins) {
  const int64_t key = own_item();
  if (key > count) return;
  const auto is_before = [&](int64_t place) { return keys[place] < key; };
  begins[key] = static_cast<uint32_t>(partition_point(int64_t{0}, vertices, is_before));
}

struct Paths {
  const uint32_t* levels;
  double* counts;  // of shortest paths from the source
  double* shares;  // 1 and what passes through a vertex, over the paths to it
};

/// Calls `found(v, sum)` for listed vertices of a level, `sum` over the neighbours of another.
template <class Found>
__device__ void pull(const Rows& rows, const uint32_t* list, const Bins& bins, const Paths& paths,
                     uint32_t other, const double* from, Found&& found) {
  bins.own_row([&](int64_t i, Team team) {
    const uint32_t v = list[i];
    double sum = 0;
    const int64_t end = rows.begin(v + 1);
    for (int64_t entry = rows.begin(v) + team.lane; entry < end; entry += team.lanes) {
      const uint32_t target = rows.targets[entry];
      if (__ldg(paths.levels + target) == other) sum += from[target];
    }
    sum = team.sum(sum);
    if (team.lane == 0) found(v, sum);
  });
}

__global__ void forth_kernel(Rows rows, const uint32_t* list, Bins bins, Paths paths,
                             uint32_t level, unsigned* overflows) {
  pull(rows, list, bins, paths, level - 1, paths.counts, [&](uint32_t v, double sum) {
    paths.counts[v] = sum;
    if (!isfinite(sum)) *overflows = 1;
  });
}

__global__ void back_kernel(Rows rows, const uint32_t* list, Bins bins, Paths paths, uint32_t level,
                            double end, double* out) {
  pull(rows, list, bins, paths, level + 1, paths.shares, [&](uint32_t v, double sum) {
    const double count = paths.counts[v];
    sum *= count;
    paths.shares[v] = (1 + sum) / count;
    out[v] += sum + end;
  });
}

__global__ void source_kernel(double* at, double value, bool adds) {
  *at = adds ? *at + value : value;
}

__global__ void scale_kernel(int64_t vertices, double scale, double* out) {
  const int64_t v = own_item();
  if (v < vertices) out[v] *= scale;
}

__global__ void scale_sources_kernel(const int64_t* sources, int64_t count, const double* of_sums,
                                     double scale, double* out) {
  const int64_t i = own_item();
  if (i < count) out[sources[i]] = of_sums[i] * scale;
}

__global__ void gather_sources_kernel(const int64_t* sources, int64_t count, const double* out,
                                      double* of_sums) {
  const int64_t i = own_item();
  if (i < count) of_sums[i] = out[sources[i]];
}

/// Vertices by level and length of row.
class Levels {
 public:
  Levels(DeviceCall& call, int64_t vertices)
      : call_(call),
        keys_{{call, vertices}, {call, vertices}},
        vertices_{{call, vertices}, {call, vertices}} {}

  void list(const Rows& rows, const uint32_t* levels, uint32_t last) {
    const int64_t count = (int64_t{last} + 1) * kClasses;
    keys_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call_)>>>(
        rows, levels, static_cast<uint32_t>(count), keys_[0].data, vertices_[0].data);
    at_ = sort_pairs(call_, {keys_[0].data, keys_[1].data}, {vertices_[0].data, vertices_[1].data},
                     rows.vertices, std::bit_width(static_cast<uint64_t>(count)));
    const Room<uint32_t> begins(call_, count + 1);
    begins_kernel<<<grid(count + 1), kRowThreads, 0, stream_of(call_)>>>(
        keys_[at_].data, rows.vertices, count, begins.data);
    begins_.resize(static_cast<size_t>(count) + 1);
    call_.fetch(begins_.data(), begins.data, 4 * (count + 1));
  }

  /// Calls f(list, bins) for a level.
  template <class F>
  void of(uint32_t level, F&& f) const {
    const uint32_t* const at = begins_.data() + size_t{level} * kClasses;
    f(vertices_[at_].data + at[0],
      Bins(at[1] - at[0], at[2] - at[0], at[3] - at[0], at[4] - at[0]));
  }

 private:
  DeviceCall& call_;
  Room<uint32_t> keys_[2];
  Room<uint32_t> vertices_[2];
  int at_ = 0;
  std::vector<uint32_t> begins_{};
};

}  // namespace

Column betweenness(const Graph& graph, const BetweennessOptions& options, BetweennessScale scale) {
  constexpr std::string_view kOp = "betweenness_centrality";
  const int64_t vertices = graph.num_vertices();
  if (vertices == 0) return Column(TypeId::kFloat64, 0, Buffer());
  const Csr in_rows = graph.in_there();
  DeviceCall call(kOp, graph.place());
  const cudaStream_t stream = stream_of(call);
  const Rows out_of = rows_of(call, graph.out_there());
  const Rows in = rows_of(call, in_rows);
  const Room<double> counts(call, vertices);
  const Room<double> shares(call, vertices);
  const Room<unsigned> facts(call, 3);  // the last level, reached vertices, too many paths
  Levels forth(call, vertices);
  Levels back(call, graph.is_directed() ? vertices : 0);
  const double end = options.endpoints ? 1 : 0;
  const Buffer made = call.scratch(8 * vertices);
  auto* const out = call.writes_as<double>(made);
  call.fill(reinterpret_cast<std::byte*>(out), 0, 8 * vertices);
  const auto sources = static_cast<int64_t>(options.sources.size());
  for (int64_t i = 0; i < sources; ++i) {
    report_progress(i, sources);
    const int64_t source = options.sources[static_cast<size_t>(i)];
    const Buffer found = cuda::bfs_levels(graph, source, vertices);
    const Paths paths{found.as<uint32_t>(), counts.data, shares.data};
    facts.fill(call, 0);
    last_level_kernel<<<grid(vertices), kRowThreads, 0, stream>>>(paths.levels, vertices,
                                                                  facts.data, facts.data + 1);
    unsigned reached[2];
    call.fetch(reached, facts.data, sizeof reached);
    const uint32_t last = reached[0];
    forth.list(in, paths.levels, last);
    if (graph.is_directed()) back.list(out_of, paths.levels, last);
    source_kernel<<<1, 1, 0, stream>>>(counts.data + source, 1, false);
    for (uint32_t level = 1; level <= last; ++level)
      forth.of(level, [&](const uint32_t* list, const Bins& bins) {
        forth_kernel<<<bins.blocks(), kRowThreads, 0, stream>>>(in, list, bins, paths, level,
                                                                facts.data + 2);
      });
    const Levels& outwards = graph.is_directed() ? back : forth;
    for (uint32_t level = last; level > 0; --level)
      outwards.of(level, [&](const uint32_t* list, const Bins& bins) {
        back_kernel<<<bins.blocks(), kRowThreads, 0, stream>>>(out_of, list, bins, paths, level,
                                                               end, out);
      });
    source_kernel<<<1, 1, 0, stream>>>(out + source, end * (reached[1] - 1), true);
    if (fetched(call, facts.data + 2) != 0)
      throw_error<InvalidArgumentError>(kOp, "there are more shortest paths than float64 counts",
                                        {{"source", source}});
  }
  const Buffer all = call.table(options.sources.data(), 8 * sources);
  const Room<double> of_sources(call, sources);
  const auto* const each = all ? all.as<int64_t>() : nullptr;
  gather_sources_kernel<<<grid(sources), kRowThreads, 0, stream>>>(each, sources, out,
                                                                   of_sources.data);
  scale_kernel<<<grid(vertices), kRowThreads, 0, stream>>>(vertices, scale.of_others, out);
  scale_sources_kernel<<<grid(sources), kRowThreads, 0, stream>>>(each, sources, of_sources.data,
                                                                  scale.of_sources, out);
  call.finish(cudaGetLastError());
  return Column(TypeId::kFloat64, vertices, made);
}

}  // namespace hr::cuda
