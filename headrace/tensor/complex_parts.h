// SPDX-License-Identifier: Apache-2.0
// Complex numbers as pairs: what their arithmetic is made of.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// float32 of complex64, float64 of complex128; other dtypes as they are.
HR_API Dtype part_dtype(Dtype dtype);
/// The complex dtype whose parts have this one.
HR_API Dtype complex_dtype(Dtype part);

/// The real parts: a view, and of what `complex_from_parts` made without having run the part
/// itself, so that chains of complex arithmetic run fused. Real arrays as they are.
HR_API NodePtr real_part(const NodePtr& array);
/// The imaginary parts of complex numbers, as above.
HR_API NodePtr imaginary_part(const NodePtr& array);

/// Complex numbers with these parts, which broadcast; float64 unless both are float32. One pass.
HR_API NodePtr complex_from_parts(const NodePtr& real, const NodePtr& imaginary);

}  // namespace hr
