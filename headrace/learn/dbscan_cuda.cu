// SPDX-License-Identifier: Apache-2.0
// DBSCAN on a CUDA device: a grid in up to three dimensions, else tiles of all pairs. Rows are
// joined by integers, and whether two are near is decided in float64, so clusters are the host's.
#include "headrace/algo/sort/partition_point_math.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/algo/sparse/device_sets.h"
#include "headrace/base/error.h"
#include "headrace/learn/dbscan_kernels.h"
#include "headrace/learn/dense_grid.h"
#include "headrace/learn/point_tiles.h"

#include <bit>
#include <cmath>
#include <limits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kRangeBlocks = 128;
constexpr unsigned kNone = ~0u;
constexpr int64_t kMostPairRows = 8'000'000;  // whose pairs of tiles a launch takes

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

// ---- the grid ----

/// Points in the order of their cells.
struct Grid {
  const uint64_t* keys;
  const unsigned* rows;
  const double* columns;  // [dimensions, points]
  unsigned* begins;       // of each point's cell, and its end
  unsigned* ends;
  uint8_t* core;      // of each point
  unsigned* leaders;  // the lowest core row of a cell, at its first point
  int64_t points;
  int dimensions;
  int bits[3];
  double limit;

  __device__ unsigned first_from(uint64_t key) const {
    return partition_point(0u, static_cast<unsigned>(points),
                           [&](unsigned point) { return keys[point] < key; });
  }

  /// Calls `take(begin, end)` for the runs of points around a point's cell, until it says true.
  template <class F>
  __device__ void around(int64_t point, const F& take) const {
    const uint64_t key = keys[point];
    const int planes = dimensions > 2 ? 2 : 0;
    const int lines = dimensions > 1 ? 2 : 0;
    for (int plane = -planes; plane <= planes; ++plane)
      for (int line = -lines; line <= lines; ++line) {
        uint64_t middle = key;
        if (dimensions > 2) middle += static_cast<uint64_t>(int64_t{plane}) << (bits[1] + bits[2]);
        if (dimensions > 1) middle += static_cast<uint64_t>(int64_t{line}) << bits[dimensions - 1];
        const unsigned begin = first_from(middle - 2);
        const unsigned end = first_from(middle + 3);
        if (begin < end && take(begin, end)) return;
      }
  }

  __device__ bool near(int64_t a, int64_t b) const {
    double sum = 0;
    for (int j = 0; j < dimensions; ++j) {
      const double apart = columns[j * points + b] - columns[j * points + a];
      sum += apart * apart;
    }
    return sum <= limit;
  }

  /// Whether a point is near one of the core points of the cell that begins there.
  __device__ bool near_core(int64_t point, unsigned begin, unsigned end) const {
    for (unsigned other = begin; other < end; ++other)
      if (core[other] != 0 && near(point, other)) return true;
    return false;
  }
};

/// Least and largest of each column, by blocks: [block, 2, columns].
template <class T>
__global__ void range_kernel(Points<T> x, double* __restrict__ out) {
  __shared__ double low[kThreads];
  __shared__ double high[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t j = 0; j < x.columns; ++j) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + thread; i < x.rows;
         i += int64_t{gridDim.x} * kThreads) {
      const double value = x(i, j);
      least = fmin(least, value);
      most = fmax(most, value);
    }
    low[thread] = least;
    high[thread] = most;
    for (int half = kThreads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread >= half) continue;
      low[thread] = fmin(low[thread], low[thread + half]);
      high[thread] = fmax(high[thread], high[thread + half]);
    }
    if (thread == 0) {
      out[(blockIdx.x * 2) * x.columns + j] = low[0];
      out[(blockIdx.x * 2 + 1) * x.columns + j] = high[0];
    }
    __syncthreads();
  }
}

/// How cells are numbered.
struct Cells {
  double least[3];
  double side;
  int bits[3];
};

template <class T>
__global__ void keys_kernel(Points<T> x, Cells cells, uint64_t* __restrict__ keys,
                            unsigned* __restrict__ rows) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= x.rows) return;
  uint64_t key = 0;
  for (int j = 0; j < x.columns; ++j)
    key = key << cells.bits[j] | static_cast<uint64_t>((x(i, j) - cells.least[j]) / cells.side + 2);
  keys[i] = key;
  rows[i] = static_cast<unsigned>(i);
}

template <class T>
__global__ void gather_kernel(Points<T> x, Grid grid, double* __restrict__ columns) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= grid.points) return;
  for (int j = 0; j < grid.dimensions; ++j) columns[j * grid.points + i] = x(grid.rows[i], j);
  grid.begins[i] = grid.first_from(grid.keys[i]);
  grid.ends[i] = grid.first_from(grid.keys[i] + 1);
  grid.leaders[i] = kNone;
}

/// Which points are core points.
__global__ void core_kernel(Grid grid, const double* __restrict__ weights, double least_weight) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= grid.points) return;
  double weight = 0;
  if (weights == nullptr) {
    weight = static_cast<double>(grid.ends[i] - grid.begins[i]);  // those of a cell are near
    if (weight < least_weight) {
      unsigned count = 0;
      grid.around(i, [&](unsigned begin, unsigned end) {
        for (unsigned other = begin; other < end; ++other) count += grid.near(i, other) ? 1 : 0;
        return static_cast<double>(count) >= least_weight;
      });
      weight = static_cast<double>(count);
    }
  } else {
    grid.around(i, [&](unsigned begin, unsigned end) {
      for (unsigned other = begin; other < end; ++other)
        if (grid.near(i, other)) weight += weights[grid.rows[other]];
      return false;
    });
  }
  const bool core = weight >= least_weight;
  grid.core[i] = core ? 1 : 0;
  if (core) atomicMin(&grid.leaders[grid.begins[i]], grid.rows[i]);
}

/// Core points of a cell are of one cluster.
__global__ void lead_kernel(Grid grid, Sets sets) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= grid.points) return;
  sets.parents[grid.rows[i]] = grid.core[i] != 0 ? grid.leaders[grid.begins[i]] : grid.rows[i];
}

__global__ void join_kernel(Grid grid, Sets sets) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= grid.points || grid.core[i] == 0) return;
  const unsigned own = grid.leaders[grid.begins[i]];
  grid.around(i, [&](unsigned begin, unsigned end) {
    for (unsigned cell = begin; cell < end; cell = grid.ends[cell]) {
      const unsigned other = grid.leaders[cell];
      // Of two cells the later one asks.
      if (cell >= grid.begins[i] || other == kNone || sets.root(own) == sets.root(other)) continue;
      if (grid.near_core(i, cell, grid.ends[cell])) sets.join(own, other);
    }
    return false;
  });
}

__global__ void give_kernel(Grid grid, Sets sets, int64_t* __restrict__ lowest,
                            uint8_t* __restrict__ core) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= grid.points) return;
  unsigned found = kNone;
  if (grid.core[i] != 0) {
    found = sets.root(grid.leaders[grid.begins[i]]);
  } else {
    grid.around(i, [&](unsigned begin, unsigned end) {
      for (unsigned cell = begin; cell < end; cell = grid.ends[cell]) {
        if (grid.leaders[cell] == kNone) continue;
        const unsigned cluster = sets.root(grid.leaders[cell]);
        if (cluster < found && grid.near_core(i, cell, grid.ends[cell])) found = cluster;
      }
      return false;
    });
  }
  lowest[grid.rows[i]] = found == kNone ? -1 : int64_t{found};
  core[grid.rows[i]] = grid.core[i];
}

// ---- tiles ----

/// A filter's values up to `sure` are of near points, those above `open` of others.
struct Limits {
  float sure;
  float open;
  float relative;
  double exact;
};

template <class T>
__device__ double squared_distance(const Points<T>& x, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t j = 0; j < x.columns; ++j) {
    const double apart = x(a, j) - x(b, j);
    sum += apart * apart;
  }
  return sum;
}

/// The pair of tiles of a block, the left one not above the right one.
struct TilesOf {
  int64_t left;
  int64_t right;

  __device__ TilesOf() {
    const int64_t block = blockIdx.x;
    right = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(block) + 1) - 1) / 2);
    while (right * (right + 1) / 2 > block) --right;
    while ((right + 1) * (right + 2) / 2 <= block) ++right;
    left = (block - right * (right + 1) / 2) * kTilePoints;
    right *= kTilePoints;
  }
};

/// Which pairs of a thread are near: bit 8 i + j.
template <class T>
__device__ uint64_t near_pairs(const Points<T>& x, const TilesOf& at, const Limits& limits,
                               TilePair& tiles) {
  float sums[kTileOwn][kTileOwn];
  multiply(x, at.left, x, at.right, tiles, sums);
  uint64_t near = 0;
  uint64_t open = 0;
#pragma unroll
  for (int i = 0; i < kTileOwn; ++i)
#pragma unroll
    for (int j = 0; j < kTileOwn; ++j) {
      const float squares = tiles.left_norms[left_point(i)] + tiles.right_norms[right_point(j)];
      const float value = fmaf(-2, sums[i][j], squares);
      const float slack = limits.relative * squares;
      const bool inside = at.left + left_point(i) < x.rows && at.right + right_point(j) < x.rows;
      if (!inside || value - slack > limits.open) continue;
      if (value + slack <= limits.sure)
        near |= uint64_t{1} << (8 * i + j);
      else
        open |= uint64_t{1} << (8 * i + j);
    }
  for (; open != 0; open &= open - 1) {
    const int bit = __ffsll(static_cast<long long>(open)) - 1;
    const double distance =
        squared_distance(x, at.left + left_point(bit / 8), at.right + right_point(bit % 8));
    if (distance <= limits.exact) near |= uint64_t{1} << bit;
  }
  return near;
}

/// How many points are near each.
template <class T>
__global__ void __launch_bounds__(kTileThreads, 2)
    count_kernel(Points<T> x, Limits limits, unsigned* __restrict__ counts) {
  __shared__ TilePair tiles;
  const TilesOf at;
  const uint64_t near = near_pairs(x, at, limits, tiles);
#pragma unroll
  for (int i = 0; i < kTileOwn; ++i) {
    int count = __popcll(near >> (8 * i) & 0xFF);
    for (int lane = 8; lane > 0; lane /= 2) count += __shfl_xor_sync(~0u, count, lane);
    if (threadIdx.x % 16 == 0 && count > 0)
      atomicAdd(&counts[at.left + left_point(i)], static_cast<unsigned>(count));
  }
  if (at.left == at.right) return;
#pragma unroll
  for (int j = 0; j < kTileOwn; ++j) {
    int count = __popcll(near >> j & 0x0101010101010101u);
    count += __shfl_xor_sync(~0u, count, 16);
    if (threadIdx.x % 32 < 16 && count > 0)
      atomicAdd(&counts[at.right + right_point(j)], static_cast<unsigned>(count));
  }
}

/// The weights near each point in the order of the rows.
template <class T>
__global__ void weigh_kernel(Points<T> x, const double* __restrict__ weights, double limit,
                             double least_weight, uint8_t* __restrict__ core) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= x.rows) return;
  double weight = 0;
  for (int64_t other = 0; other < x.rows; ++other)
    if (squared_distance(x, i, other) <= limit) weight += weights[other];
  core[i] = weight >= least_weight ? 1 : 0;
}

__global__ void dense_kernel(const unsigned* __restrict__ counts, int64_t rows, double least_weight,
                             uint8_t* __restrict__ core) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < rows) core[i] = static_cast<double>(counts[i]) >= least_weight ? 1 : 0;
}

__global__ void begin_kernel(Sets sets, unsigned* __restrict__ lowest, int64_t rows) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows) return;
  sets.parents[i] = static_cast<unsigned>(i);
  lowest[i] = kNone;
}

/// Joins core points that are near, or with `border` gives other points the lowest cluster.
template <class T>
__global__ void __launch_bounds__(kTileThreads, 2)
    join_tiles_kernel(Points<T> x, Limits limits, const uint8_t* __restrict__ core, Sets sets,
                      bool border, unsigned* __restrict__ lowest) {
  __shared__ TilePair tiles;
  const TilesOf at;
  const int64_t own = (threadIdx.x < kTilePoints ? at.left : at.right) + threadIdx.x % kTilePoints;
  const bool is_core = own < x.rows && core[own] != 0;
  if (__syncthreads_or(is_core ? 1 : 0) == 0) return;
  if (border && __syncthreads_or(own < x.rows && !is_core ? 1 : 0) == 0) return;
  for (uint64_t near = near_pairs(x, at, limits, tiles); near != 0; near &= near - 1) {
    const int bit = __ffsll(static_cast<long long>(near)) - 1;
    const int64_t a = at.left + left_point(bit / 8);
    const int64_t b = at.right + right_point(bit % 8);
    const auto first = static_cast<unsigned>(a);
    const auto second = static_cast<unsigned>(b);
    if (core[a] != 0 && core[b] != 0) {
      if (!border && sets.parents[a] != sets.parents[b]) sets.join(first, second);
    } else if (border && core[b] != 0) {
      atomicMin(&lowest[a], sets.root(second));
    } else if (border && core[a] != 0) {
      atomicMin(&lowest[b], sets.root(first));
    }
  }
}

__global__ void label_kernel(Sets sets, const uint8_t* __restrict__ core,
                             const unsigned* __restrict__ border, int64_t rows,
                             int64_t* __restrict__ lowest) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= rows) return;
  const unsigned found = core[i] != 0 ? sets.root(static_cast<unsigned>(i)) : border[i];
  lowest[i] = found == kNone ? -1 : int64_t{found};
}

void check_rows(int64_t rows, int64_t most = std::numeric_limits<int32_t>::max()) {
  if (rows > most)
    throw_error<UnsupportedError>("dbscan", "too many rows for the CUDA kernel", {{"rows", rows}},
                                  "move the values first: x.to('cpu')");
}

const double* weights_at(const Tensor& weights) {
  return weights.num_elements() == 0 ? nullptr : weights.as<double>();
}

/// Values of the device that live as long as this.
class Room {
 public:
  explicit Room(DeviceCall& call) : call_(call) {}

  template <class T>
  T* of(int64_t count) {
    held_.push_back(call_.scratch(std::max<int64_t>(count, 1) * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(held_.back());
  }

 private:
  DeviceCall& call_;
  std::vector<Buffer> held_;
};

void fetch(DeviceCall& call, int64_t rows, const int64_t* lowest, const uint8_t* core,
           int64_t* lowest_here, uint8_t* core_here) {
  call.finish(cudaGetLastError());
  call.fetch(lowest_here, lowest, rows * static_cast<int64_t>(sizeof(int64_t)));
  call.fetch(core_here, core, rows);
}

/// The least and the largest of each column.
template <class T>
std::pair<std::vector<double>, std::vector<double>> range_of(DeviceCall& call, Room& room,
                                                             const Points<T>& x) {
  const auto d = static_cast<size_t>(x.columns);
  const size_t size = kRangeBlocks * 2 * d;
  auto* const made = room.of<double>(static_cast<int64_t>(size));
  range_kernel<<<kRangeBlocks, kThreads, 0, stream_of(call)>>>(x, made);
  call.finish(cudaGetLastError());
  std::vector<double> parts(size);
  call.fetch(parts.data(), made, static_cast<int64_t>(size * sizeof(double)));
  std::vector<double> least(parts.begin(), parts.begin() + x.columns);
  std::vector<double> most(parts.begin() + x.columns, parts.begin() + 2 * x.columns);
  for (size_t i = 0; i < size; i += 2 * d)
    for (size_t j = 0; j < d; ++j) {
      least[j] = std::min(least[j], parts[i + j]);
      most[j] = std::max(most[j], parts[i + d + j]);
    }
  return {least, most};
}

}  // namespace

bool cluster_by_grid(const Tensor& x, const Tensor& weights, Density density, int64_t* lowest,
                     uint8_t* core) {
  const int64_t rows = x.shape()[0], d = x.shape()[1];
  check_rows(rows);
  DeviceCall call("dbscan", x.place());
  call.reads(x.buffer());
  call.reads(weights.buffer());
  bool fits = false;
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const Points<T> points = points_of<T>(x, nullptr, 1);
    Room room(call);
    const auto [least, most] = range_of(call, room, points);
    fits = cells_fit(least.data(), most.data(), d, density.epsilon);
    if (!fits) return;
    Cells cells{};
    cells.side = cell_side(density.epsilon, d);
    int bits = 0;
    for (int64_t j = 0; j < d; ++j) {
      const auto at = static_cast<size_t>(j);
      cells.least[at] = least[at];
      cells.bits[at] =
          std::bit_width(static_cast<uint64_t>((most[at] - least[at]) / cells.side) + 8);
      bits += cells.bits[at];
    }
    uint64_t* const keys[] = {room.of<uint64_t>(rows), room.of<uint64_t>(rows)};
    uint32_t* const order[] = {room.of<uint32_t>(rows), room.of<uint32_t>(rows)};
    const unsigned blocks = blocks_of(rows, kThreads);
    const cudaStream_t stream = stream_of(call);
    keys_kernel<T><<<blocks, kThreads, 0, stream>>>(points, cells, keys[0], order[0]);
    const int at = sort_pairs(call, keys, order, rows, bits);
    auto* const columns = room.of<double>(d * rows);
    Grid grid{keys[at],
              order[at],
              columns,
              room.of<unsigned>(rows),
              room.of<unsigned>(rows),
              room.of<uint8_t>(rows),
              room.of<unsigned>(rows),
              rows,
              static_cast<int>(d),
              {cells.bits[0], cells.bits[1], cells.bits[2]},
              density.epsilon * density.epsilon};
    const Sets sets{room.of<unsigned>(rows)};
    auto* const found = room.of<int64_t>(rows);
    auto* const is_core = room.of<uint8_t>(rows);
    gather_kernel<T><<<blocks, kThreads, 0, stream>>>(points, grid, columns);
    core_kernel<<<blocks, kThreads, 0, stream>>>(grid, weights_at(weights), density.least_weight);
    lead_kernel<<<blocks, kThreads, 0, stream>>>(grid, sets);
    join_kernel<<<blocks, kThreads, 0, stream>>>(grid, sets);
    give_kernel<<<blocks, kThreads, 0, stream>>>(grid, sets, found, is_core);
    fetch(call, rows, found, is_core, lowest, core);
  });
  return fits;
}

void cluster_by_tiles(const Tensor& x, const Tensor& weights, Density density, bool squared,
                      const FilterFrame& frame, int64_t* lowest, uint8_t* core) {
  const int64_t rows = x.shape()[0], d = x.shape()[1];
  check_rows(rows, kMostPairRows);
  DeviceCall call("dbscan", x.place());
  call.reads(x.buffer());
  call.reads(weights.buffer());
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    Room room(call);
    const std::vector<T> shift(frame.shift.begin(), frame.shift.end());
    const Buffer shifts = call.table(shift.data(), d * static_cast<int64_t>(sizeof(T)));
    const double scale = scale_within<float>(frame.scale);
    const Points<T> points = points_of<T>(x, shifts.as<T>(), scale);
    const double limit = squared ? density.epsilon : density.epsilon * density.epsilon;
    const double there = limit * scale * scale;
    const Limits limits{std::nextafter(static_cast<float>(there * (1 - 0x1p-22) - least_error(d)),
                                       -std::numeric_limits<float>::infinity()),
                        std::nextafter(static_cast<float>(there * (1 + 0x1p-22) + least_error(d)),
                                       std::numeric_limits<float>::infinity()),
                        static_cast<float>(relative_error(d)), limit};
    const int64_t tiles = (rows + kTilePoints - 1) / kTilePoints;
    const auto pairs = static_cast<unsigned>(tiles * (tiles + 1) / 2);
    const unsigned blocks = blocks_of(rows, kThreads);
    const cudaStream_t stream = stream_of(call);
    auto* const is_core = room.of<uint8_t>(rows);
    auto* const border = room.of<unsigned>(rows);
    auto* const found = room.of<int64_t>(rows);
    const Sets sets{room.of<unsigned>(rows)};
    if (weights.num_elements() == 0) {
      auto* const counts = room.of<unsigned>(rows);
      call.fill(reinterpret_cast<std::byte*>(counts), 0, rows * 4);
      count_kernel<T><<<pairs, kTileThreads, 0, stream>>>(points, limits, counts);
      dense_kernel<<<blocks, kThreads, 0, stream>>>(counts, rows, density.least_weight, is_core);
    } else {
      weigh_kernel<T><<<blocks, kThreads, 0, stream>>>(points, weights_at(weights), limit,
                                                       density.least_weight, is_core);
    }
    begin_kernel<<<blocks, kThreads, 0, stream>>>(sets, border, rows);
    for (const bool is_border : {false, true})
      join_tiles_kernel<T>
          <<<pairs, kTileThreads, 0, stream>>>(points, limits, is_core, sets, is_border, border);
    label_kernel<<<blocks, kThreads, 0, stream>>>(sets, is_core, border, rows, found);
    fetch(call, rows, found, is_core, lowest, core);
  });
}

}  // namespace hr::cuda
