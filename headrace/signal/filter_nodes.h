// SPDX-License-Identifier: Apache-2.0
// The lazy forms of filters: dtype and shape are checked now, the work is done later.
#pragma once
#include "headrace/plan/graph/node.h"
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

}  // namespace hr
