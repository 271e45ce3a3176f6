// SPDX-License-Identifier: Apache-2.0
// Rows parted by ranges of a 64-bit key.
#include "headrace/algo/keys/key_slices.h"

#include "headrace/data/access_pattern.h"

#include <algorithm>
#include <limits>

namespace hr {

std::vector<uint64_t> range_borders(std::span<const Column> columns, int64_t ranges) {
  constexpr int64_t kSamplesARange = 64;
  ranges = std::clamp<int64_t>(ranges, 1, kMostBuckets / 2);
  int64_t rows = 0;
  for (const Column& column : columns) rows += column.num_rows();
  const int64_t step = std::max<int64_t>(rows / (kSamplesARange * ranges), 1);
  std::vector<uint64_t> sample;
  for (const Column& column : columns) {
    const auto keys = column.values<uint64_t>();
    for (int64_t row = 0; row < column.num_rows(); row += step)
      sample.push_back(keys[static_cast<size_t>(row)]);
  }
  std::ranges::sort(sample);
  std::vector<uint64_t> borders;
  for (int64_t range = 1; range < ranges && !sample.empty(); ++range) {
    const uint64_t key =
        sample[sample.size() * static_cast<size_t>(range) / static_cast<size_t>(ranges)];
    if (borders.empty() || borders.back() < key)
      borders.push_back(key);
    else if (borders.back() == key && key < std::numeric_limits<uint64_t>::max())
      borders.push_back(key + 1);
  }
  return borders;
}

KeySlices::KeySlices(const Column& keys, const std::vector<uint64_t>& borders)
    : partition_(keys.num_rows(), static_cast<int64_t>(borders.size()) + 1,
                 [&](int64_t begin, int64_t end, uint16_t* out) {
                   const auto values = keys.values<uint64_t>();
                   for (int64_t row = begin; row < end; ++row)
                     out[row - begin] = static_cast<uint16_t>(
                         std::ranges::upper_bound(borders, values[static_cast<size_t>(row)]) -
                         borders.begin());
                 },
                 {reads(keys)}),
      keys_(partition_.moved(keys.values_buffer(), 8 * keys.offset(), 8)),
      rows_(partition_.moved_rows(8)) {
  keys_.seal();
  rows_.seal();
}

Column KeySlices::keys(int64_t slice) const {
  return Column(TypeId::kUInt64, num_rows(slice), keys_, {}, 0, begin(slice));
}

Tensor KeySlices::rows(int64_t slice) const {
  return Tensor(TypeId::kInt64, {num_rows(slice)}, rows_, 8 * begin(slice));
}

}  // namespace hr
