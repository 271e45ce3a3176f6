// SPDX-License-Identifier: Apache-2.0
// Flatbuffers read by hand: a table begins with the distance back to its vtable, which has the
// place of each field in the table; what a field refers to lies ahead of it.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hr::flat {

/// Bytes that contradict the format, before the file's name is known.
class Damage : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T load(std::string_view bytes, size_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value)
    throw Damage("a field lies outside of its message");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// A table in `bytes`, which outlive it. Nothing is read outside of them, whatever they hold:
/// functions throw Damage instead.
class FlatTable {
 public:
  FlatTable(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {
    const int64_t vtable = static_cast<int64_t>(at) - load<int32_t>(bytes, at);
    if (vtable < 0) throw Damage("a table lies outside of its message");
    vtable_ = static_cast<size_t>(vtable);
    vtable_size_ = load<uint16_t>(bytes, vtable_);
  }

  /// The table that a message begins with.
  static FlatTable root(std::string_view bytes) { return {bytes, load<uint32_t>(bytes, 0)}; }

  template <class T>
  T number(int field, T otherwise) const {
    const size_t place = place_of(field);
    return place ? load<T>(bytes_, place) : otherwise;
  }

  std::optional<FlatTable> table(int field) const {
    const size_t place = place_of(field);
    if (!place) return std::nullopt;
    return FlatTable(bytes_, place + load<uint32_t>(bytes_, place));
  }

  std::string_view text(int field) const {
    const std::optional<Items> items = vector(field, 1);
    return items ? bytes_.substr(items->begin, items->count) : std::string_view();
  }

  std::vector<FlatTable> tables(int field) const {
    std::vector<FlatTable> found;
    const std::optional<Items> items = vector(field, 4);
    for (size_t i = 0; items && i < items->count; ++i) {
      const size_t at = items->begin + 4 * i;
      found.emplace_back(bytes_, at + load<uint32_t>(bytes_, at));
    }
    return found;
  }

  /// The items of a vector of structs or numbers of `T`'s layout.
  template <class T>
  std::vector<T> items(int field) const {
    const std::optional<Items> items = vector(field, sizeof(T));
    std::vector<T> found(items ? items->count : 0);
    if (!found.empty())
      std::memcpy(found.data(), bytes_.data() + items->begin, found.size() * sizeof(T));
    return found;
  }

 private:
  struct Items {
    size_t begin;
    size_t count;
  };

  // Items that lie within the bytes.
  std::optional<Items> vector(int field, size_t item_size) const {
    const size_t place = place_of(field);
    if (!place) return std::nullopt;
    const size_t begin = place + load<uint32_t>(bytes_, place);
    const auto count = load<uint32_t>(bytes_, begin);
    if (count > (bytes_.size() - begin - 4) / item_size)
      throw Damage("a list is longer than its message");
    return Items{begin + 4, count};
  }

  // 0 when the table has no such field.
  size_t place_of(int field) const {
    const auto entry = static_cast<size_t>(4 + 2 * field);
    if (entry + 2 > vtable_size_) return 0;
    const auto offset = load<uint16_t>(bytes_, vtable_ + entry);
    return offset == 0 ? 0 : at_ + offset;
  }

  std::string_view bytes_;
  size_t at_;
  size_t vtable_ = 0;
  size_t vtable_size_ = 0;
};

}  // namespace hr::flat
