// SPDX-License-Identifier: Apache-2.0
// Copies inside of what is being unpacked, whose source and target may overlap.
#pragma once
#include "headrace/io/parquet/snappy.h"

#include <cstdint>
#include <cstring>

namespace hr::parquet {

/// Repeats `length` bytes from `distance` (at least 1) before `to`, as if byte by byte. Writes up
/// to 16 bytes more, which are of no meaning.
inline void copy_match(char* to, int64_t distance, int64_t length) {
  const char* from = to - distance;
  char* const end = to + length;
  if (distance >= 16) {
    do {
      std::memcpy(to, from, 16);
      to += 16;
      from += 16;
    } while (to < end);
    return;
  }
  // Each copy of 8 bytes makes the pattern once longer; a whole number of patterns lies between
  // the two then.
  char word[8];
  while (to - from < 8) {
    std::memcpy(word, from, 8);
    std::memcpy(to, word, 8);
    to += to - from;
    if (to >= end) return;
  }
  do {
    std::memcpy(word, from, 8);
    std::memcpy(to, word, 8);
    to += 8;
    from += 8;
  } while (to < end);
}

}  // namespace hr::parquet
