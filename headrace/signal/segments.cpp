// SPDX-License-Identifier: Apache-2.0
// Segments cut from a signal: checks and dispatch.
#include "headrace/signal/segments.h"

#include "headrace/algo/bits/strided_view.h"
#include "headrace/algo/reduce/histogram_kernels.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/signal/segments_kernels.h"

namespace hr {

namespace {

void dispatch(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
              Normalize normalize, Buffer& out) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::segments(x, begins, lengths, width, normalize, out);
  return cpu::segments(x, begins, lengths, width, normalize, out);
}

void check_int64(const char* what, const Tensor& tensor) {
  check_one_dimension("segments", tensor);
  if (tensor.dtype() != TypeId::kInt64)
    throw_error<TypeMismatchError>("segments", what, {{"dtype", tensor.dtype().name()}},
                                   "use astype('int64')");
}

void check_lengths(const Tensor& lengths) {
  const auto refuse = [](std::initializer_list<Detail> details) {
    throw_error<InvalidArgumentError>("segments", "a length is negative", details,
                                      "drop such rows first");
  };
  if constexpr (built_with_cuda)
    if (lengths.place().is_gpu()) {
      const double least = cuda::extremes(lengths).low;
      if (least < 0) refuse({{"length", static_cast<int64_t>(least)}});
      return;
    }
  const StridedView<int64_t> length(lengths);
  for (int64_t i = 0; i < length.size; ++i)
    if (length[i] < 0) refuse({{"row", i}, {"length", length[i]}});
}

}  // namespace

Tensor segments(const Tensor& x, const Tensor& begins, const Tensor& lengths, int64_t width,
                Normalize normalize) {
  const ScopedTag tag("segments");
  check_one_dimension("segments", x);
  if (!x.dtype().is_floating())
    throw_error<TypeMismatchError>("segments", "the signal must be float32 or float64",
                                   {{"dtype", x.dtype().name()}}, "use astype first");
  check_int64("begins must be int64", begins);
  check_int64("lengths must be int64", lengths);
  if (width < 0)
    throw_error<InvalidArgumentError>("segments", "the width is negative", {{"width", width}},
                                      "pass the number of columns of the result");
  const int64_t rows = begins.num_elements();
  if (lengths.num_elements() != rows && lengths.num_elements() != 1)
    throw_error<InvalidArgumentError>(
        "segments", "expected one length per begin, or a single length",
        {{"begins", rows}, {"lengths", lengths.num_elements()}}, "pass as many lengths as begins");
  check_lengths(lengths);
  const int64_t bytes = checked_multiply("segments", checked_multiply("segments", rows, width),
                                         x.dtype().size_bytes());
  Buffer out = allocate_result(bytes, x.place());
  if (bytes > 0) dispatch(x, begins, lengths, width, normalize, out);
  return Tensor(x.dtype(), {rows, width}, std::move(out));
}

Tensor segments(const Tensor& x, const Tensor& begins, int64_t width, Normalize normalize) {
  Buffer length = Buffer::allocate(8);
  *length.mutable_as<int64_t>() = width;
  return segments(x, begins, Tensor(TypeId::kInt64, {1}, std::move(length)), width, normalize);
}

}  // namespace hr
