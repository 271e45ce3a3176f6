// SPDX-License-Identifier: Apache-2.0
// Kernels of layout: points against groups of points, and points against their neighbours.
#pragma once
#include "headrace/algo/sort/point_tree.h"
#include "headrace/graph/layout.h"

#include <cstdint>

namespace hr::cpu {

/// The least distance at which points push, squared.
inline constexpr float kLeastSquare = 1e-4F;

/// The sum of mass times difference over the square of the distance, `push[k][lane]`, for 16
/// points, `points[k][lane]`, in order.
void layout_push(int64_t dimensions, const float (*points)[PointTree::kLeaf],
                 const PointMasses& masses, float (*push)[PointTree::kLeaf]);

/// Vertices of one level, and what pulls them.
struct LayoutPulls {
  const int64_t* offsets;
  const uint32_t* targets;
  const float* weights;
  const float* from;  ///< coordinate k of vertex i at [k * rows + i]
  int64_t rows;
  int64_t dimensions;
  LayoutPull pull;
};

/// How much the neighbours of one vertex pull, `out[k]`.
void layout_pull(const LayoutPulls& pulls, int64_t vertex, float* out);

}  // namespace hr::cpu
