// SPDX-License-Identifier: Apache-2.0
// Scans a row of a tile for what is near, and sums absolute differences of packed panels.
#define HWY_TARGET_INCLUDE "headrace/learn/distance_tiles_cpu.cpp"
#include "headrace/base/simd_targets.h"
//
#include "headrace/algo/linalg/matmul_kernels.h"
#include "headrace/learn/distance_tiles.h"

#include <algorithm>
#include <bit>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

int64_t positions_at_most(const float* values, const float* norms, float factor, float limit,
                          int64_t count, int32_t* positions) {
  const hn::ScalableTag<float> tag;
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  const auto times = hn::Set(tag, factor), bound = hn::Set(tag, limit);
  int64_t found = 0, r = 0;
  const auto keep = [&](int64_t i) {
    if (!(norms[i] + factor * values[i] > limit)) positions[found++] = static_cast<int32_t>(i);
  };
  for (; r + lanes <= count; r += lanes) {
    const auto value =
        hn::Add(hn::LoadU(tag, norms + r), hn::Mul(times, hn::LoadU(tag, values + r)));
    uint64_t near = 0;
    hn::StoreMaskBits(tag, hn::Not(hn::Gt(value, bound)), reinterpret_cast<uint8_t*>(&near));
    for (; near != 0; near &= near - 1)
      positions[found++] = static_cast<int32_t>(r + std::countr_zero(near));
  }
  for (; r < count; ++r) keep(r);
  return found;
}

/// Four rows of the left panel and a panel of the right.
template <bool kLargest>
void absolute_panel(const float* left, int64_t left_width, const float* right, int64_t right_width,
                    int64_t depth, int64_t columns, bool first, float* out, int64_t stride,
                    int64_t rows) {
  const hn::ScalableTag<float> tag;
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(tag));
  for (int64_t c = 0; c < columns; c += lanes) {
    hn::Vec<decltype(tag)> sums[4];
    for (int i = 0; i < 4; ++i)
      sums[i] = first || i >= rows ? hn::Zero(tag) : hn::LoadU(tag, out + i * stride + c);
    for (int64_t k = 0; k < depth; ++k) {
      const auto point = hn::LoadU(tag, right + k * right_width + c);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const auto apart = hn::Abs(hn::Sub(hn::Set(tag, left[k * left_width + i]), point));
        sums[i] = kLargest ? hn::Max(sums[i], apart) : hn::Add(sums[i], apart);
      }
    }
    for (int i = 0; i < 4 && i < rows; ++i) hn::StoreU(sums[i], tag, out + i * stride + c);
  }
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hr::cpu {

int64_t positions_at_most(const float* values, const float* norms, float factor, float limit,
                          int64_t count, int32_t* positions) {
  return HR_SIMD(positions_at_most)(values, norms, factor, limit, count, positions);
}

void absolute_tile(const float* left, const float* right, int64_t depth, int64_t rows,
                   int64_t columns, bool largest, bool first, float* out, int64_t stride) {
  // Panels of the left are two rows longer in memory than is read of the last group of four.
  const int64_t height = left_width<float>(), width = right_width<float>();
  for (int64_t c = 0; c < columns; c += width)
    for (int64_t i = 0; i < rows;) {
      const int64_t in_panel = i % height;
      const int64_t count = std::min({int64_t{4}, height - in_panel, rows - i});
      const float* panel = left + i / height * height * depth + in_panel;
      const auto kernel = largest ? HR_SIMD(absolute_panel<true>) : HR_SIMD(absolute_panel<false>);
      kernel(panel, height, right + c * depth, width, depth, width, first, out + i * stride + c,
             stride, count);
      i += count;
    }
}

}  // namespace hr::cpu

#endif
