// SPDX-License-Identifier: Apache-2.0
// Kernels of sort_axis, on contiguous memory.
#pragma once
#include "headrace/base/dtype.h"

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
