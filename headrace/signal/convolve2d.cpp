// SPDX-License-Identifier: Apache-2.0
// Convolution of matrices: checks, the part that is returned, dispatch.
#include "headrace/signal/convolve2d.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/signal/convolve2d_kernels.h"

namespace hr {

namespace {

void dispatch(const Convolve2dJob& job, const Tensor& x, const Tensor& kernel, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::convolve2d(job, x, kernel, out);
  return cpu::convolve2d(job, x, kernel, out);
}

}  // namespace

Tensor convolve2d(const Tensor& x, const Tensor& kernel, ConvolveMode mode, MatrixBoundary boundary,
                  double fill, bool later_middle) {
  constexpr const char* kOp = "convolve2d";
  const ScopedTag tag(kOp);
  if (x.num_dimensions() != 2 || kernel.num_dimensions() != 2 || !x.dtype().is_floating() ||
      x.dtype() != kernel.dtype())
    throw_error<TypeMismatchError>(kOp, "expected two matrices of float32 or of float64",
                                   {{"dtype", x.dtype().name()}, {"kernel", kernel.dtype().name()}},
                                   "use astype or reshape");
  if (kernel.num_elements() == 0)
    throw_error<InvalidArgumentError>(kOp, "the kernel is empty", {{"elements", 0}},
                                      "pass at least one element");
  const int64_t down = kernel.shape()[0] - 1, across = kernel.shape()[1] - 1;
  const int64_t more = later_middle ? 1 : 0;
  Convolve2dJob job{x.shape()[0],        x.shape()[1], (down + more) / 2,
                    (across + more) / 2, boundary,     fill};
  if (mode == ConvolveMode::kFull) {
    job.rows = checked_add(kOp, job.rows, down);
    job.columns = checked_add(kOp, job.columns, across);
    job.first_row = job.first_column = 0;
  }
  if (mode == ConvolveMode::kValid) {
    job.rows -= down;
    job.columns -= across;
    job.first_row = down;
    job.first_column = across;
  }
  if (x.num_elements() == 0) job.rows = job.columns = 0;
  if (job.rows < 0 || job.columns < 0)
    throw_error<InvalidArgumentError>(kOp, "the kernel is larger than the matrix",
                                      {{"rows", x.shape()[0]},
                                       {"columns", x.shape()[1]},
                                       {"kernel_rows", down + 1},
                                       {"kernel_columns", across + 1}},
                                      "use mode='full' or 'same'");
  const int64_t elements = checked_multiply(kOp, job.rows, job.columns);
  Buffer out = allocate_result(checked_multiply(kOp, elements, x.dtype().size_bytes()), x.place());
  if (elements > 0) dispatch(job, x, kernel, out);
  return Tensor(x.dtype(), {job.rows, job.columns}, std::move(out));
}

}  // namespace hr
