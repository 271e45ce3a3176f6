// SPDX-License-Identifier: Apache-2.0
// What it takes to give strings codes.
#include "headrace/relational/rows/encoding_cost.h"

#include <cmath>

namespace hr {

EncodingCost encoding_cost(const NdvEstimate& texts, double rows, bool sorted) {
  const double distinct = texts.distinct;
  EncodingCost codes;
  codes.kept = 4 * rows + (40 + texts.text_bytes) * distinct;
  codes.bytes = 4 * rows + (96 + 2 * texts.text_bytes) * distinct;
  codes.serial_nanoseconds =
      290 * distinct + (sorted ? 40 * distinct * std::log2(distinct + 1) : 0);
  return codes;
}

}  // namespace hr
