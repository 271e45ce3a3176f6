// SPDX-License-Identifier: Apache-2.0
// Borders of segments as bits.
#include "headrace/algo/scan/segments.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace hr {

Segments Segments::of_keys(const Buffer& keys, int64_t rows) {
  Segments made(rows);
  if (rows == 0) return made;
  made.borders_ = Buffer::allocate_zeroed(bitmap_bytes(rows));
  auto* const bits = made.borders_.mutable_as<uint8_t>();
  const auto* const key = keys.as<uint64_t>();
  const int64_t step = morsel_rows();
  std::vector<int64_t> last(static_cast<size_t>(divide_up(rows, step)), -1);
  const BufferAccess access{&keys, 0, 64, 64, rows, 1};
  parallel_morsels(rows, step, {access}, [&](Morsel morsel) {
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += 64) {
      const int64_t count = std::min<int64_t>(64, morsel.end - begin);
      uint64_t word = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = begin + i;
        word |= uint64_t{row == 0 || key[row] != key[row - 1]} << i;
      }
      std::memcpy(bits + begin / 8, &word, static_cast<size_t>(bitmap_bytes(count)));
      if (word) last[static_cast<size_t>(morsel.index)] = begin + 63 - std::countl_zero(word);
    }
  });
  int64_t open = 0;
  for (size_t k = 0; k < last.size(); ++k) {
    const auto first = static_cast<int64_t>(k) * step;
    made.begins_.push_back(get_bit(bits, first) ? first : open);
    if (last[k] >= 0) open = last[k];
  }
  return made;
}

int64_t Segments::segment_of_morsel(int64_t first) const {
  return borders_ ? begins_[static_cast<size_t>(first / morsel_rows())] : 0;
}

int64_t Segments::next_border(int64_t row, int64_t limit) const {
  if (!borders_) return limit;
  const auto* const bits = borders_.as<uint8_t>();
  for (; row < limit; row += 64) {
    const uint64_t word = load_bits(bits, row, std::min<int64_t>(64, limit - row));
    if (word) return row + std::countr_zero(word);
  }
  return limit;
}

}  // namespace hr
