// SPDX-License-Identifier: Apache-2.0
// Peaks of a signal with their properties, chosen by them.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace hr {

/// Both ends included.
struct PeakRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  bool has(double value) const { return least <= value && value <= most; }

  static auto parameters(auto& self) { return std::tie(self.least, self.most); }
};

/// What peaks must have, as in scipy.signal.find_peaks; each that is set is a property too.
struct PeakOptions {
  std::optional<PeakRange> height{};
  std::optional<PeakRange> threshold{};
  std::optional<double> distance{};
  std::optional<PeakRange> prominence{};
  std::optional<PeakRange> width{};
  std::optional<int64_t> window{};  ///< samples around a peak that its prominence is taken from
  double relative_height = 0.5;
  std::optional<PeakRange> plateau_size{};
};

/// Columns in this order; those of an option that is not set are empty tensors.
struct Peaks {
  Tensor positions;
  Tensor plateau_sizes, left_edges, right_edges;                  // of plateau_size
  Tensor heights;                                                 // of height
  Tensor left_thresholds, right_thresholds;                       // of threshold
  Tensor prominences, left_bases, right_bases;                    // of prominence and width
  Tensor widths, width_heights, left_positions, right_positions;  // of width
};

/// Samples of float64 `x` that are greater than both neighbours; of a plateau its middle, rounded
/// down. NaN is no peak and ends what is looked through for others. Options choose in the order
/// plateau size, height, threshold, distance (higher peaks suppress, the later of equal ones),
/// prominence, width. Parallel but for distance; O(n) for peaks alone, prominences skip blocks of
/// samples that are not higher. The same results for any number of threads.
/// Throws TypeMismatchError unless x is 1-D float64; InvalidArgumentError for a distance below 1, a
/// window below 2 and a negative relative height.
HR_API Peaks find_peaks(const Tensor& x, const PeakOptions& options);

}  // namespace hr
