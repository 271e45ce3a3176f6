// SPDX-License-Identifier: Apache-2.0
// A step of non-negative matrix factorization.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/tensor.h"

namespace hr {

/// What `nmf_sweep` makes.
struct NmfSweep {
  Tensor w;              ///< float64 [rows, components]
  double violation = 0;  ///< sum of the absolute projected gradients that the sweep met
};

/// One round of coordinate descent (A. Cichocki and A.-H. Phan, IEICE Transactions 92, 2009) over
/// the components of each row of `w`, [rows, components], for the least |X - W H| with W >= 0;
/// `hessian` is H H^T, [components, components], and `target` X H^T, [rows, components]. All are
/// float64 and C-contiguous, else TypeMismatchError; InvalidArgumentError for shapes that do not
/// fit. Rows depend on themselves alone: the same bits for any number of threads.
HR_API NmfSweep nmf_sweep(const Tensor& w, const Tensor& hessian, const Tensor& target);

}  // namespace hr
