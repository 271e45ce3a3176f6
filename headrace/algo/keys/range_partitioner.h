// SPDX-License-Identifier: Apache-2.0
// Keys split into ranges that hold about equally many rows.
#pragma once
#include "headrace/algo/keys/factorize.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hr {

/// Keys of rows spread over all, a few from each place, sorted.
inline std::vector<uint64_t> sample_keys(int64_t rows, const ReadKeys& read,
                                         const std::vector<BufferAccess>& accesses) {
  constexpr int64_t kPlaces = 1024, kEach = 16;
  std::vector<uint64_t> sample;
  const int64_t step = std::max<int64_t>(rows / kPlaces, 1);
  for (int64_t row = 0; row < rows; row += step) {
    const int64_t count = std::min({kEach, step, rows - row});
    uint64_t keys[kEach];
    const Pin pin(ranges_of(accesses, row, row + count));
    read(row, count, keys);
    sample.insert(sample.end(), keys, keys + count);
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

/// Splits keys, in their order, at those of a sample.
class RangePartitioner {
 public:
  RangePartitioner(const std::vector<uint64_t>& sample, int64_t parts) {
    least_ = sample.front();
    span_ = sample.back() - least_;
    parts_ = static_cast<uint64_t>(parts);
    // Evenly spread keys need no search.
    std::vector<int64_t> counts(static_cast<size_t>(parts));
    for (const uint64_t key : sample) ++counts[even(key)];
    const int64_t fair = static_cast<int64_t>(sample.size()) / parts + 8;
    even_ = *std::max_element(counts.begin(), counts.end()) <= 3 * fair;
    for (int64_t part = 1; part < parts; ++part)
      borders_.push_back(
          sample[sample.size() * static_cast<size_t>(part) / static_cast<size_t>(parts)]);
  }

  void operator()(const uint64_t* keys, int64_t count, uint16_t* digits) const {
    if (even_) {
      for (int64_t i = 0; i < count; ++i) digits[i] = static_cast<uint16_t>(even(keys[i]));
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      digits[i] = static_cast<uint16_t>(
          std::upper_bound(borders_.begin(), borders_.end(), keys[i]) - borders_.begin());
  }

 private:
  size_t even(uint64_t key) const {
    const uint64_t apart = std::min(key < least_ ? 0 : key - least_, span_);
    return static_cast<size_t>(static_cast<double>(apart) / (static_cast<double>(span_) + 1) *
                               (static_cast<double>(parts_) - 1e-6));
  }

  uint64_t least_;
  uint64_t span_;
  uint64_t parts_;
  bool even_;
  std::vector<uint64_t> borders_{};
};

}  // namespace hr
