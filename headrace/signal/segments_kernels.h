// SPDX-License-Identifier: Apache-2.0
// Kernels of segments. Inputs are checked; `out` holds begins x width elements of the signal's
// dtype.
#pragma once
#include "headrace/data/tensor.h"
#include "headrace/signal/segments.h"

namespace hr::cpu {
/// The samples of a segment where they lie, or already in their place: row + before.
template <class T>
struct Segment {
  const T* samples;
  int64_t count;
  T* row;
  int64_t before;
};

/// `lengths` has one element for each begin, or a single one for all.
void segments(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
              Normalize normalize, Buffer& out);
}  // namespace hr::cpu
namespace hr::cuda {
void segments(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
              Normalize normalize, Buffer& out);
}  // namespace hr::cuda
