// SPDX-License-Identifier: Apache-2.0
// Elimination on a CUDA device. The right sides are more columns of the matrix, so what is left is
// a triangle. One block of threads keeps the rows of a panel in registers; eight panels make a
// block of columns, whose products with the columns behind it are taken at once.
#include "headrace/algo/linalg/lu_kernels.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device_launch.h"

#include <algorithm>

namespace hr::cuda {

namespace {

constexpr int kBlock = 64;  // columns of a block, rows that are solved together
constexpr int kWidest = 8;  // columns of a panel
constexpr int kOwn = 32;    // numbers of a panel that a thread keeps
constexpr int kPanelThreads = 512;
constexpr int kThreads = 256;
constexpr int kSideThreads = 64;
constexpr int kPitch = kBlock + 4;  // of tiles: tensor cores read 4 x 4 numbers without conflicts
constexpr int kTileBytes = 2 * kBlock * kPitch * int{sizeof(double)};
static_assert(kMostEquations == kPanelThreads * kOwn);

/// How a column of a panel exchanges rows: what comes to its own row, and to the pivot's.
struct Exchange {
  int upper_from;
  int pivot;  // -1: nothing goes there
  int pivot_from;
};

struct System {
  double* data;  // rows of `pitch` numbers: the matrix, then the right sides
  int size;
  int columns;  // with the right sides
  int64_t pitch;
  Exchange* exchanges;
  int* state;  // the first column without a pivot, or `size`; the number of exchanges

  __device__ double& at(int64_t row, int64_t column) const { return data[row * pitch + column]; }
};

/// The largest of some numbers: its bits and one, 0 for NaN alone; of equal ones the upper row's.
struct Candidate {
  unsigned long long key;
  unsigned row;

  __device__ void hold(double value, unsigned other) {
    const unsigned long long size =
        value == value ? static_cast<unsigned long long>(__double_as_longlong(fabs(value))) + 1 : 0;
    if (size > key) *this = {size, other};
  }
};

/// Of all lanes, known to each of them.
__device__ Candidate largest_of_warp(Candidate own) {
  const auto upper = static_cast<unsigned>(own.key >> 32), lower = static_cast<unsigned>(own.key);
  const unsigned high = __reduce_max_sync(~0u, upper);
  const unsigned low = __reduce_max_sync(~0u, upper == high ? lower : 0);
  const bool is_largest = upper == high && lower == low;
  return {uint64_t{high} << 32 | low, __reduce_min_sync(~0u, is_largest ? own.row : ~0u)};
}

/// What exchanging rows one after the other comes to, by a warp: lane k has the pivot of column k.
__device__ void note_exchanges(const System& system, int first, int width, int pivot) {
  const int lane = static_cast<int>(threadIdx.x);
  int upper = first + lane, other = pivot;
  const bool is_known = lane < width && pivot >= first + width;
  bool is_first = is_known;
  for (int k = 0; k < width; ++k) {
    const int row = __shfl_sync(~0u, pivot, k);
    const int above = __shfl_sync(~0u, upper, k);
    const unsigned same = __ballot_sync(~0u, is_known && pivot == row);
    const int holder = row < first + width ? row - first : __ffs(static_cast<int>(same)) - 1;
    const int from_upper = __shfl_sync(~0u, upper, holder);
    const int from_other = __shfl_sync(~0u, other, holder);
    const bool is_upper = row < first + width;
    if (lane == holder) (is_upper ? upper : other) = above;
    if (lane == k) {
      upper = is_upper ? from_upper : from_other;
      is_first = is_known && holder == k;
    }
  }
  if (lane >= width) return;
  system.exchanges[first + lane] = {upper, is_first ? pivot : -1, other};
  if (pivot != first + lane) atomicAdd(system.state + 1, 1);
}

/// Exchanges rows of a column as a panel did; `upper`: the panel's rows then.
__device__ void exchange(const System& system, int first, int width, int column,
                         double (&upper)[kWidest]) {
  double other[kWidest];
  int to[kWidest];
#pragma unroll
  for (int k = 0; k < kWidest; ++k) {
    to[k] = -1;
    if (k >= width) continue;
    const Exchange how = system.exchanges[first + k];
    to[k] = how.pivot;
    upper[k] = system.at(how.upper_from, column);
    if (how.pivot >= 0) other[k] = system.at(how.pivot_from, column);
  }
#pragma unroll
  for (int k = 0; k < kWidest; ++k) {
    if (k < width) system.at(first + k, column) = upper[k];
    if (to[k] >= 0) system.at(to[k], column) = other[k];
  }
}

/// Numbers of 32 rows and kWidth columns between memory and the lanes of a warp, one row each.
/// Through shared memory: a row alone is a part of a cache line.
template <bool kLoads, int kWidth>
__device__ void move_rows(const System& system, int row, int column, int width,
                          double (*stage)[kWidth + 1], double (&own)[kWidth]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto each = [&](const auto& body) {
#pragma unroll
    for (int i = lane; i < 32 * kWidth; i += 32)
      if (row + i / kWidth < system.size && i % kWidth < width)
        body(system.at(row + i / kWidth, column + i % kWidth), stage[i / kWidth][i % kWidth]);
  };
  __syncwarp();
  if constexpr (kLoads) {
    each([](const double& from, double& to) { to = from; });
    __syncwarp();
  }
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    double& staged = stage[lane][j];
    if constexpr (kLoads)
      own[j] = row + lane < system.size && j < width ? staged : 0.0;
    else
      staged = own[j];
  }
  if constexpr (!kLoads) {
    __syncwarp();
    each([](double& to, const double& from) { to = from; });
  }
}

constexpr int kWarps = kPanelThreads / 32;

/// What the threads of a panel share; two of what changes with each column, so that one barrier a
/// column is enough.
template <int kWidth>
struct PanelRoom {
  Candidate of_warp[2][kWarps];
  double pivot_rows[2][kWarps][kWidth];
  double upper_row[2][kWidth];
  double triangle[kWidth][kWidth];
  int pivots[kWidth];
  double stages[kWarps][32][kWidth + 1];
};

/// Rows r kPanelThreads + thread of a panel.
template <int kItems>
struct Panel {
  static constexpr int kWidth = kOwn / kItems;
  const System& system;
  PanelRoom<kWidth>& room;
  int first;
  int width;
  int rows = system.size - first;
  int thread = static_cast<int>(threadIdx.x);
  double own[kItems][kWidth];
  Candidate best{0, ~0u};

  __device__ __forceinline__ int row(int r) const { return r * kPanelThreads + thread; }

  template <bool kLoads>
  __device__ __forceinline__ void move() {
#pragma unroll
    for (int r = 0; r < kItems; ++r) {
      if (r * kPanelThreads < rows)
        move_rows<kLoads, kWidth>(system, first + row(r) - thread % 32, first, width,
                                  room.stages[thread / 32], own[r]);
      if (kLoads && row(r) < rows) best.hold(own[r][0], static_cast<unsigned>(row(r)));
    }
  }

  /// Which row has the pivot of column k; its numbers.
  __device__ __forceinline__ int choose(int k, double (&chosen)[kWidth]) {
    const int now = k % 2;
    const Candidate of_mine = largest_of_warp(best);
    if (thread % 32 == 0) room.of_warp[now][thread / 32] = of_mine;
#pragma unroll
    for (int r = 0; r < kItems; ++r)
      if (of_mine.row == static_cast<unsigned>(row(r)))
#pragma unroll
        for (int j = 0; j < kWidth; ++j) room.pivot_rows[now][thread / 32][j] = own[r][j];
    if (thread == k)
#pragma unroll
      for (int j = 0; j < kWidth; ++j) room.upper_row[now][j] = own[0][j];
    __syncthreads();
    const Candidate pivot = largest_of_warp(room.of_warp[now][thread % kWarps]);
    const bool is_nan = pivot.key == 0;  // all of them
    const double* const from =
        is_nan ? room.upper_row[now] : room.pivot_rows[now][pivot.row % kPanelThreads / 32];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) chosen[j] = from[j];
    return is_nan ? k : static_cast<int>(pivot.row);
  }

  /// Exchanges the pivot's row and row k, and takes row k out of those below.
  __device__ __forceinline__ void eliminate(int k) {
    double chosen[kWidth];
    const int pivot = choose(k, chosen);
    if (thread == 0) {
      room.pivots[k] = first + pivot;
      if (chosen[k] == 0) *system.state = min(*system.state, first + k);
    }
    const double divisor = chosen[k] == 0 ? 1.0 : chosen[k];
    const bool is_usual = fabs(divisor) > 1e-290 && fabs(divisor) < 1e290;
    const double inverse = 1.0 / divisor;
    best = {0, ~0u};  // the next column's pivot is looked for on the way
#pragma unroll
    for (int r = 0; r < kItems; ++r) {
      const int i = row(r);
      if (i == pivot)
#pragma unroll
        for (int j = 0; j < kWidth; ++j) own[r][j] = room.upper_row[k % 2][j];
      if (i == k)
#pragma unroll
        for (int j = 0; j < kWidth; ++j) own[r][j] = chosen[j];
      if (i <= k || i >= rows) continue;
      const double factor = is_usual ? own[r][k] * inverse : own[r][k] / divisor;
      own[r][k] = factor;
#pragma unroll
      for (int j = k + 1; j < kWidth; ++j) own[r][j] = fma(-factor, chosen[j], own[r][j]);
      if (k + 1 < kWidth) best.hold(own[r][k + 1 < kWidth ? k + 1 : k], static_cast<unsigned>(i));
    }
  }

  /// The panel's rows of another column of its block.
  __device__ __forceinline__ void update(int column) const {
    double upper[kWidest];
    exchange(system, first, width, column, upper);
    if (column < first) return;
#pragma unroll
    for (int k = 1; k < kWidth; ++k) {
      if (k >= width) break;
#pragma unroll
      for (int i = 0; i < k; ++i) upper[k] = fma(-room.triangle[k][i], upper[i], upper[k]);
      system.at(first + k, column) = upper[k];
    }
  }
};

/// Columns [first, first + width) from row `first` on, then these rows of the other columns of the
/// block [begin, end).
template <int kItems>
__global__ void __launch_bounds__(kPanelThreads)
    panel_kernel(System system, int first, int width, int begin, int end) {
  constexpr int kWidth = kOwn / kItems;
  __shared__ PanelRoom<kWidth> room;
  Panel<kItems> panel{system, room, first, width};
  panel.template move<true>();
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    if (k >= width) break;
    panel.eliminate(k);
  }
  panel.template move<false>();
  const int thread = panel.thread;
  if (thread < kWidth)
#pragma unroll
    for (int j = 0; j < kWidth; ++j) room.triangle[thread][j] = panel.own[0][j];
  __syncthreads();
  if (thread < 32) note_exchanges(system, first, width, thread < width ? room.pivots[thread] : -1);
  __syncthreads();
  const int column = begin + thread;
  if (column < end && (column < first || column >= first + width)) panel.update(column);
}

/// What lies behind a panel in its block and below it, less the products of its parts.
__global__ void __launch_bounds__(kThreads)
    rest_kernel(System system, int first, int width, int end) {
  constexpr int kRows = 4;  // of a thread
  const int column = first + width + static_cast<int>(threadIdx.x) % kBlock;
  if (column >= end) return;
  double upper[kWidest];
#pragma unroll
  for (int k = 0; k < kWidest; ++k) upper[k] = k < width ? system.at(first + k, column) : 0.0;
  const int begin = first + width +
                    (static_cast<int>(blockIdx.x) * (kThreads / kBlock) +
                     static_cast<int>(threadIdx.x) / kBlock) *
                        kRows;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = begin + r;
    if (row >= system.size) return;
    double value = system.at(row, column);
#pragma unroll
    for (int k = 0; k < kWidest; ++k)
      if (k < width) value = fma(-system.at(row, first + k), upper[k], value);
    system.at(row, column) = value;
  }
}

/// A square of the matrix, with ones on the diagonal and zeros where it is smaller than a block.
__device__ void load_square(const System& system, int first, int count,
                            double (*square)[kBlock + 1]) {
  for (int i = static_cast<int>(threadIdx.x); i < kBlock * kBlock; i += kSideThreads) {
    const int row = i / kBlock, column = i % kBlock;
    square[row][column] = row < count && column < count ? system.at(first + row, first + column)
                          : row == column               ? 1.0
                                                        : 0.0;
  }
  __syncthreads();
}

/// A thread for each column behind a block: its rows change places as the panels' did, and the
/// block's are solved.
__global__ void __launch_bounds__(kSideThreads)
    upper_kernel(System system, int first, int count, int width) {
  __shared__ double square[kBlock][kBlock + 1];
  load_square(system, first, count, square);
  const int column = first + count + static_cast<int>(blockIdx.x * kSideThreads + threadIdx.x);
  if (column >= system.columns) return;
  double upper[kWidest];
  for (int k = 0; k < count; k += width)
    exchange(system, first + k, min(width, count - k), column, upper);
  double own[kBlock];
#pragma unroll
  for (int k = 0; k < kBlock; ++k) own[k] = k < count ? system.at(first + k, column) : 0.0;
#pragma unroll
  for (int k = 0; k < kBlock; ++k)
#pragma unroll
    for (int i = k + 1; i < kBlock; ++i) own[i] = fma(-square[i][k], own[k], own[i]);
#pragma unroll
  for (int k = 0; k < kBlock; ++k)
    if (k < count) system.at(first + k, column) = own[k];
}

/// Rows [first, first + count) of the right sides, all behind which are solved: one thread for each
/// side.
__global__ void __launch_bounds__(kSideThreads) back_kernel(System system, int first, int count) {
  __shared__ double square[kBlock][kBlock + 1];
  load_square(system, first, count, square);
  const int column = system.size + static_cast<int>(blockIdx.x * kSideThreads + threadIdx.x);
  if (column >= system.columns) return;
  double own[kBlock];
#pragma unroll
  for (int k = 0; k < kBlock; ++k) own[k] = k < count ? system.at(first + k, column) : 0.0;
#pragma unroll
  for (int k = kBlock - 1; k >= 0; --k) {
    own[k] /= square[k][k];
#pragma unroll
    for (int i = 0; i < k; ++i) own[i] = fma(-square[i][k], own[k], own[i]);
  }
#pragma unroll
  for (int k = 0; k < kBlock; ++k)
    if (k < count) system.at(first + k, column) = own[k];
}

extern __shared__ __align__(16) unsigned char lu_shared[];

/// Rows [row_begin, row_end) of columns from `column_begin` on, less the product of columns
/// [middle, middle + count) of these rows with rows [middle, middle + count). Tensor cores add in
/// the order of `middle`: a warp has 16 x 32 elements.
__global__ void __launch_bounds__(kThreads)
    subtract_kernel(System system, int row_begin, int row_end, int middle, int count,
                    int column_begin) {
  auto* const left = reinterpret_cast<double (*)[kPitch]>(lu_shared);
  auto* const right = left + kBlock;
  const int row0 = row_begin + static_cast<int>(blockIdx.y) * kBlock;
  const int column0 = column_begin + static_cast<int>(blockIdx.x) * kBlock;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kBlock * kBlock; i += kThreads) {
    const int row = i / kBlock, column = i % kBlock;
    left[row][column] =
        row0 + row < row_end && column < count ? -system.at(row0 + row, middle + column) : 0.0;
    right[row][column] = row < count && column0 + column < system.columns
                             ? system.at(middle + row, column0 + column)
                             : 0.0;
  }
  const int warp = thread / 32, group = thread % 32 / 4, place = thread % 4;
  const int i0 = warp / 2 * 16 + group, j0 = warp % 2 * 32;
  double sums[2][4][2];
  const auto each = [&](const auto& body) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int row = row0 + i0 + 8 * i, column = column0 + j0 + 8 * j + 2 * place + e;
          if (row < row_end && column < system.columns)
            body(system.at(row, column), sums[i][j][e]);
          else
            sums[i][j][e] = 0;
        }
  };
  each([](const double& element, double& sum) { sum = element; });
  __syncthreads();
#pragma unroll 4
  for (int k = 0; k < kBlock; k += 4) {
    double own_left[2];
    double own_right[4];
#pragma unroll
    for (int i = 0; i < 2; ++i) own_left[i] = left[i0 + 8 * i][k + place];
#pragma unroll
    for (int j = 0; j < 4; ++j) own_right[j] = right[k + place][j0 + 8 * j + group];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(sums[i][j][0]), "+d"(sums[i][j][1])
            : "d"(own_left[i]), "d"(own_right[j]));
  }
  each([](double& element, double sum) { element = sum; });
}

__global__ void identity_kernel(System system) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int sides = system.columns - system.size;
  if (i < int64_t{system.size} * sides)
    system.at(i / sides, system.size + i % sides) = i / sides == i % sides ? 1.0 : 0.0;
}

__global__ void diagonal_kernel(System system, double* __restrict__ diagonal) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i < system.size) diagonal[i] = system.at(i, i);
}

void subtract(const System& system, int row_begin, int row_end, int middle, int count,
              int column_begin, cudaStream_t stream) {
  const int rows = row_end - row_begin, columns = system.columns - column_begin;
  if (rows <= 0 || columns <= 0) return;
  const dim3 grid(blocks_of(columns, kBlock), blocks_of(rows, kBlock));
  subtract_kernel<<<grid, kThreads, kTileBytes, stream>>>(system, row_begin, row_end, middle, count,
                                                          column_begin);
}

void factor_panel(const System& system, int first, int width, int begin, int end, int widest,
                  cudaStream_t stream) {
  const auto launch = [&](auto kernel) {
    kernel<<<1, kPanelThreads, 0, stream>>>(system, first, width, begin, end);
  };
  if (widest == 8) return launch(panel_kernel<4>);
  if (widest == 4) return launch(panel_kernel<8>);
  if (widest == 2) return launch(panel_kernel<16>);
  launch(panel_kernel<32>);
}

/// Factors of the matrix, with the right sides as the lower one leaves them.
void eliminate(const System& system, cudaStream_t stream) {
  cudaFuncSetAttribute(subtract_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kTileBytes);
  for (int begin = 0; begin < system.size; begin += kBlock) {
    const int end = std::min(begin + kBlock, system.size);
    int widest = kWidest;
    while (int64_t{kPanelThreads} * kOwn / widest < system.size - begin) widest /= 2;
    for (int first = begin, width = 0; first < end; first += width) {
      width = std::min(widest, end - first);
      factor_panel(system, first, width, begin, end, widest, stream);
      const int below = system.size - first - width;
      if (below > 0 && first + width < end)
        rest_kernel<<<blocks_of(below, kThreads / kBlock * 4), kThreads, 0, stream>>>(system, first,
                                                                                      width, end);
    }
    if (end == system.columns) continue;
    upper_kernel<<<blocks_of(system.columns - end, kSideThreads), kSideThreads, 0, stream>>>(
        system, begin, end - begin, widest);
    subtract(system, end, system.size, begin, end - begin, end, stream);
  }
}

/// A matrix with room for right sides, and what its elimination notes.
struct Elimination {
  Elimination(std::string_view word, const Tensor& a, int sides)
      : op(word),
        size(static_cast<int>(a.shape()[0])),
        columns(size + sides),
        room(allocate_at(a.place(), int64_t{8} * size * columns)) {
    copy_strided(op, a, room, 0, {columns, 1});
  }

  System start(DeviceCall& call) {
    const Buffer exchanges = call.scratch(int64_t{sizeof(Exchange)} * size);
    const int first[2] = {size, 0};
    state = call.table(first, sizeof first);
    return {
        call.writes_as<double>(room), size, columns, columns, call.writes_as<Exchange>(exchanges),
        call.writes_as<int>(state)};
  }

  /// X of A X = B to `out`, B behind A. The first column whose pivot is zero, or -1.
  int64_t solve(const System& system, DeviceCall& call) {
    const auto stream = static_cast<cudaStream_t>(call.stream());
    eliminate(system, stream);
    for (int first = (size - 1) / kBlock * kBlock; first >= 0; first -= kBlock) {
      const int count = std::min(kBlock, size - first);
      back_kernel<<<blocks_of(columns - size, kSideThreads), kSideThreads, 0, stream>>>(
          system, first, count);
      subtract(system, 0, first, first, count, size, stream);
    }
    call.finish(cudaGetLastError());
    int found[2] = {};
    call.fetch(found, state.data(), sizeof found);
    return found[0] < size ? found[0] : -1;
  }

  void copy_sides_to(const Buffer& out) const {
    const int sides = columns - size;
    const Tensor made(TypeId::kFloat64, {size, sides}, {columns, 1}, room, int64_t{8} * size);
    Buffer to = out;
    copy_strided(op, made, to, 0, {sides, 1});
  }

  std::string_view op;
  int size;
  int columns;
  Buffer room;
  Buffer state{};
};

}  // namespace

int64_t solve(const Tensor& a, const Tensor& b, const Buffer& out) {
  Elimination work("solve", a, static_cast<int>(b.shape()[1]));
  copy_strided("solve", b, work.room, int64_t{8} * work.size, {work.columns, 1});
  int64_t singular = -1;
  {
    DeviceCall call("solve", a.place());
    singular = work.solve(work.start(call), call);
  }
  work.copy_sides_to(out);
  return singular;
}

int64_t inv(const Tensor& a, const Buffer& out) {
  Elimination work("inv", a, static_cast<int>(a.shape()[0]));
  int64_t singular = -1;
  {
    DeviceCall call("inv", a.place());
    const System system = work.start(call);
    identity_kernel<<<blocks_of(int64_t{work.size} * work.size, kThreads), kThreads, 0,
                      static_cast<cudaStream_t>(call.stream())>>>(system);
    singular = work.solve(system, call);
  }
  work.copy_sides_to(out);
  return singular;
}

LuDiagonal lu_diagonal(std::string_view op, const Tensor& a) {
  Elimination work(op, a, 0);
  LuDiagonal made{std::vector<double>(static_cast<size_t>(work.size)), -1, false};
  DeviceCall call(op, a.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  const System system = work.start(call);
  eliminate(system, stream);
  const Buffer diagonal = call.scratch(int64_t{8} * work.size);
  diagonal_kernel<<<blocks_of(work.size, kThreads), kThreads, 0, stream>>>(
      system, call.writes_as<double>(diagonal));
  call.finish(cudaGetLastError());
  int found[2] = {};
  call.fetch(found, work.state.data(), sizeof found);
  call.fetch(made.values.data(), diagonal.data(), int64_t{8} * work.size);
  if (found[0] < work.size) made.singular = found[0];
  made.odd = found[1] % 2 != 0;
  return made;
}

}  // namespace hr::cuda
