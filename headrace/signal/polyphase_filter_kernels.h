// SPDX-License-Identifier: Apache-2.0
// Kernel of polyphase_filter. The input is checked.
#pragma once
#include "headrace/data/tensor.h"

#include <vector>

namespace hr::cpu {

struct PolyphaseJob {
  const std::vector<double>& taps;
  int64_t up;
  int64_t down;
  int64_t shift;
  int64_t count;  ///< outputs of a row
};

/// `x` has samples and rows; `out` is row-major, of dtype `result`.
void polyphase_filter(const PolyphaseJob& job, const Tensor& x, Dtype result, Buffer& out);

}  // namespace hr::cpu
