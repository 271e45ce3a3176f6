// SPDX-License-Identifier: Apache-2.0
// A block of threads reads a tile of points once: scores, derivatives and the sums of both. All
// sums are in the CPU's order, so they have its bits.
#include "headrace/algo/math/vmath_lane.h"
#include "headrace/data/device_launch.h"
#include "headrace/data/shared_memory.h"
#include "headrace/learn/linear_loss_kernels.h"

namespace hr::cuda {
namespace {

constexpr int64_t kDouble = sizeof(double);
constexpr int kThreads = 256;
constexpr int kSumLanes = static_cast<int>(kLinearLanes);
constexpr int64_t kTileBytes = int64_t{256} << 20;  // of the sums of tiles at work together

/// What all tiles read. Numbers of a tile lie side by side: the gradient, the loss, and if they are
/// asked for sums and squares of the columns and the weight.
template <class T>
struct Problem {
  Matrix<T> x;
  const double* targets;
  const double* weights;
  const double* shift;
  const double* coefficients;
  LinearLoss loss;
  double epsilon;
  int outputs;
  int tile;      // points
  int chunk;     // features in shared memory together
  int64_t step;  // from a point's targets to the next one's
  int64_t part_rows;
  int64_t tiles;  // of a part
  int64_t width;  // numbers of a tile
  bool moments;
};

__device__ __forceinline__ double tree(double (&lanes)[kSumLanes]) {
#pragma unroll
  for (int half = kSumLanes / 2; half > 0; half /= 2)
#pragma unroll
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// The sum of `count` values, in 8 lanes and one tree, by one thread.
__device__ double sum_in_lanes(const double* values, int count) {
  double lanes[kSumLanes] = {};
  for (int i = 0; i < count; i += kSumLanes)
#pragma unroll
    for (int lane = 0; lane < kSumLanes; ++lane) lanes[lane] += values[i + lane];
  return tree(lanes);
}

/// A point's loss; its `scores`, a tile apart, become derivatives.
template <class T>
__device__ double residuals(const Problem<T>& problem, double target, double weight,
                            double* scores) {
  const LinearLoss loss = problem.loss;
  const int outputs = problem.outputs, stride = problem.tile;
  if (loss == LinearLoss::kSquaredDistance) {
    const double apart = scores[0] - target;
    const double above = apart - problem.epsilon, below = apart + problem.epsilon;
    const double gap = above > 0 ? above : below < 0 ? below : 0.0;
    scores[0] = 2 * gap * weight;
    return weight * (gap * gap);
  }
  if (loss == LinearLoss::kSquaredHinge) {
    const double sign = 2 * target - 1, apart = 1 - sign * scores[0];
    const double gap = apart > 0 ? apart : 0.0;
    scores[0] = -2 * sign * gap * weight;
    return weight * (gap * gap);
  }
  if (loss == LinearLoss::kLogistic) {
    const double score = scores[0];
    const double power = vmath::exp(Lane(-fabs(score))).v;
    const double more = vmath::log1p(Lane(power)).v;
    const double share = (score > 0 ? 1.0 : power) / (1 + power);
    scores[0] = weight * (share - target);
    return weight * (more + ((score > 0 ? score : 0.0) - target * score));
  }
  double most = scores[0];
  for (int k = 1; k < outputs; ++k) most = scores[k * stride] > most ? scores[k * stride] : most;
  const double own = scores[static_cast<int>(target) * stride] - most;
  double total = 0;
  for (int k = 0; k < outputs; ++k) {
    const double power = vmath::exp(Lane(scores[k * stride] - most)).v;
    scores[k * stride] = power;
    total = k == 0 ? power : total + power;
  }
  for (int k = 0; k < outputs; ++k)
    scores[k * stride] =
        weight * (scores[k * stride] / total - (target == static_cast<double>(k) ? 1.0 : 0.0));
  return weight * (vmath::log(Lane(total)).v - own);
}

/// One tile of points at work.
template <class T>
class Tile {
 public:
  __device__ Tile(const Problem<T>& problem, char* shared)
      : p_(problem),
        points_(reinterpret_cast<T*>(shared)),
        scores_(reinterpret_cast<double*>(shared + problem.tile * (problem.chunk + 1) * sizeof(T))),
        losses_(scores_ + problem.outputs * problem.tile),
        weights_(losses_ + problem.tile),
        lanes_(weights_ + problem.tile) {
    const int64_t part = blockIdx.x / problem.tiles;
    first_ = part * problem.part_rows + blockIdx.x % problem.tiles * problem.tile;
    const int64_t end = min((part + 1) * problem.part_rows, problem.x.rows);
    count_ = static_cast<int>(max(int64_t{0}, min(int64_t{problem.tile}, end - first_)));
    padded_ = (count_ + 15) / 16 * 16;
  }

  __device__ void run(double* out) {
    const int point = static_cast<int>(threadIdx.x);
    const int row = static_cast<int>(p_.x.columns) + 1;
    if (point < padded_)
      for (int k = 0; k < p_.outputs; ++k)
        scores_[k * p_.tile + point] = p_.coefficients[k * row + row - 1];
    for (int first = 0; first < row - 1; first += p_.chunk) {
      load(first);
      add_scores(first);
    }
    if (point < padded_) {
      const int64_t at = (first_ + point) * p_.step;
      const bool inside = point < count_;
      const double weight = !inside ? 0.0 : p_.weights == nullptr ? 1.0 : p_.weights[at];
      weights_[point] = weight;
      losses_[point] = residuals(p_, inside ? p_.targets[at] : 0.0, weight, scores_ + point);
    }
    __syncthreads();
    const int size = p_.outputs * row;
    if (point < p_.outputs)
      out[point * row + row - 1] = sum_in_lanes(scores_ + point * p_.tile, padded_);
    if (point == kThreads - 1) out[size] = sum_in_lanes(losses_, padded_);
    if (p_.moments && point == kThreads - 33) {
      double weight = 0;
      for (int i = 0; i < count_; ++i) weight += weights_[i];
      out[size + 1 + 2 * (row - 1)] = weight;
    }
    for (int first = 0; first < row - 1; first += p_.chunk) {
      if (row - 1 > p_.chunk) load(first);
      for (int k = 0; k < p_.outputs; ++k)
        add_products(first, out + k * row, [&](int i, int, double value, double sum) {
          return ::fma(scores_[k * p_.tile + i], value, sum);
        });
      if (!p_.moments) continue;
      add_products(first, out + size + 1,
                   [&](int i, int, double value, double sum) { return sum + weights_[i] * value; });
      add_products(first, out + size + row, [&](int i, int, double value, double sum) {
        return sum + weights_[i] * value * value;
      });
    }
  }

 private:
  __device__ __forceinline__ int width(int first) const {
    return min(p_.chunk, static_cast<int>(p_.x.columns) - first);
  }

  /// Columns [first, first + chunk) of the points, neighbours reading neighbours.
  __device__ void load(int first) {
    __syncthreads();
    const int columns = width(first);
    for (int at = static_cast<int>(threadIdx.x); at < padded_ * columns; at += kThreads) {
      const int i = at / columns, j = at % columns;
      points_[i * (p_.chunk + 1) + j] =
          i < count_ ? p_.x.data[(first_ + i) * p_.x.row_stride + (first + j) * p_.x.column_stride]
                     : T{0};
    }
    __syncthreads();
  }

  __device__ __forceinline__ double value(int i, int j, int first) const {
    const double read = static_cast<double>(points_[i * (p_.chunk + 1) + j]);
    return p_.shift == nullptr || i >= count_ ? read : read - p_.shift[first + j];
  }

  __device__ void add_scores(int first) {
    const int point = static_cast<int>(threadIdx.x), columns = width(first);
    if (point >= padded_) return;
    for (int k = 0; k < p_.outputs; ++k) {
      const double* const times = p_.coefficients + k * (p_.x.columns + 1) + first;
      double sum = scores_[k * p_.tile + point];
#pragma unroll 8
      for (int j = 0; j < columns; ++j) sum = ::fma(times[j], value(point, j, first), sum);
      scores_[k * p_.tile + point] = sum;
    }
  }

  /// Sums over the points, in 8 lanes and one tree, of each column of the chunk.
  template <class F>
  __device__ void add_products(int first, double* out, const F& add) {
    const int columns = width(first);
    for (int at = static_cast<int>(threadIdx.x); at < kSumLanes * columns; at += kThreads) {
      const int lane = at / columns, j = at % columns;
      double sum = 0;
#pragma unroll 8
      for (int i = lane; i < padded_; i += kSumLanes) sum = add(i, j, value(i, j, first), sum);
      lanes_[lane * p_.chunk + j] = sum;
    }
    __syncthreads();
    for (int j = static_cast<int>(threadIdx.x); j < columns; j += kThreads) {
      double lanes[kSumLanes];
#pragma unroll
      for (int lane = 0; lane < kSumLanes; ++lane) lanes[lane] = lanes_[lane * p_.chunk + j];
      out[first + j] = tree(lanes);
    }
    __syncthreads();
  }

  const Problem<T>& p_;
  T* points_;        // [tile, chunk + 1]
  double* scores_;   // [outputs, tile]
  double* losses_;   // [tile]
  double* weights_;  // [tile]
  double* lanes_;    // [kSumLanes, chunk]
  int64_t first_;
  int count_;
  int padded_;
};

template <class T>
__global__ void __launch_bounds__(kThreads) tile_kernel(Problem<T> problem, double* out) {
  extern __shared__ double shared[];
  Tile<T> tile(problem, reinterpret_cast<char*>(shared));
  tile.run(out + blockIdx.x * problem.width);
}

/// Numbers of the tiles of a part, one after the other.
__global__ void add_tiles_kernel(const double* tiles, int64_t count, int64_t width, double* parts) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= width) return;
  const double* from = tiles + blockIdx.y * count * width + i;
  double sum = 0;
#pragma unroll 16
  for (int64_t tile = 0; tile < count; ++tile) sum += from[tile * width];
  parts[blockIdx.y * width + i] = sum;
}

__global__ void add_parts_kernel(const double* parts, int64_t count, int64_t width, double* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= width) return;
  double sum = parts[i];
#pragma unroll 8
  for (int64_t part = 1; part < count; ++part) sum += parts[part * width + i];
  out[i] = sum;
}

}  // namespace

void evaluate_linear(const LinearRows& rows, const LinearProblem& given, const double* at,
                     bool moments, double* sums) {
  const Tensor& x = *rows.x;
  DeviceCall call("fit_linear", x.place());
  const auto stream = static_cast<cudaStream_t>(call.stream());
  call.reads(x.buffer());
  call.reads(rows.targets->buffer());
  if (rows.weights != nullptr) call.reads(rows.weights->buffer());
  const int64_t features = x.shape()[1], size = given.outputs * (features + 1);
  const int64_t width = size + 1 + (moments ? 2 * features + 1 : 0);
  const int64_t tiles = (rows.part_rows + rows.tile - 1) / rows.tile;
  const int64_t parts = std::max<int64_t>(1, (x.shape()[0] + rows.part_rows - 1) / rows.part_rows);
  const int64_t together = std::clamp<int64_t>(kTileBytes / (tiles * width * kDouble), 1, parts);
  const Buffer coefficients = call.table(at, size * kDouble);
  const Buffer shift =
      rows.shift == nullptr ? Buffer() : call.table(rows.shift, features * kDouble);
  const Buffer made = call.scratch((together * tiles + parts + 1) * width * kDouble);
  auto* const of_tiles = call.writes_as<double>(made);
  double* const of_parts = of_tiles + together * tiles * width;
  double* const total = of_parts + parts * width;
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    Problem<T> problem{matrix_of<T>(x),
                       rows.targets->as<double>(),
                       rows.weights == nullptr ? nullptr : rows.weights->as<double>(),
                       rows.shift == nullptr ? nullptr : shift.as<double>(),
                       coefficients.as<double>(),
                       given.loss,
                       given.epsilon,
                       static_cast<int>(given.outputs),
                       static_cast<int>(rows.tile),
                       0,
                       rows.step,
                       rows.part_rows,
                       tiles,
                       width,
                       moments};
    const LinearRoom room = linear_room(shared_bytes_of(x.place().index), rows.tile, features,
                                        given.outputs, int64_t{sizeof(T)});
    problem.chunk = static_cast<int>(room.columns);
    check_cuda("fit_linear",
               cudaFuncSetAttribute(tile_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(room.bytes)));
    for (int64_t first = 0; first < parts; first += together) {
      const int64_t some = std::min(together, parts - first);
      Problem<T> now = problem;
      now.x.data += first * rows.part_rows * now.x.row_stride;
      now.x.rows -= first * rows.part_rows;
      now.targets += first * rows.part_rows * rows.step;
      if (now.weights != nullptr) now.weights += first * rows.part_rows * rows.step;
      tile_kernel<T><<<static_cast<unsigned>(some * tiles), kThreads,
                       static_cast<size_t>(room.bytes), stream>>>(now, of_tiles);
      const dim3 blocks(blocks_of(width, 64), static_cast<unsigned>(some));
      add_tiles_kernel<<<blocks, 64, 0, stream>>>(of_tiles, tiles, width, of_parts + first * width);
    }
    add_parts_kernel<<<blocks_of(width, 64), 64, 0, stream>>>(of_parts, parts, width, total);
  });
  call.finish(cudaGetLastError());
  call.fetch(sums, total, width * kDouble);
}

bool linear_fits(Place place, int64_t tile, int64_t outputs) {
  return linear_room(shared_bytes_of(place.index), tile, 1, outputs, kDouble).columns > 0;
}

}  // namespace hr::cuda
