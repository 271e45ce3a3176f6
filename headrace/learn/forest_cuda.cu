// SPDX-License-Identifier: Apache-2.0
// All trees of a batch grow together, level by level: a warp or a block of threads has a node, adds
// its rows up by bin, finds the split and divides the rows. All that is summed is integer and draws
// are keyed by the way to a node, so the trees are the CPU's.
#include "headrace/data/device_launch.h"
#include "headrace/data/shared_memory.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/learn/forest_kernels.h"

#include <limits>

namespace hr::cuda {
namespace {

constexpr int kCodes = kForestBins + 1;
constexpr int kBlock = 512;                        // threads of a large node
constexpr int kWarps = 4;                          // most small nodes of a block of threads
constexpr uint32_t kSmall = 2048;                  // most rows of a small node
constexpr int64_t kBatchBytes = int64_t{4} << 30;  // of trees that grow together
constexpr double kNone = -std::numeric_limits<double>::infinity();

/// A node of a tree that grows; `left` and the next one are its children, 0: a leaf.
struct Node {
  uint64_t key;
  double threshold;
  double gain;
  uint32_t tree;
  uint32_t begin;
  uint32_t end;
  uint32_t left;
  int32_t feature;
  int32_t missing_left;
};

/// What the kernels read and write.
struct Grove {
  const uint8_t* codes;
  const double* low;
  const double* high;
  const double* y;
  const uint8_t* labels;
  const int64_t* deviation;
  uint32_t rows;
  int features;
  int max_features;
  int classes;
  int64_t first_tree;
  uint64_t seed;
  uint32_t min_split;
  uint32_t min_leaf;
  double min_weight_fraction;
  double min_decrease;
  double center;
  double unit;
  uint64_t* items[2];  // of each tree: how often a row was drawn, and the row
  Node* nodes;
  double* values;
  double* root_weights;
  uint32_t* large;     // numbers of large nodes of the next level
  uint32_t* counters;  // nodes, large nodes of the next level
};

__device__ uint32_t count_of(uint64_t item) {
  return static_cast<uint32_t>(item >> 32);
}

__device__ uint32_t row_of(uint64_t item) {
  return static_cast<uint32_t>(item);
}

__global__ void draw_kernel(uint32_t* counts, int64_t rows, int64_t draws, uint64_t seed,
                            int64_t first_tree) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= (draws + 1) / 2) return;
  const auto tree = static_cast<uint32_t>(first_tree + blockIdx.y);
  const PhiloxBlock block = philox_block({seed, 2 * tree}, static_cast<uint64_t>(i));
  for (int half = 0; half < 2 && 2 * i + half < draws; ++half)
    atomicAdd(counts + blockIdx.y * rows +
                  __umul64hi(philox_word(block, half), static_cast<uint64_t>(rows)),
              1u);
}

/// How many threads of a team before this one have `flag`, and in `all` how many in the team.
template <int kTeam>
__device__ int rank_in_team(bool flag, uint32_t* room, int* all) {
  const int thread = static_cast<int>(threadIdx.x) % kTeam, lane = thread % 32;
  const unsigned votes = __ballot_sync(~0u, flag);
  int rank = __popc(votes & ((1u << lane) - 1));
  if constexpr (kTeam == 32) {
    *all = __popc(votes);
    return rank;
  }
  if (lane == 0) room[thread / 32] = __popc(votes);
  __syncthreads();
  int sum = 0;
  for (int warp = 0; warp < kTeam / 32; ++warp) {
    if (warp == thread / 32) rank += sum;
    sum += static_cast<int>(room[warp]);
  }
  *all = sum;
  __syncthreads();
  return rank;
}

/// The rows that a tree drew, in order, and its root.
__global__ void root_kernel(Grove grove, const uint32_t* counts) {
  __shared__ uint32_t room[kBlock / 32];
  const uint32_t tree = blockIdx.x, rows = grove.rows;
  uint64_t* const out = grove.items[0] + uint64_t{tree} * rows;
  uint32_t size = 0;
  for (uint32_t first = 0; first < rows; first += kBlock) {
    const uint32_t row = first + threadIdx.x;
    const uint32_t count = row >= rows         ? 0
                           : counts == nullptr ? 1
                                               : counts[uint64_t{tree} * rows + row];
    int all = 0;
    const int rank = rank_in_team<kBlock>(count > 0, room, &all);
    if (count > 0) out[size + rank] = uint64_t{count} << 32 | row;
    size += all;
  }
  if (threadIdx.x != 0) return;
  grove.nodes[tree] = {1, 0, 0, tree, 0, size, 0, -1, 0};
  if (size > kSmall) grove.large[atomicAdd(grove.counters + 1, 1u)] = tree;
}

struct Split {
  double score;
  int feature;
  int bin;   // the last that goes left
  int next;  // the bin behind it that has rows, kCodes for none
  uint32_t left_count;
  bool has_missing;
  bool missing_left;
};

/// Integers of both halves, which atomics of 32 bits add.
struct Halves {
  uint32_t low[kCodes];
  uint32_t high[kCodes];

  __device__ void add(int place, int64_t value) {
    const auto less = static_cast<uint32_t>(value);
    const uint32_t before = atomicAdd(low + place, less);
    const uint32_t carry = before + less < before ? 1 : 0;
    atomicAdd(high + place, static_cast<uint32_t>(value >> 32) + carry);
  }

  __device__ int64_t get(int place) const {
    return static_cast<int64_t>(uint64_t{high[place]} << 32 | low[place]);
  }

  __device__ void set(int place, int64_t value) {
    low[place] = static_cast<uint32_t>(value);
    high[place] = static_cast<uint32_t>(value >> 32);
  }
};

/// Shared memory of a team: behind it the weights by bin and class, then the draws of features.
struct Room {
  uint64_t least;  // of the targets, as integers in their order
  uint64_t greatest;
  double sum;
  Split best;
  bool varies;
  uint32_t ranks[kBlock / 32];
  uint32_t counts[kCodes];
  alignas(8) Halves sums;
};

__host__ __device__ constexpr int room_bytes(int classes, int features) {
  return (static_cast<int>(sizeof(Room)) + (kCodes * classes + features) * 4 + 15) / 16 * 16;
}

__device__ uint64_t ordered(double value) {
  const auto bits = static_cast<uint64_t>(__double_as_longlong(value));
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}

__device__ double from_ordered(uint64_t bits) {
  return __longlong_as_double(
      static_cast<int64_t>(bits >> 63 != 0 ? bits & ~(uint64_t{1} << 63) : ~bits));
}

template <int kTeam, bool kTargets>
class Team {
 public:
  __device__ Team(const Grove& grove, char* shared)
      : g_(grove),
        room_(*reinterpret_cast<Room*>(shared)),
        weights_(reinterpret_cast<uint32_t*>(shared + sizeof(Room))),
        others_(weights_ + kCodes * grove.classes),
        thread_(static_cast<int>(threadIdx.x) % kTeam) {}

  __device__ void run(uint32_t id, int from, bool deepest) {
    Node& node = g_.nodes[id];
    const uint64_t base = uint64_t{node.tree} * g_.rows;
    items_ = g_.items[from] + base + node.begin;
    size_ = node.end - node.begin;
    tree_of_ = node.tree;
    add_up();
    const double root = id == node.tree ? weight_ : g_.root_weights[node.tree];
    if (id == node.tree && thread_ == 0) g_.root_weights[node.tree] = weight_;
    min_weight_ = g_.min_weight_fraction * root;
    Split split{kNone, 0, 0, kCodes, 0, false, false};
    if (!deepest && may_split()) split = best_split(node.key);
    const double gain = split.score - (split.score > kNone ? node_score() : 0.0);
    const bool leaf = !(gain * g_.unit * g_.unit / root + 1e-15 >= g_.min_decrease);
    write_value(g_.values + uint64_t{id} * g_.classes, leaf);
    if (leaf) return;
    divide(split, g_.items[1 - from] + base + node.begin);
    if (thread_ == 0) write_children(node, split, gain);
  }

 private:
  static __device__ void sync() {
    if constexpr (kTeam == 32)
      __syncwarp();
    else
      __syncthreads();
  }

  /// Every thread as often as the others; `body(i, inside)`.
  template <class F>
  __device__ void for_items(const F& body) const {
    for (uint32_t first = 0; first < size_; first += kTeam) {
      const uint32_t i = first + static_cast<uint32_t>(thread_);
      body(i, i < size_);
    }
  }

  __device__ void clear() {
    for (int i = thread_; i < kCodes * g_.classes; i += kTeam) weights_[i] = 0;
    for (int i = thread_; i < kCodes; i += kTeam) {
      room_.counts[i] = 0;
      if constexpr (kTargets) room_.sums.set(i, 0);
    }
    sync();
  }

  /// The weights of the classes, or weight, deviation and range of the targets.
  __device__ void add_up() {
    clear();
    if (thread_ == 0) {
      room_.least = ~uint64_t{0};
      room_.greatest = 0;
    }
    sync();
    for_items([&](uint32_t i, bool inside) {
      const uint64_t item = inside ? items_[i] : 0;
      const uint32_t row = row_of(item);
      if constexpr (kTargets) {
        const unsigned weight = __reduce_add_sync(~0u, count_of(item));
        if (thread_ % 32 == 0) atomicAdd(weights_, weight);
        if (!inside) return;
        room_.sums.add(0, g_.deviation[row] * static_cast<int64_t>(count_of(item)));
        const uint64_t y = ordered(g_.y[row]);
        if (y < room_.least) atomicMin(as_words(&room_.least), y);
        if (y > room_.greatest) atomicMax(as_words(&room_.greatest), y);
      } else {
        const int label = inside ? g_.labels[row] : 0;
        for (int c = 0; c < g_.classes; ++c) {
          const unsigned weight = __reduce_add_sync(~0u, label == c ? count_of(item) : 0u);
          if (thread_ % 32 == 0 && weight > 0) atomicAdd(weights_ + c, weight);
        }
      }
    });
    sync();
    weight_ = 0;
    term_ = 0;
    largest_ = 0;
    for (int c = 0; c < g_.classes; ++c) {
      const double weight = weights_[c];
      weight_ += weight;
      term_ += weight * weight;
      largest_ = weight > largest_ ? weight : largest_;
    }
    if constexpr (kTargets) {
      deviation_ = room_.sums.get(0);
      term_ = static_cast<double>(deviation_) * static_cast<double>(deviation_);
      least_ = from_ordered(room_.least);
      greatest_ = from_ordered(room_.greatest);
    }
    // The classes' weights, out of the way of the histograms.
    if (!kTargets)
      for (int c = thread_; c < g_.classes; c += kTeam) totals()[c] = weights_[c];
    sync();
  }

  static __device__ unsigned long long* as_words(uint64_t* value) {
    return reinterpret_cast<unsigned long long*>(value);
  }

  /// Of the classes: where a classifier has no sums of targets.
  __device__ uint32_t* totals() const { return room_.sums.low; }

  __device__ double node_score() const { return term_ / weight_; }

  __device__ bool may_split() const {
    if (size_ < max(g_.min_split, 2 * g_.min_leaf)) return false;
    if (weight_ < 2 * min_weight_) return false;
    if constexpr (kTargets) return least_ < greatest_;
    return largest_ < weight_;
  }

  /// The feature that the draw `j` of this node takes: what stands at a place after the swaps.
  __device__ int draw(uint64_t key, int j) {
    const auto tree = static_cast<uint32_t>(g_.first_tree) + tree_of_;
    const PhiloxBlock block =
        philox_block({g_.seed, 2 * tree + 1}, key, static_cast<uint32_t>(j / 4));
    const uint64_t word = uint64_t{block.word[j % 4]} << 32;
    int at = j + static_cast<int>(__umul64hi(word, static_cast<uint64_t>(g_.features - j)));
    sync();
    if (thread_ == 0) others_[j] = static_cast<uint32_t>(at);
    for (int s = j - 1; s >= 0; --s) {
      const int other = static_cast<int>(others_[s]);
      at = at == s ? other : at == other ? s : at;
    }
    sync();
    return at;
  }

  __device__ Split best_split(uint64_t key) {
    const bool drawn = g_.max_features < g_.features;
    if (thread_ == 0) {
      room_.best = {kNone, std::numeric_limits<int>::max(), 0, kCodes, 0, false, false};
      room_.varies = false;
    }
    sync();
    for (int j = 0; j < g_.features && (j < g_.max_features || !room_.varies); ++j) {
      const int feature = drawn ? draw(key, j) : j;
      clear();
      const uint8_t* const codes = g_.codes + int64_t{feature} * g_.rows;
      for_items([&](uint32_t i, bool inside) {
        if (!inside) return;
        const uint64_t item = items_[i];
        const uint32_t row = row_of(item);
        const int code = codes[row];
        atomicAdd(room_.counts + code, 1u);
        if constexpr (kTargets) {
          atomicAdd(weights_ + code, count_of(item));
          room_.sums.add(code, g_.deviation[row] * static_cast<int64_t>(count_of(item)));
        } else {
          atomicAdd(weights_ + code * g_.classes + g_.labels[row], count_of(item));
        }
      });
      sync();
      if (thread_ < 32) scan(feature);
      sync();
    }
    const Split found = room_.best;
    sync();
    return found;
  }

  template <class T>
  static __device__ T before(T value, int lane) {  // the sum of the lanes before this one
    const T own = value;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const T other = __shfl_up_sync(~0u, value, step);
      if (lane >= step) value += other;
    }
    return value - own;
  }

  /// One warp: sums up to each bin in place of those of the bins, then the best split.
  __device__ void scan(int feature) {
    constexpr int kOwn = kCodes / 32;
    const int lane = thread_, first = lane * kOwn;
    const int mine = lane == 31 ? kOwn - 1 : kOwn;  // the last code is that of NaN
    uint32_t present = 0;
    uint32_t own = 0;
    for (int b = 0; b < mine; ++b) {
      const uint32_t count = room_.counts[first + b];
      present |= (count > 0 ? 1u : 0u) << b;
      own += count;
    }
    uint32_t sum = before(own, lane);
    for (int b = 0; b < mine; ++b) room_.counts[first + b] = sum += room_.counts[first + b];
    for (int c = 0; c < g_.classes; ++c) {
      uint32_t* const column = weights_ + first * g_.classes + c;
      uint32_t total = 0;
      for (int b = 0; b < mine; ++b) total += column[b * g_.classes];
      total = before(total, lane);
      for (int b = 0; b < mine; ++b) column[b * g_.classes] = total += column[b * g_.classes];
    }
    if constexpr (kTargets) {
      int64_t total = 0;
      for (int b = 0; b < mine; ++b) total += room_.sums.get(first + b);
      total = before(total, lane);
      for (int b = 0; b < mine; ++b) room_.sums.set(first + b, total += room_.sums.get(first + b));
    }
    __syncwarp();
    const int last = static_cast<int>(__reduce_max_sync(
        ~0u, present == 0 ? 0u : static_cast<unsigned>(first + 32 - __clz(present))));
    const unsigned bins = __reduce_add_sync(~0u, static_cast<unsigned>(__popc(present)));
    const bool missing = room_.counts[kForestMissing] > 0;
    const bool varies = bins + (missing ? 1 : 0) > 1;
    Split split{kNone, feature, 0, kCodes, 0, missing, false};
    for (int left = 0; left < (missing ? 2 : 1) && varies; ++left) {
      double score = kNone;
      int bin = kCodes;
      const int end = missing && left == 0 ? last : last - 1;  // splits behind these bins
      for (int b = 0; b < mine; ++b)
        if ((present >> b & 1) != 0 && first + b < end) try_split(first + b, left != 0, score, bin);
      for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(~0u, score, step);
        const int place = __shfl_xor_sync(~0u, bin, step);
        if (other > score || (other == score && place < bin)) {
          score = other;
          bin = place;
        }
      }
      if (!(score > split.score)) continue;
      split.score = score;
      split.bin = bin;
      const uint32_t later = bin < first ? present : present & ~((2u << min(bin - first, 30)) - 1);
      split.next = static_cast<int>(__reduce_min_sync(
          ~0u, later == 0 ? unsigned{kCodes} : static_cast<unsigned>(first + __ffs(later) - 1)));
      split.missing_left = left != 0;
      split.left_count = room_.counts[bin] + (left != 0 ? room_.counts[kForestMissing] : 0);
    }
    if (lane != 0) return;
    Split& best = room_.best;
    if (split.score > best.score || (split.score == best.score && feature < best.feature))
      best = split;
    room_.varies |= varies;
  }

  /// The split behind a bin, with the rows of NaN or without them.
  __device__ void try_split(int bin, bool with_missing, double& score, int& best) const {
    double left = 0;
    double right = 0;
    double weight = 0;
    if constexpr (kTargets) {
      const int64_t sum = room_.sums.get(bin) + (with_missing ? room_.sums.get(kForestMissing) : 0);
      const double of_left = static_cast<double>(sum);
      const double of_right = static_cast<double>(deviation_ - sum);
      left = of_left * of_left;
      right = of_right * of_right;
      weight = weights_[bin] + (with_missing ? weights_[kForestMissing] : 0u);
    } else {
      for (int c = 0; c < g_.classes; ++c) {
        const double sum = weights_[bin * g_.classes + c] +
                           (with_missing ? weights_[kForestMissing * g_.classes + c] : 0u);
        const double rest = static_cast<double>(totals()[c]) - sum;
        left += sum * sum;
        right += rest * rest;
        weight += sum;
      }
    }
    const uint32_t count = room_.counts[bin] + (with_missing ? room_.counts[kForestMissing] : 0);
    const double found = left / weight + right / (weight_ - weight);
    if (!(found > score)) return;
    const double other = weight_ - weight;
    if (min(count, size_ - count) < g_.min_leaf || (weight < other ? weight : other) < min_weight_)
      return;
    score = found;
    best = bin;
  }

  /// Rows that go left before the others, each in order.
  __device__ void divide(const Split& split, uint64_t* out) {
    const uint8_t* const codes = g_.codes + int64_t{split.feature} * g_.rows;
    const uint8_t shift = split.missing_left ? 1 : 0;
    const auto last = static_cast<uint8_t>(split.bin + shift);
    uint32_t left = 0;
    uint32_t right = split.left_count;
    for_items([&](uint32_t i, bool inside) {
      const uint64_t item = inside ? items_[i] : 0;
      const bool goes_left = inside && static_cast<uint8_t>(codes[row_of(item)] + shift) <= last;
      int all = 0;
      const int rank = rank_in_team<kTeam>(goes_left, room_.ranks, &all);
      const int before_me = thread_ - rank;  // of those that go right, the last may be none
      if (inside) out[goes_left ? left + rank : right + before_me] = item;
      left += all;
      right += kTeam - all;
    });
  }

  /// Shares of the classes, or the mean; that of a leaf by the targets themselves, in order.
  __device__ void write_value(double* out, bool leaf) {
    if constexpr (!kTargets) {
      for (int c = thread_; c < g_.classes; c += kTeam)
        out[c] = static_cast<double>(totals()[c]) / weight_;
    } else if (!leaf || least_ == greatest_) {
      if (thread_ == 0)
        *out = leaf ? least_ : g_.center + static_cast<double>(deviation_) * g_.unit / weight_;
    } else {
      auto* const parts = reinterpret_cast<double*>(&room_.sums);  // room for 256
      constexpr int kParts = kTeam < kCodes ? kTeam : kCodes;
      double sum = 0;
      for (uint32_t first = 0; first < size_; first += kParts) {
        const uint32_t i = first + static_cast<uint32_t>(thread_);
        sync();
        if (thread_ < kParts && i < size_) {
          const uint64_t item = items_[i];
          parts[thread_] = static_cast<double>(count_of(item)) * (g_.y[row_of(item)] - g_.center);
        }
        sync();
        if (thread_ == 0)
          for (uint32_t k = 0; k < min(static_cast<uint32_t>(kParts), size_ - first); ++k)
            sum += parts[k];
      }
      if (thread_ == 0) *out = g_.center + sum / weight_;
    }
  }

  __device__ void write_children(Node& node, const Split& split, double gain) {
    const uint32_t left = atomicAdd(g_.counters, 2u), middle = node.begin + split.left_count;
    node.left = left;
    node.gain = gain;
    node.feature = split.feature;
    node.missing_left =
        split.has_missing ? split.missing_left : split.left_count > size_ - split.left_count;
    node.threshold = std::numeric_limits<double>::infinity();  // only NaN goes right
    if (split.next < kForestMissing) {
      const double low = g_.high[split.feature * kForestBins + split.bin];
      const double high = g_.low[split.feature * kForestBins + split.next];
      node.threshold = forest_middle(low, high);
    }
    g_.nodes[left] = {2 * node.key, 0, 0, node.tree, node.begin, middle, 0, -1, 0};
    g_.nodes[left + 1] = {2 * node.key + 1, 0, 0, node.tree, middle, node.end, 0, -1, 0};
    if (middle - node.begin > kSmall) g_.large[atomicAdd(g_.counters + 1, 1u)] = left;
    if (node.end - middle > kSmall) g_.large[atomicAdd(g_.counters + 1, 1u)] = left + 1;
  }

  const Grove& g_;
  Room& room_;
  uint32_t* weights_;  // [kCodes, classes]
  uint32_t* others_;   // [features], of draws
  int thread_;
  const uint64_t* items_ = nullptr;
  uint32_t tree_of_ = 0;
  uint32_t size_ = 0;
  double weight_ = 0;
  double term_ = 0;
  double largest_ = 0;
  double min_weight_ = 0;
  double least_ = 0;
  double greatest_ = 0;
  int64_t deviation_ = 0;
};

template <bool kTargets>
__global__ void __launch_bounds__(kBlock)
    large_kernel(Grove grove, const uint32_t* list, int from, bool deepest) {
  extern __shared__ uint64_t shared[];
  Team<kBlock, kTargets>(grove, reinterpret_cast<char*>(shared))
      .run(list[blockIdx.x], from, deepest);
}

/// Nodes [begin, end) but the large ones.
template <bool kTargets>
__global__ void __launch_bounds__(32 * kWarps)
    small_kernel(Grove grove, uint32_t begin, uint32_t end, int from, bool deepest) {
  extern __shared__ uint64_t shared[];
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t id = begin + blockIdx.x * (blockDim.x / 32) + warp;
  if (id >= end || grove.nodes[id].end - grove.nodes[id].begin > kSmall) return;
  char* const own = reinterpret_cast<char*>(shared) +
                    static_cast<int>(warp) * room_bytes(grove.classes, grove.features);
  Team<32, kTargets>(grove, own).run(id, from, deepest);
}

/// A batch of trees on the host, nodes as they were made.
struct Batch {
  BudgetedVector<Node> nodes;
  BudgetedVector<double> values;
};

/// The nodes of a tree, each before its children and the left one right behind it.
ForestTree in_order(const Batch& batch, int64_t root, int64_t outputs, int64_t features) {
  ForestTree tree;
  tree.gain.assign(static_cast<size_t>(features), 0);
  struct Open {
    int64_t node, parent;  // parent: of a right child, else -1
  };
  std::vector<Open> open = {{root, -1}};
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    const Node& node = batch.nodes[static_cast<size_t>(at.node)];
    const auto id = static_cast<int64_t>(tree.link.size());
    if (at.parent >= 0) tree.link[static_cast<size_t>(at.parent)] |= id << 32;
    const bool leaf = node.left == 0;
    tree.link.push_back(leaf ? -1 : forest_link(0, node.feature, node.missing_left != 0));
    tree.threshold.push_back(leaf ? 0 : node.threshold);
    tree.samples.push_back(node.end - node.begin);
    const double* const value = batch.values.data() + at.node * outputs;
    tree.value.insert(tree.value.end(), value, value + outputs);
    if (leaf) continue;
    tree.gain[static_cast<size_t>(node.feature)] += std::max(node.gain, 0.0);
    open.push_back({int64_t{node.left} + 1, id});
    open.push_back({int64_t{node.left}, -1});
  }
  return tree;
}

class Grower {
 public:
  Grower(const ForestRows& rows, const ForestOptions& options, const Buffer& codes)
      : rows_(rows), options_(options), call_("forest_fit", codes.place()) {
    targets_ = options.criterion == ForestCriterion::kSquaredError;
    outputs_ = targets_ ? 1 : options.num_classes;
    call_.reads(codes);
    tables_.push_back(codes);
    tables_.push_back(call_.table(rows.low, rows.features * kForestBins * kWord));
    tables_.push_back(call_.table(rows.high, rows.features * kForestBins * kWord));
    BudgetedVector<uint8_t> labels(static_cast<size_t>(rows.rows));
    for (int64_t i = 0; i < rows.rows && !targets_; ++i)
      labels[static_cast<size_t>(i)] = static_cast<uint8_t>(rows.y[i]);
    tables_.push_back(call_.table(rows.y, rows.rows * kWord));
    tables_.push_back(call_.table(labels.data(), rows.rows));
    tables_.push_back(call_.table(rows.deviation, targets_ ? rows.rows * kWord : 0));
    bytes_ = room_bytes(static_cast<int>(outputs_), static_cast<int>(rows.features));
    warps_ = std::clamp(shared_bytes_of(codes.place().index) / bytes_, 1, kWarps);
    allow(large_kernel<true>, bytes_);
    allow(large_kernel<false>, bytes_);
    allow(small_kernel<true>, warps_ * bytes_);
    allow(small_kernel<false>, warps_ * bytes_);
  }

  std::vector<ForestTree> grow() {
    const int64_t deep = options_.max_depth < 0 ? 40 : std::min<int64_t>(options_.max_depth, 40);
    most_nodes_ = std::min(2 * rows_.rows, int64_t{2} << deep);
    const int64_t each =
        rows_.rows * 20 + most_nodes_ * (static_cast<int64_t>(sizeof(Node)) + 8 * outputs_ + 8);
    const int64_t together = std::clamp<int64_t>(kBatchBytes / each, 1, options_.num_trees);
    std::vector<ForestTree> trees(static_cast<size_t>(options_.num_trees));
    for (int64_t first = 0; first < options_.num_trees; first += together) {
      const int64_t count = std::min(together, options_.num_trees - first);
      const Batch batch = grow_batch(first, count);
      parallel_for(count, [&](int64_t k) {
        trees[static_cast<size_t>(first + k)] = in_order(batch, k, outputs_, rows_.features);
      });
    }
    call_.finish(cudaGetLastError());
    return trees;
  }

 private:
  static constexpr int64_t kWord = 8;

  template <class Kernel>
  void allow(Kernel* kernel, int bytes) {
    check_cuda("forest_fit",
               cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  }

  cudaStream_t stream() const { return static_cast<cudaStream_t>(call_.stream()); }

  template <class T>
  T* room(std::vector<Buffer>& kept, int64_t count) {
    kept.push_back(call_.scratch(std::max<int64_t>(count, 1) * static_cast<int64_t>(sizeof(T))));
    return call_.writes_as<T>(kept.back());
  }

  void draw(Grove& grove, int64_t first, int64_t count, std::vector<Buffer>& kept) {
    uint32_t* counts = nullptr;
    if (options_.bootstrap > 0) {
      counts = room<uint32_t>(kept, count * rows_.rows);
      call_.fill(reinterpret_cast<std::byte*>(counts), 0, count * rows_.rows * 4);
      const dim3 blocks(blocks_of((options_.bootstrap + 1) / 2, 256), static_cast<unsigned>(count));
      draw_kernel<<<blocks, 256, 0, stream()>>>(counts, rows_.rows, options_.bootstrap,
                                                options_.seed, first);
    }
    root_kernel<<<static_cast<unsigned>(count), kBlock, 0, stream()>>>(grove, counts);
  }

  Batch grow_batch(int64_t first, int64_t count) {
    std::vector<Buffer> kept;
    Grove grove{tables_[0].as<uint8_t>(),
                tables_[1].as<double>(),
                tables_[2].as<double>(),
                tables_[3].as<double>(),
                tables_[4].as<uint8_t>(),
                targets_ ? tables_[5].as<int64_t>() : nullptr,
                static_cast<uint32_t>(rows_.rows),
                static_cast<int>(rows_.features),
                static_cast<int>(std::min(options_.max_features, rows_.features)),
                static_cast<int>(outputs_),
                first,
                options_.seed,
                static_cast<uint32_t>(std::min<int64_t>(options_.min_samples_split, 1 << 30)),
                static_cast<uint32_t>(std::min<int64_t>(options_.min_samples_leaf, 1 << 30)),
                options_.min_weight_fraction_leaf,
                options_.min_impurity_decrease,
                rows_.center,
                rows_.unit,
                {},
                nullptr,
                nullptr,
                nullptr,
                nullptr,
                nullptr};
    for (uint64_t*& items : grove.items) items = room<uint64_t>(kept, count * rows_.rows);
    grove.nodes = room<Node>(kept, count * most_nodes_);
    grove.values = room<double>(kept, count * most_nodes_ * outputs_);
    grove.root_weights = room<double>(kept, count);
    const int64_t most_large = count * (rows_.rows / kSmall + 1);
    uint32_t* const lists[] = {room<uint32_t>(kept, most_large), room<uint32_t>(kept, most_large)};
    grove.large = lists[0];
    uint32_t counters[] = {static_cast<uint32_t>(count), 0};
    kept.push_back(call_.table(counters, sizeof counters));
    grove.counters = call_.writes_as<uint32_t>(kept.back());
    draw(grove, first, count, kept);
    call_.fetch(counters, grove.counters, sizeof counters);
    uint32_t begin = 0, end = counters[0];
    for (int64_t depth = 0; begin < end; ++depth) {
      look_for_interrupt();
      const int from = static_cast<int>(depth % 2);
      grove.large = lists[1 - from];
      call_.fill(reinterpret_cast<std::byte*>(grove.counters + 1), 0, 4);
      if (targets_)
        grow_level<true>(grove, lists[from], counters[1], begin, end, from, depth);
      else
        grow_level<false>(grove, lists[from], counters[1], begin, end, from, depth);
      call_.fetch(counters, grove.counters, sizeof counters);
      begin = end;
      end = counters[0];
    }
    Batch batch{BudgetedVector<Node>(end), BudgetedVector<double>(size_t{end} * outputs_)};
    call_.fetch(batch.nodes.data(), grove.nodes, int64_t{end} * static_cast<int64_t>(sizeof(Node)));
    call_.fetch(batch.values.data(), grove.values, int64_t{end} * outputs_ * kWord);
    return batch;
  }

  template <bool kTargets>
  void grow_level(const Grove& grove, const uint32_t* list, uint32_t large, uint32_t begin,
                  uint32_t end, int from, int64_t depth) {
    const bool deepest = depth == options_.max_depth;
    if (large > 0)
      large_kernel<kTargets>
          <<<large, kBlock, static_cast<size_t>(bytes_), stream()>>>(grove, list, from, deepest);
    small_kernel<kTargets>
        <<<blocks_of(end - begin, warps_), static_cast<unsigned>(32 * warps_),
           static_cast<size_t>(warps_ * bytes_), stream()>>>(grove, begin, end, from, deepest);
  }

  const ForestRows& rows_;
  const ForestOptions& options_;
  DeviceCall call_;
  bool targets_;
  int64_t outputs_;
  int64_t most_nodes_ = 0;
  int bytes_;  // of shared memory for a node: at most 37 KiB, which every device has
  int warps_;  // small nodes that a block of threads has room for
  std::vector<Buffer> tables_;
};

}  // namespace

std::vector<ForestTree> forest_grow(const ForestRows& rows, const ForestOptions& options,
                                    const Buffer& codes) {
  return Grower(rows, options, codes).grow();
}

}  // namespace hr::cuda
