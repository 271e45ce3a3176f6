// SPDX-License-Identifier: Apache-2.0
// Lines along the last axis, each sorted for itself.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// Each line along the last axis in order: NaN last (`descending`: first), -0.0 before 0.0. Numbers
/// and bools. Parallel over lines; radix passes from 768 elements on.
HR_API NodePtr sort_last_axis(const NodePtr& array, bool descending);

/// The positions in each line in that order, int64: stable, zeros of both signs are equal.
HR_API NodePtr argsort_last_axis(const NodePtr& array, bool descending);

/// Where each of `values` would stand in the sorted `line` of one dimension: before equal ones, or
/// `right`: behind them. Both have one dtype; int64 in the shape of `values`.
HR_API NodePtr search_sorted(const NodePtr& line, const NodePtr& values, bool right);

}  // namespace hr
