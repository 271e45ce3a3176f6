// SPDX-License-Identifier: Apache-2.0
// Kernels of matmul: panels of one side by side and their products. Panels are as wide as the SIMD
// level has registers for; no width changes a sum.
#pragma once
#include "headrace/algo/linalg/matmul.h"

#include <cstdint>
#include <vector>

namespace hr::cpu {

/// Rows of a panel of the left matrix, and columns of one of the right, at the level in use.
template <class T>
int64_t left_width();
template <class T>
int64_t right_width();

/// The rows of `x` side by side in panels of `width` rows: element (row, k) of a panel at
/// `to[k * width + row]`, with zeros for rows that are not there. Converts to T.
template <class T>
void pack(const AnyMatrix& x, int64_t width, T* to);

/// Products of `out.rows` rows with `out.columns` columns, both packed, over `depth` (at most
/// kSumBlock).
template <class T>
void multiply_packed(const T* left, const T* right, int64_t depth, const MatrixView<T>& out,
                     Update update);

/// The most columns of a product that `multiply_small` takes.
inline constexpr int64_t kSmallColumns = 16;

/// The product of matrices too small to be packed, over a depth of at most kSumBlock; float or
/// double.
template <class T>
void multiply_small(const MatrixView<const T>& a, const MatrixView<const T>& b,
                    const MatrixView<T>& out, Update update);

/// The product with one vector of a matrix whose rows lie contiguous, read once and not packed,
/// over any depth; float or double.
template <class T>
void multiply_vector(const MatrixView<const T>& a, const T* x, const MatrixView<T>& out,
                     Update update);

}  // namespace hr::cpu

namespace hr::cuda {

/// `matmul` on a device, of float32 and float64 in any mixture, or of int64. `begins`: where the
/// matrices of the left stack begin, in elements from its first, then those of the right one.
void matmul(const Tensor& a, const Tensor& b, const std::vector<int64_t>& begins, Dtype dtype,
            Buffer& out);

}  // namespace hr::cuda
