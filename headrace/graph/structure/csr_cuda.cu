// SPDX-License-Identifier: Apache-2.0
// Rows of graphs on a CUDA device: words of a row and a target in order, by radix.
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/graph/structure/device_rows.h"

#include <bit>
#include <cub/device/device_scan.cuh>

namespace hr::cuda {

namespace {

constexpr int64_t kHubEntries = 2048;  // of a row for a block of threads
constexpr int64_t kWideEntries = 64;   // for a warp
constexpr int64_t kNarrowEntries = 8;  // and for 8 threads

__global__ void transposed_words_kernel(Rows rows, int bits, uint64_t* words, uint32_t* numbers) {
  const int64_t entry = own_item();
  if (entry >= rows.entries) return;
  words[entry] = uint64_t{rows.targets[entry]} << bits | static_cast<uint64_t>(row_of(rows, entry));
  if (numbers) numbers[entry] = rows.edges[entry];
}

__global__ void ranked_words_kernel(Rows rows, const uint32_t* ranks, const uint32_t* of_targets,
                                    int bits, uint64_t* words, uint32_t* numbers) {
  const int64_t entry = own_item();
  if (entry >= rows.entries) return;
  words[entry] = uint64_t{ranks[row_of(rows, entry)]} << bits | of_targets[rows.targets[entry]];
  if (numbers) numbers[entry] = rows.edges[entry];
}

/// Where each row begins: at the first word that is not of a row before.
__global__ void offsets_kernel(const uint64_t* words, int64_t entries, int64_t vertices, int bits,
                               int64_t* offsets) {
  const int64_t row = own_item();
  if (row > vertices) return;
  offsets[row] = first_word_of(words, entries, bits, row);
}

__global__ void targets_kernel(const uint64_t* words, int64_t entries, int bits,
                               uint32_t* targets) {
  const int64_t entry = own_item();
  if (entry < entries)
    targets[entry] = static_cast<uint32_t>(words[entry] & ((uint64_t{1} << bits) - 1));
}

__global__ void falling_kernel(Rows rows, uint32_t* keys, uint32_t* vertices,
                               unsigned long long* counts) {
  const int64_t v = own_item();
  const bool is_row = v < rows.vertices;
  const int64_t degree = is_row ? rows.degree(v) : 0;
  if (is_row) {
    keys[v] = ~static_cast<uint32_t>(degree);
    vertices[v] = static_cast<uint32_t>(v);
  }
  add_of_warp(counts, degree >= kHubEntries ? 1 : 0);
  add_of_warp(counts + 1, degree >= kWideEntries ? 1 : 0);
  add_of_warp(counts + 2, degree >= kNarrowEntries ? 1 : 0);
  add_of_warp(counts + 3, degree > 0 ? 1 : 0);
}

__global__ void ranks_kernel(const uint32_t* order, int64_t count, uint32_t* ranks) {
  const int64_t rank = own_item();
  if (rank < count) ranks[order[rank]] = static_cast<uint32_t>(rank);
}

__global__ void places_kernel(const uint32_t* order, const uint32_t* of_targets, int64_t count,
                              uint32_t* places) {
  const int64_t rank = own_item();
  if (rank < count) places[rank] = of_targets[order[rank]];
}

__global__ void degrees_kernel(Rows rows, const uint32_t* queue, int64_t count, uint64_t* out) {
  const int64_t i = own_item();
  if (i <= count) out[i] = i < count ? static_cast<uint64_t>(rows.degree(queue[i])) : 0;
}

template <class T>
void sums_of(DeviceCall& call, T* values, int64_t count) {
  size_t bytes = 0;
  check_cuda("graph",
             cub::DeviceScan::ExclusiveSum(nullptr, bytes, values, values, count, stream_of(call)));
  const Room<std::byte> room(call, static_cast<int64_t>(bytes));
  check_cuda("graph", cub::DeviceScan::ExclusiveSum(room.data, bytes, values, values, count,
                                                    stream_of(call)));
}

/// Words that `fill` makes, in order, and what goes with each.
template <class Fill>
Csr sorted_words(DeviceCall& call, const Rows& rows, Fill&& fill) {
  const int bits = bits_of_vertex(rows.vertices);
  Room<uint64_t> words[2] = {{call, rows.entries}, {call, rows.entries}};
  uint64_t* const keys[] = {words[0].data, words[1].data};
  if (!rows.edges) {
    fill(keys[0], nullptr);
    const int at = sort_words(call, keys, rows.entries, 2 * bits);
    return rows_of_words(call, keys[at], nullptr, rows.vertices, rows.entries, bits);
  }
  Room<uint32_t> numbers[2] = {{call, rows.entries}, {call, rows.entries}};
  uint32_t* const carried[] = {numbers[0].data, numbers[1].data};
  fill(keys[0], carried[0]);
  const int at = sort_pairs(call, keys, carried, rows.entries, 2 * bits);
  return rows_of_words(call, keys[at], carried[at], rows.vertices, rows.entries, bits);
}

}  // namespace

void lay_out(DeviceCall& call, const Rows& rows, const uint32_t* queue, int64_t count,
             uint64_t* begins) {
  degrees_kernel<<<blocks_of(count + 1, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      rows, queue, count, begins);
  exclusive_sums(call, begins, count + 1);
}

void exclusive_sums(DeviceCall& call, uint32_t* values, int64_t count) {
  sums_of(call, values, count);
}

void exclusive_sums(DeviceCall& call, uint64_t* values, int64_t count) {
  sums_of(call, reinterpret_cast<unsigned long long*>(values), count);
}

int bits_of_vertex(int64_t vertices) {
  return std::max(
      1,
      static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(vertices, 1) - 1))));
}

Csr rows_of_words(DeviceCall& call, const uint64_t* words, const uint32_t* numbers,
                  int64_t vertices, int64_t entries, int bits) {
  Csr made{vertices, call.scratch(8 * (vertices + 1)), call.scratch(4 * entries),
           numbers ? call.scratch(4 * entries) : Buffer()};
  offsets_kernel<<<blocks_of(vertices + 1, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      words, entries, vertices, bits, call.writes_as<int64_t>(made.offsets));
  if (entries == 0) return made;
  targets_kernel<<<blocks_of(entries, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      words, entries, bits, call.writes_as<uint32_t>(made.targets));
  if (numbers)
    check_cuda("graph",
               cudaMemcpyAsync(call.writes(made.edges), numbers, static_cast<size_t>(4 * entries),
                               cudaMemcpyDeviceToDevice, stream_of(call)));
  return made;
}

Csr transposed(const Csr& csr) {
  DeviceCall call("graph", csr.offsets.place());
  const Rows rows = rows_of(call, csr);
  const int bits = bits_of_vertex(rows.vertices);
  Csr made = sorted_words(call, rows, [&](uint64_t* words, uint32_t* numbers) {
    transposed_words_kernel<<<blocks_of(rows.entries, kRowThreads), kRowThreads, 0,
                              stream_of(call)>>>(rows, bits, words, numbers);
  });
  call.finish(cudaGetLastError());
  return made;
}

namespace {

/// All but the rows.
OrderedRows ranked(DeviceCall& call, const Rows& rows) {
  const int64_t count = rows.vertices;
  OrderedRows made;
  const unsigned blocks = blocks_of(count, kRowThreads);
  Room<uint32_t> keys[2] = {{call, count}, {call, count}};
  Room<uint32_t> vertices[2] = {{call, count}, {call, count}};
  Room<unsigned long long> counts(call, 4);
  counts.fill(call, 0);
  falling_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(rows, keys[0].data, vertices[0].data,
                                                              counts.data);
  const int at = sort_pairs(call, {keys[0].data, keys[1].data},
                            {vertices[0].data, vertices[1].data}, count, 32);
  made.order = vertices[at].buffer;
  call.writes(made.order);
  made.ranks = call.scratch(4 * count);
  ranks_kernel<<<blocks, kRowThreads, 0, stream_of(call)>>>(vertices[at].data, count,
                                                            call.writes_as<uint32_t>(made.ranks));
  unsigned long long found[4];
  call.fetch(found, counts.data, sizeof found);
  made.hubs = static_cast<int64_t>(found[0]);
  made.wide = static_cast<int64_t>(found[1]);
  made.narrow = static_cast<int64_t>(found[2]);
  made.live = static_cast<int64_t>(found[3]);
  return made;
}

Csr ranked_rows(DeviceCall& call, const Rows& rows, const Buffer& ranks, const Buffer& of_targets) {
  const int bits = bits_of_vertex(rows.vertices);
  return sorted_words(call, rows, [&](uint64_t* words, uint32_t* numbers) {
    ranked_words_kernel<<<blocks_of(rows.entries, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
        rows, ranks.as<uint32_t>(), of_targets.as<uint32_t>(), bits, words, numbers);
  });
}

}  // namespace

OrderedRows order_by_degree(const Csr& csr) {
  DeviceCall call("graph", csr.offsets.place());
  const Rows rows = rows_of(call, csr);
  OrderedRows made = ranked(call, rows);
  made.rows = ranked_rows(call, rows, made.ranks, made.ranks);
  call.finish(cudaGetLastError());
  return made;
}

OrderedRows order_by_degree(const Csr& csr, const Csr& back) {
  DeviceCall call("graph", csr.offsets.place());
  const Rows rows = rows_of(call, csr);
  OrderedRows made = ranked(call, rows);
  const OrderedRows of_targets = ranked(call, rows_of(call, back));
  made.rows = ranked_rows(call, rows, made.ranks, of_targets.ranks);
  made.places = call.scratch(4 * rows.vertices);
  places_kernel<<<blocks_of(rows.vertices, kRowThreads), kRowThreads, 0, stream_of(call)>>>(
      made.order.as<uint32_t>(), of_targets.ranks.as<uint32_t>(), rows.vertices,
      call.writes_as<uint32_t>(made.places));
  call.finish(cudaGetLastError());
  return made;
}

}  // namespace hr::cuda
