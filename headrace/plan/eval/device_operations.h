// SPDX-License-Identifier: Apache-2.0
// What types and operations are called in the text of a kernel.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/plan/eval/expression.h"

namespace hr::cuda {

/// The type of C++ that holds a value; null for dtypes without kernels.
const char* type_of(Dtype dtype);

/// A struct of evaluate_math.h with `apply`, or null.
const char* struct_of(Op op, Dtype dtype);

/// A template of evaluate_math.h, or null.
const char* template_of(Op op);

/// Whether a kernel is compiled for this divisor, which makes the division a multiplication: those
/// of clocks and calendars, a bounded number of kernels.
bool is_compiled_divisor(int64_t divisor);

/// An elementary function, computed in float64, or null; `shared` ones have the CPU's bits.
const char* function_of(Op op, bool& shared);

}  // namespace hr::cuda
