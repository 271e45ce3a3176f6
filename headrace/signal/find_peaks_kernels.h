// SPDX-License-Identifier: Apache-2.0
// Kernels of find_peaks.
#pragma once
#include "headrace/memory/adaptors/allocator.h"

#include <cstdint>

namespace hr::cpu {

/// A maximum: its place and the ends of its plateau.
struct PeakPlace {
  int64_t middle;
  int64_t left;
  int64_t right;
};

struct PeakProminence {
  double value;
  int64_t left_base;
  int64_t right_base;
};

struct PeakWidth {
  double value;
  double height;
  double left;
  double right;
};

/// All maxima of x[0 ... count), ascending.
BudgetedVector<PeakPlace> local_maxima(const double* x, int64_t count);

/// For each peak whether it stays when peaks nearer than `distance` to a higher one go.
BudgetedVector<uint8_t> far_apart(const double* x, const BudgetedVector<PeakPlace>& peaks,
                                  int64_t distance);

/// `window`: samples around each peak, odd; 0: all.
BudgetedVector<PeakProminence> peak_prominences(const double* x, int64_t count,
                                                const BudgetedVector<PeakPlace>& peaks,
                                                int64_t window);

BudgetedVector<PeakWidth> peak_widths(const double* x, const BudgetedVector<PeakPlace>& peaks,
                                      const BudgetedVector<PeakProminence>& prominences,
                                      double relative_height);

}  // namespace hr::cpu
