// SPDX-License-Identifier: Apache-2.0
// The window of a spectrum in the precision of the signal.
#pragma once
#include "headrace/data/tensor.h"

#include <string_view>

namespace hr {

/// A contiguous copy in float32 or float64, or the window itself. Throws TypeMismatchError unless
/// it is 1-D and float.
Tensor spectral_window(std::string_view op, const Tensor& window, bool is_single);

}  // namespace hr
