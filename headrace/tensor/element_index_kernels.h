// SPDX-License-Identifier: Apache-2.0
// Kernels of element_index.
#pragma once
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

/// A position that is out of range: the number of the index and the place in it.
struct BadPosition {
  int64_t axis = -1;
  int64_t position = 0;
};

}  // namespace hr

namespace hr::cpu {

/// offsets[k] = sum over the indices of position * step, in elements; positions (int64, of one
/// shape, any strides) may count from the end of their axis. Says the first that is out of range.
BadPosition element_offsets(const std::vector<Tensor>& indices, const Shape& sizes,
                            const Shape& steps, int64_t* offsets);

/// Element k of `out` is the element of `from` at the k-th positions, one index for each axis.
/// Says the first that is out of range; `out` is not whole then.
BadPosition gather_elements(const Tensor& from, const std::vector<Tensor>& indices, std::byte* out);

/// Row k of `out` is the row of `from` at offsets[k]: the axes of `from` from `first` on.
void gather_at(const Tensor& from, size_t first, const int64_t* offsets, int64_t count,
               std::byte* out);

/// The row of `out` at offsets[k] (in elements) is row k of `values`, which is contiguous and has
/// rows of `row` elements; in order.
void scatter_at(const Tensor& values, const int64_t* offsets, int64_t count, int64_t row,
                std::byte* out);

}  // namespace hr::cpu

namespace hr::cuda {

/// Indices of one call, and axes of them and of what they pick, at most.
inline constexpr int kMostIndices = 8;
inline constexpr int kMostIndexAxes = 16;

/// Rows of `from` at the positions of the first axes, one after the other in `out`. Waits; says the
/// first position that is out of range.
BadPosition gather_elements(const Tensor& from, const std::vector<Tensor>& indices,
                            const Buffer& out);

/// The rows of `out`, an array of `shape`, at these positions are those of `values`, which is
/// contiguous; of equal positions the last one counts. Waits, as above.
BadPosition scatter_elements(const Tensor& values, const std::vector<Tensor>& indices,
                             const Shape& shape, const Buffer& out);

}  // namespace hr::cuda
