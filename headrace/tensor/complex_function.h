// SPDX-License-Identifier: Apache-2.0
// Elementary functions of complex numbers.
#pragma once
#include "headrace/plan/graph/node.h"

#include <string_view>

namespace hr {

enum class ComplexFunction : uint8_t {
  kSqrt,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kArcsin,
  kArccos,
  kArctan,
  kSinh,
  kCosh,
  kTanh,
  kArcsinh,
  kArccosh,
  kArctanh,
};

/// The function with NumPy's word ("arcsin"); throws UnsupportedError for others.
HR_API ComplexFunction complex_function_from_name(std::string_view name);

/// The function of each element of a complex array, by libm: branch cuts and special values are
/// those of C99's Annex G, as in NumPy and in the array API standard. By all workers, 20 to 100 ns
/// an element. Throws TypeMismatchError for other dtypes.
HR_API NodePtr complex_function(ComplexFunction function, const NodePtr& array);

}  // namespace hr
