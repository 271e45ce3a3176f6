// SPDX-License-Identifier: Apache-2.0
// Kernel of median_filter. The input is checked and has elements.
#pragma once
#include "headrace/data/tensor.h"

namespace hr {
/// Longer windows are kept sorted.
inline constexpr int64_t kMostSortedMedian = 63;
}  // namespace hr

namespace hr::cpu {
void median_filter(const Tensor& x, int64_t size, Buffer& out);
}  // namespace hr::cpu
namespace hr::cuda {
/// Windows up to kMostSortedMedian.
void median_filter(const Tensor& x, int64_t size, Buffer& out);
}  // namespace hr::cuda
