// SPDX-License-Identifier: Apache-2.0
// t-SNE on a CUDA device: entropies of neighbours by a thread a row, the CPU's tree, walked by half
// a warp for each leaf, and the CPU's order of each sum.
#include "headrace/algo/math/vmath_lane.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/data/device_launch.h"
#include "headrace/learn/neighbor_graph_kernels.h"
#include "headrace/learn/tsne_kernels.h"
#include "headrace/learn/tsne_math.h"

#include <cmath>
#include <limits>

namespace hr::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kLeavesOfTask = 4;
constexpr int kBoundBlocks = 64;
constexpr int kSums = 8;
constexpr int kRowsOfSum = 256;  // of the divergence, as on the CPU
constexpr int kTermsOfSum = 1024;
constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));

constexpr int kHeavyThreads = 256;
constexpr int kHeavyBlocks = 256;
constexpr int kStage = 308;  // masses at a time, as the memory of any device has room for

cudaStream_t stream_of(const DeviceCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

/// Least and largest coordinates by blocks, and whether all are finite.
struct Bounds {
  float low[kBoundBlocks][3];
  float high[kBoundBlocks][3];
  int bad;  // once it is 1 nothing moves
};

__device__ Bounds* bounds_of(const TsneArrays& all) {
  return static_cast<Bounds*>(all.bounds);
}

template <int kDimensions>
__global__ void bounds_kernel(TsneArrays all) {
  __shared__ float low[kThreads];
  __shared__ float high[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  Bounds* const bounds = bounds_of(all);
  float least[kDimensions];
  float most[kDimensions];
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) {
    least[k] = std::numeric_limits<float>::infinity();
    most[k] = -least[k];
  }
  bool bad = false;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + thread; i < all.rows;
       i += kBoundBlocks * kThreads) {
    Spot<kDimensions> spot{};
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) {
      const float value = all.from[k * all.rows + i];
      set_coordinate(spot, k, value);
      bad = bad || !isfinite(value);
      least[k] = fminf(least[k], value);
      most[k] = fmaxf(most[k], value);
    }
    spots_of<kDimensions>(all.places)[i] = spot;
  }
  if (bad) bounds->bad = 1;
  if (blockIdx.x == 0 && thread == 0) *all.heavy = 0;
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) {
    low[thread] = least[k];
    high[thread] = most[k];
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
  if (threadIdx.x < 32) {
    static_assert(kBoundBlocks == 64);
    Bounds* const bounds = bounds_of(all);
    const unsigned lane = threadIdx.x;
    float extent = 0;
    for (int k = 0; k < all.dimensions; ++k) {
      float least = fminf(bounds->low[lane][k], bounds->low[lane + 32][k]);
      float most = fmaxf(bounds->high[lane][k], bounds->high[lane + 32][k]);
      for (int apart = 16; apart > 0; apart /= 2) {
        least = fminf(least, __shfl_xor_sync(~0u, least, apart));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, apart));
      }
      if (lane == 0) low[k] = least;
      extent = fmaxf(extent, most - least);
      if (!isfinite(most - least)) bounds->bad = 1;
    }
    if (lane == 0) *all.wide = extent > 0x1p40F ? 1 : 0;
    if (lane == 0) scale = extent > 0 ? cells / extent : 0;
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

/// What walks read of a group.
__device__ void put_mass(const TsneArrays& all, int64_t index, const Group& group) {
  float4 mass = group.place;
  if (all.dimensions < 3) mass.z = group.square_extent;
  all.masses[index] = mass;
}

constexpr int kLeafThreads = 32;  // few, so that all processors have some

template <int kDimensions>
__global__ void leaves_kernel(TsneArrays all) {
  const int64_t leaf = int64_t{blockIdx.x} * kLeafThreads + threadIdx.x;
  if (leaf >= all.leaves) return;
  const int64_t begin = leaf * kLeaf;
  const auto count = static_cast<int>(min(int64_t{kLeaf}, all.rows - begin));
  const Spot<kDimensions>* const places = spots_of<kDimensions>(all.places);
  Spot<kDimensions>* const sorted = spots_of<kDimensions>(all.sorted) + begin;
  const unsigned* const numbers = all.numbers[all.order] + begin;
  Spot<kDimensions> spots[kLeaf];
#pragma unroll
  for (int i = 0; i < kLeaf; ++i)
    if (i < count) spots[i] = places[numbers[i]];
  Group group{};
  group.place.w = static_cast<float>(count);
  float mean[3] = {};
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) {
    float sum = 0;
    float least = std::numeric_limits<float>::max();
    float most = -least;
#pragma unroll
    for (int i = 0; i < kLeaf; ++i)
      if (i < count) {
        const float value = coordinate(spots[i], k);
        sum += value;
        least = fminf(least, value);
        most = fmaxf(most, value);
      }
    mean[k] = sum / group.place.w;
    group.low[k] = least;
    group.high[k] = most;
  }
#pragma unroll
  for (int i = 0; i < kLeaf; ++i)
    if (i < count) sorted[i] = spots[i];
  group.place.x = mean[0];
  group.place.y = mean[1];
  group.place.z = mean[2];
  group.set_extent();
  groups_of(all)[leaf] = group;
  put_mass(all, leaf, group);
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
      put_mass(all, all.first[level] + i, made);
    }
    __syncthreads();
  }
}

template <int kDimensions>
__global__ void __launch_bounds__(32)
    walk_kernel(const __grid_constant__ TsneArrays all, float square_angle) {
  __shared__ float4 masses[2][kHeld];
  __shared__ uint32_t open[2][kOpen];
  __shared__ Levels levels;
  if (bounds_of(all)->bad != 0) return;
  levels.read(all);
  __syncwarp();
  const int team = static_cast<int>(threadIdx.x) / kTeam;
  const int leaf = static_cast<int>(blockIdx.x) * 2 + team;
  Walk<kDimensions> walk(all, levels, open[team], square_angle, leaf < all.leaves ? leaf : -1);
  walk.run(masses[team]);
  walk.write();
}

/// What a block shares for a leaf: masses that are held, weighed and added up, and what they make
/// of each point.
struct HeavyMemory {
  float4 masses[3][kStage];
  float weights[2][kStage][kLeaf];
  float pushes[2][kStage][kLeaf];
  uint32_t open[kOpen];
  Levels levels;
  int counts[3];
};

/// Leaves with many masses: the first warp walks, some weigh what it held before, and one adds up
/// each coordinate, and one the similarities, of what was weighed before that.
template <int kDimensions>
__global__ void __launch_bounds__(kHeavyThreads)
    heavy_kernel(const __grid_constant__ TsneArrays all, float square_angle) {
  constexpr int kWeighs = kDimensions + 2;  // the first warp that weighs
  extern __shared__ float4 shared[];
  HeavyMemory& memory = *reinterpret_cast<HeavyMemory*>(shared);
  if (bounds_of(all)->bad != 0) return;
  memory.levels.read(all);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % kTeam;
  const int leaves = *all.heavy;
  for (int i = static_cast<int>(blockIdx.x); i < leaves; i += static_cast<int>(gridDim.x)) {
    const int leaf = all.heavy[1 + i];
    const int64_t begin = int64_t{leaf} * kLeaf;
    const Spot<kDimensions> spot = spots_of<kDimensions>(all.sorted)[begin + lane];
    float point[kDimensions];
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) point[k] = coordinate(spot, k);
    __syncthreads();
    Walk<kDimensions> walk(all, memory.levels, memory.open, square_angle,
                           thread < kTeam ? leaf : -1);
    __syncwarp();
    if (warp == 0) memory.counts[0] = walk.fill(memory.masses[0], kStage);
    __syncthreads();
    float sum = 0;
    for (int stage = 0;; ++stage) {
      const int now = stage % 3, before = (stage + 2) % 3, next = (stage + 1) % 3;
      const int count = memory.counts[now], weighed = stage > 0 ? memory.counts[before] : 0;
      if (count == 0 && weighed == 0) break;
      if (warp == 0) memory.counts[next] = walk.fill(memory.masses[next], kStage);
      if (warp >= kWeighs) {
        constexpr int kApart = kHeavyThreads / kTeam - 2 * kWeighs;
        visit_close(all, [&]<bool kClose>(std::bool_constant<kClose>) {
#pragma unroll 4
          for (int m = thread / kTeam - 2 * kWeighs; m < count; m += kApart) {
            const float4 mass = memory.masses[now][m];
            float apart[kDimensions];
            set_apart(point, mass, apart);
            const float2 weights = weigh<kClose>(mass, apart);
            memory.weights[stage % 2][m][lane] = weights.x;
            memory.pushes[stage % 2][m][lane] = weights.y;
          }
        });
      }
      const auto& weights = memory.weights[1 - stage % 2];
      const auto& pushes = memory.pushes[1 - stage % 2];
#pragma unroll
      for (int k = 0; k < kDimensions; ++k)
        if (warp == k + 1) {
#pragma unroll 8
          for (int m = 0; m < weighed; ++m)
            sum = fmaf(pushes[m][lane], point[k] - coordinate(memory.masses[before][m], k), sum);
        }
      if (warp == kDimensions + 1) {
#pragma unroll 8
        for (int m = 0; m < weighed; ++m) sum += weights[m][lane];
      }
      __syncthreads();
    }
    const auto points = static_cast<int>(min(int64_t{kLeaf}, all.rows - begin));
    if (warp > 0 && warp <= kDimensions && thread % 32 < points)
      all.push[(warp - 1) * all.rows + all.numbers[all.order][begin + lane]] = sum;
    if (warp != kDimensions + 1) continue;
    const double similar = add_similar(sum, points);
    if (thread % 32 == 0) all.similar[leaf] = similar;
  }
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
  const Spot<kDimensions>* __restrict__ const places = spots_of<kDimensions>(all.places);
  const Spot<kDimensions> own = places[point];
  float pull[kDimensions] = {};
  const auto add = [&]<bool kClose>(std::bool_constant<kClose>, int64_t other, float similar) {
    const Spot<kDimensions> place = places[other];
    float apart[kDimensions];
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) apart[k] = coordinate(own, k) - coordinate(place, k);
    const float weight = similar * decay<kClose>(apart);
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) pull[k] = fmaf(weight, apart[k], pull[k]);
  };
  const int64_t begin = all.begins[point];
  const int64_t end = all.begins[point + 1];
  const int64_t whole = begin + (end - begin) / kSums * kSums;
  visit_close(all, [&](auto close) {
#pragma unroll 4
    for (int64_t e = begin + lane; e < whole; e += kSums)
      add(close, all.others[e], all.affinities[e]);
    if (whole < end) {
      const bool there = whole + lane < end;
      add(close, there ? all.others[whole + lane] : 0, there ? all.affinities[whole + lane] : 0.0F);
    }
  });
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
    all.to[at] = coordinate(own, k) + next;
    all.slope[at] = slope;
  }
}

__global__ void begin_kernel(TsneArrays all) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= all.rows * all.dimensions) return;
  all.speed[i] = 0;
  all.gain[i] = 1;
}

/// The sum of p (log(p) - log(q)) over the entries of a block of rows, in order, q without its
/// scale.
template <int kDimensions>
__global__ void divergence_kernel(TsneArrays all) {
  __shared__ double terms[kTermsOfSum];
  __shared__ int64_t begins[kRowsOfSum + 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t first = int64_t{blockIdx.x} * kRowsOfSum;
  const auto rows = static_cast<int>(min(int64_t{kRowsOfSum}, all.rows - first));
  for (int i = thread; i <= rows; i += kThreads) begins[i] = all.begins[first + i];
  __syncthreads();
  const Spot<kDimensions>* const places = spots_of<kDimensions>(all.places);
  constexpr double kFreedom = kDimensions == 3 ? 2 : 1;
  double sum = 0;
  for (int64_t at = begins[0]; at < begins[rows]; at += kTermsOfSum) {
    const auto count = static_cast<int>(min(int64_t{kTermsOfSum}, begins[rows] - at));
    for (int i = thread; i < count; i += kThreads) {
      int row = 0;  // the last that begins here or before
      for (int step = kRowsOfSum / 2; step > 0; step /= 2)
        if (row + step < rows && begins[row + step] <= at + i) row += step;
      const Spot<kDimensions> own = places[first + row];
      const Spot<kDimensions> other = places[all.others[at + i]];
      double apart = 0;
#pragma unroll
      for (int k = 0; k < kDimensions; ++k) {
        const double difference =
            static_cast<double>(coordinate(own, k)) - static_cast<double>(coordinate(other, k));
        apart += difference * difference;
      }
      apart /= kFreedom;
      const auto value = static_cast<double>(all.affinities[at + i]);
      terms[i] =
          value * (vmath::log(Lane(value)).v + (kFreedom + 1) / 2 * vmath::log1p(Lane(apart)).v);
    }
    __syncthreads();
    if (thread == 0) {
#pragma unroll 16
      for (int i = 0; i < count; ++i) sum += terms[i];
    }
    __syncthreads();
  }
  if (thread == 0) all.divergence[blockIdx.x] = sum;
}

__global__ void read_kernel(TsneArrays all, const float* __restrict__ init) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= all.rows * all.dimensions) return;
  all.from[i % all.dimensions * all.rows + i / all.dimensions] = init[i];
}

__global__ void write_kernel(TsneArrays all, float* __restrict__ embedding) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= all.rows * all.dimensions) return;
  embedding[i] = all.from[i % all.dimensions * all.rows + i / all.dimensions];
}

}  // namespace

TsneDescent::~TsneDescent() = default;

TsneDescent::TsneDescent(const Tensor& indices, const Tensor& distances, double entropy,
                         const Tensor& init, double angle)
    : call_("tsne_fit", init.place()), place_(init.place()), all_(std::make_unique<TsneArrays>()) {
  TsneArrays& all = *all_;
  const int64_t rows = init.shape()[0];
  all.rows = rows;
  all.dimensions = static_cast<int>(init.shape()[1]);
  all.leaves = (rows + kLeaf - 1) / kLeaf;
  const auto single = static_cast<float>(angle);
  square_angle_ = single * single;
  int groups = 0;
  for (auto size = static_cast<int>(all.leaves);; size = (size + kFan - 1) / kFan) {
    all.first[all.levels] = groups;
    all.size[all.levels++] = size;
    groups += size;
    if (size <= kFan) break;
  }
  join(indices, distances, entropy);
  const int64_t size = rows * all.dimensions;
  for (float** each : {&all.from, &all.to, &all.speed, &all.gain, &all.push, &all.slope})
    room(*each, size);
  const int64_t padded = all.leaves * kLeaf;
  for (void** each : {&all.places, &all.sorted}) {
    float* spots = nullptr;
    room(spots, 4 * padded);
    *each = spots;
    call_.fill(reinterpret_cast<std::byte*>(spots), 0, 4 * padded * kFloat);
  }
  for (int i = 0; i < 2; ++i) {
    room(all.keys[i], rows);
    room(all.numbers[i], rows);
  }
  room(all.heavy, all.leaves + 1);
  room(all.wide, 1);
  visit_dimensions(all.dimensions, [&]<int k>(std::integral_constant<int, k>) {
    check_cuda("tsne_fit",
               cudaFuncSetAttribute(heavy_kernel<k>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sizeof(HeavyMemory))));
  });
  room(all.similar, all.leaves + 1);
  room(all.divergence, blocks_of(rows, kRowsOfSum));
  room(all.repulsion, 1);
  Group* nodes = nullptr;
  room(nodes, groups);
  all.groups = nodes;
  room(all.masses, groups);
  Bounds* bounds = nullptr;
  room(bounds, 1);
  all.bounds = bounds;
  call_.fill(reinterpret_cast<std::byte*>(bounds), 0, sizeof(Bounds));
  call_.reads(init.buffer());
  read_kernel<<<blocks_of(size, kThreads), kThreads, 0, stream_of(call_)>>>(all, init.as<float>());
}

template <class T>
void TsneDescent::room(T*& where, int64_t count) {
  held_.push_back(call_.scratch(count * static_cast<int64_t>(sizeof(T))));
  where = call_.writes_as<T>(held_.back());
}

/// Affinities of neighbours.
void TsneDescent::join(const Tensor& indices, const Tensor& distances, double entropy) {
  TsneArrays& all = *all_;
  call_.reads(indices.buffer());
  call_.reads(distances.buffer());
  const int64_t count = indices.shape()[1];
  const Buffer weights = entropy_weights(call_, distances.as<double>(), all.rows, count, entropy);
  JoinedGraph graph =
      summed_graph(call_, indices.as<int64_t>(), weights.as<float>(), all.rows, count);
  all.begins = graph.begins.as<int64_t>();
  all.others = graph.others.as<int32_t>();
  all.affinities = graph.weights.as<float>();
  for (Buffer* each : {&graph.begins, &graph.others, &graph.weights})
    held_.push_back(std::move(*each));
}

void TsneDescent::begin() {
  begin_kernel<<<blocks_of(all_->rows * all_->dimensions, kThreads), kThreads, 0,
                 stream_of(call_)>>>(*all_);
}

void TsneDescent::repel(double factor) {
  TsneArrays& all = *all_;
  const cudaStream_t stream = stream_of(call_);
  const unsigned blocks = blocks_of(all.rows, kThreads);
  visit_dimensions(all.dimensions, [&]<int k>(std::integral_constant<int, k>) {
    bounds_kernel<k><<<kBoundBlocks, kThreads, 0, stream>>>(all);
    keys_kernel<<<blocks, kThreads, 0, stream>>>(all);
    const int bits = k == 1 ? 16 : k == 2 ? 32 : 30;
    all.order = sort_pairs(call_, all.keys, all.numbers, all.rows, bits);
    leaves_kernel<k><<<blocks_of(all.leaves, kLeafThreads), kLeafThreads, 0, stream>>>(all);
    levels_kernel<<<1, 1024, 0, stream>>>(all);
    walk_kernel<k><<<blocks_of(all.leaves, 2), 32, 0, stream>>>(all, square_angle_);
    heavy_kernel<k>
        <<<kHeavyBlocks, kHeavyThreads, sizeof(HeavyMemory), stream>>>(all, square_angle_);
  });
  total_kernel<<<1, 1024, 0, stream>>>(all, factor);
}

void TsneDescent::move(float attraction, float momentum, float learning_rate) {
  TsneArrays& all = *all_;
  visit_dimensions(all.dimensions, [&]<int k>(std::integral_constant<int, k>) {
    move_kernel<k><<<blocks_of(all.rows * kSums, kThreads), kThreads, 0, stream_of(call_)>>>(
        all, attraction, momentum, learning_rate);
  });
  std::swap(all.from, all.to);
}

double TsneDescent::similar() {
  call_.finish(cudaGetLastError());
  int bad = 0;
  call_.fetch(&bad, &static_cast<Bounds*>(all_->bounds)->bad, sizeof bad);
  double sum = 0;
  call_.fetch(&sum, all_->similar + all_->leaves, sizeof sum);
  return bad != 0 ? std::numeric_limits<double>::quiet_NaN() : sum;
}

void TsneDescent::divergences(double* out) {
  const TsneArrays& all = *all_;
  const unsigned blocks = blocks_of(all.rows, kRowsOfSum);
  visit_dimensions(all.dimensions, [&]<int k>(std::integral_constant<int, k>) {
    divergence_kernel<k><<<blocks, kThreads, 0, stream_of(call_)>>>(all);
  });
  call_.fetch(out, all.divergence, blocks * static_cast<int64_t>(sizeof(double)));
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
