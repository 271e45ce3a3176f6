// SPDX-License-Identifier: Apache-2.0
// Whole weights of entries on a CUDA device, and groups of vertices as vertices: entries as words
// of two groups, in order by radix, equal ones added.
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/graph/structure/weight_scale.h"
#include "headrace/graph/structure/weighted_rows_kernels.h"

#include <bit>

namespace hr::cuda {

namespace {

using Wide = unsigned long long;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

/// Weights of either width; none: 1 each.
struct Weights {
  const uint32_t* narrow;
  const uint64_t* wide;

  __device__ uint64_t operator()(int64_t entry, bool is_loop) const {
    return wide ? wide[entry] : narrow ? narrow[entry] : is_loop ? 2 : 1;
  }
};

/// How many of the ascending entries are below a target.
__device__ int64_t entries_below(const uint32_t* targets, int64_t begin, int64_t end,
                                 int64_t target) {
  return partition_point(begin, end, [&](int64_t entry) { return targets[entry] < target; });
}

__global__ void plain_degrees_kernel(Rows rows, int64_t* degrees, Wide* loops) {
  const int64_t v = own_item();
  Wide own = 0;
  if (v < rows.vertices) {
    const int64_t first = entries_below(rows.targets, rows.begin(v), rows.begin(v + 1), v);
    own = static_cast<Wide>(entries_below(rows.targets, first, rows.begin(v + 1), v + 1) - first);
    degrees[v] = rows.degree(v) + static_cast<int64_t>(own);
  }
  add_of_warp(loops, own);
}

struct WeightFacts {
  Wide greatest;  // its bits, which ascend with weights from 0 on
  Wide parts;
  unsigned is_broken;
};

__global__ void facts_kernel(const double* weights, int64_t count, WeightFacts* facts) {
  Wide greatest = 0;
  bool is_broken = false;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads) {
    greatest = max(greatest, static_cast<Wide>(__double_as_longlong(weights[i] + 0.0)));
    is_broken = is_broken || weights[i] != rint(weights[i]);
  }
  for (int half = 16; half > 0; half /= 2)
    greatest = max(greatest, __shfl_xor_sync(kAllLanes, greatest, half));
  if (threadIdx.x % 32 == 0) atomicMax(&facts->greatest, greatest);
  if (__any_sync(kAllLanes, is_broken) && threadIdx.x % 32 == 0) facts->is_broken = 1;
}

__global__ void parts_kernel(const double* weights, int64_t count, int exponent,
                             WeightFacts* facts) {
  Wide own = 0;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads)
    own += static_cast<Wide>(weight_parts(weights[i], exponent));
  add_of_warp(&facts->parts, own);
}

/// What there is once more at the end is the room for a sum of all.
__global__ void scaled_kernel(const double* weights, Rows rows, double scale, uint64_t* out) {
  const int64_t entry = own_item();
  if (entry > rows.entries) return;
  if (entry == rows.entries) {
    out[entry] = 0;
    return;
  }
  const auto weight = static_cast<uint64_t>(__double2ll_rn(weights[entry] * scale));
  const bool is_loop = row_of(rows, entry) == rows.targets[entry];
  out[entry] = is_loop ? 2 * weight : weight;
}

__global__ void copied_kernel(const uint64_t* from, int64_t count, uint64_t* wide,
                              uint32_t* narrow) {
  const int64_t i = own_item();
  if (i >= count) return;
  if (wide)
    wide[i] = from[i];
  else
    narrow[i] = static_cast<uint32_t>(from[i]);
}

__global__ void degrees_kernel(const int64_t* offsets, const uint64_t* sums, int64_t vertices,
                               int64_t* degrees) {
  const int64_t v = own_item();
  if (v < vertices) degrees[v] = static_cast<int64_t>(sums[offsets[v + 1]] - sums[offsets[v]]);
}

__global__ void first_of_groups_kernel(const uint32_t* groups, int64_t count, uint32_t* first) {
  const int64_t v = own_item();
  if (v < count && first[groups[v]] > v) atomicMin(&first[groups[v]], static_cast<uint32_t>(v));
}

__global__ void is_first_kernel(const uint32_t* groups, const uint32_t* first, int64_t count,
                                uint32_t* is_first) {
  const int64_t v = own_item();
  if (v <= count) is_first[v] = v < count && first[groups[v]] == v ? 1 : 0;
}

__global__ void numbers_kernel(const uint32_t* first, const uint32_t* numbers, int64_t count,
                               uint32_t* groups) {
  const int64_t v = own_item();
  if (v < count) groups[v] = numbers[first[groups[v]]];
}

/// Words of groups; with each, where there are `numbers`, its weight or, of wide ones, its place.
__global__ void group_words_kernel(Rows rows, Weights weights, const uint32_t* groups, int bits,
                                   uint64_t* words, uint32_t* numbers) {
  const int64_t entry = own_item();
  if (entry >= rows.entries) return;
  const int64_t v = row_of(rows, entry);
  const uint32_t target = rows.targets[entry];
  words[entry] = uint64_t{groups[v]} << bits | groups[target];
  if (numbers)
    numbers[entry] = weights.wide ? static_cast<uint32_t>(entry)
                                  : static_cast<uint32_t>(weights(entry, target == v));
}

__global__ void is_new_kernel(const uint64_t* words, int64_t entries, uint32_t* is_new) {
  const int64_t i = own_item();
  if (i <= entries) is_new[i] = i < entries && (i == 0 || words[i] != words[i - 1]) ? 1 : 0;
}

__global__ void carried_kernel(const uint32_t* numbers, Weights weights, int64_t entries,
                               uint64_t* out) {
  const int64_t i = own_item();
  if (i <= entries)
    out[i] = i == entries ? 0 : weights.wide ? weights.wide[numbers[i]] : uint64_t{numbers[i]};
}

/// Targets of runs of equal words, and where each begins.
__global__ void runs_kernel(const uint64_t* words, const uint32_t* before, int64_t entries,
                            int bits, uint32_t* targets, uint32_t* begins) {
  const int64_t i = own_item();
  if (i > entries) return;
  const uint32_t run = before[i];
  if (i == entries) {
    begins[run] = static_cast<uint32_t>(i);
    return;
  }
  if (i > 0 && words[i] == words[i - 1]) return;
  targets[run] = static_cast<uint32_t>(words[i] & ((uint64_t{1} << bits) - 1));
  begins[run] = static_cast<uint32_t>(i);
}

__global__ void run_weights_kernel(const uint32_t* begins, const uint64_t* sums, int64_t runs,
                                   uint64_t* wide, uint32_t* narrow) {
  const int64_t run = own_item();
  if (run >= runs) return;
  const uint32_t begin = begins[run];
  const uint32_t end = begins[run + 1];
  const uint64_t weight = sums ? sums[end] - sums[begin] : end - begin;
  if (wide)
    wide[run] = weight;
  else
    narrow[run] = static_cast<uint32_t>(weight);
}

/// Where rows of groups begin: at the run of the first word that is not of a row before.
__global__ void group_offsets_kernel(const uint64_t* words, const uint32_t* before, int64_t entries,
                                     int64_t count, int bits, int64_t* offsets) {
  const int64_t row = own_item();
  if (row > count) return;
  offsets[row] = before[first_word_of(words, entries, bits, row)];
}

__global__ void group_degrees_kernel(const int64_t* degrees, const uint32_t* groups, int64_t count,
                                     Wide* out) {
  const int64_t v = own_item();
  if (v < count) atomicAdd(&out[groups[v]], static_cast<Wide>(degrees[v]));
}

template <class T>
Room<T> shared_room(const Buffer& buffer, const T* data) {
  Room<T> made;
  made.buffer = buffer;
  made.data = const_cast<T*>(data);  // is read only
  return made;
}

/// Room for weights whose sum is `total`.
void make_weights(const DeviceCall& call, WeightedRows& rows) {
  if (rows.total >= int64_t{1} << 32)
    rows.wide = Room<uint64_t>(call, rows.entries);
  else
    rows.weights = Room<uint32_t>(call, rows.entries);
}

void take_weights(DeviceCall& call, const Buffer& given, WeightedRows& made) {
  const Rows rows = made.rows();
  const auto* const weights = read_as<double>(call, given);
  const Room<WeightFacts> facts(call, 1);
  facts.fill(call, 0);
  const unsigned blocks = std::min(grid(rows.entries), 2048u);
  facts_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(weights, rows.entries, facts.data);
  WeightFacts found = fetched(call, facts.data);
  if (found.greatest != 0) {
    const int exponent = std::ilogb(std::bit_cast<double>(found.greatest));
    parts_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(weights, rows.entries, exponent,
                                                              facts.data);
    found = fetched(call, facts.data);
    made.scale = scale_of(static_cast<int64_t>(found.parts), exponent, found.is_broken == 0);
  }
  const Room<uint64_t> sums(call, rows.entries + 1);
  const Room<uint64_t> whole(call, rows.entries + 1);
  for (const Room<uint64_t>& each : {whole, sums})
    scaled_kernel<<<grid(rows.entries + 1), kRowThreads, 0, stream_of(call)>>>(
        weights, rows, made.scale, each.data);
  exclusive_sums(call, sums.data, rows.entries + 1);
  made.total = static_cast<int64_t>(fetched(call, sums.data + rows.entries));
  degrees_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call)>>>(
      rows.offsets, sums.data, rows.vertices, made.degrees.data);
  make_weights(call, made);
  copied_kernel<<<grid(rows.entries), kRowThreads, 0, stream_of(call)>>>(
      whole.data, rows.entries, made.wide.data, made.weights.data);
}

}  // namespace

WeightedRows weighted_rows(DeviceCall& call, const Csr& csr, const Buffer& weights) {
  const Rows rows = rows_of(call, csr);
  WeightedRows made{rows.vertices, rows.entries};
  made.offsets = shared_room(csr.offsets, rows.offsets);
  made.targets = shared_room(csr.targets, rows.targets);
  made.degrees = Room<int64_t>(call, rows.vertices);
  if (weights) {
    take_weights(call, weights, made);
    return made;
  }
  const Room<Wide> loops(call, 1);
  loops.fill(call, 0);
  plain_degrees_kernel<<<grid(rows.vertices), kRowThreads, 0, stream_of(call)>>>(
      rows, made.degrees.data, loops.data);
  const auto found = static_cast<int64_t>(fetched(call, loops.data));
  made.total = made.entries + found;
  made.has_loops = found > 0;
  return made;
}

int64_t number_groups(DeviceCall& call, uint32_t* groups, int64_t count, int64_t bound) {
  const Room<uint32_t> first(call, bound);
  const Room<uint32_t> numbers(call, count + 1);
  first.fill(call, 0xFF);
  first_of_groups_kernel<<<grid(count), kRowThreads, 0, stream_of(call)>>>(groups, count,
                                                                           first.data);
  is_first_kernel<<<grid(count + 1), kRowThreads, 0, stream_of(call)>>>(groups, first.data, count,
                                                                        numbers.data);
  exclusive_sums(call, numbers.data, count + 1);
  numbers_kernel<<<grid(count), kRowThreads, 0, stream_of(call)>>>(first.data, numbers.data, count,
                                                                   groups);
  return fetched(call, numbers.data + count);
}

WeightedRows aggregate(DeviceCall& call, const WeightedRows& from, const uint32_t* groups,
                       int64_t count) {
  const Rows rows = from.rows();
  const Weights weights{from.weights.data, from.wide.data};
  const int64_t entries = from.entries;
  const int bits = bits_of_vertex(count);
  // Entries that weigh 1 each are counted.
  const bool is_carried = weights.narrow || weights.wide || from.has_loops;
  const Room<uint64_t> words[2] = {{call, entries + 1}, {call, entries + 1}};
  uint64_t* const keys[] = {words[0].data, words[1].data};
  Room<uint32_t> numbers[2];
  if (is_carried)
    for (Room<uint32_t>& each : numbers) each = Room<uint32_t>(call, entries);
  uint32_t* const carried[] = {numbers[0].data, numbers[1].data};
  const unsigned blocks = grid(entries + 1);
  group_words_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(rows, weights, groups, bits,
                                                                  keys[0], carried[0]);
  const int at = is_carried ? sort_pairs(call, keys, carried, entries, 2 * bits)
                            : sort_words(call, keys, entries, 2 * bits);
  const Room<uint32_t> before(call, entries + 1);
  is_new_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(keys[at], entries, before.data);
  exclusive_sums(call, before.data, entries + 1);
  uint64_t* const sums = is_carried ? keys[1 - at] : nullptr;
  if (is_carried) {
    carried_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(carried[at], weights, entries,
                                                                sums);
    exclusive_sums(call, sums, entries + 1);
  }
  WeightedRows made{count, fetched(call, before.data + entries)};
  made.total = from.total;
  made.scale = from.scale;
  made.offsets = Room<int64_t>(call, count + 1);
  made.targets = Room<uint32_t>(call, made.entries);
  made.degrees = Room<int64_t>(call, count);
  make_weights(call, made);
  const Room<uint32_t> begins(call, made.entries + 1);
  runs_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(keys[at], before.data, entries, bits,
                                                           made.targets.data, begins.data);
  run_weights_kernel<<<grid(made.entries), kRowThreads, 0, stream_of(call)>>>(
      begins.data, sums, made.entries, made.wide.data, made.weights.data);
  group_offsets_kernel<<<grid(count + 1), kRowThreads, 0, stream_of(call)>>>(
      keys[at], before.data, entries, count, bits, made.offsets.data);
  made.degrees.fill(call, 0);
  group_degrees_kernel<<<grid(from.vertices), kRowThreads, 0, stream_of(call)>>>(
      from.degrees.data, groups, from.vertices, reinterpret_cast<Wide*>(made.degrees.data));
  return made;
}

hr::WeightedRows fetched_rows(const DeviceCall& call, const WeightedRows& rows) {
  hr::WeightedRows made;
  made.total = rows.total;
  made.scale = rows.scale;
  const auto fetch = [&](auto& to, const auto& from, int64_t count) {
    to.resize(static_cast<size_t>(count));
    if (count > 0) call.fetch(to.data(), from.data, count * static_cast<int64_t>(sizeof to[0]));
  };
  fetch(made.offsets, rows.offsets, rows.vertices + 1);
  fetch(made.targets, rows.targets, rows.entries);
  fetch(made.degrees, rows.degrees, rows.vertices);
  if (rows.wide.data) {
    fetch(made.weights, rows.wide, rows.entries);
    return made;
  }
  if (rows.weights.data) {
    BudgetedVector<uint32_t> narrow;
    fetch(narrow, rows.weights, rows.entries);
    made.weights.assign(narrow.begin(), narrow.end());
    return made;
  }
  made.weights.assign(made.targets.size(), 1);
  for (int64_t v = 0; v < rows.vertices; ++v)
    for (int64_t i = made.offsets[v]; i < made.offsets[v + 1]; ++i)
      if (made.targets[i] == v) made.weights[i] = 2;
  return made;
}

}  // namespace hr::cuda
