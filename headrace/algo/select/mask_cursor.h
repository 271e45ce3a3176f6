// SPDX-License-Identifier: Apache-2.0
// The rows that a mask picks, a block at a time: for those who read the values that stay without a
// column of them.
#pragma once
#include "headrace/algo/select/filter.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hr {

/// Where each `step` picked rows begin: the row of the first of them; then the end of the rows.
/// `offsets` are those of `mask_offsets`.
std::vector<int64_t> picked_begins(const Mask& mask, const std::vector<int64_t>& offsets,
                                   int64_t step);

/// Rows of 64 that are picked; bits of rows behind the last one are zero.
struct MaskWord {
  int64_t row;
  uint64_t bits;
};

/// Some successive picked rows.
struct PickedRows {
  int64_t count = 0;
  std::vector<MaskWord> words{};  ///< none is zero
  std::vector<int64_t> rows{};    ///< their numbers where they lie far apart, else empty
};

/// Walks the picked rows from `begin` on.
class MaskCursor {
 public:
  MaskCursor(const Mask& mask, int64_t begin) : mask_(mask), row_(begin) {}

  /// The next `count` picked rows; there must be that many.
  void next(int64_t count, PickedRows& picked);

 private:
  const Mask& mask_;
  int64_t row_;
  uint64_t left_ = 0;  // of the 64 rows before `row_`
};

/// Copies the picked values of `width` bytes together.
void copy_picked(const std::byte* values, int64_t width, const PickedRows& picked, std::byte* out);

/// The same of `num_rows` bits from `offset` on, into whole words.
void copy_picked_bits(const uint8_t* bits, int64_t offset, int64_t num_rows,
                      const PickedRows& picked, uint64_t* out);

namespace cpu {
/// `copy_picked` of rows that lie close together.
void copy_words(const std::byte* values, int64_t width, const PickedRows& picked, std::byte* out);
}  // namespace cpu

}  // namespace hr
