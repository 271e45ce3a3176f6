// SPDX-License-Identifier: Apache-2.0
// Scores of classes as logarithms of probabilities.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"
#include "headrace/plan/graph/node.h"

namespace hr {

/// The logarithms of exp(score) over the sum of those of its row, in the order of the classes, all
/// less the largest score: finite where the share is too small for a float. Of scores [rows], which
/// are those of the second of two classes against the first, [rows, 2]. Float32 or float64 as
/// `scores`; NaN spreads over its row. Each row for itself, so the same bits for any number of
/// threads. Throws TypeMismatchError for other dtypes and shapes.
HR_API Tensor log_shares(const Tensor& scores);
HR_API NodePtr log_shares(const NodePtr& scores);

}  // namespace hr
