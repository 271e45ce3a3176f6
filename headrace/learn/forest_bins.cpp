// SPDX-License-Identifier: Apache-2.0
// Checks and allocates the bins of a forest.
#include "headrace/learn/forest_bins.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/exec/working_memory.h"
#include "headrace/learn/forest_kernels.h"
#include "headrace/memory/log/tag.h"

#include <algorithm>

namespace hr {

namespace {

// On the host bins stay in memory: they are written and read without pins.
Buffer allocate_codes(int64_t rows, int64_t features, Place place) {
  const int64_t bytes = checked_multiply("forest_bins", rows, features);
  return place.is_host() ? Buffer::allocate(bytes) : allocate_result(bytes, place);
}

}  // namespace

ForestBins forest_bins(const Tensor& x) {
  if (x.num_dimensions() != 2 || !x.dtype().is_floating())
    throw_error<TypeMismatchError>(
        "forest_bins", "expected a 2-D float32 or float64 array",
        {{"dimensions", x.num_dimensions()}, {"dtype", x.dtype().name()}});
  const ScopedTag tag("forest_bins");
  ForestBins bins;
  bins.rows = x.shape()[0];
  bins.features = x.shape()[1];
  const int64_t values = std::min(bins.rows, kForestSample) * 8;
  const WorkingMemory working({bins.features * (bins.rows + 2 * kForestBins * 8), values});
  bins.codes = allocate_codes(bins.rows, bins.features, x.place());
  const int64_t borders = checked_multiply("forest_bins", bins.features, kForestBins * 8);
  bins.low = Buffer::allocate_zeroed(borders);
  bins.high = Buffer::allocate_zeroed(borders);
  if constexpr (built_with_cuda)
    if (x.place().is_gpu()) {
      cuda::forest_bins(x, bins.codes, bins.low.mutable_as<double>(),
                        bins.high.mutable_as<double>());
      return bins;
    }
  check_on_host("forest_bins", x.place());
  cpu::forest_bins(x, bins.codes.mutable_as<uint8_t>(), bins.low.mutable_as<double>(),
                   bins.high.mutable_as<double>());
  return bins;
}

ForestBins take_rows(const ForestBins& bins, const Tensor& rows) {
  if (rows.dtype().id() != TypeId::kInt64 || rows.num_dimensions() != 1 || !rows.is_contiguous())
    throw_error<TypeMismatchError>("forest_bins", "expected numbers of rows, int64",
                                   {{"dtype", rows.dtype().name()}});
  const ScopedTag tag("forest_bins");
  ForestBins made{rows.num_elements(), bins.features, {}, bins.low, bins.high};
  const auto* const places = rows.as<int64_t>();
  for (int64_t i = 0; i < made.rows; ++i)
    if (places[i] < 0 || places[i] >= bins.rows)
      throw_error<InvalidArgumentError>("forest_bins", "there is no such row",
                                        {{"row", places[i]}, {"rows", bins.rows}});
  made.codes = allocate_codes(made.rows, made.features, bins.codes.place());
  if constexpr (built_with_cuda)
    if (bins.codes.place().is_gpu()) {
      if (made.rows > 0)
        cuda::forest_take(bins.codes, bins.rows, bins.features, places, made.rows, made.codes);
      return made;
    }
  cpu::forest_take(bins.codes.as<uint8_t>(), bins.rows, bins.features, places, made.rows,
                   made.codes.mutable_as<uint8_t>());
  return made;
}

}  // namespace hr
