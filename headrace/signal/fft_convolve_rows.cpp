// SPDX-License-Identifier: Apache-2.0
// Several convolutions into one result.
#include "headrace/signal/fft_convolve_rows.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/signal/fft_convolve_kernels.h"
#include "headrace/signal/line_offsets.h"

#include <algorithm>
#include <type_traits>

namespace hr {

namespace {

Tensor taps_of(const std::vector<double>& values, Dtype dtype) {
  const auto count = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(count * dtype.size_bytes());
  visit_floating(dtype, [&]<class T>(std::type_identity<T>) {
    std::transform(values.begin(), values.end(), buffer.mutable_as<T>(),
                   [](double value) { return static_cast<T>(value); });
  });
  return Tensor(dtype, {count}, std::move(buffer));
}

/// The convolution in mode same to the outputs from `first_output` on.
void convolve_to(const Tensor& x, const Tensor& taps, int64_t first_output, Buffer& out) {
  const ConvolveTaps counting = trim_taps(taps);
  const ConvolveJob job{x.num_elements(), (taps.num_elements() - 1) / 2 - counting.first,
                        counting.first, counting.count, first_output};
  convolve(job, x, taps, out);
}

void check(const char* op, const Tensor& x, size_t taps) {
  if (!x.dtype().is_floating() || x.num_dimensions() == 0)
    throw_error<TypeMismatchError>(op, "expected float32 or float64", {{"dtype", x.dtype().name()}},
                                   "use astype first");
  if (taps == 0 || static_cast<int64_t>(taps) > x.shape().back())
    throw_error<InvalidArgumentError>(
        op, "the signal is shorter than the taps",
        {{"samples", x.shape().back()}, {"taps", static_cast<int64_t>(taps)}}, "pass fewer taps");
}

}  // namespace

Tensor convolve_with_each(const Tensor& x, const std::vector<std::vector<double>>& taps) {
  constexpr const char* kOp = "convolve_with_each";
  const ScopedTag tag(kOp);
  for (const auto& each : taps) check(kOp, x, each.size());
  const int64_t samples = x.num_elements();
  const auto rows = static_cast<int64_t>(taps.size());
  Buffer out = allocate_result(
      checked_multiply(kOp, checked_multiply(kOp, rows, samples), x.dtype().size_bytes()),
      x.place());
  for (int64_t k = 0; k < rows && samples > 0; ++k)
    convolve_to(x, taps_of(taps[static_cast<size_t>(k)], x.dtype()), k * samples, out);
  return Tensor(x.dtype(), {rows, samples}, std::move(out));
}

Tensor convolve_with_ends(const Tensor& x, const std::vector<double>& taps,
                          const std::vector<double>& first, const std::vector<double>& last) {
  constexpr const char* kOp = "convolve_with_ends";
  const ScopedTag tag(kOp);
  check(kOp, x, taps.size());
  check_on_host(kOp, x.place());
  Buffer out = Buffer::allocate(checked_multiply(kOp, x.num_elements(), x.dtype().size_bytes()));
  if (x.num_elements() == 0) return Tensor(x.dtype(), x.shape(), std::move(out));
  const int64_t samples = x.shape().back(), stride = x.strides().back();
  const auto size = static_cast<int64_t>(taps.size());
  const LineOffsets rows_at{x.shape(), x.strides(), x.num_dimensions() - 1};
  const Tensor rounded = taps_of(taps, x.dtype());
  for (int64_t row = 0; row < x.num_elements() / samples; ++row) {
    const Tensor line(x.dtype(), {samples}, {stride}, x.buffer(),
                      x.byte_offset() + rows_at[row] * x.dtype().size_bytes());
    convolve_to(line, rounded, row * samples, out);
    visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
      T* const to = out.mutable_as<T>() + row * samples;
      // A sample without a weight is not read: times zero it may be NaN.
      const auto sums = [&](const std::vector<double>& weights, int64_t from, int64_t begin,
                            bool at_end) {
        for (int64_t i = 0; i < size / 2; ++i) {
          const double* weight = weights.data() + i * size;
          int64_t j = 0, end = size;
          while (at_end && j < end && weight[j] == 0) ++j;
          while (!at_end && j < end && weight[end - 1] == 0) --end;
          double sum = 0;
          for (; j < end; ++j)
            sum += weight[j] * static_cast<double>(line.as<T>()[(from + j) * stride]);
          to[begin + i] = static_cast<T>(sum);
        }
      };
      sums(first, 0, 0, false);
      sums(last, samples - size, samples - size / 2, true);
    });
  }
  return Tensor(x.dtype(), x.shape(), std::move(out));
}

}  // namespace hr
