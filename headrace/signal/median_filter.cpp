// SPDX-License-Identifier: Apache-2.0
// Moving medians: checks, memory, dispatch.
#include "headrace/signal/median_filter.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/copy_strided.h"
#include "headrace/data/device.h"
#include "headrace/signal/median_filter_kernels.h"

namespace hr {

namespace {

void dispatch(const Tensor& x, int64_t size, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      if (const std::string why = why_no_median_kernel(size); !why.empty())
        throw_error<UnsupportedError>("median_filter", why, {{"size", size}},
                                      "move the values first: x.to('cpu')");
      return cuda::median_filter(contiguous(x, "median_filter"), size, out);
    }
  return cpu::median_filter(x, size, out);
}

}  // namespace

std::string why_no_median_kernel(int64_t size) {
  return size > kMostSortedMedian ? "windows of more than 63 have no kernel for CUDA" : "";
}

Tensor median_filter(const Tensor& x, int64_t size) {
  const ScopedTag tag("median_filter");
  if (!(x.dtype().is_floating() || x.dtype() == Dtype(TypeId::kInt64)) || x.num_dimensions() == 0)
    throw_error<TypeMismatchError>("median_filter", "expected float32, float64 or int64",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
  if (size < 1 || size % 2 == 0)
    throw_error<InvalidArgumentError>("median_filter", "the window is not odd and positive",
                                      {{"size", size}}, "add 1 to an even window");
  Buffer out = allocate_result(
      checked_multiply("median_filter", x.num_elements(), x.dtype().size_bytes()), x.place());
  if (x.num_elements() > 0) dispatch(x, size, out);
  return Tensor(x.dtype(), x.shape(), std::move(out));
}

}  // namespace hr
