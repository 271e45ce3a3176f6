// SPDX-License-Identifier: Apache-2.0
// Sorts points along the curve, adds groups up, and walks.
#include "headrace/algo/sort/point_tree.h"

#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr {
namespace {

constexpr int64_t kBlock = 256;
constexpr int64_t kFan = 4;
constexpr int64_t kMostOpen = 128;  // 3 a level and 4 more, of at most 16 levels

template <class F>
void for_blocks(int64_t rows, F&& body) {
  parallel_for((rows + kBlock - 1) / kBlock,
               [&](int64_t block) { body(block * kBlock, std::min(rows, (block + 1) * kBlock)); });
}

}  // namespace

void NearAndFar::reserve(int64_t more) {
  if (count_ + more <= static_cast<int64_t>(mass_.size())) return;
  const auto size = static_cast<size_t>(2 * (count_ + more));
  for (auto& each : at_) each.resize(size);
  mass_.resize(size);
}

float PointTree::Group::extent() const {
  return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
}

float PointTree::Group::square_to(const float* place) const {
  float square = 0;
  for (int k = 0; k < 3; ++k) {
    const float apart = std::max({low[k] - place[k], place[k] - high[k], 0.0F});
    square += apart * apart;
  }
  return square;
}

PointTree::PointTree(int64_t rows, int64_t dimensions, const float* masses)
    : rows_(rows),
      dimensions_(dimensions),
      leaves_((rows + kLeaf - 1) / kLeaf),
      masses_(masses),
      words_(Buffer::allocate(2 * rows * static_cast<int64_t>(sizeof(uint64_t)))),
      floats_(Buffer::allocate(4 * leaves_ * kLeaf * static_cast<int64_t>(sizeof(float)))) {
  std::fill_n(floats_.mutable_as<float>(), 4 * padded(), 0.0F);
  std::fill_n(column(3), rows, 1.0F);
  int64_t count = leaves_;
  for (;;) {
    levels_.emplace_back(static_cast<size_t>(count));
    if (count <= kFan) break;
    count = (count + kFan - 1) / kFan;
  }
}

bool PointTree::build(const float* from) {
  if (!sort(from)) return false;
  for_blocks(leaves_, [&](int64_t begin, int64_t end) {
    for (int64_t leaf = begin; leaf < end; ++leaf) fill_leaf(from, leaf);
  });
  for (size_t level = 1; level < levels_.size(); ++level)
    for (size_t i = 0; i < levels_[level].size(); ++i) {
      const BudgetedVector<Group>& below = levels_[level - 1];
      levels_[level][i] =
          joined(below.data() + i * kFan, std::min<size_t>(kFan, below.size() - i * kFan));
    }
  return true;
}

void PointTree::walk(int64_t leaf, float angle, NearAndFar& found) const {
  const Group& own = levels_[0][static_cast<size_t>(leaf)];
  struct Entry {
    int64_t level, index;
  } open[kMostOpen];
  int64_t count = 0;
  const auto push = [&](int64_t level, int64_t begin, int64_t end) {
    while (end > begin) open[count++] = {level, --end};
  };
  found.count_ = 0;
  const auto top = static_cast<int64_t>(levels_.size()) - 1;
  push(top, 0, static_cast<int64_t>(levels_.back().size()));
  while (count > 0) {
    const auto [level, index] = open[--count];
    const Group& group = levels_[static_cast<size_t>(level)][static_cast<size_t>(index)];
    const float extent = group.extent();
    const bool holds_leaf = leaf >> (2 * level) == index;
    if (!holds_leaf && extent * extent < angle * angle * own.square_to(group.at)) {
      found.reserve(1);
      const auto at = static_cast<size_t>(found.count_++);
      for (size_t k = 0; k < 3; ++k) found.at_[k][at] = group.at[k];
      found.mass_[at] = group.mass;
    } else if (level == 0) {
      const int64_t begin = index * kLeaf, points = std::min(kLeaf, rows_ - begin);
      found.reserve(points);
      for (size_t k = 0; k < 3; ++k)
        std::copy_n(sorted(static_cast<int64_t>(k)) + begin, points,
                    found.at_[k].data() + found.count_);
      std::copy_n(sorted(3) + begin, points, found.mass_.data() + found.count_);
      found.count_ += points;
    } else {
      const auto below = static_cast<int64_t>(levels_[static_cast<size_t>(level - 1)].size());
      push(level - 1, index * kFan, std::min(below, (index + 1) * kFan));
    }
  }
}

bool PointTree::sort(const float* from) {
  float low[3] = {}, extent = 0;
  for (int64_t k = 0; k < dimensions_; ++k) {
    const float* at = from + k * rows_;
    float least = at[0], most = at[0], sum = 0;
    for (int64_t i = 0; i < rows_; ++i) {
      least = std::min(least, at[i]);
      most = std::max(most, at[i]);
      sum += at[i] * 0;  // NaN if one is not finite
    }
    if (sum != 0 || !std::isfinite(most - least)) return false;
    low[k] = least;
    extent = std::max(extent, most - least);
  }
  const int bits = dimensions_ == 3 ? 10 : 16;
  const auto most = static_cast<float>((1 << bits) - 1);
  const float scale = extent > 0 ? most / extent : 0;
  auto* words = words_.mutable_as<uint64_t>();
  for_blocks(rows_, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint32_t key = 0;
      for (int64_t k = 0; k < dimensions_; ++k) {
        const float place = std::min((from[k * rows_ + i] - low[k]) * scale, most);
        key |= spread_bits(static_cast<uint32_t>(place), dimensions_ - 1) << k;
      }
      words[i] = uint64_t{key} << 32 | static_cast<uint64_t>(i);
    }
  });
  cpu::sort_packed(words, words + rows_, rows_, 32, 32);
  return true;
}

void PointTree::fill_leaf(const float* from, int64_t leaf) {
  const int64_t begin = leaf * kLeaf, count = std::min(kLeaf, rows_ - begin);
  Group& group = levels_[0][static_cast<size_t>(leaf)];
  float* masses = column(3) + begin;
  group.mass = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (masses_ != nullptr) masses[i] = masses_[number(begin + i)];
    group.mass += masses[i];
  }
  for (int64_t k = 0; k < dimensions_; ++k) {
    float* to = column(k) + begin;
    float sum = 0, least = std::numeric_limits<float>::max(), most = -least;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = from[k * rows_ + number(begin + i)];
      sum += masses[i] * to[i];
      least = std::min(least, to[i]);
      most = std::max(most, to[i]);
    }
    group.at[k] = sum / group.mass;
    group.low[k] = least;
    group.high[k] = most;
  }
}

PointTree::Group PointTree::joined(const Group* groups, size_t count) {
  Group made = groups[0];
  for (float& each : made.at) each *= made.mass;
  for (size_t g = 1; g < count; ++g) {
    const Group& other = groups[g];
    made.mass += other.mass;
    for (size_t k = 0; k < 3; ++k) {
      made.at[k] += other.at[k] * other.mass;
      made.low[k] = std::min(made.low[k], other.low[k]);
      made.high[k] = std::max(made.high[k], other.high[k]);
    }
  }
  for (float& each : made.at) each /= made.mass;
  return made;
}

}  // namespace hr
