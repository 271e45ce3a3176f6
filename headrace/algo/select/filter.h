// SPDX-License-Identifier: Apache-2.0
// Rows picked by a mask.
#pragma once
#include "headrace/base/bits.h"
#include "headrace/data/column.h"
#include "headrace/data/tensor.h"

#include <cstdint>
#include <vector>

namespace hr {

/// A mask: a bool column (null counts as false) or a 1-D bool tensor, borrowed for a call. It lies
/// where the rows do, on the host or on a CUDA device.
class HR_API Mask {
 public:
  /// Throws TypeMismatchError unless bool (and 1-D).
  explicit Mask(const Column& column);
  explicit Mask(const Tensor& tensor);

  int64_t num_rows() const { return num_rows_; }

  /// Bits of rows [row, row + count), count from 1 to 64.
  uint64_t word(int64_t row, int64_t count) const {
    if (!bits_) return word_of_bytes(row, count);
    const uint64_t word = load_bits(bits_, offset_ + row, count);
    return validity_ ? word & load_bits(validity_, offset_ + row, count) : word;
  }

  /// How many of rows [begin, end) it picks; `begin` is a multiple of 8.
  int64_t count(int64_t begin, int64_t end) const;

  /// Whether it is true in all rows. False of one that lies on a device.
  bool is_all() const;

  /// Where it is true, in order.
  Tensor positions() const;

 private:
  uint64_t word_of_bytes(int64_t row, int64_t count) const;

  const Column* column_ = nullptr;
  const Tensor* tensor_ = nullptr;
  int64_t num_rows_;
  const uint8_t* bits_ = nullptr;
  const uint8_t* validity_ = nullptr;
  int64_t offset_ = 0;
  const uint8_t* bytes_ = nullptr;
  int64_t stride_ = 1;
};

/// `visit(row, count, word)` for each 64 rows of [begin, end) of which one is true: `count` rows
/// from `row` on, their bits in `word`.
template <class Visit>
void for_each_mask_word(const Mask& mask, int64_t begin, int64_t end, Visit&& visit) {
  for (int64_t row = begin; row < end; row += 64) {
    const int64_t count = end - row < 64 ? end - row : 64;
    if (const uint64_t word = mask.word(row, count)) visit(row, count, word);
  }
}

/// Where the rows of each morsel go that the mask keeps, and behind the last one how many it keeps.
std::vector<int64_t> mask_offsets(const Mask& mask);

/// The mask as bits from bit 0 on, false where it is null, in whole words.
Buffer bitmap_from_mask(const Mask& mask);

/// The rows of `column` where the mask is true, in order; strings share their text. Two passes over
/// the mask, one over the column, in parallel. Throws InvalidArgumentError when the lengths differ,
/// DeviceError when they lie in different places.
HR_API Column filter(const Column& column, const Mask& mask);

/// The same for rows (first dimension) of a tensor; one that is not contiguous is copied first,
/// which the ledger shows.
HR_API Tensor filter(const Tensor& tensor, const Mask& mask);

}  // namespace hr
