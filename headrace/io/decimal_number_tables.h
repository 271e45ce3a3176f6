// SPDX-License-Identifier: Apache-2.0
// Tables of decimal_number_math.h.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace hr {

inline constexpr uint32_t kShortNumber = 15;  // characters

/// bytes[size][point] moves the first `size` bytes of 16 to the right end, without the one at
/// `point` (none when point == size); 0x80 gives a zero.
struct DropPoint {
  alignas(16) uint8_t bytes[17][17][16];
};

inline constexpr DropPoint kDropPoint = [] {
  DropPoint table{};
  for (size_t size = 0; size <= 16; ++size) {
    for (size_t point = 0; point <= size; ++point) {
      size_t to = 16;
      for (size_t from = size; from-- > 0;)
        if (from != point) table.bytes[size][point][--to] = static_cast<uint8_t>(from);
      while (to > 0) table.bytes[size][point][--to] = 0x80;
    }
  }
  return table;
}();

/// Powers of ten that fit in 64 bits.
inline constexpr std::array<uint64_t, 20> kWholeTens = [] {
  std::array<uint64_t, 20> tens{1};
  for (size_t i = 1; i < tens.size(); ++i) tens[i] = tens[i - 1] * 10;
  return tens;
}();

/// Powers of ten that a double holds exactly.
inline constexpr std::array<double, kShortNumber + 1> kTens = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

}  // namespace hr
