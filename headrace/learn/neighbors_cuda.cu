// SPDX-License-Identifier: Apache-2.0
// Neighbours on a CUDA device: tiles filter rows by what is known of each query, float64 decides
// the rest. The tiles are visited in scattered order, eight times as many each time, so that few
// rows pass whatever their order is.
#include "headrace/base/error.h"
#include "headrace/learn/neighbors_kernels.h"
#include "headrace/learn/point_tiles.h"

#include <bit>
#include <limits>
#include <numeric>

namespace hr::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int64_t kGrowth = 8;
constexpr int64_t kListValues = int64_t{1} << 25;  // of all queries at a time
constexpr unsigned kNone = ~0u;

/// What is known of queries: their nearest rows so far, and new candidates.
struct Lists {
  double* distances;     // [queries, count], nearest first
  unsigned* indices;     // [queries, count]
  float* thresholds;     // of the filter's values
  unsigned* candidates;  // [queries, room]
  unsigned* counts;      // of candidates; more than there is room for: all rows are compared
  bool* overflowed;
  int count;
  int room;
};

/// A filter's values and distances.
struct Units {
  double factor;  // of a squared distance in the filter's frame
  double relative;
  double least;
};

/// Which tiles of rows are visited: (first + i) * step modulo all of them.
struct TileOrder {
  int64_t first;
  int64_t step;
  int64_t tiles;
};

/// Candidates of a tile of queries and one of rows.
template <class Q, class R>
__global__ void __launch_bounds__(kTileThreads, 2)
    filter_kernel(Points<Q> queries, Points<R> rows, Lists lists, TileOrder order, float keep,
                  int64_t query_tiles, int64_t own_from) {
  __shared__ TilePair tiles;
  const int64_t first_query = blockIdx.x % query_tiles * kTilePoints;
  const int64_t first_row =
      (order.first + blockIdx.x / query_tiles) * order.step % order.tiles * kTilePoints;
  float sums[kTileOwn][kTileOwn];
  multiply(queries, first_query, rows, first_row, tiles, sums);
  float norms[kTileOwn];
#pragma unroll
  for (int j = 0; j < kTileOwn; ++j) norms[j] = keep * tiles.right_norms[right_point(j)];
#pragma unroll
  for (int i = 0; i < kTileOwn; ++i) {
    const int64_t query = first_query + left_point(i);
    if (query >= queries.rows) continue;
    const float threshold = lists.thresholds[query];
#pragma unroll
    for (int j = 0; j < kTileOwn; ++j) {
      if (fmaf(-2, sums[i][j], norms[j]) > threshold) continue;
      const int64_t row = first_row + right_point(j);
      if (row >= rows.rows || row == own_from + query) continue;
      const unsigned at = atomicAdd(&lists.counts[query], 1u);
      if (at < lists.room) lists.candidates[query * lists.room + at] = static_cast<unsigned>(row);
    }
  }
}

template <class Q, class R>
__device__ double squared_distance(const Points<Q>& queries, int64_t query, const Points<R>& rows,
                                   int64_t row) {
  double sum = 0;
  for (int64_t j = 0; j < queries.columns; ++j) {
    const double apart = queries(query, j) - rows(row, j);
    sum += apart * apart;
  }
  return sum;
}

/// Distances and rows in shared memory, sorted by all threads of a block.
struct Nearest {
  double* distances;
  unsigned* indices;

  /// NaN comes behind numbers, padding behind all.
  __device__ bool before(int a, int b) const {
    if ((indices[a] == kNone) != (indices[b] == kNone)) return indices[b] == kNone;
    const bool a_is_nan = isnan(distances[a]), b_is_nan = isnan(distances[b]);
    if (a_is_nan != b_is_nan) return b_is_nan;
    if (distances[a] < distances[b]) return true;
    return !(distances[a] > distances[b]) && indices[a] < indices[b];
  }

  __device__ void set(int at, double distance, unsigned index) {
    distances[at] = distance;
    indices[at] = index;
  }

  /// `size` is a power of two.
  __device__ void sort(int size) {
    for (int run = 2; run <= size; run *= 2)
      for (int apart = run / 2; apart > 0; apart /= 2) {
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < size; i += kThreads) {
          const int other = i ^ apart;
          if (other < i || before(i, other) == ((i & run) == 0)) continue;
          const double distance = distances[i];
          const unsigned index = indices[i];
          set(i, distances[other], indices[other]);
          set(other, distance, index);
        }
      }
    __syncthreads();
  }

  /// Keeps the nearest of `count` sorted ones and `more` behind them.
  __device__ void merge(int count, int more) {
    int size = 2;
    while (size < count + more) size *= 2;
    for (int i = count + more + static_cast<int>(threadIdx.x); i < size; i += kThreads)
      set(i, std::numeric_limits<double>::infinity(), kNone);
    sort(size);
  }
};

/// In the block's memory, for `size` rows.
__device__ Nearest nearest_of(int size) {
  extern __shared__ double memory[];
  return {memory, reinterpret_cast<unsigned*>(memory + size)};
}

/// Decides a query's candidates: a block to a query.
template <class Q, class R>
__global__ void decide_kernel(Points<Q> queries, Points<R> rows, Lists lists, Units units) {
  const int64_t query = blockIdx.x;
  const unsigned found = lists.counts[query];
  if (lists.overflowed[query] || found == 0) return;
  if (found > lists.room) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    lists.overflowed[query] = true;
    lists.thresholds[query] = -std::numeric_limits<float>::infinity();
    return;
  }
  Nearest nearest = nearest_of(lists.count + lists.room);
  double* const distances = lists.distances + query * lists.count;
  unsigned* const indices = lists.indices + query * lists.count;
  const int more = static_cast<int>(found);
  for (int i = static_cast<int>(threadIdx.x); i < lists.count; i += kThreads)
    nearest.set(i, distances[i], indices[i]);
  for (int i = static_cast<int>(threadIdx.x); i < more; i += kThreads) {
    const unsigned row = lists.candidates[query * lists.room + i];
    nearest.set(lists.count + i, squared_distance(queries, query, rows, row), row);
  }
  nearest.merge(lists.count, more);
  for (int i = static_cast<int>(threadIdx.x); i < lists.count; i += kThreads) {
    distances[i] = nearest.distances[i];
    indices[i] = nearest.indices[i];
  }
  if (threadIdx.x > 0) return;
  lists.counts[query] = 0;
  double square = 0;
  for (int64_t j = 0; j < queries.columns; ++j) {
    const double value = (queries(query, j) - static_cast<double>(queries.shift[j])) *
                         static_cast<double>(queries.scale);
    square += value * value;
  }
  // Rows whose filter's value is above are farther than the last of the nearest.
  const double limit = nearest.distances[lists.count - 1] * units.factor -
                       (1 - units.relative) * square + units.least;
  lists.thresholds[query] = __double2float_ru(limit + fabs(limit) * 0x1p-40);
}

/// Compares the queries that had no room with all rows.
template <class Q, class R>
__global__ void compare_kernel(Points<Q> queries, Points<R> rows, Lists lists, int64_t own_from,
                               int size) {
  const int64_t query = blockIdx.x;
  if (!lists.overflowed[query]) return;
  __shared__ int found;
  Nearest nearest = nearest_of(size);
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < lists.count; i += kThreads)
    nearest.set(i, std::numeric_limits<double>::infinity(), kNone);
  if (thread == 0) found = 0;
  __syncthreads();
  for (int64_t first = 0; first < rows.rows; first += kThreads) {
    const int64_t row = first + thread;
    if (row < rows.rows && row != own_from + query) {
      const double distance = squared_distance(queries, query, rows, row);
      const double last = nearest.distances[lists.count - 1];
      // A row that comes later loses a tie; NaN is behind all numbers.
      if (distance < last || (isnan(last) && !isnan(distance)) ||
          nearest.indices[lists.count - 1] == kNone)
        nearest.set(lists.count + atomicAdd(&found, 1), distance, static_cast<unsigned>(row));
    }
    __syncthreads();
    const int more = found;
    __syncthreads();
    if (more == 0) continue;
    nearest.merge(lists.count, more);
    if (thread == 0) found = 0;
    __syncthreads();
  }
  for (int i = thread; i < lists.count; i += kThreads) {
    lists.distances[query * lists.count + i] = nearest.distances[i];
    lists.indices[query * lists.count + i] = nearest.indices[i];
  }
}

__global__ void clear_kernel(Lists lists, int64_t queries) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= queries * lists.count) return;
  lists.distances[i] = std::numeric_limits<double>::infinity();
  lists.indices[i] = kNone;
  if (i >= queries) return;
  lists.thresholds[i] = std::numeric_limits<float>::infinity();
  lists.counts[i] = 0;
  lists.overflowed[i] = false;
}

__global__ void write_kernel(Lists lists, int64_t values, bool squared,
                             int64_t* __restrict__ indices, double* __restrict__ distances) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= values) return;
  indices[i] = lists.indices[i];
  distances[i] = squared ? lists.distances[i] : sqrt(lists.distances[i]);
}

template <class T>
__global__ void sample_kernel(Points<T> x, int64_t count, double* out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= count * x.columns) return;
  const int64_t row = i / x.columns;
  out[i] = x(row * x.rows / count, i - row * x.columns);
}

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

/// One search: room for lists, and the passes over the rows.
class Search {
 public:
  Search(DeviceCall& call, int64_t rows, int64_t queries, int64_t count, bool others)
      : call_(call), rows_(rows), others_(others) {
    const auto size = std::max<int64_t>(
        1024, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(13 * count))));
    lists_.count = static_cast<int>(count);
    lists_.room = static_cast<int>(size - count);
    batch_ =
        std::min(queries, std::max<int64_t>(kListValues / size / kTilePoints, 1) * kTilePoints);
    const auto room = [&](auto*& where, int64_t values) {
      held_.push_back(call_.scratch(values * static_cast<int64_t>(sizeof *where)));
      where =
          reinterpret_cast<std::remove_reference_t<decltype(where)>>(call_.writes(held_.back()));
    };
    room(lists_.distances, batch_ * count);
    room(lists_.indices, batch_ * count);
    room(lists_.thresholds, batch_);
    room(lists_.candidates, batch_ * lists_.room);
    room(lists_.counts, batch_);
    room(lists_.overflowed, batch_);
  }

  int64_t batch() const { return batch_; }

  /// The queries are `first` and following ones.
  template <class Q, class R>
  void run(const Points<Q>& queries, const Points<R>& rows, int64_t first, const Units& units) {
    const auto all = static_cast<unsigned>(queries.rows);
    const size_t memory = static_cast<size_t>(lists_.count + lists_.room) * 12;
    const int64_t own_from = others_ ? first : std::numeric_limits<int64_t>::min() / 2;
    clear_kernel<<<blocks_of(queries.rows * lists_.count, kThreads), kThreads, 0,
                   stream_of(call_)>>>(lists_, queries.rows);
    TileOrder order{0, 1, (rows_ + kTilePoints - 1) / kTilePoints};
    order.step = std::max<int64_t>(1, order.tiles * 618 / 1000);
    while (std::gcd(order.step, order.tiles) != 1) ++order.step;
    const int64_t query_tiles = blocks_of(queries.rows, kTilePoints);
    int64_t next = std::max<int64_t>(2, (2 * lists_.count + kTilePoints - 1) / kTilePoints);
    while (order.first < order.tiles) {
      // As many blocks as a launch takes.
      next = std::min({next, order.tiles - order.first, (int64_t{1} << 30) / query_tiles});
      filter_kernel<<<static_cast<unsigned>(next * query_tiles), kTileThreads, 0,
                      stream_of(call_)>>>(queries, rows, lists_, order,
                                          static_cast<float>(1 - units.relative), query_tiles,
                                          own_from);
      decide_kernel<<<all, kThreads, memory, stream_of(call_)>>>(queries, rows, lists_, units);
      order.first += next;
      next = order.first * (kGrowth - 1);
    }
    const int compared = std::bit_ceil(static_cast<unsigned>(lists_.count + kThreads));
    compare_kernel<<<all, kThreads, static_cast<size_t>(compared) * 12, stream_of(call_)>>>(
        queries, rows, lists_, own_from, compared);
  }

  void write(int64_t queries, bool squared, int64_t* indices, double* distances) {
    const int64_t values = queries * lists_.count;
    write_kernel<<<blocks_of(values, kThreads), kThreads, 0, stream_of(call_)>>>(
        lists_, values, squared, indices, distances);
  }

 private:
  DeviceCall& call_;
  int64_t rows_;
  bool others_;
  int64_t batch_ = 0;
  Lists lists_{};
  std::vector<Buffer> held_;
};

/// The frame's origin in both precisions, so that they are equal.
struct Origin {
  Buffer single;
  Buffer wide;

  Origin(const DeviceCall& call, const FilterFrame& frame) {
    const std::vector<float> floats(frame.shift.begin(), frame.shift.end());
    const std::vector<double> doubles(floats.begin(), floats.end());
    single = call.table(floats.data(), static_cast<int64_t>(floats.size() * sizeof(float)));
    wide = call.table(doubles.data(), static_cast<int64_t>(doubles.size() * sizeof(double)));
  }

  template <class T>
  const T* at() const {
    return sizeof(T) == 4 ? single.as<T>() : wide.as<T>();
  }
};

Tensor rows_from(const Tensor& x, int64_t first, int64_t count) {
  return Tensor(x.dtype(), {count, x.shape()[1]}, x.strides(), x.buffer(),
                x.byte_offset() + first * x.strides()[0] * x.dtype().size_bytes());
}

}  // namespace

Tensor sample_rows(const Tensor& x) {
  const int64_t count = std::min<int64_t>(x.shape()[0], 1024), size = count * x.shape()[1];
  DeviceCall call("nearest_neighbors", x.place());
  call.reads(x.buffer());
  const int64_t bytes = size * static_cast<int64_t>(sizeof(double));
  const Buffer there = call.scratch(bytes);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    sample_kernel<T><<<blocks_of(size, kThreads), kThreads, 0, stream_of(call)>>>(
        points_of<T>(x, nullptr, 1), count, call.writes_as<double>(there));
  });
  call.finish(cudaGetLastError());
  Buffer here = Buffer::allocate(bytes);
  call.fetch(here.mutable_data(), there.data(), bytes);
  return Tensor(dtype_of<double>(), {count, x.shape()[1]}, std::move(here));
}

Neighbors nearest_neighbors(const Tensor& rows, const Tensor& queries, int64_t count, bool squared,
                            bool others, const FilterFrame& frame) {
  constexpr const char* kOp = "nearest_neighbors";
  const int64_t n = queries.shape()[0];
  if (rows.shape()[0] >= kNone)
    throw_error<UnsupportedError>(kOp, "too many rows for the CUDA kernel",
                                  {{"rows", rows.shape()[0]}},
                                  "move the values first: x.to('cpu')");
  const int64_t bytes = n * count * static_cast<int64_t>(sizeof(double));
  const Buffer indices = allocate_result(bytes, rows.place());
  const Buffer distances = allocate_result(bytes, rows.place());
  if (n > 0) {
    DeviceCall call(kOp, rows.place());
    call.reads(rows.buffer());
    call.reads(queries.buffer());
    const Origin origin(call, frame);
    const double scale = scale_within<float>(frame.scale);
    const int64_t columns = rows.shape()[1];
    const Units units{scale * scale, relative_error(columns), least_error(columns)};
    Search search(call, rows.shape()[0], n, count, others);
    auto* const index = call.writes_as<int64_t>(indices);
    auto* const distance = call.writes_as<double>(distances);
    for (int64_t first = 0; first < n; first += search.batch()) {
      const int64_t size = std::min(search.batch(), n - first);
      const Tensor some = rows_from(queries, first, size);
      visit_floating(queries.dtype(), [&]<class Q>(std::type_identity<Q>) {
        visit_floating(rows.dtype(), [&]<class R>(std::type_identity<R>) {
          search.run(points_of<Q>(some, origin.at<Q>(), scale),
                     points_of<R>(rows, origin.at<R>(), scale), first, units);
        });
      });
      search.write(size, squared, index + first * count, distance + first * count);
    }
    call.finish(cudaGetLastError());
  }
  return {Tensor(dtype_of<int64_t>(), {n, count}, indices),
          Tensor(dtype_of<double>(), {n, count}, distances)};
}

}  // namespace hr::cuda
