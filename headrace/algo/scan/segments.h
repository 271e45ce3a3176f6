// SPDX-License-Identifier: Apache-2.0
// Rows cut into segments of neighbours: the groups of rows that lie in the order of a key.
#pragma once
#include "headrace/base/api.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <vector>

namespace hr {

/// Where segments of rows begin. Without borders all rows are one segment.
class HR_API Segments {
 public:
  /// One segment of all rows.
  explicit Segments(int64_t rows) : rows_(rows) {}

  /// Segments of rows with equal keys, which lie side by side. Reads the keys once.
  static Segments of_keys(const Buffer& keys, int64_t rows);

  int64_t rows() const { return rows_; }

  /// Calls `visit(segment, begin, end)` for the pieces of rows [first, last) in order; `segment`
  /// is the first row of the piece's segment. `first` is the first row of a morsel.
  template <class F>
  void visit(int64_t first, int64_t last, F&& visit) const {
    int64_t segment = segment_of_morsel(first);
    for (int64_t begin = first; begin < last;) {
      const int64_t end = next_border(begin + 1, last);
      visit(segment, begin, end);
      segment = begin = end;
    }
  }

  /// The first border in [row, limit), or limit.
  int64_t next_border(int64_t row, int64_t limit) const;

 private:
  // The first row of the segment that row `first`, the first one of a morsel, lies in.
  int64_t segment_of_morsel(int64_t first) const;

  int64_t rows_ = 0;
  Buffer borders_{};               // a bit for the first row of each segment; empty: one segment
  std::vector<int64_t> begins_{};  // by morsel: the segment of its first row
};

}  // namespace hr
