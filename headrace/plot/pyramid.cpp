// SPDX-License-Identifier: Apache-2.0
// Chooses bucket and step of a pyramid and lays out its bytes.
#include "headrace/plot/pyramid.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/tag.h"
#include "headrace/plot/pyramid_kernels.h"

#include <algorithm>
#include <cmath>

namespace hr {
namespace {

/// The scale that the header promises. Two codes stay free at each end, so that rounding outward
/// never leaves the codes.
CodeScale choose_scale(const Tensor& x) {
  constexpr double kStepsInBlock = 512;
  constexpr double kStepsInAll = kLastCode - 5;
  const int64_t blocks = divide_up(x.shape()[0], cpu::kScaleBlock);
  Buffer scratch = Buffer::allocate(2 * blocks * static_cast<int64_t>(sizeof(double)));
  double* low = scratch.mutable_as<double>();
  double* high = low + blocks;
  cpu::pyramid_ranges(x, low, high);
  double lowest = INFINITY;
  double highest = -INFINITY;
  int64_t used = 0;
  for (int64_t k = 0; k < blocks; ++k) {
    if (low[k] > high[k]) continue;
    lowest = std::min(lowest, low[k]);
    highest = std::max(highest, high[k]);
    low[used++] = high[k] - low[k];
  }
  if (used == 0) return {};
  std::nth_element(low, low + used / 2, low + used);
  const double whole = highest / kStepsInAll - lowest / kStepsInAll;
  double step = std::max(low[used / 2] / kStepsInBlock, whole);
  if (!std::isfinite(step)) step = whole;
  if (step < 1e-300) step = highest == lowest ? 1 : 1e-300;
  return {lowest - 3 * step, step};
}

int64_t choose_bucket(int64_t rows, int64_t max_values) {
  if (rows <= max_values) return 1;
  int64_t bucket = 4;
  while (bucket < kMorselRows && 2 * divide_up(rows, bucket) > max_values) bucket *= 2;
  return bucket;
}

}  // namespace

Pyramid pyramid(const Tensor& x, int64_t max_values) {
  if (x.num_dimensions() != 1 || !x.dtype().is_real())
    throw_error<TypeMismatchError>(
        "pyramid", "x must be one-dimensional integers or floats",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
  if (max_values < 2)
    throw_error<InvalidArgumentError>("pyramid", "max_values is too small",
                                      {{"max_values", max_values}}, "use 2 or more");
  const ScopedTag tag("pyramid");
  Pyramid result;
  result.num_rows = x.shape()[0];
  result.bucket = choose_bucket(result.num_rows, max_values);
  result.num_buckets = divide_up(result.num_rows, result.bucket);
  const CodeScale scale = choose_scale(x);
  result.offset = scale.offset;
  result.step = scale.step;
  const int64_t count = result.num_buckets;
  const bool rows = result.bucket == 1;
  Buffer codes = Buffer::allocate((rows ? 1 : 2) * count * 2);
  auto* out = codes.mutable_as<uint16_t>();
  if (rows)
    cpu::pyramid_rows(x, scale, out);
  else
    cpu::pyramid_buckets(x, scale, result.bucket, out, out + count);
  result.codes =
      Tensor(dtype_of<uint16_t>(), rows ? Shape{count} : Shape{2, count}, std::move(codes));
  return result;
}

Tensor pack_codes(const Tensor& codes) {
  if (codes.dtype() != dtype_of<uint16_t>() || codes.num_dimensions() < 1 ||
      codes.num_dimensions() > 2)
    throw_error<TypeMismatchError>(
        "pack_codes", "codes must be uint16 of one or two dimensions",
        {{"dimensions", codes.num_dimensions()}, {"dtype", codes.dtype().name()}});
  const ScopedTag tag("pack_codes");
  const Tensor flat = contiguous(codes, "pack_codes");
  const int64_t count = codes.shape().back();
  const int64_t rows = codes.num_dimensions() == 2 ? codes.shape()[0] : 1;
  const int64_t morsels = num_morsels(count);
  Buffer slots = Buffer::allocate(rows * morsels * static_cast<int64_t>(sizeof(int64_t)));
  auto* starts = slots.mutable_as<int64_t>();
  for (int64_t row = 0; row < rows; ++row)
    cpu::pack_codes_count(flat.as<uint16_t>() + row * count, count, starts + row * morsels);
  int64_t total = 0;
  for (int64_t k = 0; k < rows * morsels; ++k) {
    const int64_t bytes = starts[k];
    starts[k] = total;
    total += bytes;
  }
  Buffer out = Buffer::allocate(total);
  for (int64_t row = 0; total > 0 && row < rows; ++row)
    cpu::pack_codes_write(flat.as<uint16_t>() + row * count, count, starts + row * morsels,
                          out.mutable_as<uint8_t>());
  return Tensor(dtype_of<uint8_t>(), {total}, std::move(out));
}

}  // namespace hr
