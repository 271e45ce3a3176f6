// SPDX-License-Identifier: Apache-2.0
// Kernels of diff. The input is checked and has at least two elements; `out` holds one less.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr::cpu {
/// `a - b` of tensors of equal length, to `out` from element `begin` on.
void subtract(const Tensor& a, const Tensor& b, Buffer& out, int64_t begin);
}  // namespace hr::cpu
namespace hr::cuda {
void diff(const Tensor& x, Buffer& out);
/// The rows of a column, at least one, less those `periods` before; null where either is not there.
Column diff(const Column& x, int64_t periods);
}  // namespace hr::cuda
