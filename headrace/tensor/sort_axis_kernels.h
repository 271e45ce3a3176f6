// SPDX-License-Identifier: Apache-2.0
// Kernels of sort_axis, on contiguous memory.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/data/tensor.h"

#include <cstddef>
#include <cstdint>

namespace hr::cpu {

/// Sorts each of the `lines` lines of `length` values where they lie.
void sort_lines(Dtype dtype, std::byte* values, int64_t lines, int64_t length, bool descending);

/// Their positions in order.
void argsort_lines(Dtype dtype, const std::byte* values, int64_t lines, int64_t length,
                   bool descending, int64_t* positions);

/// Positions of `count` values in a sorted line.
void search_line(Dtype dtype, const std::byte* line, int64_t length, const std::byte* values,
                 int64_t count, bool right, int64_t* positions);

}  // namespace hr::cpu

namespace hr::cuda {

/// Fewer elements than this are sorted in lines.
inline constexpr int64_t kMostSorted = int64_t{1} << 32;

/// The same of contiguous arrays on a device, into room there: values, or int64 positions.
void sort_lines(const Tensor& from, int64_t lines, int64_t length, bool descending,
                const Buffer& out);
void argsort_lines(const Tensor& from, int64_t lines, int64_t length, bool descending,
                   const Buffer& out);
void search_line(const Tensor& line, const Tensor& values, bool right, const Buffer& out);

}  // namespace hr::cuda
