// SPDX-License-Identifier: Apache-2.0
// k-means on a CUDA device: tiles filter centres, float64 decides what they leave open, and rows
// are added in the CPU's order.
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/learn/kmeans_kernels.h"
#include "headrace/learn/point_tiles.h"

#include <bit>
#include <cfloat>
#include <limits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kBlocksAProcessor = 8;
constexpr int kAhead = 8;        // rows that are read before they are added
constexpr int kMostTrials = 24;  // candidates that a block compares: 48 KiB
constexpr int64_t kInt = static_cast<int64_t>(sizeof(int32_t));
constexpr int64_t kDouble = static_cast<int64_t>(sizeof(double));

/// What the filter knows of a point.
struct Found {
  float best;
  float second;
  int label;

  __device__ __forceinline__ void add(float value, int number) {
    second = fminf(second, fmaxf(best, value));
    label = value < best ? number : label;
    best = fminf(best, value);
  }

  __device__ __forceinline__ void join(const Found& other) {
    second = fminf(fmaxf(best, other.best), fminf(second, other.second));
    label = other.best < best ? other.label : label;
    best = fminf(best, other.best);
  }
};

struct Bound {
  float relative;  // of the squares of the point and of the longest centre
  float most;
  float least;
};

/// Labels of a tile of points; those that are not sure, to `open`, after their number.
template <class T>
__global__ void __launch_bounds__(kTileThreads, 2)
    assign_kernel(Points<T> x, Points<double> centers, Bound bound, int32_t* __restrict__ labels,
                  unsigned* __restrict__ open) {
  __shared__ TilePair tiles;
  __shared__ Found found[kTilePoints];
  const int64_t first = int64_t{blockIdx.x} * kTilePoints;
  float sums[kTileOwn][kTileOwn];
  for (int64_t center = 0; center < centers.rows; center += kTilePoints) {
    multiply(x, first, centers, center, tiles, sums);
    float norms[kTileOwn];
#pragma unroll
    for (int j = 0; j < kTileOwn; ++j) {
      const int at = right_point(j);
      norms[j] = center + at < centers.rows ? tiles.right_norms[at] : FLT_MAX;
    }
#pragma unroll
    for (int i = 0; i < kTileOwn; ++i) {
      Found own{FLT_MAX, FLT_MAX, 0};
#pragma unroll
      for (int j = 0; j < kTileOwn; ++j)
        own.add(fmaf(-2, sums[i][j], norms[j]), static_cast<int>(center) + right_point(j));
#pragma unroll
      for (int lane = 8; lane > 0; lane /= 2)
        own.join({__shfl_xor_sync(~0u, own.best, lane), __shfl_xor_sync(~0u, own.second, lane),
                  __shfl_xor_sync(~0u, own.label, lane)});
      if (threadIdx.x % 16 == 0) {
        if (center > 0) own.join(found[left_point(i)]);
        found[left_point(i)] = own;
      }
    }
  }
  __syncthreads();
  const int64_t row = first + threadIdx.x;
  if (threadIdx.x >= kTilePoints || row >= x.rows) return;
  const Found own = found[threadIdx.x];
  labels[row] = own.label;
  const float slack = bound.relative * (tiles.left_norms[threadIdx.x] + bound.most) + bound.least;
  // NaN and a label of NaN are never sure.
  if (!(own.second - own.best > slack)) open[1 + atomicAdd(open, 1u)] = static_cast<unsigned>(row);
}

/// The nearest centres of the open rows in float64, ties to the lowest: a warp to a row.
template <class T>
__global__ void decide_kernel(Points<T> x, const double* __restrict__ centers, int64_t clusters,
                              const unsigned* __restrict__ open, int32_t* __restrict__ labels) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const unsigned warps = gridDim.x * (kThreads / kWarp);
  for (unsigned i = (blockIdx.x * kThreads + threadIdx.x) / kWarp; i < open[0]; i += warps) {
    const int64_t row = open[1 + i];
    double best = std::numeric_limits<double>::infinity();
    int label = std::numeric_limits<int>::max();
    for (int64_t c = lane; c < clusters; c += kWarp) {
      double sum = 0;
      for (int64_t j = 0; j < x.columns; ++j) {
        const double apart = x(row, j) - centers[c * x.columns + j];
        sum += apart * apart;
      }
      if (sum < best || label == std::numeric_limits<int>::max()) {
        best = sum;
        label = static_cast<int>(c);
      }
    }
    for (int half = kWarp / 2; half > 0; half /= 2) {
      const double other = __shfl_xor_sync(~0u, best, half);
      const int number = __shfl_xor_sync(~0u, label, half);
      if (other < best || (other == best && number < label)) {
        best = other;
        label = number;
      }
    }
    if (lane == 0) labels[row] = label;
  }
}

__global__ void differ_kernel(const int32_t* __restrict__ a, const int32_t* __restrict__ b,
                              int64_t rows, unsigned* differ) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < rows && a[row] != b[row]) *differ = 1;
}

__global__ void mark_kernel(const int32_t* __restrict__ labels, int64_t rows, uint8_t* used) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < rows) used[labels[row]] = 1;
}

/// The part and the cluster of each row as one number.
__global__ void keys_kernel(const int32_t* __restrict__ labels, int64_t rows, int64_t blocks,
                            int64_t parts, int64_t clusters, uint32_t* __restrict__ keys,
                            uint32_t* __restrict__ order) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  // Part k begins at block k * blocks / parts, rounded down.
  const int64_t part = ((row / kKMeansBlock + 1) * parts - 1) / blocks;
  keys[row] = static_cast<uint32_t>(part * clusters + labels[row]);
  order[row] = static_cast<uint32_t>(row);
}

/// Where the rows of each key begin; one more for the end.
__global__ void begins_kernel(const uint32_t* __restrict__ keys, int64_t rows, int64_t count,
                              uint32_t* __restrict__ begins) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i > rows) return;
  const int64_t end = i < rows ? keys[i] : count;
  for (int64_t key = i > 0 ? int64_t{keys[i - 1]} + 1 : 0; key <= end; ++key)
    begins[key] = static_cast<uint32_t>(i);
}

/// Sums of one key's rows in their order: a warp to 32 columns.
template <class T>
__global__ void add_rows_kernel(Points<T> x, const double* __restrict__ weights,
                                const uint32_t* __restrict__ begins,
                                const uint32_t* __restrict__ order, int64_t clusters, int64_t keys,
                                double* __restrict__ sums) {
  const int64_t key = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kWarp;
  if (key >= keys) return;
  const int64_t column = int64_t{blockIdx.y} * kWarp + threadIdx.x % kWarp;
  const bool inside = column < x.columns;
  const uint32_t begin = begins[key];
  const uint32_t end = begins[key + 1];
  double sum = 0;
  double total = weights == nullptr ? static_cast<double>(end - begin) : 0.0;
  for (uint32_t i = begin; i < end; i += kAhead) {
    double values[kAhead];
    double shares[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const bool there = i + k < end;
      const int64_t row = there ? order[i + k] : 0;
      shares[k] = weights != nullptr && there ? weights[row] : 1.0;
      values[k] = there && inside ? x(row, column) * shares[k] : 0.0;
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
      if (i + k < end) {
        sum += values[k];
        if (weights != nullptr) total += shares[k];
      }
  }
  double* const part = sums + key / clusters * clusters * (x.columns + 1);
  const int64_t cluster = key % clusters;
  if (inside) part[cluster * x.columns + column] = sum;
  if (column == 0) part[clusters * x.columns + cluster] = total;
}

/// Parts in order, to the first.
__global__ void add_parts_kernel(double* parts, int64_t count, int64_t size) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size) return;
  double sum = parts[i];
  for (int64_t part = 1; part < count; ++part) sum += parts[part * size + i];
  parts[i] = sum;
}

/// Squared distances to the centres of the labels: 8 lanes to a row, then one tree.
template <class T>
__global__ void own_distances_kernel(Points<T> x, const double* __restrict__ centers,
                                     const int32_t* __restrict__ labels, double* __restrict__ out) {
  constexpr int kLanes = 8;
  const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  double sum = 0;
  if (row < x.rows)
    for (int64_t j = lane; j < x.columns; j += kLanes) {
      const double apart = x(row, j) - centers[labels[row] * x.columns + j];
      sum += apart * apart;
    }
  for (int half = kLanes / 2; half > 0; half /= 2) sum += __shfl_down_sync(~0u, sum, half, kLanes);
  if (row < x.rows && lane == 0) out[row] = sum;
}

/// Sums of blocks of rows in their order. `fill(row, terms)` gives what row `row` adds to each of
/// `count` sums.
template <class F>
__device__ void add_block(int64_t rows, int64_t count, double* sums, const F& fill) {
  extern __shared__ double terms[];  // [count, kThreads]
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t begin = int64_t{blockIdx.x} * kKMeansBlock;
  const int64_t end = min(rows, begin + kKMeansBlock);
  double sum = 0;
  for (int64_t first = begin; first < end; first += kThreads) {
    if (first + thread < end) fill(first + thread, terms + thread);
    __syncthreads();
    if (thread < count) {
      const int tile = static_cast<int>(min(end - first, int64_t{kThreads}));
      const double* const own = terms + thread * kThreads;
#pragma unroll 8
      for (int i = 0; i < tile; ++i) sum += own[i];
    }
    __syncthreads();
  }
  if (thread < count) sums[blockIdx.x * count + thread] = sum;
}

__global__ void block_sums_kernel(const double* __restrict__ values,
                                  const double* __restrict__ weights, int64_t rows,
                                  double* __restrict__ sums) {
  add_block(rows, 1, sums, [&](int64_t row, double* term) {
    *term = weights == nullptr ? values[row] : weights[row] * values[row];
  });
}

template <class T>
__global__ void seed_kernel(Points<T> x, const double* __restrict__ weights,
                            double* __restrict__ nearest, const double* __restrict__ candidates,
                            int64_t count, bool keep, bool first, double* __restrict__ sums) {
  add_block(x.rows, count, sums, [&](int64_t row, double* term) {
    const double weight = weights == nullptr ? 1.0 : weights[row];
    const double before = nearest[row];
    constexpr int kTogether = 8;
    for (int64_t c = 0; c < count; c += kTogether) {
      double apart[kTogether] = {};
      for (int64_t j = 0; j < x.columns; ++j) {
        const double value = x(row, j);
#pragma unroll
        for (int k = 0; k < kTogether; ++k)
          if (c + k < count) {
            const double difference = candidates[(c + k) * x.columns + j] - value;
            apart[k] += difference * difference;
          }
      }
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        if (c + k < count) {
          const double least = first || apart[k] < before ? apart[k] : before;
          if (keep) nearest[row] = least;
          term[(c + k) * kThreads] = weight * least;
        }
    }
  });
}

__global__ void fill_kernel(double* values, int64_t rows, double value) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < rows) values[row] = value;
}

__global__ void seed_parts_kernel(const double* __restrict__ nearest,
                                  const double* __restrict__ weights, int64_t first, int64_t count,
                                  double* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count) return;
  const double value = nearest[first + i];
  out[i] = weights == nullptr ? value : weights[first + i] * value;
}

template <class T>
__global__ void read_row_kernel(Points<T> x, int64_t row, double* out) {
  const int64_t j = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (j < x.columns) out[j] = x(row, j);
}

template <class T>
__global__ void transform_kernel(Points<T> x, const double* __restrict__ centers, int64_t clusters,
                                 T* __restrict__ out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= x.rows * clusters) return;
  const int64_t row = i / clusters;
  const double* const center = centers + (i - row * clusters) * x.columns;
  double sum = 0;
  for (int64_t j = 0; j < x.columns; ++j) {
    const double apart = x(row, j) - center[j];
    sum += apart * apart;
  }
  out[i] = static_cast<T>(sqrt(sum));
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

const double* weights_at(const Tensor& weights) {
  return weights.num_elements() == 0 ? nullptr : weights.as<double>();
}

/// Calls f(Points<T>) for the dtype, without a frame.
template <class F>
void visit_points(const Tensor& x, const F& f) {
  visit_floating(x.dtype(),
                 [&]<class T>(std::type_identity<T>) { f(points_of<T>(x, nullptr, 1)); });
}

template <class T>
std::vector<T> fetched(const DeviceCall& call, const T* from, int64_t count) {
  std::vector<T> here(static_cast<size_t>(count));
  call.fetch(here.data(), from, count * static_cast<int64_t>(sizeof(T)));
  return here;
}

}  // namespace

KMeansRows::KMeansRows(std::string_view op, const Tensor& x, const Tensor& weights)
    : op_(op),
      x_(x),
      weights_(weights),
      call_(op, x.place()),
      rows_(x.shape()[0]),
      columns_(x.shape()[1]) {
  if (rows_ > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>(op, "too many rows for the CUDA kernel", {{"rows", rows_}},
                                  "move the values first: x.to('cpu')");
  call_.reads(x_.buffer());
  call_.reads(weights_.buffer());
}

Buffer KMeansRows::own(int64_t size_bytes) {
  return call_.scratch(std::max<int64_t>(size_bytes, 1));
}

void KMeansRows::assign(const double* centers, int64_t clusters) {
  const auto fresh = [&] {
    return Tensor(dtype_of<int32_t>(), {rows_}, allocate_result(rows_ * kInt, x_.place()));
  };
  if (open_) {
    if (before_.num_elements() == 0) before_ = fresh();
    std::swap(labels_, before_);
  } else {
    labels_ = fresh();
    open_ = own((rows_ + 1) * kInt);
  }
  const Buffer values = call_.table(centers, clusters * columns_ * kDouble);
  const bool single = x_.dtype() == dtype_of<float>();
  const cpu::CenterPanels frame(centers, clusters, columns_, single);
  const Buffer origin = call_.table(frame.shift.data(), columns_ * kDouble);
  auto* const labels = call_.writes_as<int32_t>(labels_.buffer());
  auto* const open = call_.writes_as<unsigned>(open_);
  call_.fill(reinterpret_cast<std::byte*>(open), 0, kInt);
  visit_floating(x_.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::vector<T> shift(frame.shift.begin(), frame.shift.end());
    const Buffer shifts = call_.table(shift.data(), columns_ * static_cast<int64_t>(sizeof(T)));
    const double given = frame.scale[0], scale = scale_within<T>(given);
    const double units = scale / given;
    const Bound bound{static_cast<float>(2.02 * relative_error(columns_)),
                      static_cast<float>(static_cast<double>(frame.most) * units * units),
                      static_cast<float>(2 * least_error(columns_))};
    const Points<T> x = points_of<T>(x_, shifts.as<T>(), scale);
    const Points<double> points{values.as<double>(), clusters, columns_, columns_, 1,
                                origin.as<double>(), scale,    false};
    assign_kernel<T><<<blocks_of(rows_, kTilePoints), kTileThreads, 0, stream_of(call_)>>>(
        x, points, bound, labels, open);
    decide_kernel<T>
        <<<blocks_in_turn(rows_, kThreads / kWarp, x_.place().index, kBlocksAProcessor), kThreads,
           0, stream_of(call_)>>>(x, values.as<double>(), clusters, open, labels);
  });
  call_.finish(cudaGetLastError());
}

void KMeansRows::set_labels(const Tensor& labels) {
  call_.reads(labels.buffer());
  labels_ = labels;
}

bool KMeansRows::settled() {
  if (before_.num_elements() == 0) return false;
  auto* const differ = call_.writes_as<unsigned>(open_);
  call_.fill(reinterpret_cast<std::byte*>(differ), 0, kInt);
  differ_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
      labels_.as<int32_t>(), before_.as<int32_t>(), rows_, differ);
  call_.finish(cudaGetLastError());
  return fetched(call_, differ, 1)[0] == 0;
}

void KMeansRows::add_rows(int64_t clusters, int64_t parts, double* sums) {
  const int64_t keys = parts * clusters, size = clusters * (columns_ + 1);
  if (!keys_[0])
    for (Buffer* each : {&keys_[0], &keys_[1], &order_[0], &order_[1]}) *each = own(rows_ * kInt);
  uint32_t* const key[] = {call_.writes_as<uint32_t>(keys_[0]),
                           call_.writes_as<uint32_t>(keys_[1])};
  uint32_t* const order[] = {call_.writes_as<uint32_t>(order_[0]),
                             call_.writes_as<uint32_t>(order_[1])};
  const Buffer begins = own((keys + 1) * kInt), made = own(parts * size * kDouble);
  auto* const begin = call_.writes_as<uint32_t>(begins);
  auto* const all = call_.writes_as<double>(made);
  const int64_t blocks = (rows_ + kKMeansBlock - 1) / kKMeansBlock;
  keys_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
      labels_.as<int32_t>(), rows_, blocks, parts, clusters, key[0], order[0]);
  const int bits = std::bit_width(static_cast<uint64_t>(keys - 1));
  const int at = bits > 0 ? sort_pairs(call_, key, order, rows_, bits) : 0;
  begins_kernel<<<blocks_of(rows_ + 1, kThreads), kThreads, 0, stream_of(call_)>>>(key[at], rows_,
                                                                                   keys, begin);
  visit_points(x_, [&](const auto& x) {
    const dim3 grid(blocks_of(keys, kThreads / kWarp), blocks_of(columns_, kWarp));
    add_rows_kernel<<<grid, kThreads, 0, stream_of(call_)>>>(x, weights_at(weights_), begin,
                                                             order[at], clusters, keys, all);
  });
  add_parts_kernel<<<blocks_of(size, kThreads), kThreads, 0, stream_of(call_)>>>(all, parts, size);
  call_.finish(cudaGetLastError());
  call_.fetch(sums, all, size * kDouble);
}

Buffer KMeansRows::distances(const double* centers, int64_t clusters) {
  const Buffer values = call_.table(centers, clusters * columns_ * kDouble);
  Buffer made = own(rows_ * kDouble);
  visit_points(x_, [&](const auto& x) {
    own_distances_kernel<<<blocks_of(rows_ * 8, kThreads), kThreads, 0, stream_of(call_)>>>(
        x, values.as<double>(), labels_.as<int32_t>(), call_.writes_as<double>(made));
  });
  call_.finish(cudaGetLastError());
  return made;
}

void KMeansRows::own_distances(const double* centers, int64_t clusters, double* out) {
  const Buffer made = distances(centers, clusters);
  call_.fetch(out, made.as<double>(), rows_ * kDouble);
}

std::vector<double> KMeansRows::inertia_sums(const double* centers, int64_t clusters) {
  return block_sums(distances(centers, clusters));
}

std::vector<double> KMeansRows::block_sums(const Buffer& values) {
  const int64_t blocks = (rows_ + kKMeansBlock - 1) / kKMeansBlock;
  const Buffer sums = own(blocks * kDouble);
  if (rows_ > 0)
    block_sums_kernel<<<blocks_of(blocks, 1), kThreads, kThreads * sizeof(double),
                        stream_of(call_)>>>(values.as<double>(), weights_at(weights_), rows_,
                                            call_.writes_as<double>(sums));
  call_.finish(cudaGetLastError());
  return blocks == 0 ? std::vector<double>() : fetched(call_, sums.as<double>(), blocks);
}

void KMeansRows::fetch_labels(int32_t* out) {
  call_.fetch(out, labels_.as<int32_t>(), rows_ * kInt);
}

void KMeansRows::mark_used(int64_t clusters, uint8_t* out) {
  const Buffer made = own(clusters);
  auto* const used = call_.writes_as<uint8_t>(made);
  call_.fill(reinterpret_cast<std::byte*>(used), 0, clusters);
  mark_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(labels_.as<int32_t>(),
                                                                             rows_, used);
  call_.finish(cudaGetLastError());
  call_.fetch(out, used, clusters);
}

std::vector<double> KMeansRows::fetch_weights() {
  return fetched(call_, weights_.as<double>(), weights_.num_elements());
}

void KMeansRows::read_row(int64_t row, double* out) {
  const Buffer made = own(columns_ * kDouble);
  visit_points(x_, [&](const auto& x) {
    read_row_kernel<<<blocks_of(columns_, kThreads), kThreads, 0, stream_of(call_)>>>(
        x, row, call_.writes_as<double>(made));
  });
  call_.finish(cudaGetLastError());
  call_.fetch(out, made.as<double>(), columns_ * kDouble);
}

void KMeansRows::begin_seeding() {
  nearest_ = own(rows_ * kDouble);
  fill_kernel<<<blocks_of(rows_, kThreads), kThreads, 0, stream_of(call_)>>>(
      call_.writes_as<double>(nearest_), rows_, 1.0);
  call_.finish(cudaGetLastError());
}

std::vector<double> KMeansRows::seed_sums(const double* candidates, int64_t count, bool keep,
                                          bool first) {
  if (count == 0) return block_sums(nearest_);
  if (count > kMostTrials) throw_error<InternalError>(op_, "too many candidates at once");
  const int64_t blocks = (rows_ + kKMeansBlock - 1) / kKMeansBlock;
  const Buffer values = call_.table(candidates, count * columns_ * kDouble);
  const Buffer sums = own(blocks * count * kDouble);
  visit_points(x_, [&](const auto& x) {
    seed_kernel<<<blocks_of(blocks, 1), kThreads,
                  static_cast<size_t>(count) * kThreads * sizeof(double), stream_of(call_)>>>(
        x, weights_at(weights_), call_.writes_as<double>(nearest_), values.as<double>(), count,
        keep, first, call_.writes_as<double>(sums));
  });
  call_.finish(cudaGetLastError());
  return fetched(call_, sums.as<double>(), blocks * count);
}

std::vector<double> KMeansRows::seed_parts(int64_t first, int64_t count) {
  const Buffer made = own(count * kDouble);
  seed_parts_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream_of(call_)>>>(
      nearest_.as<double>(), weights_at(weights_), first, count, call_.writes_as<double>(made));
  call_.finish(cudaGetLastError());
  return fetched(call_, made.as<double>(), count);
}

void kmeans_transform(const Tensor& x, const double* centers, int64_t clusters, Buffer& made) {
  DeviceCall call("kmeans_transform", x.place());
  call.reads(x.buffer());
  const Buffer values = call.table(centers, clusters * x.shape()[1] * kDouble);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    transform_kernel<T>
        <<<blocks_of(x.shape()[0] * clusters, kThreads), kThreads, 0, stream_of(call)>>>(
            points_of<T>(x, nullptr, 1), values.as<double>(), clusters, call.writes_as<T>(made));
  });
  call.finish(cudaGetLastError());
}

}  // namespace hr::cuda
