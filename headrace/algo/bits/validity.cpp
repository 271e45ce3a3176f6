// SPDX-License-Identifier: Apache-2.0
// Validity bitmaps.
#include "headrace/algo/bits/validity.h"

#include "headrace/base/bits.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <cstring>

namespace hr {

Buffer realigned_validity(const Column& column) {
  if (column.null_count() == 0) return {};
  const int64_t rows = column.num_rows();
  Buffer buffer = Buffer::allocate_zeroed(bitmap_bytes(rows));
  std::byte* out = buffer.mutable_data();
  parallel_morsels(rows, [&](Morsel morsel) {  // morsels begin at whole words
    for (int64_t row = morsel.begin; row < morsel.end; row += 64) {
      const int64_t count = std::min<int64_t>(64, morsel.end - row);
      const uint64_t word = load_bits(column.validity(), column.offset() + row, count);
      std::memcpy(out + row / 8, &word, static_cast<size_t>(bitmap_bytes(count)));
    }
  });
  return buffer;
}

}  // namespace hr
