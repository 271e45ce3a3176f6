// SPDX-License-Identifier: Apache-2.0
// Kernels of the evaluator: one operation over one block of a few operands.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/plan/eval/expression.h"
#include "headrace/plan/eval/value.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hr::cpu {

/// out[i] = op(a[i], b[i], c[i]) for i < n; bools are bytes 0 or 1; `out` is none of the operands.
/// Kernels compute null slots too, so they never trap.
using Kernel = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);

/// Which of two operands (for where: of the two values) is the same in every row. Its kernels read
/// only the first element of the block that is filled with it: of several such blocks the L1 cache
/// would not hold all in addition to the values.
enum class Once : uint8_t { kNone, kLeft, kRight };

/// The kernel of `op` whose operands (for where and fill_null: the values) have `dtype`, for the
/// SIMD level in use; null where the operation needs none (is_null).
Kernel find_kernel(Op op, Dtype dtype, Once once = Once::kNone);

/// second(first(a, b), c) of floats, or second(c, first(a, b)) when `swapped`, each rounded: the
/// bits of two kernels, without the block between. Bits 1, 2, 4 of `once`: a, b, c are the same in
/// every row. Null for pairs that have none.
Kernel pair_kernel(Op first, Op second, bool swapped, Dtype dtype, unsigned once);

Kernel cast_kernel(Dtype from, Dtype to);

// The parts of find_kernel; each gives null for an operation of another part.
Kernel arithmetic_kernel(Op op, Dtype dtype, Once once);  ///< + - * /, min, max, rounding, signs
Kernel integer_kernel(Op op, Dtype dtype);                ///< //, %, integer **, shifts
Kernel logic_kernel(Op op, Dtype dtype, Once once);       ///< comparisons, tests, and, or, where
Kernel math_kernel(Op op, Dtype dtype);                   ///< elementary functions

/// Bit i of the bitmap, from bit `start`, as byte out[i]; and back (bits beyond n are zero).
void unpack_bits(const uint8_t* bitmap, int64_t start, uint8_t* out, int64_t n);
void pack_bits(const uint8_t* bytes, uint64_t* words, int64_t n);

}  // namespace hr::cpu
namespace hr::cuda {

/// `hr::evaluate` where an input is on a CUDA device: one kernel, made at run time. Element-wise
/// results and sums have the CPU's bits, but for the functions that the CPU takes from libm.
/// Results are on the device, reductions, and what `partial` wants of them, on the host. Only for
/// what `why_unsupported` has nothing against.
std::vector<Value> evaluate(const Program& program, std::span<const Value> inputs,
                            const Shape& shape, const std::vector<bool>& partial);

/// Why there is no such kernel: layouts other than contiguous or one-dimensional, operations
/// of the host alone, no NVRTC; empty: there is one.
std::string why_unsupported(const Program& program, std::span<const Value> inputs,
                            const Shape& shape);

}  // namespace hr::cuda
