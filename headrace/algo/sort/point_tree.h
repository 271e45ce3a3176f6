// SPDX-License-Identifier: Apache-2.0
// PointTree: points along a Z-order curve, for sums over all of them in which far ones count as
// one.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/adaptors/allocator.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <vector>

namespace hr {

/// The bits of a number with `gap` places between neighbours.
HR_INLINE uint32_t spread_bits(uint32_t bits, int64_t gap) {
  if (gap == 0) return bits;
  if (gap == 1) {
    bits = (bits | bits << 8) & 0x00FF00FF;
    bits = (bits | bits << 4) & 0x0F0F0F0F;
    bits = (bits | bits << 2) & 0x33333333;
    return (bits | bits << 1) & 0x55555555;
  }
  bits = (bits | bits << 16) & 0x030000FF;
  bits = (bits | bits << 8) & 0x0300F00F;
  bits = (bits | bits << 4) & 0x030C30C3;
  return (bits | bits << 2) & 0x09249249;
}

/// Points or groups of points: coordinate k of number i is at[k][i].
struct PointMasses {
  const float* at[3];
  const float* mass;
  int64_t count;
};

/// What a traversal of the tree found; used again for the next one.
class NearAndFar {
 public:
  PointMasses view() const {
    return {{at_[0].data(), at_[1].data(), at_[2].data()}, mass_.data(), count_};
  }

 private:
  friend class PointTree;
  void reserve(int64_t more);

  BudgetedVector<float> at_[3], mass_;
  int64_t count_ = 0;
};

/// Leaves of 16 points along a Z-order curve, and above them groups of four (the tree of J. Barnes
/// and P. Hut, Nature 324, 1986, in the shape that one traversal for 16 points wants). Up to 2^32
/// points of 1 to 3 coordinates; about 45 bytes each. The same bits for any number of threads.
class HR_API PointTree {
 public:
  /// Points that walk the tree together.
  static constexpr int64_t kLeaf = 16;

  /// `masses`, one a point, live as long as the tree; null: 1 each.
  PointTree(int64_t rows, int64_t dimensions, const float* masses = nullptr);

  int64_t leaves() const { return leaves_; }

  /// Of points, coordinate k of number i at `from[k * rows + i]`; false where one is not finite.
  bool build(const float* from);

  /// The number of the point at a place of the order.
  int64_t number(int64_t place) const { return words_.as<uint64_t>()[place] & 0xFFFFFFFFU; }

  /// Coordinate k of the points in their order, or with k = 3 their masses.
  const float* sorted(int64_t k) const { return floats_.as<float>() + k * padded(); }

  PointMasses all() const { return {{sorted(0), sorted(1), sorted(2)}, sorted(3), rows_}; }

  /// What there is for the points of a leaf: groups whose extent is below `angle` times their
  /// distance, and the other points, the leaf's own too.
  void walk(int64_t leaf, float angle, NearAndFar& found) const;

 private:
  /// Points that lie together.
  struct Group {
    float at[3] = {};  ///< their mean
    float low[3] = {};
    float high[3] = {};
    float mass = 0;

    float extent() const;
    /// The square of the distance from the box of these points to a place.
    float square_to(const float* place) const;
  };

  static Group joined(const Group* groups, size_t count);

  int64_t padded() const { return leaves_ * kLeaf; }

  float* column(int64_t k) { return floats_.mutable_as<float>() + k * padded(); }

  bool sort(const float* from);
  void fill_leaf(const float* from, int64_t leaf);

  int64_t rows_;
  int64_t dimensions_;
  int64_t leaves_;
  const float* masses_;
  Buffer words_;   // the order: places along the curve above numbers of points; and as many to sort
  Buffer floats_;  // coordinates and masses in that order
  std::vector<BudgetedVector<Group>> levels_;
};

}  // namespace hr
