// SPDX-License-Identifier: Apache-2.0
// For tests: columns from vectors.
#pragma once
#include "headrace/base/bits.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace hr::testing {

/// These values, null where `valid` is false.
template <class T>
Column column_of(const std::vector<T>& values, const std::vector<bool>& valid = {}) {
  const auto rows = static_cast<int64_t>(values.size());
  Buffer buffer = Buffer::allocate(rows * static_cast<int64_t>(sizeof(T)));
  if (rows > 0) std::memcpy(buffer.mutable_data(), values.data(), values.size() * sizeof(T));
  Buffer validity;
  if (!valid.empty()) {
    validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t i = 0; i < rows; ++i)
      set_bit(validity.mutable_as<uint8_t>(), i, valid[static_cast<size_t>(i)]);
  }
  return Column(dtype_of<T>(), rows, buffer, validity, -1);
}

}  // namespace hr::testing
