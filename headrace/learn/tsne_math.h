// SPDX-License-Identifier: Apache-2.0
// For `_cuda.cu` files: places of points, and how near they are.
#pragma once
#include "headrace/data/device_launch.h"

#include <type_traits>

namespace hr::cuda {

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

/// One over 1 + the square of a distance over the degrees of freedom.
template <int kDimensions>
__device__ __forceinline__ float decay(const float (&apart)[kDimensions]) {
  float square = apart[0] * apart[0];
#pragma unroll
  for (int k = 1; k < kDimensions; ++k) square = fmaf(apart[k], apart[k], square);
  if constexpr (kDimensions == 3) return 1 / fmaf(square, 0.5F, 1);
  return 1 / (1 + square);
}

}  // namespace hr::cuda
