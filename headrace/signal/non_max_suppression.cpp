// SPDX-License-Identifier: Apache-2.0
// Peaks of a signal: checks and dispatch.
#include "headrace/signal/non_max_suppression.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/signal/non_max_suppression_kernels.h"

#include <algorithm>
#include <cmath>

namespace hr {

namespace {

void dispatch(const Tensor& x, int64_t half, double threshold, Buffer& gate) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::non_max_suppression(x, half, threshold, gate);
  return cpu::non_max_suppression(x, half, threshold, gate);
}

}  // namespace

Tensor non_max_suppression(const Tensor& x, int64_t window, double threshold) {
  const ScopedTag tag("non_max_suppression");
  check_one_dimension("non_max_suppression", x);
  if (!x.dtype().is_real())
    throw_error<TypeMismatchError>("non_max_suppression", "expected integers or floats",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
  if (window < 1 || window % 2 == 0)
    throw_error<InvalidArgumentError>("non_max_suppression", "the window must be odd and positive",
                                      {{"window", window}}, "add 1 to an even window");
  if (std::isnan(threshold))
    throw_error<InvalidArgumentError>("non_max_suppression", "the threshold is NaN",
                                      {{"threshold", threshold}}, "pass -inf for none");
  const int64_t rows = x.num_elements();
  Buffer gate = allocate_result(rows, x.place());
  if (rows > 0) dispatch(x, std::min(window / 2, rows), threshold, gate);
  return Tensor(TypeId::kBool, {rows}, std::move(gate));
}

}  // namespace hr
