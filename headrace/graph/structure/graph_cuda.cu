// SPDX-License-Identifier: Apache-2.0
// Building a graph on a CUDA device: vertices are numbered by bits of the keys that are there, or
// by a sort of all of them; edges are words of two numbers, which radix brings in order.
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/graph/structure/device_rows.h"
#include "headrace/graph/structure/graph.h"
#include "headrace/graph/structure/graph_kernels.h"

#include <bit>
#include <limits>

namespace hr::cuda {

namespace {

constexpr int64_t kMostKeysARow = 64;  // of a range whose bits are marked
constexpr int64_t kFewRows = 1 << 16;
constexpr uint64_t kMostMarks = uint64_t{1} << 36;

unsigned grid(int64_t items) {
  return blocks_of(items, kRowThreads);
}

/// A key as a word: they ascend together.
template <class T>
__device__ uint64_t word_of(T key) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(int64_t{key}) ^ (uint64_t{1} << 63);
  else
    return key;
}

template <class T>
__device__ T key_of(uint64_t word) {
  if constexpr (std::is_signed_v<T>) word ^= uint64_t{1} << 63;
  return static_cast<T>(word);
}

template <class T>
__global__ void range_kernel(const T* keys, int64_t count, unsigned long long* range) {
  unsigned long long least = ~0ull;
  unsigned long long greatest = 0;
  for (int64_t i = own_item(); i < count; i += int64_t{gridDim.x} * kRowThreads) {
    const unsigned long long word = word_of(keys[i]);
    least = min(least, word);
    greatest = max(greatest, word);
  }
  for (int half = 16; half > 0; half /= 2) {
    least = min(least, __shfl_xor_sync(kAllLanes, least, half));
    greatest = max(greatest, __shfl_xor_sync(kAllLanes, greatest, half));
  }
  if (threadIdx.x % 32 != 0) return;
  atomicMin(range, least);
  atomicMax(range + 1, greatest);
}

/// Which of a range are there, and how many before each 32 of them.
struct Marks {
  unsigned* bits;
  uint32_t* before;

  __device__ void mark(uint64_t at) const {
    const unsigned bit = 1u << at % 32;
    if ((bits[at / 32] & bit) == 0) atomicOr(&bits[at / 32], bit);
  }

  __device__ uint32_t rank(uint64_t at) const {
    const unsigned lower = (1u << at % 32) - 1;
    return before[at / 32] + static_cast<uint32_t>(__popc(bits[at / 32] & lower));
  }
};

__global__ void count_bits_kernel(Marks marks, int64_t words) {
  const int64_t word = own_item();
  if (word <= words)
    marks.before[word] = word < words ? static_cast<uint32_t>(__popc(marks.bits[word])) : 0;
}

/// What is marked, counted.
struct MarkedRange {
  Room<unsigned> bits;
  Room<uint32_t> before;
  int64_t words;

  MarkedRange(DeviceCall& call, uint64_t range)
      : bits(call, static_cast<int64_t>((range + 31) / 32)),
        before(call, static_cast<int64_t>((range + 31) / 32) + 1),
        words(static_cast<int64_t>((range + 31) / 32)) {
    bits.fill(call, 0);
  }

  Marks marks() const { return {bits.data, before.data}; }

  int64_t count(DeviceCall& call) const {
    count_bits_kernel<<<grid(words + 1), kRowThreads, 0, stream_of(call)>>>(marks(), words);
    exclusive_sums(call, before.data, words + 1);
    return fetched(call, before.data + words);
  }
};

template <class T>
__global__ void mark_kernel(const T* keys, int64_t count, uint64_t least, Marks marks) {
  const int64_t i = own_item();
  if (i < count) marks.mark(word_of(keys[i]) - least);
}

/// Numbers of keys: their place among those that are there, which are all of the range if `is_all`.
template <class T>
__global__ void rank_kernel(const T* keys, int64_t count, uint64_t least, Marks marks, bool is_all,
                            uint32_t* out) {
  const int64_t i = own_item();
  if (i >= count) return;
  const uint64_t at = word_of(keys[i]) - least;
  out[i] = is_all ? static_cast<uint32_t>(at) : marks.rank(at);
}

template <class T>
__global__ void marked_keys_kernel(Marks marks, int64_t words, uint64_t least, T* out) {
  const int64_t word = own_item();
  if (word >= words) return;
  uint32_t at = marks.before[word];
  for (unsigned bits = marks.bits[word]; bits != 0; bits &= bits - 1)
    out[at++] = key_of<T>(least + 32 * static_cast<uint64_t>(word) +
                          static_cast<uint64_t>(__ffs(static_cast<int>(bits)) - 1));
}

template <class T>
__global__ void words_kernel(const T* keys, int64_t count, uint64_t least, uint32_t first,
                             uint64_t* words, uint32_t* places) {
  const int64_t i = own_item();
  if (i >= count) return;
  words[i] = word_of(keys[i]) - least;
  places[i] = first + static_cast<uint32_t>(i);
}

__global__ void first_kernel(const uint64_t* words, int64_t count, uint32_t* is_first) {
  const int64_t i = own_item();
  if (i <= count) is_first[i] = i < count && (i == 0 || words[i] != words[i - 1]) ? 1 : 0;
}

/// Numbers of words in order, where their places are, and the keys of the first of each.
template <class T>
__global__ void number_words_kernel(const uint64_t* words, const uint32_t* places,
                                    const uint32_t* before, int64_t count, uint64_t least,
                                    uint32_t* numbers, T* keys) {
  const int64_t i = own_item();
  if (i >= count) return;
  const bool is_first = i == 0 || words[i] != words[i - 1];
  const uint32_t number = before[i] + (is_first ? 1 : 0) - 1;
  numbers[places[i]] = number;
  if (is_first) keys[number] = key_of<T>(least + words[i]);
}

struct Numbered {
  int64_t count = 0;
  Column ids{};
  Room<uint32_t> numbers{};  // of the parts, end to end
};

template <class T>
Numbered number_by_sort(DeviceCall& call, const std::vector<Column>& parts, int64_t rows,
                        uint64_t least, int bits) {
  Numbered made;
  made.numbers = Room<uint32_t>(call, rows);
  Room<uint64_t> words[2] = {{call, rows}, {call, rows}};
  Room<uint32_t> places[2] = {{call, rows}, {call, rows}};
  uint32_t first = 0;
  for (const Column& part : parts) {
    const int64_t count = part.num_rows();
    if (count > 0)
      words_kernel<T><<<grid(count), kRowThreads, 0, stream_of(call)>>>(
          part.values_buffer().as<T>() + part.offset(), count, least, first, words[0].data + first,
          places[0].data + first);
    first += static_cast<uint32_t>(count);
  }
  const int at = sort_pairs(call, {words[0].data, words[1].data}, {places[0].data, places[1].data},
                            rows, bits);
  Room<uint32_t> before(call, rows + 1);
  first_kernel<<<grid(rows + 1), kRowThreads, 0, stream_of(call)>>>(words[at].data, rows,
                                                                    before.data);
  exclusive_sums(call, before.data, rows + 1);
  made.count = fetched(call, before.data + rows);
  const Buffer keys = call.scratch(made.count * static_cast<int64_t>(sizeof(T)));
  number_words_kernel<T><<<grid(rows), kRowThreads, 0, stream_of(call)>>>(
      words[at].data, places[at].data, before.data, rows, least, made.numbers.data,
      call.writes_as<T>(keys));
  made.ids = parts[0].with_rows(made.count, keys, Buffer(), 0);
  return made;
}

template <class T>
Numbered number_by_marks(DeviceCall& call, const std::vector<Column>& parts, int64_t rows,
                         uint64_t least, uint64_t range) {
  Numbered made;
  made.numbers = Room<uint32_t>(call, rows);
  const MarkedRange marked(call, range);
  for (const Column& part : parts)
    if (const int64_t count = part.num_rows(); count > 0)
      mark_kernel<T><<<grid(count), kRowThreads, 0, stream_of(call)>>>(
          part.values_buffer().as<T>() + part.offset(), count, least, marked.marks());
  made.count = marked.count(call);
  const bool is_all = static_cast<uint64_t>(made.count) == range;
  int64_t first = 0;
  for (const Column& part : parts) {
    const int64_t count = part.num_rows();
    if (count > 0)
      rank_kernel<T><<<grid(count), kRowThreads, 0, stream_of(call)>>>(
          part.values_buffer().as<T>() + part.offset(), count, least, marked.marks(), is_all,
          made.numbers.data + first);
    first += count;
  }
  const Buffer keys = call.scratch(made.count * static_cast<int64_t>(sizeof(T)));
  marked_keys_kernel<T><<<grid(marked.words), kRowThreads, 0, stream_of(call)>>>(
      marked.marks(), marked.words, least, call.writes_as<T>(keys));
  made.ids = parts[0].with_rows(made.count, keys, Buffer(), 0);
  return made;
}

Numbered factorize_keys(std::string_view op, DeviceCall& call, const std::vector<Column>& parts) {
  int64_t rows = 0;
  for (const Column& part : parts) {
    rows += part.num_rows();
    call.reads(part.values_buffer());
  }
  if (rows > std::numeric_limits<uint32_t>::max())
    throw_error<UnsupportedError>(op, "more than 2^32 - 1 ends of edges", {{"ends", rows}});
  Numbered made;
  if (rows == 0) {
    made.ids = parts[0];
    return made;
  }
  visit_real(parts[0].dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      Room<unsigned long long> range(call, 2);
      call.fill(reinterpret_cast<std::byte*>(range.data), 0xFF, 8);
      call.fill(reinterpret_cast<std::byte*>(range.data + 1), 0, 8);
      for (const Column& part : parts)
        if (const int64_t count = part.num_rows(); count > 0)
          range_kernel<T><<<blocks_in_turn(count, kRowThreads, part.place().index, 8), kRowThreads,
                            0, stream_of(call)>>>(part.values_buffer().as<T>() + part.offset(),
                                                  count, range.data);
      unsigned long long ends[2];
      call.fetch(ends, range.data, sizeof ends);
      const uint64_t width = ends[1] - ends[0];
      const auto most = static_cast<uint64_t>(std::max(rows, kFewRows) * kMostKeysARow);
      made = width < std::min(most, kMostMarks)
                 ? number_by_marks<T>(call, parts, rows, ends[0], width + 1)
                 : number_by_sort<T>(call, parts, rows, ends[0],
                                     static_cast<int>(std::bit_width(width)));
    }
  });
  return made;
}

/// Words of edges: one each, or both ways side by side; the second of a self loop is behind all.
__global__ void edges_kernel(const uint32_t* source, const uint32_t* target, int64_t edges,
                             bool directed, int bits, uint64_t* words, uint32_t* rows,
                             unsigned long long* loops) {
  const int64_t i = own_item();
  const bool is_edge = i < edges;
  const uint64_t s = is_edge ? source[i] : 0;
  const uint64_t t = is_edge ? target[i] : 1;
  if (is_edge && directed) {
    words[i] = s << bits | t;
    if (rows) rows[i] = static_cast<uint32_t>(i);
  } else if (is_edge) {
    words[2 * i] = s << bits | t;
    words[2 * i + 1] = s == t ? uint64_t{1} << (2 * bits) : t << bits | s;
    if (rows) rows[2 * i] = rows[2 * i + 1] = static_cast<uint32_t>(i);
  }
  add_of_warp(loops, is_edge && s == t ? 1 : 0);
}

/// Entries that are the same as the one before, and which of these are loops.
__global__ void repeated_kernel(const uint64_t* words, int64_t entries, int bits,
                                unsigned long long* counts) {
  const int64_t i = own_item();
  const bool is_repeated = i > 0 && i < entries && words[i] == words[i - 1];
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  add_of_warp(counts, is_repeated ? 1 : 0);
  add_of_warp(counts + 1, is_repeated && words[i] >> bits == (words[i] & mask) ? 1 : 0);
}

__global__ void kept_kernel(const uint64_t* words, int64_t entries, bool keep_first,
                            uint32_t* is_kept) {
  const int64_t i = own_item();
  if (i > entries) return;
  is_kept[i] = i < entries && (keep_first ? i == 0 || words[i] != words[i - 1]
                                          : i + 1 == entries || words[i] != words[i + 1])
                   ? 1
                   : 0;
}

__global__ void keep_kernel(const uint64_t* words, const uint32_t* rows, const uint32_t* places,
                            int64_t entries, uint64_t* kept, uint32_t* kept_rows) {
  const int64_t i = own_item();
  if (i >= entries || places[i] == places[i + 1]) return;
  kept[places[i]] = words[i];
  if (rows) kept_rows[places[i]] = rows[i];
}

__global__ void mark_rows_kernel(const uint32_t* rows, int64_t count, Marks marks) {
  const int64_t i = own_item();
  if (i < count) marks.mark(rows[i]);
}

__global__ void rank_rows_kernel(const uint32_t* rows, int64_t count, Marks marks, uint32_t* out) {
  const int64_t i = own_item();
  if (i < count) out[i] = marks.rank(rows[i]);
}

/// The edges that entries have, in their order; entries then count these.
Column number_edges(DeviceCall& call, uint32_t* rows, int64_t entries, int64_t edges) {
  const MarkedRange marked(call, static_cast<uint64_t>(std::max<int64_t>(edges, 1)));
  if (entries > 0)
    mark_rows_kernel<<<grid(entries), kRowThreads, 0, stream_of(call)>>>(rows, entries,
                                                                         marked.marks());
  const int64_t count = marked.count(call);
  if (count < edges && entries > 0)
    rank_rows_kernel<<<grid(entries), kRowThreads, 0, stream_of(call)>>>(rows, entries,
                                                                         marked.marks(), rows);
  const Buffer kept = call.scratch(8 * count);
  marked_keys_kernel<int64_t><<<grid(marked.words), kRowThreads, 0, stream_of(call)>>>(
      marked.marks(), marked.words, uint64_t{1} << 63, call.writes_as<int64_t>(kept));
  return Column(TypeId::kInt64, count, kept);
}

template <class T>
__global__ void find_kernel(const T* ids, int64_t vertices, const T* asked, int64_t count,
                            int64_t* out) {
  const int64_t i = own_item();
  if (i >= count) return;
  const int64_t place =
      partition_point(int64_t{0}, vertices, [&](int64_t vertex) { return ids[vertex] < asked[i]; });
  out[i] = place < vertices && ids[place] == asked[i] ? place : -1;
}

}  // namespace

Column find_vertices(const Column& ids, const Column& asked) {
  const int64_t count = asked.num_rows();
  if (count == 0) return Column(TypeId::kInt64, 0, Buffer());
  DeviceCall call("graph", ids.place());
  call.reads(ids.values_buffer());
  call.reads(asked.values_buffer());
  const Buffer made = call.scratch(8 * count);
  visit_real(ids.dtype().storage(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      find_kernel<T><<<grid(count), kRowThreads, 0, stream_of(call)>>>(
          ids.values_buffer().as<T>() + ids.offset(), ids.num_rows(),
          asked.values_buffer().as<T>() + asked.offset(), count, call.writes_as<int64_t>(made));
  });
  call.finish(cudaGetLastError());
  return Column(TypeId::kInt64, count, made);
}

bool has_numbering(const std::vector<Column>& keys) {
  if (keys.size() != 1 || keys[0].null_count() > 0) return false;
  const Dtype dtype = keys[0].dtype();
  return !dtype.is_floating() && !dtype.is_bool() && !dtype.is_string() && !dtype.is_category() &&
         !dtype.is_nested() && dtype.size_bytes() <= 8;
}

BuiltGraph build_graph(std::string_view op, const Column& source, const Column& target,
                       const Column& nodes, const GraphOptions& options) {
  DeviceCall call(op, source.place());
  const int64_t edges = source.num_rows();
  Numbered numbered = factorize_keys(op, call, {source, target, nodes});
  const int bits = bits_of_vertex(numbered.count);
  const bool keeps = options.keep_edges;
  int64_t entries = options.directed ? edges : 2 * edges;
  Room<uint64_t> words[2] = {{call, entries}, {call, entries}};
  Room<uint32_t> rows[2];
  if (keeps)
    for (Room<uint32_t>& each : rows) each = Room<uint32_t>(call, entries);
  Room<unsigned long long> counts(call, 3);  // loops, entries again, loops of these
  counts.fill(call, 0);
  BuiltGraph made;
  int at = 0;
  unsigned long long found[3] = {};
  if (edges > 0) {
    edges_kernel<<<grid(edges), kRowThreads, 0, stream_of(call)>>>(
        numbered.numbers.data, numbered.numbers.data + edges, edges, options.directed, bits,
        words[0].data, rows[0].data, counts.data);
    numbered.numbers = {};
    const auto loops = static_cast<int64_t>(fetched(call, counts.data));
    const int width = 2 * bits + (!options.directed && loops > 0 ? 1 : 0);
    at = keeps ? sort_pairs(call, {words[0].data, words[1].data}, {rows[0].data, rows[1].data},
                            entries, width)
               : sort_words(call, {words[0].data, words[1].data}, entries, width);
    if (!options.directed) entries -= loops;
    repeated_kernel<<<grid(entries), kRowThreads, 0, stream_of(call)>>>(words[at].data, entries,
                                                                        bits, counts.data + 1);
    call.fetch(found, counts.data, sizeof found);
  }
  const auto repeated = static_cast<int64_t>(found[1]);
  made.num_self_loops = static_cast<int64_t>(found[0]);
  made.is_deduplicated = !options.multigraph && repeated > 0;
  if (made.is_deduplicated) {
    Room<uint32_t> places(call, entries + 1);
    kept_kernel<<<grid(entries + 1), kRowThreads, 0, stream_of(call)>>>(
        words[at].data, entries, options.keep_first, places.data);
    exclusive_sums(call, places.data, entries + 1);
    keep_kernel<<<grid(entries), kRowThreads, 0, stream_of(call)>>>(
        words[at].data, rows[at].data, places.data, entries, words[1 - at].data, rows[1 - at].data);
    at = 1 - at;
    entries -= repeated;
    made.num_self_loops -= static_cast<int64_t>(found[2]);
  }
  if (keeps) made.edge_rows = number_edges(call, rows[at].data, entries, edges);
  made.out = rows_of_words(call, words[at].data, rows[at].data, numbered.count, entries, bits);
  made.num_edges = options.directed ? entries : (entries + made.num_self_loops) / 2;
  made.ids = numbered.ids;
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace hr::cuda
