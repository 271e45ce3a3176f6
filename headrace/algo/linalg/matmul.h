// SPDX-License-Identifier: Apache-2.0
// The product of matrices, each sum in one order.
#pragma once
#include "headrace/algo/linalg/matrix_view.h"
#include "headrace/base/api.h"

#include <string>

namespace hr {

/// The products that one chain adds.
inline constexpr int64_t kSumBlock = 256;

/// What `multiply` does with the products.
enum class Update { kSet, kAdd, kSubtract };

/// The product of two matrices or of two stacks of them, whose leading dimensions broadcast as in
/// NumPy; [..., rows, columns], C-contiguous. Real operands of any strides; nothing of them is
/// copied but the panels at work. `dtype` is that of the sums and of the result: float32, float64
/// or int64; operands are converted as they are read, so float32 rows may have sums in float64.
/// Each sum goes over the inner dimension in order, by fma from zero in blocks of 256, which are
/// added in order: the same bits for any number of threads and SIMD level. Integers wrap. Without a
/// fused instruction (before 2013) each fma is a call: right, and slow.
/// Throws InvalidArgumentError for sizes that do not fit, TypeMismatchError for fewer than two
/// dimensions and other dtypes.
HR_API Tensor matmul(const Tensor& a, const Tensor& b, Dtype dtype);

/// Why these operands have no kernel for CUDA; empty: they have one, which keeps the order of sums.
std::string why_no_matmul_kernel(const Tensor& a, const Tensor& b, Dtype dtype);

/// The same into memory that is there, of a matrix of float, double or uint64_t (integers, which
/// wrap). Blocks are added to `out` or taken from it one after the other.
template <class T>
HR_API void multiply(const AnyMatrix& a, const AnyMatrix& b, const MatrixView<T>& out,
                     Update update = Update::kSet);

}  // namespace hr
