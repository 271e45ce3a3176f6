// SPDX-License-Identifier: Apache-2.0
// Positions of the true elements of a gate.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

namespace hr {

/// Positions (int64, ascending) at which a 1-D bool tensor of any stride is true, as
/// `numpy.flatnonzero`. A byte other than 0 is true. Throws TypeMismatchError unless `gate` is 1-D
/// and bool. O(n), two passes over the bytes.
HR_API Tensor nonzero(const Tensor& gate);

/// The same for a bool column. Throws InvalidArgumentError when it has nulls.
HR_API Tensor nonzero(const Column& gate);

}  // namespace hr
