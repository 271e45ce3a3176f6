// SPDX-License-Identifier: Apache-2.0
// Differences of neighbouring elements: checks and dispatch.
#include "headrace/algo/scan/diff.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/scan/diff_kernels.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"

#include <algorithm>

namespace hr {

namespace {

void dispatch(const Tensor& x, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::diff(x, out);
  return cpu::diff(x, out);
}

}  // namespace

Tensor diff(const Tensor& x) {
  const ScopedTag tag("diff");
  check_one_dimension("diff", x);
  if (!x.dtype().is_real())
    throw_error<TypeMismatchError>("diff", "expected integers or floats",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
  const int64_t count = std::max<int64_t>(0, x.num_elements() - 1);
  Buffer out = allocate_result(count * x.dtype().size_bytes(), x.place());
  if (count > 0) dispatch(x, out);
  return Tensor(x.dtype(), {count}, std::move(out));
}

}  // namespace hr
