// SPDX-License-Identifier: Apache-2.0
// The lazy forms of filters: dtype and shape are checked now, the work is done later.
#pragma once
#include "headrace/plan/graph/node.h"
#include "headrace/signal/convolve2d.h"
#include "headrace/signal/find_peaks.h"
#include "headrace/signal/recursive_filter.h"

#include <string>
#include <vector>

namespace hr {

// Each takes arrays or columns without nulls and promises what the function of its name does.
// `word`: the public name, for explain() and errors.

struct FilteredNodes {
  NodePtr values;
  NodePtr state;  ///< null without `initial`
};

HR_API FilteredNodes recursive_filter(std::string word, const NodePtr& x, FilterSections sections,
                                      int64_t axis, bool single, const NodePtr& initial);
HR_API NodePtr recursive_filter_both_ways(std::string word, const NodePtr& x,
                                          FilterSections sections, int64_t axis, bool single,
                                          std::vector<double> steady, FilterPadding padding,
                                          int64_t padding_length);

HR_API NodePtr polyphase_filter(std::string word, const NodePtr& x, std::vector<double> taps,
                                int64_t up, int64_t down, int64_t shift, int64_t count,
                                bool single);
HR_API NodePtr median_filter(const NodePtr& x, int64_t size);

HR_API NodePtr convolve2d(std::string word, const NodePtr& x, const NodePtr& kernel,
                          ConvolveMode mode, MatrixBoundary boundary, double fill,
                          bool later_middle);
HR_API NodePtr convolve_with_each(std::string word, const NodePtr& x,
                                  std::vector<std::vector<double>> taps);
HR_API NodePtr convolve_with_ends(std::string word, const NodePtr& x, std::vector<double> taps,
                                  std::vector<double> first, std::vector<double> last);

/// The positions, then the properties of the options that are set, in the order of `Peaks`.
HR_API std::vector<NodePtr> find_peaks(const NodePtr& x, const PeakOptions& options);

}  // namespace hr
