// SPDX-License-Identifier: Apache-2.0
// Passes over the rows of a pyramid, all parallel and free of order.
#include "headrace/data/access_pattern.h"
#include "headrace/exec/workers.h"
#include "headrace/plot/envelope_math.h"
#include "headrace/plot/pyramid_kernels.h"

#include <algorithm>

namespace hr::cpu {
namespace {

/// Range of the finite values among `count` rows.
template <class T>
Range<T> finite_range_of(const T* x, int64_t stride, int64_t count) {
  const Range<T> all = range_of(x, stride, count);
  if constexpr (std::is_floating_point_v<T>) {
    if (all.empty() || (std::isfinite(all.low) && std::isfinite(all.high))) return all;
    Range<T> range;
    for (int64_t i = 0; i < count; ++i)
      if (std::isfinite(x[i * stride])) range.include(x[i * stride]);
    return range;
  }
  return all;
}

}  // namespace

void pyramid_ranges(const Tensor& x, double* low, double* high) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t stride = x.strides()[0];
    parallel_morsels(x.shape()[0], {reads(x)}, [&](const Morsel& morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; row += kScaleBlock) {
        const int64_t count = std::min(kScaleBlock, morsel.end - row);
        const Range<T> range = finite_range_of(x.as<T>() + row * stride, stride, count);
        low[row / kScaleBlock] = static_cast<double>(range.low);
        high[row / kScaleBlock] = static_cast<double>(range.high);
      }
    });
  });
}

void pyramid_rows(const Tensor& x, const CodeScale& scale, uint16_t* codes) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* values = x.as<T>();
    const int64_t stride = x.strides()[0];
    parallel_morsels(x.shape()[0], {reads(x)}, [&](const Morsel& morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; ++row) {
        const auto value = static_cast<double>(values[row * stride]);
        codes[row] = value == value ? scale.nearest(value) : uint16_t{0};
      }
    });
  });
}

void pyramid_buckets(const Tensor& x, const CodeScale& scale, int64_t bucket, uint16_t* low,
                     uint16_t* high) {
  visit_real(x.dtype(), [&]<class T>(std::type_identity<T>) {
    const int64_t stride = x.strides()[0];
    // Whole buckets, which are at most so long.
    parallel_morsels(x.shape()[0], kMorselRows, {reads(x)}, [&](const Morsel& morsel) {
      for (int64_t row = morsel.begin; row < morsel.end; row += bucket) {
        const Range<T> range =
            range_of(x.as<T>() + row * stride, stride, std::min(bucket, morsel.end - row));
        const int64_t k = row / bucket;
        low[k] = range.empty() ? uint16_t{0} : scale.below(static_cast<double>(range.low));
        high[k] = range.empty() ? uint16_t{0} : scale.above(static_cast<double>(range.high));
      }
    });
  });
}

void pack_codes_count(const uint16_t* codes, int64_t count, int64_t* bytes) {
  parallel_morsels(count, [&](const Morsel& morsel) {
    int64_t total = 0;
    for (int64_t i = morsel.begin; i < morsel.end; ++i)
      total += packed_size(i == 0 ? uint16_t{0} : codes[i - 1], codes[i]);
    bytes[morsel.index] = total;
  });
}

void pack_codes_write(const uint16_t* codes, int64_t count, const int64_t* starts, uint8_t* out) {
  parallel_morsels(count, [&](const Morsel& morsel) {
    uint8_t* next = out + starts[morsel.index];
    for (int64_t i = morsel.begin; i < morsel.end; ++i)
      next = pack_code(i == 0 ? uint16_t{0} : codes[i - 1], codes[i], next);
  });
}

}  // namespace hr::cpu
