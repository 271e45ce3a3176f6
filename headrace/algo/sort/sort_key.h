// SPDX-License-Identifier: Apache-2.0
// Keys of a sort as unsigned words that compare as the rows do.
#pragma once
#include "headrace/data/column.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace hr {

/// How one key orders rows. Missing (null or NaN) rows are equal to each other and come last, or
/// first, whatever the direction.
struct SortOrder {
  bool descending = false;
  bool missing_first = false;

  static auto parameters(auto& self) { return std::tie(self.descending, self.missing_first); }
};

/// Where the values of one key lie now: a row each `width` bytes (bools one byte), and a byte of
/// validity a row, or null when all are valid.
struct KeyRows {
  const std::byte* values = nullptr;
  const uint8_t* valid = nullptr;
};

/// Throws TypeMismatchError for complex numbers, InvalidArgumentError when the counts of keys and
/// orders differ or are 0, or rows differ.
void check_sort_keys(const std::vector<Column>& keys, const std::vector<SortOrder>& orders);

/// The keys of a sort, first key first, normalised: row a comes before row b if its words do, taken
/// in order. Several small keys share a word: integers take the bits of their range. Values that
/// compare equal (0.0 and -0.0, all missing ones) give equal words. Strings give up to four words
/// behind what they all begin with; categories the place of their text among all (of ordered
/// dictionaries their code). Ascends byte by byte for strings.
class HR_API SortKeys {
 public:
  /// One pass over strings, over nullable integers, and over integers when there are several keys.
  /// Throws as check_sort_keys.
  SortKeys(const std::vector<Column>& columns, const std::vector<SortOrder>& orders);

  int64_t num_words() const { return static_cast<int64_t>(words_.size()); }

  /// Equal words mean equal keys; else `compare` decides between rows of equal words.
  bool is_exact() const { return exact_; }

  /// Word `word` of rows [begin, end) to out[0] and on; `keys` has one entry a key.
  void words(int64_t word, std::span<const KeyRows> keys, int64_t begin, int64_t end,
             uint64_t* out) const;

  /// Below 0, 0 or above 0 as row a comes before, with or after row b.
  int compare(std::span<const KeyRows> keys, int64_t a, int64_t b) const;

 private:
  struct Key {
    Dtype dtype{};
    SortOrder order{};
    bool nullable = false;
    uint64_t low = 0;  // the least ordered value of integers, the greatest when descending
    int bits = 64;
    Buffer ranks{};  // int32 by code, of categories
    int64_t num_ranks = 0;
    std::vector<const char*> text{};
    std::vector<Buffer> text_buffers{};
    int64_t skipped = 0;  // bytes that all strings begin with
    int64_t longest = 0;
    bool wide = false;  // decimals that 64 bits do not hold
  };

  enum class Kind : uint8_t { kMissing, kValue, kPiece, kLength };

  struct Part {
    int64_t key;
    Kind kind;
    int64_t piece;
    int right;
    int bits;
    int left;
  };

  static constexpr int64_t kPieces = 4;

  void prepare(Key& key, const Column& column, bool alone);
  void add(int64_t key, Kind kind, int64_t piece, int bits);
  void part_of(const Part& part, const KeyRows& rows, int64_t begin, int64_t count,
               uint64_t* out) const;

  std::vector<Key> keys_{};
  std::vector<std::vector<Part>> words_{};
  int free_bits_ = 0;
  bool exact_ = true;
};

/// Eight bytes from `at` on, the first one highest; zeros behind the end.
inline uint64_t piece_at(std::string_view text, int64_t at) {
  uint64_t word = 0;
  const auto size = static_cast<int64_t>(text.size());
  if (at >= size) return 0;
  std::memcpy(&word, text.data() + at, static_cast<size_t>(std::min<int64_t>(size - at, 8)));
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

/// Bits of a bitmap as bytes of 0 and 1, one per row.
HR_API Buffer bytes_of_bits(const Buffer& bitmap, int64_t offset, int64_t rows);
/// The way back.
HR_API Buffer bits_of_bytes(const Buffer& bytes, int64_t rows);

}  // namespace hr
