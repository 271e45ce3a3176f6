// SPDX-License-Identifier: Apache-2.0
// On a CUDA device: weights of neighbours by a thread a row, and their undirected graph, for which
// edges of both directions are sorted by row and column, and equal ones added.
#include "headrace/algo/math/vmath_lane.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/learn/neighbor_graph_kernels.h"

#include <bit>
#include <cub/device/device_scan.cuh>
#include <limits>

namespace hr::cuda {
namespace {

constexpr int kThreads = 256;

/// Makes distances of neighbours weights of the wanted entropy: a thread to a row. `squares` is
/// [count, rows]. `*bad` becomes the first row with a square that is not finite.
__global__ void weigh_kernel(const double* __restrict__ distances, int64_t rows, int64_t count,
                             double entropy, double* squares, float* weights,
                             unsigned long long* bad) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double distance = distances[row * count + i];
    const double square = distance * distance;
    squares[i * rows + row] = square;
    least = square < least ? square : least;
    most = square > most ? square : most;
  }
  if (!isfinite(most)) {
    atomicMin(bad, static_cast<unsigned long long>(row));
    return;
  }
  const auto weight = [&](int64_t i, double beta, double* apart) {
    *apart = squares[i * rows + row] - least;
    return vmath::exp(Lane(-beta * *apart)).v;
  };
  double beta = 1;
  double next = 1;
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  double sum = 0;
  double apart = 0;
  for (int step = 0; step < kEntropySteps; ++step) {
    beta = next;
    sum = 0;
    double mean = 0;
#pragma unroll 4
    for (int64_t i = 0; i < count; ++i) {
      const double own = weight(i, beta, &apart);
      sum += own;
      mean += own * apart;
    }
    const double above = vmath::log(Lane(sum)).v + beta * mean / sum - entropy;
    if (fabs(above) <= kEntropyTolerance) break;
    (above > 0 ? low : high) = beta;
    next = isinf(high) ? 2 * beta : (low + high) / 2;
  }
  for (int64_t i = 0; i < count; ++i)
    weights[row * count + i] =
        static_cast<float>(weight(i, beta, &apart) / sum / (2 * static_cast<double>(rows)));
}

/// Edges in the order of `keys`: the row above `bits` of the column.
struct Edges {
  uint64_t* keys;
  uint32_t* weights;  // bits of float32
  int64_t count;
  int bits;

  __device__ bool is_first(int64_t i) const { return i == 0 || keys[i] != keys[i - 1]; }

  __device__ float weight(int64_t i) const {
    const float own = __uint_as_float(weights[i]);
    return i + 1 < count && keys[i + 1] == keys[i] ? own + __uint_as_float(weights[i + 1]) : own;
  }
};

__global__ void edges_kernel(const int64_t* __restrict__ indices, const float* __restrict__ weights,
                             int64_t rows, int64_t count, Edges out, long long* bad) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows * count) return;
  const int64_t row = i / count;
  int64_t other = indices[i];
  if (other < 0 || other >= rows) {
    *bad = other;
    other = 0;
  }
  out.keys[i] = static_cast<uint64_t>(row << out.bits | other);
  out.keys[rows * count + i] = static_cast<uint64_t>(other << out.bits | row);
  out.weights[i] = out.weights[rows * count + i] = __float_as_uint(weights[i]);
}

__global__ void keep_kernel(Edges edges, int32_t* kept) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i <= edges.count)
    kept[i] = i < edges.count && edges.is_first(i) && edges.weight(i) != 0 ? 1 : 0;
}

/// `places` has for each edge the number of those that are kept before it.
__global__ void write_kernel(Edges edges, const int32_t* __restrict__ places, int32_t* others,
                             float* weights) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= edges.count || places[i + 1] == places[i]) return;
  others[places[i]] = static_cast<int32_t>(edges.keys[i] & ((uint64_t{1} << edges.bits) - 1));
  weights[places[i]] = edges.weight(i);
}

__global__ void begins_kernel(Edges edges, const int32_t* __restrict__ places, int64_t rows,
                              int64_t* begins) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row > rows) return;
  const uint64_t least = static_cast<uint64_t>(row) << edges.bits;
  int64_t begin = 0;
  for (int64_t size = edges.count; size > 0;) {
    const int64_t half = size / 2;
    const bool right = edges.keys[begin + half] < least;
    begin = right ? begin + half + 1 : begin;
    size = right ? size - half - 1 : half;
  }
  begins[row] = places[begin];
}

}  // namespace

Buffer entropy_weights(DeviceCall& call, const double* distances, int64_t rows, int64_t count,
                       double entropy) {
  constexpr int kRowThreads = 64;  // few, so that all processors have some
  constexpr unsigned long long kNone = ~0ULL;
  const Buffer bad = call.table(&kNone, sizeof kNone);
  const Buffer squares = call.scratch(rows * count * static_cast<int64_t>(sizeof(double)));
  Buffer weights = call.scratch(rows * count * static_cast<int64_t>(sizeof(float)));
  weigh_kernel<<<blocks_of(rows, kRowThreads), kRowThreads, 0,
                 static_cast<cudaStream_t>(call.stream())>>>(
      distances, rows, count, entropy, call.writes_as<double>(squares),
      call.writes_as<float>(weights), call.writes_as<unsigned long long>(bad));
  unsigned long long row = 0;
  call.fetch(&row, bad.data(), sizeof row);
  if (row != kNone) throw_not_finite_square(static_cast<int64_t>(row));
  return weights;
}

JoinedGraph summed_graph(DeviceCall& call, const int64_t* indices, const float* weights,
                         int64_t rows, int64_t count) {
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const int64_t size = 2 * rows * count;
  const auto room = [&]<class T>(std::type_identity<T>, int64_t length) {
    return call.scratch(length * static_cast<int64_t>(sizeof(T)));
  };
  constexpr std::type_identity<uint64_t> kKey;
  constexpr std::type_identity<uint32_t> kWord;
  const Buffer keys[2] = {room(kKey, size), room(kKey, size)};
  const Buffer words[2] = {room(kWord, size), room(kWord, size)};
  uint64_t* const key[2] = {call.writes_as<uint64_t>(keys[0]), call.writes_as<uint64_t>(keys[1])};
  uint32_t* const word[2] = {call.writes_as<uint32_t>(words[0]),
                             call.writes_as<uint32_t>(words[1])};
  Edges edges{key[0], word[0], size,
              static_cast<int>(std::bit_width(static_cast<uint64_t>(rows - 1)))};
  const long long none = 0;
  const Buffer wrong = call.table(&none, sizeof none);
  edges_kernel<<<blocks_of(rows * count, kThreads), kThreads, 0, stream>>>(
      indices, weights, rows, count, edges, call.writes_as<long long>(wrong));
  const int order = sort_pairs(call, key, word, size, 2 * edges.bits);
  edges.keys = key[order];
  edges.weights = word[order];
  const Buffer kept = room(kWord, size + 1);
  auto* const places = call.writes_as<int32_t>(kept);
  keep_kernel<<<blocks_of(size + 1, kThreads), kThreads, 0, stream>>>(edges, places);
  size_t bytes = 0;
  check_cuda("joined_graph",
             cub::DeviceScan::ExclusiveSum(nullptr, bytes, places, places, size + 1, stream));
  const Buffer scratch = call.scratch(static_cast<int64_t>(bytes));
  check_cuda("joined_graph", cub::DeviceScan::ExclusiveSum(call.writes(scratch), bytes, places,
                                                           places, size + 1, stream));
  int32_t entries = 0;
  call.fetch(&entries, places + size, sizeof entries);
  long long index = 0;
  call.fetch(&index, wrong.data(), sizeof index);
  if (index != none)
    throw_error<InvalidArgumentError>("joined_graph", "no such neighbour", {{"index", index}});
  JoinedGraph made{room(kKey, rows + 1), room(kWord, entries), room(kWord, entries)};
  write_kernel<<<blocks_of(size, kThreads), kThreads, 0, stream>>>(
      edges, places, call.writes_as<int32_t>(made.others), call.writes_as<float>(made.weights));
  begins_kernel<<<blocks_of(rows + 1, kThreads), kThreads, 0, stream>>>(
      edges, places, rows, call.writes_as<int64_t>(made.begins));
  return made;
}

}  // namespace hr::cuda
