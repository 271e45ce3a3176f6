// SPDX-License-Identifier: Apache-2.0
// Sub-rounds on a CUDA device: the host's moves.
#include "headrace/exec/interrupt.h"
#include "headrace/graph/community/local_moving_kernels.h"
#include "headrace/graph/community/turns.h"

#include <vector>

namespace hr::cuda {

namespace {

constexpr uint32_t kRounds = 20;  // as on the host
constexpr uint32_t kRefineRounds = 4;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

/// Vertices that go to where they gain most.
struct Moving {
  const uint32_t* groups;
  const int64_t* of_groups;  // degrees
  const uint32_t* sizes;
  const int64_t* degrees;
  uint8_t* active;
  Resolution resolution;

  struct Vertex {
    uint32_t own;
    int64_t degree;
    bool is_alone;
  };

  __device__ bool wants(uint32_t) const { return true; }

  __device__ Vertex at(uint32_t v) const {
    const uint32_t own = groups[v];
    return {own, degrees[v], sizes[own] == 1};
  }

  __device__ uint32_t key(const Vertex&, uint32_t target) const { return __ldg(groups + target); }

  __device__ void weigh(const Vertex& v, uint32_t group, uint64_t weight, Best& best) const {
    // Two that are alone would change places for ever.
    if (v.is_alone && group > v.own && sizes[group] == 1) return;
    best.take(resolution.gain(static_cast<int64_t>(weight), v.degree, of_groups[group]), group);
  }

  __device__ uint32_t choice(const Vertex& v, uint64_t own_weight, const Best& best) const {
    const double now =
        resolution.gain(static_cast<int64_t>(own_weight), v.degree, of_groups[v.own] - v.degree);
    return best.gain > now ? best.group : kStays;
  }

  __device__ void taken(uint32_t v) const { active[v] = 0; }
};

/// Parts of groups: their degrees, and their weights to the rest of the group.
struct Parts {
  const uint32_t* groups;
  uint32_t* parts;
  uint32_t* sizes;
  int64_t* of_parts;  // degrees
  int64_t* outside;
  const int64_t* of_groups;  // degrees
  const int64_t* degrees;
  Resolution resolution;

  __device__ bool is_well_connected(uint32_t part, uint32_t group) const {
    return resolution.gain(outside[part], of_parts[part], of_groups[group] - of_parts[part]) >= 0;
  }
};

/// Vertices that are alone and join the part of their group where they gain most.
struct Refining {
  Parts all;

  struct Vertex {
    uint32_t own;  // none of the keys
    uint32_t group;
    int64_t degree;
  };

  // Its part may have grown since the round was drawn.
  __device__ bool wants(uint32_t v) const { return all.sizes[v] == 1; }

  __device__ Vertex at(uint32_t v) const { return {kStays, all.groups[v], all.degrees[v]}; }

  __device__ uint32_t key(const Vertex& v, uint32_t target) const {
    return __ldg(all.groups + target) == v.group ? __ldg(all.parts + target) : kStays;
  }

  __device__ void weigh(const Vertex& v, uint32_t part, uint64_t weight, Best& best) const {
    if (!all.is_well_connected(part, v.group)) return;
    best.take(all.resolution.gain(static_cast<int64_t>(weight), v.degree, all.of_parts[part]),
              part);
  }

  __device__ uint32_t choice(const Vertex&, uint64_t, const Best& best) const {
    return best.gain > 0 ? best.group : kStays;
  }

  __device__ void taken(uint32_t) const {}
};

struct ActiveOfSlice {
  const uint8_t* active;
  RandomKey key;
  int slice;
  int slices;

  __device__ bool operator()(uint32_t v) const {
    return active[v] != 0 && slice_of(round_draw(key, v), slices) == slice;
  }
};

struct WellConnected {
  Parts all;

  __device__ bool operator()(uint32_t v) const {
    return all.parts[v] == v && all.sizes[v] == 1 && all.is_well_connected(v, all.groups[v]);
  }
};

/// Neighbours elsewhere decide anew.
template <int kLanes>
__global__ void wake_kernel(WeightedEntries rows, const uint32_t* list, const uint32_t* chosen,
                            int64_t count, const uint32_t* groups, uint8_t* active) {
  each_entry<kLanes>(rows, list, chosen, count,
                     [&](uint32_t, uint32_t group, int64_t first, int64_t end, int64_t step) {
                       for (int64_t entry = first; entry < end; entry += step) {
                         const uint32_t target = rows.targets[entry];
                         if (__ldg(groups + target) != group && active[target] == 0)
                           active[target] = 1;
                       }
                     });
}

__global__ void move_kernel(const uint32_t* list, const uint32_t* chosen, int64_t count,
                            const int64_t* degrees, uint32_t* groups, Wide* of_groups,
                            uint32_t* sizes, Wide* moved) {
  const int64_t i = own_item();
  const bool moves = i < count && chosen[i] != kStays;
  if (moves) {
    const uint32_t v = list[i];
    const uint32_t from = groups[v];
    const uint32_t to = chosen[i];
    const auto degree = static_cast<Wide>(degrees[v]);
    atomicAdd(&of_groups[from], ~degree + 1);
    atomicAdd(&of_groups[to], degree);
    atomicSub(&sizes[from], 1u);
    atomicAdd(&sizes[to], 1u);
    groups[v] = to;
  }
  add_of_warp(moved, moves ? 1 : 0);
}

__global__ void add_groups_kernel(const uint32_t* groups, const int64_t* degrees, int64_t vertices,
                                  Wide* of_groups, uint32_t* sizes) {
  const int64_t v = own_item();
  if (v >= vertices) return;
  atomicAdd(&of_groups[groups[v]], static_cast<Wide>(degrees[v]));
  if (sizes) atomicAdd(&sizes[groups[v]], 1u);
}

/// The weight of a vertex to the others of its group.
template <int kLanes>
__global__ void outside_kernel(WeightedEntries rows, const uint32_t* list, int64_t count,
                               const uint32_t* groups, Wide* outside) {
  each_entry<kLanes>(rows, list, nullptr, count,
                     [&](uint32_t v, uint32_t, int64_t first, int64_t end, int64_t step) {
                       Wide sum = 0;
                       for (int64_t entry = first; entry < end; entry += step) {
                         const uint32_t target = rows.targets[entry];
                         if (target != v && groups[target] == groups[v]) sum += rows.weight(entry);
                       }
                       add_of_warp(&outside[v], sum);
                     });
}

__global__ void start_parts_kernel(int64_t vertices, Parts all) {
  const int64_t v = own_item();
  if (v >= vertices) return;
  all.parts[v] = static_cast<uint32_t>(v);
  all.sizes[v] = 1;
  all.of_parts[v] = all.degrees[v];
}

/// Where vertices of a sub-round want to go, and who may: one about to leave is not joined; of two
/// that want each other one is.
__global__ void want_kernel(const uint32_t* list, const uint32_t* chosen, int64_t count,
                            uint32_t* wanted) {
  const int64_t i = own_item();
  if (i < count) wanted[list[i]] = chosen[i];
}

__global__ void join_kernel(const uint32_t* list, uint32_t* chosen, int64_t count,
                            const uint32_t* wanted, uint32_t* joined) {
  const int64_t i = own_item();
  if (i >= count || chosen[i] == kStays) return;
  const uint32_t v = list[i];
  const uint32_t part = chosen[i];
  const uint32_t other = wanted[part];
  if (other != kStays && (other != v || v < part))
    chosen[i] = kStays;
  else
    joined[v] = part;
}

/// Takes the weights between those that join a part and its members, old and new, from what is
/// outside: twice, of two new ones once by each.
template <int kLanes>
__global__ void between_kernel(WeightedEntries rows, const uint32_t* list, const uint32_t* chosen,
                               int64_t count, Parts all, const uint32_t* joined) {
  each_entry<kLanes>(rows, list, chosen, count,
                     [&](uint32_t v, uint32_t part, int64_t first, int64_t end, int64_t step) {
                       Wide between = 0;
                       for (int64_t entry = first; entry < end; entry += step) {
                         const uint32_t target = rows.targets[entry];
                         if (target == v || all.groups[target] != all.groups[v]) continue;
                         if (joined[target] == part)
                           between += rows.weight(entry);
                         else if (joined[target] == kStays && all.parts[target] == part)
                           between += 2 * rows.weight(entry);
                       }
                       add_of_warp(reinterpret_cast<Wide*>(&all.outside[part]), ~between + 1);
                     });
}

__global__ void settle_kernel(const uint32_t* list, const uint32_t* chosen, int64_t count,
                              Parts all, uint32_t* wanted, uint32_t* joined, Wide* moved) {
  const int64_t i = own_item();
  const bool joins = i < count && chosen[i] != kStays;
  if (i < count) wanted[list[i]] = kStays;
  if (joins) {
    const uint32_t v = list[i];
    const uint32_t part = chosen[i];
    atomicAdd(reinterpret_cast<Wide*>(&all.outside[part]), static_cast<Wide>(all.outside[v]));
    atomicAdd(reinterpret_cast<Wide*>(&all.of_parts[part]), static_cast<Wide>(all.degrees[v]));
    atomicAdd(&all.sizes[part], 1u);
    all.sizes[v] = 0;
    all.parts[v] = part;
    joined[v] = kStays;
  }
  add_of_warp(moved, joins ? 1 : 0);
}

/// What pieces of groups add to the modularity, in the host's order.
__global__ void modularity_kernel(WeightedEntries rows, const int64_t* degrees, int64_t vertices,
                                  int64_t total, double resolution, bool has_loops,
                                  double* pieces) {
  const int64_t piece = own_item();
  const int64_t begin = piece * static_cast<int64_t>(kModularityPiece);
  if (begin >= vertices) return;
  const int64_t end = min(begin + static_cast<int64_t>(kModularityPiece), vertices);
  double sum = 0;
  for (int64_t v = begin; v < end; ++v) {
    int64_t loops = 0;
    if (has_loops) {
      const int64_t last = rows.offsets[v + 1];
      int64_t entry = partition_point(rows.offsets[v], last,
                                      [&](int64_t place) { return rows.targets[place] < v; });
      for (; entry < last && rows.targets[entry] == v; ++entry)
        loops += rows.wide || rows.narrow ? static_cast<int64_t>(rows.weight(entry)) : 2;
    }
    sum += modularity_share(loops, degrees[v], total, resolution);
  }
  pieces[piece] = sum;
}

Wide* words_of(const Room<int64_t>& room) {
  return reinterpret_cast<Wide*>(room.data);
}

}  // namespace

int64_t move_vertices(DeviceCall& call, const WeightedRows& rows, Resolution resolution,
                      const MoveRules& rules, const Room<uint32_t>& groups) {
  const int64_t vertices = rows.vertices;
  const cudaStream_t stream = stream_of(call);
  const WeightedEntries entries(rows);
  Turns turns(call, rows);
  const Room<int64_t> of_groups(call, vertices);
  const Room<uint32_t> sizes(call, vertices);
  const Room<uint8_t> active(call, vertices);
  const Room<Wide> moved(call, 1);
  of_groups.fill(call, 0);
  sizes.fill(call, 0);
  active.fill(call, 1);
  moved.fill(call, 0);
  add_groups_kernel<<<grid(vertices), kRowThreads, 0, stream>>>(
      groups.data, rows.degrees.data, vertices, words_of(of_groups), sizes.data);
  const Moving task{groups.data,       of_groups.data, sizes.data,
                    rows.degrees.data, active.data,    resolution};
  const auto move_drawn = [&] {
    for (int part = 0; part < kSubRounds; ++part) {
      if (turns.count(part) == 0) continue;
      turns.decide_all(part, task);
      move_kernel<<<grid(turns.count(part)), kRowThreads, 0, stream>>>(
          turns.list(part), turns.chosen(part), turns.count(part), rows.degrees.data, groups.data,
          words_of(of_groups), sizes.data, moved.data);
      turns.each_bin(part,
                     [&](int bin, const uint32_t* list, const uint32_t* chosen, int64_t count) {
                       launch_entries(
                           bin, count,
                           [&](dim3 blocks) {
                             wake_kernel<32><<<blocks, kRowThreads, 0, stream>>>(
                                 entries, list, chosen, count, groups.data, active.data);
                           },
                           [&](dim3 blocks) {
                             wake_kernel<kRowThreads><<<blocks, kRowThreads, 0, stream>>>(
                                 entries, list, chosen, count, groups.data, active.data);
                           });
                     });
    }
  };
  int64_t all = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const RandomKey key{rules.seed, round};
    const int slices = round == 0 ? rules.slices : 1;
    for (int slice = 0; slice < slices; ++slice) {
      look_for_interrupt();
      turns.draw(key, ActiveOfSlice{active.data, key, slice, slices});
      move_drawn();
    }
    const auto sum = static_cast<int64_t>(fetched(call, moved.data));
    const int64_t now = sum - all;
    all = sum;
    if (now <= vertices / rules.stop) break;
  }
  return all;
}

Room<uint32_t> refine(DeviceCall& call, const WeightedRows& rows, Resolution resolution,
                      uint64_t seed, const Room<uint32_t>& groups) {
  const int64_t vertices = rows.vertices;
  const cudaStream_t stream = stream_of(call);
  const WeightedEntries entries(rows);
  Turns turns(call, rows);
  Room<uint32_t> parts(call, vertices);
  const Room<uint32_t> sizes(call, vertices);
  const Room<uint32_t> wanted(call, vertices);
  const Room<uint32_t> joined(call, vertices);
  const Room<int64_t> of_parts(call, vertices);
  const Room<int64_t> outside(call, vertices);
  const Room<int64_t> of_groups(call, vertices);
  const Room<Wide> moved(call, 1);
  wanted.fill(call, 0xFF);
  joined.fill(call, 0xFF);
  outside.fill(call, 0);
  of_groups.fill(call, 0);
  moved.fill(call, 0);
  const Parts all{groups.data,  parts.data,     sizes.data,        of_parts.data,
                  outside.data, of_groups.data, rows.degrees.data, resolution};
  start_parts_kernel<<<grid(vertices), kRowThreads, 0, stream>>>(vertices, all);
  add_groups_kernel<<<grid(vertices), kRowThreads, 0, stream>>>(
      groups.data, rows.degrees.data, vertices, words_of(of_groups), nullptr);
  turns.draw({seed, kRounds}, Everyone{});
  for (int part = 0; part < kSubRounds; ++part)
    turns.each_bin(part, [&](int bin, const uint32_t* list, const uint32_t*, int64_t count) {
      launch_entries(
          bin, count,
          [&](dim3 blocks) {
            outside_kernel<32><<<blocks, kRowThreads, 0, stream>>>(entries, list, count,
                                                                   groups.data, words_of(outside));
          },
          [&](dim3 blocks) {
            outside_kernel<kRowThreads><<<blocks, kRowThreads, 0, stream>>>(
                entries, list, count, groups.data, words_of(outside));
          });
    });
  int64_t before = 0;
  for (uint32_t round = 0; round < kRefineRounds; ++round) {
    look_for_interrupt();
    turns.draw({seed, kRounds + round}, WellConnected{all});
    for (int part = 0; part < kSubRounds; ++part) {
      const int64_t of_part = turns.count(part);
      if (of_part == 0) continue;
      turns.decide_all(part, Refining{all});
      const unsigned blocks = grid(of_part);
      want_kernel<<<blocks, kRowThreads, 0, stream>>>(turns.list(part), turns.chosen(part), of_part,
                                                      wanted.data);
      join_kernel<<<blocks, kRowThreads, 0, stream>>>(turns.list(part), turns.chosen(part), of_part,
                                                      wanted.data, joined.data);
      turns.each_bin(part,
                     [&](int bin, const uint32_t* list, const uint32_t* chosen, int64_t count) {
                       launch_entries(
                           bin, count,
                           [&](dim3 of_bin) {
                             between_kernel<32><<<of_bin, kRowThreads, 0, stream>>>(
                                 entries, list, chosen, count, all, joined.data);
                           },
                           [&](dim3 of_bin) {
                             between_kernel<kRowThreads><<<of_bin, kRowThreads, 0, stream>>>(
                                 entries, list, chosen, count, all, joined.data);
                           });
                     });
      settle_kernel<<<blocks, kRowThreads, 0, stream>>>(
          turns.list(part), turns.chosen(part), of_part, all, wanted.data, joined.data, moved.data);
    }
    const auto sum = static_cast<int64_t>(fetched(call, moved.data));
    if (sum == before) break;
    before = sum;
  }
  return parts;
}

double modularity_alone(DeviceCall& call, const WeightedRows& rows, double resolution) {
  constexpr auto kPiece = static_cast<int64_t>(kModularityPiece);
  const int64_t count = (rows.vertices + kPiece - 1) / kPiece;
  const Room<double> pieces(call, count);
  const bool is_plain = !rows.weights.data && !rows.wide.data;
  modularity_kernel<<<blocks_of(count, 32), 32, 0, stream_of(call)>>>(
      WeightedEntries(rows), rows.degrees.data, rows.vertices, rows.total, resolution,
      !is_plain || rows.has_loops, pieces.data);
  std::vector<double> found(static_cast<size_t>(count));
  call.fetch(found.data(), pieces.data, 8 * count);
  double sum = 0;
  for (const double piece : found) sum += piece;
  return sum;
}

}  // namespace hr::cuda
