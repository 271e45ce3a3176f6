// SPDX-License-Identifier: Apache-2.0
// What it takes to give strings codes, for the costs of joins and group-bys.
#pragma once
#include "headrace/algo/keys/ndv_estimate.h"

namespace hr {

/// What it takes to encode a string column, with the table that its codes come from.
struct EncodingCost {
  double bytes = 0;  ///< at most at once
  double kept = 0;
  double serial_nanoseconds = 0;  ///< ns of one thread
};
EncodingCost encoding_cost(const NdvEstimate& texts, double rows, bool sorted);

}  // namespace hr
