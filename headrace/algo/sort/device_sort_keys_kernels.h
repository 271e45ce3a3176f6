// SPDX-License-Identifier: Apache-2.0
// Keys of a sort on a CUDA device, packed into words that compare as the rows do.
#pragma once
#include "headrace/algo/sort/sort_key.h"
#include "headrace/data/device.h"

#include <cstdint>
#include <vector>

namespace hr::cuda {

/// What one part of a word is made of: a number, whether a row is missing, a half of a decimal.
enum class SortKeyPart : uint8_t { kValue, kMissing, kHigh, kLow };

/// Where a part lies and what becomes of it; read by kernels.
struct DeviceKeyPart {
  const void* values = nullptr;
  const uint8_t* valid = nullptr;  // bits, or null
  int64_t offset = 0;
  const int32_t* ranks = nullptr;  // of categories, by code
  uint64_t base = 0;               // the least word, or the greatest if it descends
  uint64_t missing = 0;            // of rows without a value
  uint64_t first = 0;              // added to words of values
  bool descending = false;
  int left = 0;
};

/// What becomes of null and NaN: one value, as for an order, or two.
enum class MissingKeys : uint8_t { kTogether, kNullAndNan };

/// Words of the keys' rows, the first word to be compared first. Numbers take the bits of their
/// range and one value more where some are missing, so that several keys often share a word.
/// Strings come as their ranks (string_codes.h).
class DeviceSortKeys {
 public:
  /// Waits once for the ranges of all parts. The keys are checked, have rows, are no strings and
  /// outlive this.
  DeviceSortKeys(DeviceCall& call, Place place, const std::vector<Column>& keys,
                 const std::vector<SortOrder>& orders,
                 MissingKeys missing = MissingKeys::kTogether);

  /// None where all rows are equal.
  int num_words() const { return static_cast<int>(words_.size()); }

  /// Of a word, from 1 to 64.
  int bits(int word) const { return words_[static_cast<size_t>(word)].bits; }

  /// Bits from the top that probably tell most of the word's values apart in a column of these
  /// rows; all of them where that is not to be expected.
  int leading_bits(int word) const;

  /// Writes a word of each row, in this order of the rows or as they stand.
  void write(int word, const uint32_t* order, uint32_t* out) const;  ///< of at most 32 bits
  void write(int word, const uint32_t* order, uint64_t* out) const;

  /// Whether the only key is integers of which none is missing: the words give them back.
  bool gives_back() const { return gives_back_; }

  /// The integers of these words (of none: of rows that are all equal), to be written to `out`.
  void give_back(const uint32_t* words, std::byte* out) const;
  void give_back(const uint64_t* words, std::byte* out) const;

 private:
  struct Part {
    size_t key = 0;
    SortKeyPart kind = SortKeyPart::kValue;
    DeviceKeyPart part{};
    uint64_t span = 0;  // from the least to the greatest word
    bool takes_missing = false;
    int bits = 0;
  };

  struct WordParts {
    std::vector<Part> parts{};  // the first one leftmost
    int bits = 0;
  };

  void add_key(size_t key, const Column& column, MissingKeys missing);
  void find_ranges();
  void settle();
  void place_words();
  template <class Key>
  void write_as(int word, const uint32_t* order, Key* out) const;
  template <class Key>
  void give_back_as(const Key* words, std::byte* out) const;

  DeviceCall& call_;
  Place place_;
  const std::vector<Column>& keys_;
  const std::vector<SortOrder>& orders_;
  int64_t rows_;
  std::vector<Part> parts_{};
  std::vector<WordParts> words_{};
  std::vector<Buffer> tables_{};  // ranks of categories
  bool gives_back_ = false;
};

}  // namespace hr::cuda
