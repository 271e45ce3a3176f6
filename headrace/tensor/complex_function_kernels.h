// SPDX-License-Identifier: Apache-2.0
// Kernel of complex_function.
#pragma once
#include "headrace/tensor/complex_function.h"

#include <cstddef>
#include <cstdint>

namespace hr::cpu {

/// out[i] = function(in[i]) for `count` contiguous elements of a complex dtype.
void apply_complex(ComplexFunction function, Dtype dtype, const std::byte* in, std::byte* out,
                   int64_t count);

}  // namespace hr::cpu
