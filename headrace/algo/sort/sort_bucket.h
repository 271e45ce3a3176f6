// SPDX-License-Identifier: Apache-2.0
// The order of rows that fit in cache, for sort.cpp.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace hr {

/// Finds the order of up to 2^32 - 1 rows that `keys` describes, from `first_word` on (they agree
/// in all words before).
class BucketOrder {
 public:
  BucketOrder(const SortKeys& sort, std::span<const KeyRows> keys, int64_t rows,
              int64_t first_word);

  /// False when the rows are in order already; else `at()` has the row of each place.
  bool find();

  const uint32_t* at() const { return at_; }

  /// Room of 16 bytes a row, free once the order is found.
  std::byte* room() { return reinterpret_cast<std::byte*>(packed_); }

 private:
  const uint64_t* all_words(int64_t word);
  bool sort_all(int64_t word);
  void sort_run(int64_t begin, int64_t count, int64_t word);
  void sort_short_run(int64_t begin, int64_t count, int64_t word);
  void sort_ties(int64_t begin, int64_t count, int64_t word, int index_bits, bool dropped);
  void compare_run(int64_t begin, int64_t count);

  const SortKeys& sort_;
  std::span<const KeyRows> keys_;
  int64_t rows_;
  int64_t first_word_;
  Buffer buffer_;  // all of the following, so that little is lost to whole pages
  uint64_t* packed_;
  uint64_t* scratch_;
  uint64_t* first_words_;
  uint32_t* at_;
  std::vector<Buffer> later_words_{};
  std::vector<const uint64_t*> words_;  // of all rows, by word, if requested
};

}  // namespace hr
