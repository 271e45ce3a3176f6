// SPDX-License-Identifier: Apache-2.0
// The descent of t-SNE on a CUDA device: the CPU's tree, walked by a block for each leaf, and the
// CPU's order of each sum.
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device_launch.h"
#include "headrace/learn/tsne_kernels.h"

#include <cmath>
#include <limits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kLeaf = static_cast<int>(PointTree::kLeaf);
constexpr int kFan = 4;
constexpr int kLeavesOfTask = 4;
constexpr int kBoundBlocks = 64;
constexpr int kSums = 8;
constexpr int kWalkWarps = 4;
constexpr int kWalkThreads = 32 * kWalkWarps;
constexpr int kHeld = 2400;  // masses of a leaf at a time, of which 32 groups have 2,048 at most
constexpr int kTogether = 64;
constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

/// Points that lie together: their mean and mass, their box, and the square of its extent.
struct Group {
  float4 place;
  float low[3];
  float high[3];
  float square_extent;

  __device__ void set_extent() {
    const float extent = fmaxf(fmaxf(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    square_extent = extent * extent;
  }

  __device__ float square_to(const float4& to) const {
    const float at[3] = {to.x, to.y, to.z};
    float square = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const float apart = fmaxf(fmaxf(low[k] - at[k], at[k] - high[k]), 0);
      square += apart * apart;
    }
    return square;
  }
};

/// Least and largest coordinates by blocks, and whether all are finite.
struct Bounds {
  float low[kBoundBlocks][3];
  float high[kBoundBlocks][3];
  int bad;  // once it is 1 nothing moves
};

}  // namespace

/// What the kernels share.
struct TsneArrays {
  int64_t rows;
  int64_t leaves;
  int dimensions;
  int levels;
  int first[17];  // group of each level
  int size[17];
  float* from;  // coordinate k of point i at [k * rows + i], as of all below
  float* to;
  float* speed;
  float* gain;
  float* push;
  float* slope;
  float* sorted;  // [4][16 leaves]: coordinates in the order of the curve
  unsigned* keys[2];
  unsigned* numbers[2];
  int order;  // which of two numbers the points have in that order
  void* groups;
  void* bounds;
  double* similar;  // of leaves; the last is the sum
  float* repulsion;
  const int64_t* begins;
  const int32_t* others;
  const float* affinities;
};

namespace {

__device__ Group* groups_of(const TsneArrays& all) {
  return static_cast<Group*>(all.groups);
}

__device__ Bounds* bounds_of(const TsneArrays& all) {
  return static_cast<Bounds*>(all.bounds);
}

__global__ void bounds_kernel(TsneArrays all) {
  __shared__ float low[kThreads];
  __shared__ float high[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  Bounds* const bounds = bounds_of(all);
  for (int k = 0; k < all.dimensions; ++k) {
    float least = std::numeric_limits<float>::infinity();
    float most = -least;
    bool bad = false;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + thread; i < all.rows;
         i += kBoundBlocks * kThreads) {
      const float value = all.from[k * all.rows + i];
      bad = bad || !isfinite(value);
      least = fminf(least, value);
      most = fmaxf(most, value);
    }
    if (bad) bounds->bad = 1;
    low[thread] = least;
    high[thread] = most;
    for (int half = kThreads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half) {
        low[thread] = fminf(low[thread], low[thread + half]);
        high[thread] = fmaxf(high[thread], high[thread + half]);
      }
    }
    if (thread == 0) {
      bounds->low[blockIdx.x][k] = low[0];
      bounds->high[blockIdx.x][k] = high[0];
    }
    __syncthreads();
  }
}

/// Places along the Z-order curve.
__global__ void keys_kernel(TsneArrays all) {
  __shared__ float low[3];
  __shared__ float scale;
  const float cells = static_cast<float>((1 << (all.dimensions == 3 ? 10 : 16)) - 1);
  if (threadIdx.x == 0) {
    Bounds* const bounds = bounds_of(all);
    float extent = 0;
    for (int k = 0; k < all.dimensions; ++k) {
      float least = bounds->low[0][k];
      float most = bounds->high[0][k];
      for (int block = 1; block < kBoundBlocks; ++block) {
        least = fminf(least, bounds->low[block][k]);
        most = fmaxf(most, bounds->high[block][k]);
      }
      low[k] = least;
      extent = fmaxf(extent, most - least);
      if (!isfinite(most - least)) bounds->bad = 1;
    }
    scale = extent > 0 ? cells / extent : 0;
  }
  __syncthreads();
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= all.rows) return;
  uint32_t key = 0;
  for (int k = 0; k < all.dimensions; ++k) {
    const float place = fminf((all.from[k * all.rows + i] - low[k]) * scale, cells);
    key |= spread_bits(static_cast<uint32_t>(place), all.dimensions - 1) << k;
  }
  all.keys[0][i] = key;
  all.numbers[0][i] = static_cast<unsigned>(i);
}

__global__ void leaves_kernel(TsneArrays all) {
  const int64_t leaf = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (leaf >= all.leaves) return;
  const int64_t begin = leaf * kLeaf;
  const auto count = static_cast<int>(min(int64_t{kLeaf}, all.rows - begin));
  Group group{};
  group.place.w = static_cast<float>(count);
  float mean[3] = {};
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    if (k >= all.dimensions) continue;
    float sum = 0;
    float least = std::numeric_limits<float>::max();
    float most = -least;
    for (int i = 0; i < count; ++i) {
      const float value = all.from[k * all.rows + all.numbers[all.order][begin + i]];
      all.sorted[k * all.leaves * kLeaf + begin + i] = value;
      sum += value;
      least = fminf(least, value);
      most = fmaxf(most, value);
    }
    mean[k] = sum / group.place.w;
    group.low[k] = least;
    group.high[k] = most;
  }
  group.place.x = mean[0];
  group.place.y = mean[1];
  group.place.z = mean[2];
  group.set_extent();
  groups_of(all)[leaf] = group;
}

/// Groups of groups, all levels by one block.
__global__ void levels_kernel(TsneArrays all) {
  Group* const groups = groups_of(all);
  for (int level = 1; level < all.levels; ++level) {
    const Group* const below = groups + all.first[level - 1];
    for (int i = static_cast<int>(threadIdx.x); i < all.size[level];
         i += static_cast<int>(blockDim.x)) {
      const int count = min(kFan, all.size[level - 1] - i * kFan);
      Group made = below[i * kFan];
      made.place.x *= made.place.w;
      made.place.y *= made.place.w;
      made.place.z *= made.place.w;
      for (int g = 1; g < count; ++g) {
        const Group& other = below[i * kFan + g];
        made.place.w += other.place.w;
        made.place.x += other.place.x * other.place.w;
        made.place.y += other.place.y * other.place.w;
        made.place.z += other.place.z * other.place.w;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          made.low[k] = fminf(made.low[k], other.low[k]);
          made.high[k] = fmaxf(made.high[k], other.high[k]);
        }
      }
      made.place.x /= made.place.w;
      made.place.y /= made.place.w;
      made.place.z /= made.place.w;
      made.set_extent();
      groups[all.first[level] + i] = made;
    }
    __syncthreads();
  }
}

template <int kDimensions>
__device__ __forceinline__ float decay(const float (&apart)[kDimensions]) {
  float square = apart[0] * apart[0];
#pragma unroll
  for (int k = 1; k < kDimensions; ++k) square = fmaf(apart[k], apart[k], square);
  if constexpr (kDimensions == 3) return 1 / fmaf(square, 0.5F, 1);
  return 1 / (1 + square);
}

/// What a block shares while it walks.
struct WalkMemory {
  float4 masses[kHeld];
  float weights[kTogether][kLeaf];
  float pushes[kTogether][kLeaf];
  int held;
};

__device__ __forceinline__ float coordinate(const float4& mass, int k) {
  return k == 0 ? mass.x : k == 1 ? mass.y : mass.z;
}

/// What repels the points of a leaf, in the order of the curve: a block gathers masses, a lane to
/// each group of leaves, and adds them up, a warp to each sum.
template <int kDimensions>
struct Walk {
  const TsneArrays& all;
  WalkMemory& memory;
  int leaf;
  float square_angle;
  Group own;
  float point[kDimensions];
  float sum = 0;  // of one coordinate, or in the last warp of the similarities

  __device__ Walk(const TsneArrays& arrays, WalkMemory& shared, float angle)
      : all(arrays),
        memory(shared),
        leaf(static_cast<int>(blockIdx.x)),
        square_angle(angle),
        own(groups_of(arrays)[blockIdx.x]) {
#pragma unroll
    for (int k = 0; k < kDimensions; ++k)
      point[k] = all.sorted[k * padded() + int64_t{leaf} * kLeaf + threadIdx.x % kLeaf];
  }

  __device__ int64_t padded() const { return all.leaves * kLeaf; }

  /// The lowest level above single leaves.
  __device__ int base() const { return min(all.levels - 1, 1); }

  const __device__ Group& group(int level, int index) const {
    return groups_of(all)[all.first[level] + index];
  }

  __device__ bool is_far(int level, int index) const {
    const Group& other = group(level, index);
    return leaf >> (2 * level) != index &&
           other.square_extent < square_angle * own.square_to(other.place);
  }

  __device__ int points_in(int index) const {
    return static_cast<int>(min(int64_t{kLeaf}, all.rows - int64_t{index} * kLeaf));
  }

  /// Puts the points of a leaf at `at`; returns where the next mass goes.
  __device__ int put_points(int index, int at) {
    const int64_t from = int64_t{index} * kLeaf;
    for (int i = 0; i < points_in(index); ++i) {
      float4 mass{0, 0, 0, 1};
      mass.x = all.sorted[from + i];
      if (kDimensions > 1) mass.y = all.sorted[padded() + from + i];
      if (kDimensions > 2) mass.z = all.sorted[2 * padded() + from + i];
      memory.masses[at++] = mass;
    }
    return at;
  }

  /// Masses of the 32 groups from `begin` on, behind those that are held; the first warp.
  __device__ void gather(int begin) {
    const int lane = static_cast<int>(threadIdx.x);
    const int node = begin + lane;
    const bool there = node < all.size[base()];
    int level = all.levels - 1;
    while (there && level >= base() && !is_far(level, node >> (2 * (level - base())))) --level;
    const int leaves = base() == 0 ? 1 : kFan;
    const int low = node * leaves;
    int count = 0;
    unsigned far = 0;
    if (there && level >= base()) {
      count = (node & ((1 << (2 * (level - base()))) - 1)) == 0 ? 1 : 0;
    } else if (there) {
      for (int g = 0; g < leaves && low + g < all.size[0]; ++g) {
        if (base() > 0 && is_far(0, low + g)) far |= 1u << g;
        count += (far >> g & 1) != 0 ? 1 : points_in(low + g);
      }
    }
    int at = count;
    for (int apart = 1; apart < 32; apart *= 2) {
      const int left = __shfl_up_sync(~0u, at, apart);
      if (lane >= apart) at += left;
    }
    const int more = __shfl_sync(~0u, at, 31);
    at += memory.held - count;
    __syncwarp();
    if (lane == 0) memory.held += more;
    if (count == 0) return;
    if (level >= base()) {
      memory.masses[at] = group(level, node >> (2 * (level - base()))).place;
      return;
    }
    for (int g = 0; g < leaves && low + g < all.size[0]; ++g) {
      if ((far >> g & 1) != 0)
        memory.masses[at++] = group(0, low + g).place;
      else
        at = put_points(low + g, at);
    }
  }

  /// Adds up the first `count` masses; all threads.
  __device__ void add_up(int count) {
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / 32;
    for (int begin = 0; begin < count; begin += kTogether) {
      const int together = min(kTogether, count - begin);
      for (int i = thread / kLeaf; i < together; i += kWalkThreads / kLeaf) {
        const float4 mass = memory.masses[begin + i];
        float apart[kDimensions];
#pragma unroll
        for (int k = 0; k < kDimensions; ++k) apart[k] = point[k] - coordinate(mass, k);
        const float near = decay<kDimensions>(apart);
        float weight = mass.w * near;
        if constexpr (kDimensions == 3) weight *= sqrtf(near);
        memory.weights[i][thread % kLeaf] = weight;
        memory.pushes[i][thread % kLeaf] = weight * near;
      }
      __syncthreads();
      if (warp == kWalkWarps - 1) {
#pragma unroll 8
        for (int i = 0; i < together; ++i) sum += memory.weights[i][thread % kLeaf];
      }
#pragma unroll
      for (int k = 0; k < kDimensions; ++k)
        if (warp == k) {
#pragma unroll 8
          for (int i = 0; i < together; ++i)
            sum = fmaf(memory.pushes[i][thread % kLeaf],
                       point[k] - coordinate(memory.masses[begin + i], k), sum);
        }
      __syncthreads();
    }
  }
};

template <int kDimensions>
__global__ void __launch_bounds__(kWalkThreads) walk_kernel(TsneArrays all, float square_angle) {
  __shared__ WalkMemory memory;
  if (bounds_of(all)->bad != 0) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  Walk<kDimensions> walk(all, memory, square_angle);
  const int groups = all.size[walk.base()];
  if (threadIdx.x == 0) memory.held = 0;
  __syncthreads();
  for (int begin = 0; begin < groups; begin += 32) {
    if (warp == 0) walk.gather(begin);
    __syncthreads();
    const int count = memory.held;
    __syncthreads();
    if (count + 32 * kFan * kLeaf <= kHeld && begin + 32 < groups) continue;
    walk.add_up(count);
    if (threadIdx.x == 0) memory.held = 0;
    __syncthreads();
  }
  const int points = walk.points_in(walk.leaf);
  if (warp < kDimensions && lane < points) {
    const unsigned number = all.numbers[all.order][int64_t{walk.leaf} * kLeaf + lane];
    all.push[warp * all.rows + number] = walk.sum;
  }
  if (warp < kWalkWarps - 1) return;
  double similar = 0;
  for (int i = 0; i < points; ++i)
    similar += static_cast<double>(__shfl_sync(~0u, walk.sum, i)) - 1;
  if (lane == 0) all.similar[walk.leaf] = similar;
}

/// The sum over tasks of leaves, in order, and the factor of repulsion.
__global__ void total_kernel(TsneArrays all, double factor) {
  __shared__ double tasks[1024];
  const int64_t count = (all.leaves + kLeavesOfTask - 1) / kLeavesOfTask;
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += 1024) {
    const int64_t task = begin + threadIdx.x;
    if (task < count) {
      double sum = 0;
      const int64_t end = min(all.leaves, (task + 1) * kLeavesOfTask);
      for (int64_t leaf = task * kLeavesOfTask; leaf < end; ++leaf) sum += all.similar[leaf];
      tasks[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const auto here = static_cast<int>(min(int64_t{1024}, count - begin));
#pragma unroll 8
      for (int i = 0; i < here; ++i) total += tasks[i];
    }
    __syncthreads();
  }
  if (threadIdx.x > 0) return;
  total = fmax(total, std::numeric_limits<double>::epsilon());
  all.similar[all.leaves] = total;
  *all.repulsion = static_cast<float>(factor / total);
}

/// Moves points by both forces: eight lanes to a point.
template <int kDimensions>
__global__ void move_kernel(TsneArrays all, float attraction, float momentum, float learning_rate) {
  const int64_t point = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kSums;
  const auto lane = static_cast<int>(threadIdx.x) % kSums;
  const unsigned lanes = 0xFFu << (threadIdx.x % 32 / kSums * kSums);
  if (point >= all.rows || bounds_of(all)->bad != 0) return;
  float own[kDimensions];
  float pull[kDimensions] = {};
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) own[k] = all.from[k * all.rows + point];
  const int64_t end = all.begins[point + 1];
  for (int64_t e = all.begins[point]; e < end; e += kSums) {
    const bool there = e + lane < end;
    const int64_t other = there ? all.others[e + lane] : 0;
    const float similar = there ? all.affinities[e + lane] : 0.0F;
    float apart[kDimensions];
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) apart[k] = own[k] - all.from[k * all.rows + other];
    const float weight = similar * decay<kDimensions>(apart);
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) pull[k] = fmaf(weight, apart[k], pull[k]);
  }
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) {
    for (int apart = kSums / 2; apart > 0; apart /= 2)
      pull[k] += __shfl_xor_sync(lanes, pull[k], apart);
    if (lane != k) continue;
    const int64_t at = k * all.rows + point;
    float slope = attraction * pull[k] - *all.repulsion * all.push[at];
    const float speed = all.speed[at];
    float gain = all.gain[at];
    gain = speed * slope < 0 ? gain + 0.2F : gain * 0.8F;
    gain = fmaxf(gain, 0.01F);
    all.gain[at] = gain;
    slope *= gain;
    const float next = momentum * speed - learning_rate * slope;
    all.speed[at] = next;
    all.to[at] = own[k] + next;
    all.slope[at] = slope;
  }
}

__global__ void begin_kernel(TsneArrays all) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= all.rows * all.dimensions) return;
  all.speed[i] = 0;
  all.gain[i] = 1;
}

__global__ void write_kernel(TsneArrays all, float* __restrict__ embedding) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= all.rows * all.dimensions) return;
  embedding[i] = all.from[i % all.dimensions * all.rows + i / all.dimensions];
}

}  // namespace

TsneDescent::~TsneDescent() = default;

TsneDescent::TsneDescent(const Sparse& affinities, Place place, const float* from, int64_t rows,
                         int64_t dimensions, double angle)
    : call_("tsne_fit", place), place_(place), all_(std::make_unique<TsneArrays>()) {
  TsneArrays& all = *all_;
  all.rows = rows;
  all.dimensions = static_cast<int>(dimensions);
  all.leaves = (rows + kLeaf - 1) / kLeaf;
  if (rows > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>("tsne_fit", "too many rows for the CUDA kernel", {{"rows", rows}},
                                  "move the values first: x.to('cpu')");
  const auto single = static_cast<float>(angle);
  square_angle_ = single * single;
  int groups = 0;
  for (auto size = static_cast<int>(all.leaves);; size = (size + kFan - 1) / kFan) {
    all.first[all.levels] = groups;
    all.size[all.levels++] = size;
    groups += size;
    if (size <= kFan) break;
  }
  const auto room = [&](auto*& where, int64_t count) {
    using T = std::remove_pointer_t<std::remove_reference_t<decltype(where)>>;
    held_.push_back(call_.scratch(count * static_cast<int64_t>(sizeof(T))));
    where = call_.writes_as<T>(held_.back());
  };
  const auto sent = [&]<class T>(const T*& where, const T* values, int64_t count) {
    held_.push_back(call_.table(values, count * static_cast<int64_t>(sizeof(T))));
    where = held_.back().as<T>();
  };
  const int64_t size = rows * dimensions;
  const float* given = nullptr;
  sent(given, from, size);
  all.from = const_cast<float*>(given);
  for (float** each : {&all.to, &all.speed, &all.gain, &all.push, &all.slope}) room(*each, size);
  room(all.sorted, 3 * all.leaves * kLeaf);
  for (int i = 0; i < 2; ++i) {
    room(all.keys[i], rows);
    room(all.numbers[i], rows);
  }
  room(all.similar, all.leaves + 1);
  room(all.repulsion, 1);
  Group* nodes = nullptr;
  room(nodes, groups);
  all.groups = nodes;
  Bounds* bounds = nullptr;
  room(bounds, 1);
  all.bounds = bounds;
  call_.fill(reinterpret_cast<std::byte*>(bounds), 0, sizeof(Bounds));
  call_.fill(reinterpret_cast<std::byte*>(all.sorted), 0, 3 * all.leaves * kLeaf * kFloat);
  std::vector<int64_t> begins(static_cast<size_t>(rows + 1));
  for (int64_t i = 0; i <= rows; ++i) begins[static_cast<size_t>(i)] = affinities.row_begin(i);
  sent(all.begins, begins.data(), rows + 1);
  sent(all.others, affinities.indices().as<int32_t>(), begins.back());
  sent(all.affinities, affinities.data().as<float>(), begins.back());
}

void TsneDescent::begin() {
  begin_kernel<<<blocks_of(all_->rows * all_->dimensions, kThreads), kThreads, 0,
                 stream_of(call_)>>>(*all_);
}

void TsneDescent::repel(double factor) {
  TsneArrays& all = *all_;
  const cudaStream_t stream = stream_of(call_);
  const unsigned blocks = blocks_of(all.rows, kThreads);
  bounds_kernel<<<kBoundBlocks, kThreads, 0, stream>>>(all);
  keys_kernel<<<blocks, kThreads, 0, stream>>>(all);
  const int bits = all.dimensions == 1 ? 16 : all.dimensions == 2 ? 32 : 30;
  all.order = sort_pairs(call_, all.keys, all.numbers, all.rows, bits);
  leaves_kernel<<<blocks_of(all.leaves, kThreads), kThreads, 0, stream>>>(all);
  levels_kernel<<<1, 1024, 0, stream>>>(all);
  const auto walk = all.dimensions == 1   ? walk_kernel<1>
                    : all.dimensions == 2 ? walk_kernel<2>
                                          : walk_kernel<3>;
  walk<<<blocks_of(all.leaves, 1), kWalkThreads, 0, stream>>>(all, square_angle_);
  total_kernel<<<1, 1024, 0, stream>>>(all, factor);
}

void TsneDescent::move(float attraction, float momentum, float learning_rate) {
  TsneArrays& all = *all_;
  const auto kernel = all.dimensions == 1   ? move_kernel<1>
                      : all.dimensions == 2 ? move_kernel<2>
                                            : move_kernel<3>;
  kernel<<<blocks_of(all.rows * kSums, kThreads), kThreads, 0, stream_of(call_)>>>(
      all, attraction, momentum, learning_rate);
  std::swap(all.from, all.to);
}

double TsneDescent::similar(float* from) {
  call_.finish(cudaGetLastError());
  if (from != nullptr) call_.fetch(from, all_->from, all_->rows * all_->dimensions * kFloat);
  int bad = 0;
  call_.fetch(&bad, &static_cast<Bounds*>(all_->bounds)->bad, sizeof bad);
  double sum = 0;
  call_.fetch(&sum, all_->similar + all_->leaves, sizeof sum);
  return bad != 0 ? std::numeric_limits<double>::quiet_NaN() : sum;
}

void TsneDescent::slopes(float* out) {
  call_.finish(cudaGetLastError());
  call_.fetch(out, all_->slope, all_->rows * all_->dimensions * kFloat);
}

Tensor TsneDescent::embedding() {
  const int64_t size = all_->rows * all_->dimensions;
  const Buffer made = allocate_result(size * kFloat, place_);
  write_kernel<<<blocks_of(size, kThreads), kThreads, 0, stream_of(call_)>>>(
      *all_, call_.writes_as<float>(made));
  call_.finish(cudaGetLastError());
  return Tensor(dtype_of<float>(), {all_->rows, int64_t{all_->dimensions}}, made);
}

}  // namespace hr::cuda
