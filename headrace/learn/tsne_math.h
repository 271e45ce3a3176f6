// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: points, groups of points, how near they are, and the walk of the groups.
#pragma once
#include "headrace/data/device_launch.h"
#include "headrace/learn/tsne_kernels.h"

#include <type_traits>

namespace hr::cuda {

inline constexpr int kLeaf = static_cast<int>(PointTree::kLeaf);
inline constexpr int kFan = 4;  // groups that make one of the next level
inline constexpr int kMostLevels = 16;

/// The place of a point.
template <int kDimensions>
using Spot = std::conditional_t<kDimensions == 3, float4, float2>;

template <class S>
__device__ __forceinline__ float coordinate(const S& at, int k) {
  if constexpr (std::is_same_v<S, float4>)
    return k == 0 ? at.x : k == 1 ? at.y : at.z;
  else
    return k == 0 ? at.x : at.y;
}

template <class S>
__device__ __forceinline__ void set_coordinate(S& at, int k, float value) {
  if (k == 0) at.x = value;
  if (k == 1) at.y = value;
  if constexpr (std::is_same_v<S, float4>)
    if (k == 2) at.z = value;
}

/// Calls f with the number of dimensions as a constant.
template <class F>
void visit_dimensions(int dimensions, const F& f) {
  if (dimensions == 1) return f(std::integral_constant<int, 1>());
  if (dimensions == 2) return f(std::integral_constant<int, 2>());
  return f(std::integral_constant<int, 3>());
}

/// 1 / x for x from 1 to 2^126, rounded as a division does, without its branch for other numbers,
/// around which instructions cannot move.
__device__ __forceinline__ float inverse(float x) {
  float made;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(made) : "f"(x));
  return fmaf(made, fmaf(-x, made, 1), made);
}

/// One over 1 + the square of a distance over the degrees of freedom. `kClose`: no distance is
/// above 2^41.
template <bool kClose, int kDimensions>
__device__ __forceinline__ float decay(const float (&apart)[kDimensions]) {
  float square = apart[0] * apart[0];
#pragma unroll
  for (int k = 1; k < kDimensions; ++k) square = fmaf(apart[k], apart[k], square);
  const float sum = kDimensions == 3 ? fmaf(square, 0.5F, 1) : 1 + square;
  return kClose ? inverse(sum) : 1 / sum;
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

/// What the kernels share.
struct TsneArrays {
  int64_t rows;
  int64_t leaves;
  int dimensions;
  int levels;
  int first[kMostLevels];  // group of each level
  int size[kMostLevels];
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
  int* wide;  // 1: points are up to more than 2^40 apart in a coordinate
  float4*
      masses;  // of groups: mean and mass; in up to two dimensions z is the square of the extent
  void* bounds;
  int* heavy;       // how many leaves a team left to blocks of threads, and which
  double* similar;  // of leaves; the last is the sum
  float* repulsion;
  const int64_t* begins;
  const int32_t* others;
  const float* affinities;
  double* divergence;  // of blocks of rows
};

inline __device__ Group* groups_of(const TsneArrays& all) {
  return static_cast<Group*>(all.groups);
}

template <int kDimensions>
__device__ Spot<kDimensions>* spots_of(void* at) {
  return static_cast<Spot<kDimensions>*>(at);
}

/// Calls f with whether points are so close that `decay` needs no division.
template <class F>
__device__ __forceinline__ void visit_close(const TsneArrays& all, const F& f) {
  if (*all.wide != 0)
    f(std::false_type());
  else
    f(std::true_type());
}

// ---- the walk ---------------------------------------------------------------------------------

// A team of 16 lanes walks for one leaf, a lane to each of its points; a warp is two teams.
inline constexpr int kTeam = kLeaf;
inline constexpr int kOpen = 320;    // groups that wait
inline constexpr int kHeld = 452;    // masses to add up, of teams in different banks of memory
inline constexpr int kLight = 3072;  // masses that a team adds up alone
/// Which groups are of which level.
struct Levels {
  int first[kMostLevels];
  int size[kMostLevels];

  /// All threads of a block.
  __device__ void read(const TsneArrays& all) {
    if (threadIdx.x >= kMostLevels) return;
    first[threadIdx.x] = all.first[threadIdx.x];
    size[threadIdx.x] = all.size[threadIdx.x];
  }
};

// A group that waits is 27 bits of its index and four of its level, and one that says that its
// children are not needed.
inline constexpr int kIndexBits = 27;
inline constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
inline constexpr uint32_t kLevelMask = 15;
inline constexpr uint32_t kDone = 1u << 31;
inline constexpr uint32_t kPoints = kDone | kLevelMask
                                                << kIndexBits;  // a leaf whose points count each

/// A mass and a point: the similarity, and what it is times the distance's decay.
template <bool kClose, int kDimensions>
__device__ __forceinline__ float2 weigh(const float4& mass, const float (&apart)[kDimensions]) {
  const float near = decay<kClose>(apart);
  float weight = mass.w * near;
  if constexpr (kDimensions == 3) weight *= sqrtf(near);
  return {weight, weight * near};
}

template <int kDimensions>
__device__ __forceinline__ void set_apart(const float (&point)[kDimensions], const float4& mass,
                                          float (&apart)[kDimensions]) {
#pragma unroll
  for (int k = 0; k < kDimensions; ++k) apart[k] = point[k] - coordinate(mass, k);
}

/// The sum over the points of a leaf, which lanes of a warp have, in order.
inline __device__ double add_similar(float total, int points) {
  double similar = 0;
  for (int i = 0; i < kLeaf; ++i) {
    const double own = static_cast<double>(__shfl_sync(~0u, total, i, kTeam)) - 1;
    if (i < points) similar += own;
  }
  return similar;
}

/// What repels the points of a leaf, in the order of the curve. A team tests the next 16 groups
/// at a time: those that count as one, or are leaves, wait among the children of the others, and
/// are taken once they come first. No leaf (-1) has nothing to do.
template <int kDimensions>
class Walk {
 public:
  /// `open` has room for kOpen.
  __device__ Walk(const TsneArrays& all, const Levels& levels, uint32_t* open, float square_angle,
                  int leaf)
      : all_(all),
        levels_(levels),
        open_(open),
        square_angle_(square_angle),
        lane_(static_cast<int>(threadIdx.x) % kTeam),
        team_(static_cast<int>(threadIdx.x) / kTeam % 2),
        leaf_(leaf) {
    if (leaf_ < 0) return;
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
    count_ = levels.size[top];
    if (lane_ < count_) open[count_ - 1 - lane_] = static_cast<uint32_t>(top << kIndexBits | lane_);
  }

  /// `masses` has room for kHeld.
  __device__ void run(float4* masses) {
    __syncwarp();
    int seen = 0;
    while (__any_sync(~0u, count_ > 0)) {
      fill(masses, kHeld);
      seen += held_;
      visit_close(all_, [&]<bool kClose>(std::bool_constant<kClose>) { add_up<kClose>(); });
      if (seen > kLight && count_ > 0) leave();
    }
  }

  /// Holds the masses that come next, at most `most`; returns how many the first team has.
  __device__ int fill(float4* to, int most) {
    const int ready = most - kTeam * kLeaf;
    masses_ = to;
    held_ = 0;
    while (__any_sync(~0u, count_ > 0) && !__any_sync(~0u, held_ > ready)) step();
    return __shfl_sync(~0u, held_, 0);
  }

  __device__ void write() {
    const int points = leaf_ < 0 ? 0 : points_in(leaf_);
    if (lane_ < points) {
      const unsigned number = all_.numbers[all_.order][leaf_ * int64_t{kLeaf} + lane_];
#pragma unroll
      for (int k = 0; k < kDimensions; ++k) all_.push[k * all_.rows + number] = push_[k];
    }
    const double similar = add_similar(total_, points);
    if (lane_ == 0 && points > 0) all_.similar[leaf_] = similar;
  }

 private:
  __device__ int points_in(int leaf) const {
    return static_cast<int>(min(int64_t{kLeaf}, all_.rows - int64_t{leaf} * kLeaf));
  }

  /// To a block of threads: the other warps would wait for this one.
  __device__ void leave() {
    if (lane_ == 0) all_.heavy[1 + atomicAdd(all_.heavy, 1)] = leaf_;
    leaf_ = -1;
    count_ = 0;
  }

  __device__ unsigned votes(bool vote) const {
    return __ballot_sync(~0u, vote) >> (team_ * kTeam) & 0xFFFFu;
  }

  __device__ bool is_far(int level, int index) const {
    if (leaf_ >> (2 * level) == index) return false;
    const int at = levels_.first[level] + index;
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
    const bool there = lane_ < taken;
    uint32_t entry = there ? open_[count_ - 1 - lane_] : 0;
    int slots = there ? 1 : 0;
    if (there && (entry & kDone) == 0) {
      const int level = static_cast<int>(entry >> kIndexBits);
      const int index = static_cast<int>(entry & kIndexMask);
      if (is_far(level, index))
        entry |= kDone;
      else if (level == 0)
        entry |= kPoints;
      else
        slots = min(kFan, levels_.size[level - 1] - index * kFan);
    }
    const bool done = (entry & kDone) != 0;
    const int first = __ffs(static_cast<int>(~votes(done))) - 1;  // that is not taken now
    put_back(entry, lane_ < first ? 0 : slots, taken);
    take(entry, lane_ < first, first);
  }

  /// What waits again, or its children: the first of them at the end.
  __device__ void put_back(uint32_t entry, int slots, int taken) {
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
      open_[at + slots - 1 - s] =
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
    if (mine && !points) {
      const int level = static_cast<int>(entry >> kIndexBits & kLevelMask);
      masses_[at] = all_.masses[levels_.first[level] + index];
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
        masses_[to[i]] = mass;
      }
    }
  }

  /// What is held; the team with less adds up points of its own that weigh nothing.
  template <bool kClose>
  __device__ void add_up() {
    constexpr int kTogether = 4;
    const int most = max(held_, __shfl_xor_sync(~0u, held_, kTeam));
    const int count = (most + kTogether - 1) / kTogether * kTogether;
    float4 nothing{};
#pragma unroll
    for (int k = 0; k < kDimensions; ++k) set_coordinate(nothing, k, point_[k]);
    for (int i = held_ + lane_; i < count; i += kTeam) masses_[i] = nothing;
    __syncwarp();
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
      const float4 mass = masses_[i];
      float apart[kDimensions];
      set_apart(point_, mass, apart);
      const float2 weights = weigh<kClose>(mass, apart);
      total_ += weights.x;
#pragma unroll
      for (int k = 0; k < kDimensions; ++k) push_[k] = fmaf(weights.y, apart[k], push_[k]);
    }
    __syncwarp();
  }

  const TsneArrays& all_;
  const Levels& levels_;
  uint32_t* open_;
  float square_angle_;
  int lane_;
  int team_;
  int leaf_;
  float4* masses_ = nullptr;
  int count_ = 0;  // of those that wait
  int held_ = 0;
  float low_[kDimensions];
  float high_[kDimensions];
  float point_[kDimensions] = {};
  float push_[kDimensions] = {};
  float total_ = 0;
};

}  // namespace hr::cuda
