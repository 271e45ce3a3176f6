// SPDX-License-Identifier: Apache-2.0
// Recursive (IIR) filters: sections of any order one after the other, forwards or both ways.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <tuple>
#include <vector>

namespace hr {

/// Sections of one order; section s computes a[0] y[n] = sum over i of b[i] x[n - i] minus the sum
/// over i > 0 of a[i] y[n - i], with a[0] = 1. A filter of scipy.signal.lfilter is one section, one
/// of sosfilt several of order 2.
struct FilterSections {
  int64_t order = 0;
  std::vector<double> numerators{};    ///< order + 1 a section
  std::vector<double> denominators{};  ///< the same

  int64_t count() const { return static_cast<int64_t>(numerators.size()) / (order + 1); }

  /// Numbers that a line's state has: `order` a section.
  int64_t state_size() const { return order * count(); }

  static auto parameters(auto& self) {
    return std::tie(self.order, self.numerators, self.denominators);
  }
};

struct FilteredSignal {
  Tensor values;
  Tensor state;  ///< after the last sample: a row of `state_size` a line
};

/// Filters each line of `x` along `axis`, in float64; the result is row-major, float32 where x is
/// float32 and `single`, else float64. `initial` holds a row of `state_size` numbers for each line
/// (lines in row-major order of the other axes); null: zeros. Sections run in the transposed direct
/// form II, so short signals have the bits of this recurrence. Signals of 65,664 samples and more
/// are cut at fixed places, and the state at each cut comes from the samples before it: from as
/// many as the filter remembers down to 2^-200, else from all by the power of its transition
/// matrix. Filters that grow run in order. So the bits are the same for any number of threads and
/// at every SIMD level. A state that is not finite spoils all that follows, as in order.
/// O(n order sections) time, parallel over lines and parts of long lines.
/// Throws TypeMismatchError unless x is float32 or float64.
HR_API FilteredSignal recursive_filter(const Tensor& x, const FilterSections& sections,
                                       int64_t axis, bool single, const Tensor* initial);

/// How a line goes on beyond its ends.
enum class FilterPadding : uint8_t { kNone, kOdd, kEven, kConstant };

/// The same forwards, then backwards over the result, so that no phase is shifted, as
/// scipy.signal.filtfilt. Each line is longer by `padding_length` samples at both ends while it is
/// filtered; both ways begin in `steady` (`state_size` numbers: the state after a long 1) times the
/// first sample. Needs no memory but the result. Throws InvalidArgumentError unless lines are
/// longer than `padding_length`.
HR_API Tensor recursive_filter_both_ways(const Tensor& x, const FilterSections& sections,
                                         int64_t axis, bool single,
                                         const std::vector<double>& steady, FilterPadding padding,
                                         int64_t padding_length);

}  // namespace hr
