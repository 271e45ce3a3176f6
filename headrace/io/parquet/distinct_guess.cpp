// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/distinct_guess.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hr::parquet {

double guess_distinct(int64_t found, int64_t seen, int64_t rows) {
  if (seen == 0 || found >= seen) return static_cast<double>(rows);
  // Of D values n draws show D (1 - exp(-n / D)): with x = n / D, the share (1 - exp(-x)) / x of
  // the draws is new, which falls with x.
  const double share = static_cast<double>(found) / static_cast<double>(seen);
  double low = 1e-9, high = 1e9;
  for (int step = 0; step < 100; ++step) {
    const double x = std::sqrt(low * high);
    (-std::expm1(-x) / x > share ? low : high) = x;
  }
  const double distinct = static_cast<double>(seen) / high;
  return -distinct * std::expm1(-static_cast<double>(rows) / distinct);
}

int index_bits(int64_t distinct) {
  return std::max<int>(1,
                       std::bit_width(static_cast<uint64_t>(std::max<int64_t>(distinct, 1) - 1)));
}

double guess_index_bytes(double distinct, int64_t count, double changes) {
  const int bits = index_bits(static_cast<int64_t>(distinct));
  const double packed = static_cast<double>(count) * bits / 8;
  const double runs = changes * (2 + (bits + 7) / 8);
  return std::min(packed, runs);
}

}  // namespace hr::parquet
