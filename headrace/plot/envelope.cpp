// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for envelope.
#include "headrace/plot/envelope.h"

#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plot/envelope_kernels.h"

namespace hr {

namespace {

void dispatch(const Tensor& x, int64_t start, int64_t stop, int64_t width, Buffer& low,
              Buffer& high) {
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) return cuda::envelope(x, start, stop, width, low, high);
  check_on_host("envelope", x.place());
  return cpu::envelope(x, start, stop, width, low, high);
}

Buffer allocate_pixels(int64_t bytes, Place place) {
  return place.is_host() ? Buffer::allocate(bytes) : allocate_result(bytes, place);
}

}  // namespace

void check_envelope(int64_t rows, int64_t start, int64_t stop, int64_t width) {
  constexpr int64_t kMaxWidth = (int64_t{1} << 31) - 1;
  if (start < 0 || start >= stop || stop > rows)
    throw_error<InvalidArgumentError>("envelope", "start and stop must enclose rows of x",
                                      {{"start", start}, {"stop", stop}, {"rows", rows}},
                                      "use 0 <= start < stop <= rows");
  if (width < 1 || width > kMaxWidth)
    throw_error<InvalidArgumentError>("envelope", "width is not a number of pixels",
                                      {{"width", width}}, "use 1 to 2147483647");
}

Envelope envelope(const Tensor& x, int64_t start, int64_t stop, int64_t width) {
  if (x.num_dimensions() != 1 || !x.dtype().is_real())
    throw_error<TypeMismatchError>(
        "envelope", "x must be one-dimensional integers or floats",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
  check_envelope(x.shape()[0], start, stop, width);
  const ScopedTag tag("envelope");
  const int64_t bytes = width * x.dtype().size_bytes();
  Buffer low = allocate_pixels(bytes, x.place());
  Buffer high = allocate_pixels(bytes, x.place());
  dispatch(x, start, stop, width, low, high);
  return {Tensor(x.dtype(), {width}, std::move(low)), Tensor(x.dtype(), {width}, std::move(high))};
}

}  // namespace hr
