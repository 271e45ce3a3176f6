// SPDX-License-Identifier: Apache-2.0
// Parquet's hybrid of run lengths and bit packing: indices into dictionaries, levels, bools.
#pragma once
#include "headrace/algo/bits/bitmap_writer.h"

#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// A cursor over borrowed bytes. What it cannot read throws Refusal.
class HybridReader {
 public:
  /// `width`: bits of a value, at most 32.
  HybridReader(std::string_view bytes, int width);
  HybridReader() = default;

  /// Values that follow each other in one way.
  struct Run {
    int64_t count = 0;
    bool is_repeated = false;
    uint32_t value = 0;     ///< of all of them, when repeated
    int64_t first_bit = 0;  ///< else where the first lies, from `bytes`
    const uint8_t* bytes = nullptr;
    const uint8_t* end = nullptr;
  };

  /// The next values, at least 1 and at most `most` of them.
  Run next(int64_t most);

  /// The next `count` values.
  void read(int64_t count, uint32_t* out);

  /// Of the next `count` values those at `picks`, which ascend: only these are unpacked.
  void pick(int64_t count, const uint32_t* picks, int64_t picked, uint32_t* out);

  void skip(int64_t count) {
    while (count > 0) count -= next(count).count;
  }

  /// The next `count` values of one bit as a bitmap, to be or-ed to the zeros from bit `at` on, in
  /// whole words; gives the number of ones.
  int64_t read_bits(int64_t count, uint64_t* bitmap, int64_t at);

 private:
  void next_header();

  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  int width_ = 0;
  int64_t left_ = 0;  // of the current run
  bool is_repeated_ = false;
  uint32_t value_ = 0;
  const uint8_t* packed_ = nullptr;
  int64_t bit_ = 0;
};

/// Ors `count` bits from bit `from` of `source` to the zeros from bit `at` of `bitmap` on; gives
/// the number of ones. Reads no byte of `source` behind its last bit.
int64_t append_bits(uint64_t* bitmap, int64_t at, const uint8_t* source, int64_t from,
                    int64_t count);

/// The same of `count` ones.
void append_ones(uint64_t* bitmap, int64_t at, int64_t count);

/// Puts ones to zeros.
void put_ones(const BitmapWriter& to, int64_t at, int64_t count);

/// Puts bits to zeros.
void put_bits(const BitmapWriter& to, int64_t at, const uint8_t* bits, int64_t from, int64_t count);

}  // namespace hr::parquet
