// SPDX-License-Identifier: Apache-2.0
// Tests of rows by their codes in a dictionary, without their values.
#include "headrace/algo/bits/bitmap_writer.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/io/parquet/bit_packing_kernels.h"
#include "headrace/io/parquet/chunk_reader.h"
#include "headrace/io/parquet/refusal.h"

#include <algorithm>
#include <array>

namespace hr::parquet {

Buffer ChunkReader::test_rows(const Column& test) {
  const int64_t entries = test.num_rows() - 1;
  Buffer known = Buffer::allocate(entries + 1);  // a byte a value, which is fast to look up
  uint8_t* const is_true = known.mutable_as<uint8_t>();
  for (int64_t i = 0; i <= entries; ++i)
    is_true[i] = !test.is_null(i) && get_bit(test.bits(), test.offset() + i) ? 1 : 0;
  Buffer made = Buffer::allocate_zeroed(divide_up(rows_, 64) * 8);
  const BitmapWriter out(made.mutable_data());
  std::array<uint32_t, kBlock> indices;
  for (int64_t row = 0; row < rows_;) {
    if (slot_ == slots_) {
      next_page();
      continue;
    }
    if (!has_dictionary_ || dictionary_size_ != entries)
      damaged("a column has another dictionary than before");
    const uint8_t* const valid = all_valid_ ? nullptr : valid_.as<uint8_t>();
    const int64_t some = std::min(slots_ - slot_, kBlock);
    const int64_t dense = valid ? count_bits(valid, slot_, some) : some;
    if (dense > 0) {
      if (!is_coded_) damaged("a column has values outside of its dictionary");
      indices_.read(dense, indices.data());
      if (cpu::greatest(indices.data(), dense) >= dictionary_size_)
        damaged("an index lies outside of its dictionary");
    }
    const uint32_t* index = indices.data();
    for (int64_t i = 0; i < some; i += 64) {
      const int64_t count = std::min<int64_t>(some - i, 64);
      uint64_t word = 0;
      if (!valid) {
        for (int64_t k = 0; k < count; ++k) word |= uint64_t{is_true[index[k]]} << k;
        index += count;
      } else {
        const uint64_t there = load_bits(valid, slot_ + i, count);
        for (int64_t k = 0; k < count; ++k)
          word |= uint64_t{is_true[there >> k & 1 ? *index++ : entries]} << k;
      }
      out.put(row + i, word, count);
    }
    row += some;
    slot_ += some;
  }
  return made;
}

}  // namespace hr::parquet
