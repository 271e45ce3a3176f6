// SPDX-License-Identifier: Apache-2.0
// A column is a task: its borders from sorted values, then the code of each value by search.
#include "headrace/exec/workers.h"
#include "headrace/learn/forest_bins.h"
#include "headrace/learn/forest_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hr::cpu {
namespace {

/// The borders between bins of sorted values, in `edges[kForestBins - 1]`; returns how many. A bin
/// begins where a value does: with each, or with those nearest to equal parts.
int64_t find_edges(const double* sorted, int64_t count, double* edges) {
  int64_t distinct = count > 0 ? 1 : 0;
  for (int64_t i = 1; i < count && distinct <= kForestBins; ++i)
    distinct += sorted[i] != sorted[i - 1] ? 1 : 0;
  int64_t made = 0;
  for (int64_t i = 1, begin = 0; i < count; ++i) {
    if (sorted[i] == sorted[i - 1]) continue;
    if (distinct > kForestBins && i * kForestBins / count == begin * kForestBins / count) continue;
    edges[made++] = forest_middle(sorted[i - 1], sorted[i]);
    begin = i;
  }
  return made;
}

}  // namespace

void forest_bins(const Tensor& x, uint8_t* codes, double* low, double* high) {
  const int64_t rows = x.shape()[0];
  const int64_t taken = std::min(rows, kForestSample);
  visit_floating(x.dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_for(x.shape()[1], [&](int64_t feature) {
      const T* column = x.as<T>() + feature * x.strides()[1];
      const int64_t stride = x.strides()[0];
      Buffer scratch = Buffer::allocate(taken * static_cast<int64_t>(sizeof(double)));
      auto* values = scratch.mutable_as<double>();
      int64_t count = 0;
      for (int64_t i = 0; i < taken; ++i) {
        const int64_t row = forest_sampled_row(rows, taken, i);
        const double value = forest_value(static_cast<double>(column[row * stride]));
        if (!std::isnan(value)) values[count++] = value;
      }
      std::sort(values, values + count);
      double edges[kForestBins];
      std::fill(edges + find_edges(values, count, edges), edges + kForestBins,
                std::numeric_limits<double>::infinity());
      uint8_t* out = codes + feature * rows;
      double* least = low + feature * kForestBins;
      double* greatest = high + feature * kForestBins;
      std::fill(least, least + kForestBins, std::numeric_limits<double>::infinity());
      std::fill(greatest, greatest + kForestBins, -std::numeric_limits<double>::infinity());
      for (int64_t row = 0; row < rows; ++row) {
        const double value = forest_value(static_cast<double>(column[row * stride]));
        if (std::isnan(value)) {
          out[row] = kForestMissing;
          continue;
        }
        const auto bin = static_cast<uint8_t>(forest_bin(edges, value));
        out[row] = bin;
        least[bin] = std::min(least[bin], value);
        greatest[bin] = std::max(greatest[bin], value);
      }
    });
  });
}

void forest_take(const uint8_t* codes, int64_t rows, int64_t features, const int64_t* places,
                 int64_t count, uint8_t* out) {
  parallel_for(features, [&](int64_t feature) {
    const uint8_t* const from = codes + feature * rows;
    uint8_t* const to = out + feature * count;
    for (int64_t i = 0; i < count; ++i) to[i] = from[places[i]];
  });
}

}  // namespace hr::cpu
