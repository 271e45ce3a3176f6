// SPDX-License-Identifier: Apache-2.0
// Dictionary: the values that the codes of category columns stand for, and how one is built.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/column.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace hr {

/// Distinct values of one dtype, none of them null or NaN, in the order of their codes. Immutable
/// and shared. Equal dictionaries (values, order, `is_ordered`) are one object as long as it is
/// referenced, so an equal `id` means that codes can be compared. `is_ordered` says that the order
/// has a meaning.
class HR_API Dictionary {
 public:
  const Column& values() const { return values_; }

  int32_t size() const { return static_cast<int32_t>(values_.num_rows()); }

  /// Never used again in this process.
  uint64_t id() const { return id_; }

  bool is_ordered() const { return ordered_; }

 private:
  Dictionary(Column values, bool ordered, uint64_t id)
      : values_(std::move(values)), ordered_(ordered), id_(id) {}

  friend DictionaryPtr shared_dictionary(Column values, uint64_t hash, bool ordered);

  Column values_;
  bool ordered_;
  uint64_t id_;
};

/// A string as a hash table sees it: its view (whose far part is not set) and a hash.
struct StringKey {
  uint64_t words[2];
  uint64_t hash;

  explicit StringKey(std::string_view text) {
    const uint64_t size = text.size();
    const char* p = text.data();
    uint64_t low = 0, high = 0;  // the first 12 bytes, zero behind the end
    if (size >= 8) {
      low = load<uint64_t>(p);
      if (size > 8 && size <= 16)
        high = load<uint64_t>(p + size - 8) >> (8 * (16 - size));
      else if (size > 16)
        high = load<uint64_t>(p + 8);
    } else if (size >= 4) {
      low = load<uint32_t>(p) | uint64_t{load<uint32_t>(p + size - 4)} << (8 * (size - 4));
    } else if (size > 0) {
      low =
          byte(p) | byte(p + size / 2) << (8 * (size / 2)) | byte(p + size - 1) << (8 * (size - 1));
    }
    words[0] = (size & 0xFFFFFFFF) | low << 32;
    words[1] = low >> 32 | high << 32;
    hash = mix(low + 0x9E3779B97F4A7C15u, high ^ (size * 0xD6E8FEB86659FD93u));
    for (uint64_t at = 16; at < size; at += 16) {
      const uint64_t from = at + 16 <= size ? at : size - 16;
      hash = mix(hash ^ load<uint64_t>(p + from), load<uint64_t>(p + from + 8) ^ kSalt);
    }
  }

  /// Of a view that holds its text itself.
  explicit StringKey(const StringView& inlined) {
    std::memcpy(words, &inlined, sizeof words);
    const uint64_t low = words[0] >> 32 | words[1] << 32, high = words[1] >> 32;
    hash = mix(low + 0x9E3779B97F4A7C15u, high ^ (uint64_t{inlined.size} * 0xD6E8FEB86659FD93u));
  }

  bool is_inline() const { return static_cast<uint32_t>(words[0]) <= sizeof(StringView::inlined); }

  static uint64_t mix(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a ^ kSalt) * (b ^ 0xA0761D6478BD642Fu);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

 private:
  static constexpr uint64_t kSalt = 0xE7037ED1A0B428DBu;

  template <class T>
  static T load(const char* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }

  static uint64_t byte(const char* p) { return static_cast<uint8_t>(*p); }
};

/// Gives strings their codes: 0, 1, 2, ... as they are seen first. For one thread; the parts of
/// several are joined by `add_all` of their `values` in order.
class HR_API DictionaryBuilder {
 public:
  DictionaryBuilder() = default;
  DictionaryBuilder(DictionaryBuilder&&) = default;
  DictionaryBuilder& operator=(DictionaryBuilder&&) = default;

  /// The code of `text`, or -1 when it has none yet.
  int32_t find(std::string_view text) const { return find(StringKey(text), text); }

  /// The code of `text`, a new one if need be. Throws InvalidArgumentError for more than 2^31 - 1
  /// strings or a string of 2^31 bytes, OutOfMemoryError.
  int32_t add(std::string_view text) { return add(StringKey(text), text); }

  /// The same with the key of `text`, and what fetches ahead what they will look at.
  int32_t add(const StringKey& key, std::string_view text) {
    const int32_t code = find(key, text);
    return code >= 0 ? code : insert(key, text);
  }

  int32_t find(const StringKey& key, std::string_view text) const {
    if (num_slots_ == 0) return -1;
    const auto tag = static_cast<uint32_t>(key.hash);
    for (uint64_t at = tag & (num_slots_ - 1);; at = (at + 1) & (num_slots_ - 1)) {
      const Slot slot = slot_data_[at];
      if (slot.code < 0) return -1;
      if (slot.tag == tag && is_at(slot.code, key, text)) return slot.code;
    }
  }

  void fetch(const StringKey& key) const {
    if (num_slots_ > 0)
      __builtin_prefetch(slot_data_ + (static_cast<uint32_t>(key.hash) & (num_slots_ - 1)));
  }

  void fetch_text(const StringKey& key) const {
    if (num_slots_ == 0) return;
    const Slot slot = slot_data_[static_cast<uint32_t>(key.hash) & (num_slots_ - 1)];
    if (slot.code >= 0) __builtin_prefetch(view_data_ + slot.code);
  }

  /// Adds the values of a column without missing ones; int32 codes of its rows, empty where row k
  /// gets code k.
  Buffer add_all(const Column& values);

  int32_t size() const { return size_; }

  /// Forgets the strings with codes from `size` on.
  void shrink(int32_t size);

  /// The strings, in the order of their codes; nothing can be added while they are referenced.
  Column values() const;

  /// The dictionary of the strings; the builder is empty afterwards.
  DictionaryPtr finish(bool ordered = false);

 private:
  struct Slot {
    uint32_t tag;
    int32_t code;  ///< -1: free
  };

  bool is_at(int32_t code, const StringKey& key, std::string_view text) const {
    const StringView* entry = view_data_ + code;
    uint64_t words[2];
    std::memcpy(words, entry, sizeof words);
    if (key.is_inline()) return words[0] == key.words[0] && words[1] == key.words[1];
    return words[0] == key.words[0] &&
           std::memcmp(text_[entry->indirect.buffer].as<char>() + entry->indirect.offset,
                       text.data(), text.size()) == 0;
  }

  int32_t insert(const StringKey& key, std::string_view text);
  std::string_view text_at(int32_t code) const;
  void put_slot(uint32_t tag, int32_t code);
  void grow_slots();
  void append_text(std::string_view text, StringView& view);

  int32_t size_ = 0;
  uint64_t num_slots_ = 0;  // a power of two, two to four times the strings
  Buffer slots_{};
  Buffer views_{};
  Slot* slot_data_ = nullptr;  // of the buffers above
  StringView* view_data_ = nullptr;
  std::vector<Buffer> text_{};  // each filled to its end but the last
  int64_t text_used_ = 0;       // of the last
};

/// A value of a row as characters that are the same for equal values: those of a string, the bytes
/// of others (0.0 for -0.0). False where it is missing: null or NaN.
HR_API bool text_of_value(const Column& values, int64_t row, StringView& text);

/// Values of `dtype` from strings of their bytes; strings stay.
HR_API Column values_of_texts(const Column& texts, Dtype dtype);

/// The rows of a column without missing values, as code of a dictionary, in the order of the
/// values.
HR_API std::vector<int32_t> sorted_codes(const Column& values);

/// The dictionary of a column that has each value once and none missing.
HR_API DictionaryPtr dictionary_of(Column values, bool ordered = false);

/// A dictionary of the rows of `values` and the codes that stand for them. Where rows repeat or are
/// missing, `codes` has the code of each row (-1 for missing); else it is empty and the values stay
/// where they are.
struct DistinctValues {
  DictionaryPtr dictionary{};
  Buffer codes{};
};
HR_API DistinctValues distinct_values(const Column& values, bool ordered = false);

/// One dictionary for columns of several of one dtype: their values in the order seen first.
/// `codes[k]` turns a code of dictionary k into one of the result; empty where it stays. It is
/// ordered when all are the same ordered dictionary.
struct MergedDictionary {
  DictionaryPtr dictionary{};
  std::vector<Buffer> codes{};
};
HR_API MergedDictionary merge_dictionaries(const std::vector<DictionaryPtr>& dictionaries);

}  // namespace hr
