// SPDX-License-Identifier: Apache-2.0
// Sums, differences and products of counts that do not wrap.
#pragma once
#include "headrace/plan/graph/node.h"

namespace hr {

/// The sum, difference or product (`op`) of two int64 columns of times and durations, or of one and
/// a number; null where one is. On evaluation InvalidArgumentError with the row of a result of more
/// than 64 bits. Null for operands of another form: then `elementwise` computes it.
HR_API NodePtr checked_counts(Op op, const NodePtr& left, const NodePtr& right);

}  // namespace hr
