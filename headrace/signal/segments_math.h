// SPDX-License-Identifier: Apache-2.0
// What the CPU and CUDA kernels of segments share.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>

namespace hr {

/// How many of a segment's places lie before row 0, and how many inside the signal.
struct WindowCut {
  int64_t before;
  int64_t inside;
};

HR_BOTH inline WindowCut cut_window(int64_t begin, int64_t length, int64_t rows) {
  if (begin >= rows) return {0, 0};
  if (begin >= 0) return {0, length < rows - begin ? length : rows - begin};
  const int64_t before = begin <= -length ? length : -begin;
  return {before, length - before < rows ? length - before : rows};
}

/// A row that deviates by less of its mean is checked for equal values.
inline constexpr double kNearlyEqual = 1e-6;

/// A row of n float32 values whose mean is less than this many deviations takes its deviation from
/// the sums alone: what cancels leaves a relative error below (n / 32 + 8) * 2^-40.
inline constexpr double kFarFromMean = 64;

}  // namespace hr
