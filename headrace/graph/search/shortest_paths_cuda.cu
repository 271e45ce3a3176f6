// SPDX-License-Identifier: Apache-2.0
// Shortest paths on a CUDA device: a near pile that is worked off, and a far one that waits (A.
// Davidson, S. Baxter, M. Garland, J. Owens, IPDPS 2014). Rounding never makes a longer way
// shorter, so the lengths are the same whatever comes first.
#include "headrace/exec/interrupt.h"
#include "headrace/graph/search/shortest_paths_kernels.h"
#include "headrace/graph/structure/device_rows.h"
#include "headrace/graph/structure/entry_weights.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace hr::cuda {

namespace {

using Bits = unsigned long long;  // of a double that is not negative: they have its order

constexpr Bits kNever = 0x7FF0000000000000ull;  // infinity

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

struct Piles {
  unsigned near;
  unsigned far;
  Bits near_entries;
  Bits least;  // length of the far pile
};

__device__ Bits bits_of(double value) {
  return static_cast<Bits>(__double_as_longlong(value));
}

struct State {
  Rows rows;
  const double* weights;
  Bits* lengths;
  Bits* expanded;  // the length at which each vertex was
  uint32_t* near;
  uint32_t* far;
  Piles* piles;
  double border;
  double cutoff;

  __device__ void pile(uint32_t v, bool is_near) const {
    if (is_near) {
      near[next_place(&piles->near)] = v;
      atomicAdd(&piles->near_entries, static_cast<Bits>(rows.degree(v)));
    } else {
      far[next_place(&piles->far)] = v;
    }
  }
};

/// Those of a pile that are to be expanded; each length of a vertex once.
__global__ void claim_kernel(State state, const uint32_t* pile, unsigned count) {
  const int64_t i = own_item();
  if (i >= count) return;
  const uint32_t v = pile[i];
  const Bits length = state.lengths[v];
  if (atomicExch(&state.expanded[v], length) != length) state.pile(v, true);
}

struct Relax {
  State state;

  __device__ void operator()(uint32_t v, int64_t entry) const {
    const double length =
        __longlong_as_double(static_cast<long long>(state.expanded[v])) + state.weights[entry];
    if (length > state.cutoff) return;
    const uint32_t target = state.rows.targets[entry];
    const Bits bits = bits_of(length);
    if (state.lengths[target] <= bits) return;
    const Bits known = atomicMin(&state.lengths[target], bits);
    if (known <= bits) return;
    if (length < state.border)
      state.near[next_place(&state.piles->near)] = target;
    else if (known == kNever)  // else it is in the far pile
      state.far[next_place(&state.piles->far)] = target;
  }
};

__global__ void least_kernel(State state, const uint32_t* far, unsigned count) {
  Bits least = kNever;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads)
    if (state.expanded[far[i]] > state.lengths[far[i]]) least = min(least, state.lengths[far[i]]);
  for (int half = 16; half > 0; half /= 2)
    least = min(least, __shfl_xor_sync(kAllLanes, least, half));
  if (threadIdx.x % 32 == 0) atomicMin(&state.piles->least, least);
}

/// Sends those of the far pile that are not done to the near one or to a new far one.
__global__ void split_kernel(State state, const uint32_t* pile, unsigned count) {
  const int64_t i = own_item();
  if (i >= count) return;
  const uint32_t v = pile[i];
  if (state.expanded[v] <= state.lengths[v]) return;
  if (state.lengths[v] < bits_of(state.border))
    state.near[next_place(&state.piles->near)] = v;
  else
    state.far[next_place(&state.piles->far)] = v;
}

__global__ void start_kernel(State state, int64_t source) {
  state.lengths[source] = 0;
  state.near[0] = static_cast<uint32_t>(source);
}

__global__ void fill_kernel(Bits* lengths, Bits* expanded, int64_t count) {
  const int64_t v = own_item();
  if (v >= count) return;
  lengths[v] = kNever;
  expanded[v] = kNever;
}

__global__ void weight_range_kernel(const double* weights, int64_t count, double* sums,
                                    double* most) {
  double sum = 0;
  double large = 0;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads) {
    sum += weights[i];
    large = fmax(large, weights[i]);
  }
  for (int half = 16; half > 0; half /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, half);
    large = fmax(large, __shfl_xor_sync(kAllLanes, large, half));
  }
  if (threadIdx.x % 32 != 0) return;
  const int64_t warp = own_item() / 32;
  sums[warp] = sum;
  most[warp] = large;
}

/// The host's width of a step; only the time depends on it.
double border_width(DeviceCall& call, const Rows& rows, const double* weights) {
  constexpr int kBlocks = 256;
  constexpr int kWarps = kBlocks * kRowThreads / 32;
  const Room<double> room(call, 2 * kWarps);
  weight_range_kernel<<<kBlocks, kRowThreads, 0, stream_of(call)>>>(weights, rows.entries,
                                                                    room.data, room.data + kWarps);
  std::vector<double> parts(2 * kWarps);
  call.fetch(parts.data(), room.data, 16 * kWarps);
  double sum = 0;
  double most = 0;
  for (int i = 0; i < kWarps; ++i) {
    sum += parts[static_cast<size_t>(i)];
    most = std::max(most, parts[static_cast<size_t>(kWarps + i)]);
  }
  if (sum == 0) return 1;
  const double each = static_cast<double>(rows.entries) / static_cast<double>(rows.vertices);
  return std::max(most / std::max(each, 1.0) * 4, sum / static_cast<double>(rows.entries) / 8);
}

/// The near pile may have a vertex more than once: as often as its length fell.
class Search {
 public:
  Search(DeviceCall& call, const Rows& rows, const double* weights, double cutoff, Bits* lengths)
      : call_(call),
        rows_(rows),
        expansion_(call, rows),
        expanded_(call, rows.vertices),
        claimed_(call, rows.vertices),
        piles_(call, 1) {
    near_ = Room<uint32_t>(call, std::max(rows.entries + 1, rows.vertices));
    for (Room<uint32_t>& each : far_) each = Room<uint32_t>(call, rows.vertices);
    state_ = {rows,         weights,     lengths, expanded_.data, near_.data,
              far_[0].data, piles_.data, 0,       cutoff};
    fill_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call)>>>(lengths, expanded_.data,
                                                                          rows.vertices);
  }

  void run(int64_t source, double width) {
    start_kernel<<<1, 1, 0, stream_of(call_)>>>(state_, source);
    state_.border = width;
    unsigned near = 1;
    unsigned far = 0;
    for (;;) {
      while (near > 0) {
        look_for_interrupt();
        set({0, far, 0, kNever});
        State claim = state_;
        claim.near = claimed_.data;
        claim_kernel<<<grid(near), kRowThreads, 0, stream_of(call_)>>>(claim, near_.data, near);
        const Piles claimed = fetched(call_, piles_.data);
        set({0, far, 0, kNever});
        expansion_.run(claimed_.data, claimed.near, static_cast<int64_t>(claimed.near_entries),
                       Relax{state_});
        const Piles found = fetched(call_, piles_.data);
        near = found.near;
        far = found.far;
      }
      if (far == 0) return;
      set({0, 0, 0, kNever});
      least_kernel<<<blocks_in_turn(far, kRowThreads, 0, 8), kRowThreads, 0, stream_of(call_)>>>(
          state_, state_.far, far);
      const Bits bits = fetched(call_, piles_.data).least;
      if (bits == kNever) return;
      const double least = std::bit_cast<double>(bits);
      state_.border =
          std::max(least + width, std::nextafter(least, std::numeric_limits<double>::infinity()));
      const uint32_t* const old = state_.far;
      std::swap(far_[0], far_[1]);
      state_.far = far_[0].data;
      split_kernel<<<grid(far), kRowThreads, 0, stream_of(call_)>>>(state_, old, far);
      const Piles found = fetched(call_, piles_.data);
      near = found.near;
      far = found.far;
    }
  }

 private:
  void set(const Piles& piles) {
    const Buffer table = call_.table(&piles, sizeof piles);
    check_cuda("shortest_path_length", cudaMemcpyAsync(piles_.data, table.data(), sizeof piles,
                                                       cudaMemcpyDeviceToDevice, stream_of(call_)));
  }

  DeviceCall& call_;
  Rows rows_;
  Expansion expansion_;
  Room<Bits> expanded_;
  Room<uint32_t> near_{};
  Room<uint32_t> claimed_;
  Room<uint32_t> far_[2];
  Room<Piles> piles_;
  State state_{};
};

/// Per edge v -> target that ends a shortest path: the least v.
__global__ void shortest_kernel(Rows in, const double* weights, const double* lengths,
                                int64_t source, bool strict, const int64_t* known, int64_t* out,
                                unsigned* open) {
  const int64_t target = own_item();
  if (target >= in.vertices) return;
  const double length = lengths[target];
  if (isinf(length) || target == source || (!strict && known[target] >= 0)) return;
  int64_t least = -1;
  for (int64_t i = in.begin(target); i < in.begin(target + 1); ++i) {
    const uint32_t v = in.targets[i];
    if (isinf(lengths[v]) || lengths[v] + weights[i] != length) continue;
    const bool counts = strict ? lengths[v] < length : v == source || known[v] >= 0;
    if (counts && (least < 0 || v < least)) least = v;
  }
  out[target] = least;
  if (least < 0) atomicAdd(open, 1u);
}

__global__ void length_kernel(const double* lengths, int64_t count, unsigned* valid) {
  const int64_t v = own_item();
  const unsigned reached = __ballot_sync(kAllLanes, v < count && !isinf(lengths[v]));
  if (v < count && threadIdx.x % 32 == 0) valid[v / 32] = reached;
}

}  // namespace

PathLengths shortest_path_lengths(const Graph& graph, const Column& weights, int64_t source,
                                  double cutoff) {
  PathLengths made;
  made.of_entries = hr::entry_weights("shortest_path_length", graph.out_there(), weights,
                                      WeightRule::kNotNegative);
  DeviceCall call("shortest_path_length", graph.place());
  const Rows rows = rows_of(call, graph.out_there());
  const auto* const of_entries = read_as<double>(call, made.of_entries);
  made.lengths = call.scratch(8 * rows.vertices);
  auto* const lengths = call.writes_as<Bits>(made.lengths);
  Search search(call, rows, of_entries, cutoff, lengths);
  search.run(source, rows.entries == 0 ? 1 : border_width(call, rows, of_entries));
  call.finish(cudaGetLastError());
  return made;
}

Column length_column(const Buffer& lengths, int64_t vertices) {
  DeviceCall call("shortest_path_length", lengths.place());
  const Buffer valid = call.scratch((vertices + 31) / 32 * 4);
  length_kernel<<<grid(vertices), kRowThreads, 0, stream_of(call)>>>(
      read_as<double>(call, lengths), vertices, call.writes_as<unsigned>(valid));
  call.finish(cudaGetLastError());
  return Column(TypeId::kFloat64, vertices, lengths, valid, -1);
}

Buffer path_predecessors(const Graph& graph, const PathLengths& found, int64_t source,
                         const Column& weights) {
  const Csr in = graph.in_there();
  const Buffer of_in =
      graph.is_directed() ? hr::entry_weights("shortest_path_length", in, weights, WeightRule::kAny)
                          : found.of_entries;
  DeviceCall call("shortest_path_length", graph.place());
  const Rows rows = rows_of(call, in);
  const auto* const of_entries = read_as<double>(call, of_in);
  const auto* const lengths = read_as<double>(call, found.lengths);
  const int64_t bytes = 8 * rows.vertices;
  Buffer made[2] = {call.scratch(bytes), call.scratch(bytes)};
  int64_t* places[2] = {call.writes_as<int64_t>(made[0]), call.writes_as<int64_t>(made[1])};
  call.fill(reinterpret_cast<std::byte*>(places[0]), 0xFF, bytes);
  const Room<unsigned> open(call, 1);
  open.fill(call, 0);
  shortest_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call)>>>(
      rows, of_entries, lengths, source, true, nullptr, places[0], open.data);
  // Those that only edges of weight 0 lead to, round by round.
  int at = 0;
  while (fetched(call, open.data) > 0) {
    look_for_interrupt();
    open.fill(call, 0);
    check_cuda("shortest_path_length",
               cudaMemcpyAsync(places[1 - at], places[at], static_cast<size_t>(bytes),
                               cudaMemcpyDeviceToDevice, stream_of(call)));
    shortest_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call)>>>(
        rows, of_entries, lengths, source, false, places[at], places[1 - at], open.data);
    at = 1 - at;
  }
  call.finish(cudaGetLastError());
  return made[at];
}

}  // namespace hr::cuda
