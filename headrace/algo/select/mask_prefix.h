// SPDX-License-Identifier: Apache-2.0
// How far a mask has to be read.
#pragma once
#include "headrace/algo/select/filter.h"

#include <cstdint>

namespace hr {

struct MaskPrefix {
  int64_t rows;    ///< up to the last one that is picked; all where there are fewer than wanted
  int64_t picked;  ///< of these
};

/// How many rows of a mask on the host it takes to pick `most` of them.
HR_API MaskPrefix mask_prefix(const Mask& mask, int64_t most);

}  // namespace hr
