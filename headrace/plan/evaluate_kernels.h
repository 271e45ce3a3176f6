// SPDX-License-Identifier: Apache-2.0
// Kernels of the evaluator: one operation over one block of a few operands.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/plan/expression.h"

#include <cstdint>

namespace hr::cpu {

/// out[i] = op(a[i], b[i], c[i]) for i < n; bools are bytes 0 or 1; `out` is none of the operands.
/// Kernels compute null slots too, so they never trap.
using Kernel = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);

/// The kernel of `op` whose operands (for where and fill_null: the values) have `dtype`, for the
/// SIMD level in use; null where the operation needs none (is_null).
Kernel find_kernel(Op op, Dtype dtype);

Kernel cast_kernel(Dtype from, Dtype to);

// The parts of find_kernel; each gives null for an operation of another part.
Kernel arithmetic_kernel(Op op, Dtype dtype);  ///< + - * /, min, max, rounding, signs
Kernel integer_kernel(Op op, Dtype dtype);     ///< //, %, integer **, shifts: scalar loops
Kernel logic_kernel(Op op, Dtype dtype);       ///< comparisons, tests, and, or, where
Kernel math_kernel(Op op, Dtype dtype);        ///< elementary functions

/// Bit i of the bitmap, from bit `start`, as byte out[i]; and back (bits beyond n are zero).
void unpack_bits(const uint8_t* bitmap, int64_t start, uint8_t* out, int64_t n);
void pack_bits(const uint8_t* bytes, uint64_t* words, int64_t n);

}  // namespace hr::cpu
