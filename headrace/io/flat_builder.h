// SPDX-License-Identifier: Apache-2.0
// Flatbuffers written by hand, from the last byte to the first, so that what a field refers to is
// there before it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hr::flat {

/// Something that was written: how far its first byte is from the end.
using FlatPlace = uint32_t;

class FlatBuilder {
 public:
  FlatPlace text(std::string_view text) {
    align(4, text.size() + 1);
    put(char{0});
    prepend(text.data(), text.size());
    put(static_cast<uint32_t>(text.size()));
    return place();
  }

  /// A vector of numbers or structs.
  template <class T>
  FlatPlace items(const std::vector<T>& items) {
    align(std::max<size_t>(alignof(T), 4), items.size() * sizeof(T));
    if (!items.empty()) prepend(items.data(), items.size() * sizeof(T));
    align(4, 0);
    put(static_cast<uint32_t>(items.size()));
    return place();
  }

  /// A vector of tables.
  FlatPlace tables(const std::vector<FlatPlace>& tables) {
    align(4, tables.size() * 4);
    for (size_t i = tables.size(); i > 0; --i) put(distance_to(tables[i - 1]));
    put(static_cast<uint32_t>(tables.size()));
    return place();
  }

  /// The fields of the table that `finish_table` ends.
  template <class T>
  void number(int field, T value) {
    align(sizeof value, 0);
    put(value);
    fields_.emplace_back(field, place());
  }

  void refer(int field, FlatPlace to) {
    align(4, 0);
    put(distance_to(to));
    fields_.emplace_back(field, place());
  }

  FlatPlace finish_table() {
    align(4, 0);
    put(int32_t{0});  // the distance to the vtable, known below
    const FlatPlace table = place();
    int last = -1;
    for (const auto& [field, at] : fields_) last = std::max(last, field);
    std::vector<uint16_t> entries(static_cast<size_t>(last + 1));
    for (const auto& [field, at] : fields_)
      entries[static_cast<size_t>(field)] = static_cast<uint16_t>(table - at);
    for (size_t i = entries.size(); i > 0; --i) put(entries[i - 1]);
    put(static_cast<uint16_t>(table - start_));
    put(static_cast<uint16_t>(4 + 2 * entries.size()));
    const auto back = static_cast<int32_t>(place() - table);
    std::memcpy(bytes_.data() + bytes_.size() - table, &back, sizeof back);
    fields_.clear();
    return table;
  }

  /// Before the first field of a table.
  void begin_table() { start_ = place(); }

  /// The whole, with `root` as what it begins with; its size is a multiple of eight.
  std::string finish(FlatPlace root) {
    align(8, 4);
    put(distance_to(root));
    return std::move(bytes_);
  }

 private:
  FlatPlace place() const { return static_cast<FlatPlace>(bytes_.size()); }

  // From the four bytes that are written next.
  uint32_t distance_to(FlatPlace to) const { return place() + 4 - to; }

  // So that what begins behind `before` more bytes is aligned, counted from the end.
  void align(size_t alignment, size_t before) {
    const size_t rest = (bytes_.size() + before) % alignment;
    if (rest > 0) bytes_.insert(0, alignment - rest, '\0');
  }

  void prepend(const void* data, size_t size) {
    bytes_.insert(0, static_cast<const char*>(data), size);
  }

  template <class T>
  void put(T value) {
    prepend(&value, sizeof value);
  }

  std::string bytes_{};
  std::vector<std::pair<int, FlatPlace>> fields_{};
  FlatPlace start_ = 0;
};

}  // namespace hr::flat
