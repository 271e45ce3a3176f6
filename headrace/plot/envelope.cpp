// SPDX-License-Identifier: Apache-2.0
// Checks and allocates for envelope.
#include "headrace/plot/envelope.h"

#include "headrace/base/error.h"
#include "headrace/memory/tag.h"
#include "headrace/plot/envelope_kernels.h"

namespace hr {

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
  Buffer low = Buffer::allocate(bytes);
  Buffer high = Buffer::allocate(bytes);
  cpu::envelope(x, start, stop, width, low.mutable_data(), high.mutable_data());
  return {Tensor(x.dtype(), {width}, std::move(low)), Tensor(x.dtype(), {width}, std::move(high))};
}

}  // namespace hr
