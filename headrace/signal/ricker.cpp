// SPDX-License-Identifier: Apache-2.0
// The Ricker wavelet: checks and dispatch.
#include "headrace/signal/ricker.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/signal/ricker_kernels.h"

#include <cmath>

namespace hr {

namespace {

void dispatch(int64_t points, double width, Dtype dtype, Buffer& out) {
  if constexpr (built_with_cuda)
    if (out.place().is_gpu()) return cuda::ricker(points, width, dtype, out);
  return cpu::ricker(points, width, dtype, out);
}

}  // namespace

void check_ricker(int64_t points, double width, Dtype dtype) {
  if (points < 0)
    throw_error<InvalidArgumentError>("ricker", "points is negative", {{"points", points}},
                                      "pass the number of samples");
  if (!(width > 0) || !std::isfinite(width))
    throw_error<InvalidArgumentError>("ricker", "width must be positive and finite",
                                      {{"width", width}},
                                      "pass the samples from the centre to the zero crossing");
  if (!dtype.is_floating())
    throw_error<TypeMismatchError>("ricker", "the dtype must be float32 or float64",
                                   {{"dtype", dtype.name()}}, "use astype on the result");
}

Tensor ricker(int64_t points, double width, Dtype dtype) {
  const ScopedTag tag("ricker");
  check_ricker(points, width, dtype);
  Buffer out = Buffer::allocate(checked_multiply("ricker", points, dtype.size_bytes()));
  if (points > 0) dispatch(points, width, dtype, out);
  return Tensor(dtype, {points}, std::move(out));
}

}  // namespace hr
