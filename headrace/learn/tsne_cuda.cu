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
constexpr int kLeaf = static_cast<int>(PointTree::kLeaf);
constexpr int kFan = 4;
constexpr int kLeavesOfTask = 4;
constexpr int kBoundBlocks = 64;
constexpr int kSums = 8;
constexpr int kRowsOfSum = 256;  // of the divergence, as on the CPU
constexpr int kTermsOfSum = 1024;
constexpr int kMostLevels = 16;
constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));

// A team of 16 lanes walks for one leaf, a lane to each of its points; a warp is two teams.
constexpr int kTeam = kLeaf;
constexpr int kOpen = 320;  // groups that wait
constexpr int kHeld = 452;  // masses to add up: so many that the teams read different banks
constexpr int kReady = kHeld - kTeam * kLeaf;

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
  int first[16];  // group of each level
  int size[16];
  float* from;  // coordinate k of point i at [k * rows + i], as of all below
  float* to;
  float* speed;
  float* gain;
  float* push;
  float* slope;
  void* places;  // Spots of the points
  void* sorted;  // and in the order of the curve, [16 leaves]
  unsigned* keys[2];
  unsigned* numbers[2];
  int order;  // which of two numbers the points have in that order
  void* groups;
  float4*
      masses;  // of groups: mean and mass; in up to two dimensions z is the square of the extent
  void* bounds;
  double* similar;  // of leaves; the last is the sum
  float* repulsion;
  const int64_t* begins;
  const int32_t* others;
  const float* affinities;
  double* divergence;  // of blocks of rows
};

namespace {

__device__ Group* groups_of(const TsneArrays& all) {
  return static_cast<Group*>(all.groups);
}

__device__ Bounds* bounds_of(const TsneArrays& all) {
  return static_cast<Bounds*>(all.bounds);
}

template <int kDimensions>
__device__ Spot<kDimensions>* spots_of(void* at) {
  return static_cast<Spot<kDimensions>*>(at);
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

/// What a warp, two teams, shares while it walks. A group that waits is 27 bits of its index and
/// four of its level, and one that says that its children are not needed.
struct WalkMemory {
  float4 masses[2][kHeld];
  uint32_t open[2][kOpen];
  int first[kMostLevels];
  int size[kMostLevels];
};

constexpr int kIndexBits = 27;
constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
constexpr uint32_t kLevelMask = 15;
constexpr uint32_t kDone = 1u << 31;
constexpr uint32_t kPoints = kDone | kLevelMask << kIndexBits;  // a leaf whose points count each

/// What repels the points of a leaf, in the order of the curve. A team looks at the next 16 groups
/// at a time: those that count as one, or are leaves, wait among the children of the others, and
/// are taken once they come first.
template <int kDimensions>
class Walk {
 public:
  __device__ Walk(const TsneArrays& all, WalkMemory& memory, float square_angle)
      : all_(all),
        memory_(memory),
        square_angle_(square_angle),
        lane_(static_cast<int>(threadIdx.x) % kTeam),
        team_(static_cast<int>(threadIdx.x) / kTeam),
        leaf_(static_cast<int>(blockIdx.x) * 2 + team_) {
    if (leaf_ >= all.leaves) return;
    const Group& own = groups_of(all)[leaf_];
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) {
      low_[k] = own.low[k];
      high_[k] = own.high[k];
    }
    const Spot<kDimensions> spot =
        spots_of<kDimensions>(all.sorted)[leaf_ * int64_t{kLeaf} + lane_];
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) point_[k] = coordinate(spot, k);
    const int top = all.levels - 1;
    count_ = memory.size[top];
    if (lane_ < count_)
      memory.open[team_][count_ - 1 - lane_] = static_cast<uint32_t>(top << kIndexBits | lane_);
  }

  __device__ void run() {
    __syncwarp();
    while (__any_sync(~0u, count_ > 0)) {
      step();
      if (__any_sync(~0u, held_ > kReady)) add_up();
    }
    add_up();
  }

  __device__ void write() {
    const int points = leaf_ < all_.leaves ? points_in(leaf_) : 0;
    if (lane_ < points) {
      const unsigned number = all_.numbers[all_.order][leaf_ * int64_t{kLeaf} + lane_];
#pragma unroll
      for (int k = 0; k < kDimensions; ++k) all_.push[k * all_.rows + number] = push_[k];
    }
    double similar = 0;
    for (int i = 0; i < kLeaf; ++i) {
      const double own = static_cast<double>(__shfl_sync(~0u, total_, i, kTeam)) - 1;
      if (i < points) similar += own;
    }
    if (lane_ == 0 && points > 0) all_.similar[leaf_] = similar;
  }

 private:
  __device__ int points_in(int leaf) const {
    return static_cast<int>(min(int64_t{kLeaf}, all_.rows - int64_t{leaf} * kLeaf));
  }

  __device__ unsigned votes(bool vote) const {
    return __ballot_sync(~0u, vote) >> (team_ * kTeam) & 0xFFFFu;
  }

  __device__ bool is_far(int level, int index) const {
    if (leaf_ >> (2 * level) == index) return false;
    const int at = memory_.first[level] + index;
    const float4 mass = all_.masses[at];
    float square = 0;
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) {
      const float place = coordinate(mass, k);
      const float apart = fmaxf(fmaxf(low_[k] - place, place - high_[k]), 0);
      square += apart * apart;
    }
    const float extent = kDimensions < 3 ? mass.z : groups_of(all_)[at].square_extent;
    return extent < square_angle_ * square;
  }

  __device__ void step() {
    // With little room one at a time: three more wait for each level below.
    const int room = kOpen - (kFan - 1) * all_.levels - count_;
    const int taken = min(min(kTeam, count_), max(1, room / (kFan - 1)));
    uint32_t* const open = memory_.open[team_];
    const bool there = lane_ < taken;
    uint32_t entry = there ? open[count_ - 1 - lane_] : 0;
    int slots = there ? 1 : 0;
    if (there && (entry & kDone) == 0) {
      const int level = static_cast<int>(entry >> kIndexBits);
      const int index = static_cast<int>(entry & kIndexMask);
      if (is_far(level, index))
        entry |= kDone;
      else if (level == 0)
        entry |= kPoints;
      else
        slots = min(kFan, memory_.size[level - 1] - index * kFan);
    }
    const bool done = (entry & kDone) != 0;
    const int first = __ffs(static_cast<int>(~votes(done))) - 1;  // that is not taken now
    put_back(open, entry, lane_ < first ? 0 : slots, taken);
    take(entry, lane_ < first, first);
  }

  /// What waits again, or its children: the first of them at the end.
  __device__ void put_back(uint32_t* open, uint32_t entry, int slots, int taken) {
    int at = count_ - taken;
    count_ = at;
#pragma unroll
    for (int bit = 0; bit < 3; ++bit) {
      const unsigned with = votes((slots >> bit & 1) != 0);
      at += __popc(with >> lane_ >> 1) << bit;
      count_ += __popc(with) << bit;
    }
    __syncwarp();
    const bool done = (entry & kDone) != 0;
    const uint32_t child = (entry >> kIndexBits) - 1;
    for (int s = 0; s < slots; ++s)
      open[at + slots - 1 - s] =
          done ? entry
               : child << kIndexBits | ((entry & kIndexMask) * kFan + static_cast<uint32_t>(s));
    __syncwarp();
  }

  /// Holds the masses of the `first` entries of the team.
  __device__ void take(uint32_t entry, bool mine, int first) {
    const int index = static_cast<int>(entry & kIndexMask);
    const bool points = entry >= kPoints;
    int count = !mine ? 0 : points ? points_in(index) : 1;
    int end = count;
#pragma unroll
    for (int apart = 1; apart < kTeam; apart *= 2) {
      const int left = __shfl_up_sync(~0u, end, apart, kTeam);
      if (lane_ >= apart) end += left;
    }
    const int at = held_ + end - count;
    held_ += __shfl_sync(~0u, end, kTeam - 1, kTeam);
    float4* const masses = memory_.masses[team_];
    if (mine && !points) {
      const int level = static_cast<int>(entry >> kIndexBits & kLevelMask);
      masses[at] = all_.masses[memory_.first[level] + index];
      count = 0;
    }
    constexpr int kTogether = 4;
    const unsigned leaves = votes(count > 0);
    const int most = max(first, __shfl_xor_sync(~0u, first, kTeam));
    for (int begin = 0; begin < most; begin += kTogether) {
      if (!__any_sync(~0u, (leaves >> begin & ((1u << kTogether) - 1)) != 0)) continue;
      Spot<kDimensions> spots[kTogether];
      int to[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int64_t from = __shfl_sync(~0u, index, begin + i, kTeam);
        to[i] = __shfl_sync(~0u, at, begin + i, kTeam) + lane_;
        if (lane_ >= __shfl_sync(~0u, count, begin + i, kTeam))
          to[i] = -1;
        else
          spots[i] = spots_of<kDimensions>(all_.sorted)[from * kLeaf + lane_];
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        if (to[i] < 0) continue;
        float4 mass{spots[i].x, spots[i].y, 0, 1};
        if constexpr (kDimensions == 3) mass.z = spots[i].z;
        masses[to[i]] = mass;
      }
    }
  }

  __device__ void add_up() {
    constexpr int kTogether = 4;
    const int most = max(held_, __shfl_xor_sync(~0u, held_, kTeam));
    const int count = (most + kTogether - 1) / kTogether * kTogether;
    float4* const masses = memory_.masses[team_];
    for (int i = held_ + lane_; i < count; i += kTeam) masses[i] = {0, 0, 0, 0};
    held_ = 0;
    __syncwarp();
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
      const float4 mass = masses[i];
      float apart[kDimensions];
#pragma unroll
      for (int k = 0; k < kDimensions; ++k) apart[k] = point_[k] - coordinate(mass, k);
      const float near = decay<kDimensions>(apart);
      float weight = mass.w * near;
      if constexpr (kDimensions == 3) weight *= sqrtf(near);
      total_ += weight;
      weight *= near;
#pragma unroll
      for (int k = 0; k < kDimensions; ++k) push_[k] = fmaf(weight, apart[k], push_[k]);
    }
    __syncwarp();
  }

  const TsneArrays& all_;
  WalkMemory& memory_;
  float square_angle_;
  int lane_;
  int team_;
  int leaf_;
  int count_ = 0;  // of those that wait
  int held_ = 0;
  float low_[kDimensions];
  float high_[kDimensions];
  float point_[kDimensions] = {};
  float push_[kDimensions] = {};
  float total_ = 0;
};

template <int kDimensions>
__global__ void __launch_bounds__(32)
    walk_kernel(const __grid_constant__ TsneArrays all, float square_angle) {
  __shared__ WalkMemory memory;
  if (bounds_of(all)->bad != 0) return;
  if (threadIdx.x < kMostLevels) {
    memory.first[threadIdx.x] = all.first[threadIdx.x];
    memory.size[threadIdx.x] = all.size[threadIdx.x];
  }
  __syncwarp();
  Walk<kDimensions> walk(all, memory, square_angle);
  walk.run();
  walk.write();
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
  const auto add = [&](int64_t other, float similar) {
    const Spot<kDimensions> place = places[other];
    float apart[kDimensions];
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) apart[k] = coordinate(own, k) - coordinate(place, k);
    const float weight = similar * decay<kDimensions>(apart);
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) pull[k] = fmaf(weight, apart[k], pull[k]);
  };
  const int64_t begin = all.begins[point];
  const int64_t end = all.begins[point + 1];
  const int64_t whole = begin + (end - begin) / kSums * kSums;
#pragma unroll 4
  for (int64_t e = begin + lane; e < whole; e += kSums) add(all.others[e], all.affinities[e]);
  if (whole < end) {
    const bool there = whole + lane < end;
    add(there ? all.others[whole + lane] : 0, there ? all.affinities[whole + lane] : 0.0F);
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
