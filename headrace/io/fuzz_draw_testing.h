// SPDX-License-Identifier: Apache-2.0
// Tables drawn from the bytes of a fuzzer, for what writes them: every dtype, nulls, slices.
#pragma once
#include "headrace/base/bits.h"
#include "headrace/data/column.h"
#include "headrace/data/column_testing.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace hr::fuzzing {

class TableDraw {
 public:
  TableDraw(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  /// The next byte; zeros once they are used up.
  uint8_t byte() { return at_ < end_ ? *at_++ : 0; }

  Table table() {
    const auto columns = 1 + byte() % 3;
    const uint8_t size = byte();
    // Most are short; some have more than one block of levels and of values.
    const int64_t rows = size < 200 ? size % 70 : 128 * (size - 199);
    std::vector<std::string> names;
    std::vector<Column> drawn;
    for (int c = 0; c < columns; ++c) {
      names.push_back(std::string(1, static_cast<char>('a' + c)));
      drawn.push_back(column(rows, 0));
    }
    const Table whole(std::move(names), std::move(drawn));
    const int64_t cut = byte() % 16;
    if (2 * cut >= rows) return whole;
    return whole.slice(cut, rows - 2 * cut);
  }

 private:
  static constexpr int kMostLevels = 3;

  uint64_t number(int bytes) {
    uint64_t value = 0;
    for (int k = 0; k < bytes; ++k) value = value << 8 | byte();
    return value;
  }

  // Bytes as they are, steps from a first value, or few values in turn.
  template <class T>
  std::vector<T> numbers(int64_t rows) {
    std::vector<T> values(static_cast<size_t>(rows));
    const uint8_t way = byte();
    const uint64_t first = number(1 + (way >> 2 & 7)), step = way & 32 ? byte() : 1;
    const uint64_t period = 1 + (way >> 6) * 7;
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t bits = (way & 3) == 0   ? number(sizeof(T))
                            : (way & 3) == 1 ? first + i * step
                            : (way & 3) == 2 ? first * (i % period)
                                             : first;
      std::memcpy(&values[i], &bits, sizeof(T));  // of floats too
    }
    return values;
  }

  std::vector<bool> validity(int64_t rows) {
    const uint8_t way = byte();
    if (way < 100) return {};
    std::vector<bool> valid(static_cast<size_t>(rows), way < 120);
    for (size_t i = 0; way >= 130 && i < valid.size(); ++i)
      valid[i] = way < 200 ? (i / (way & 31 ? way & 31 : 1)) % 2 == 0 : byte() & 1;
    return valid;
  }

  template <class T>
  Column fixed(int64_t rows) {
    std::vector<T> values = numbers<T>(rows);
    const std::vector<bool> valid = validity(rows);
    for (size_t i = 0; i < valid.size(); ++i)
      if (!valid[i]) values[i] = T{};
    return testing::column_of(values, valid);
  }

  Column small(int64_t rows) {  // within what every unit of time and 12 digits hold
    std::vector<int64_t> values = numbers<int64_t>(rows);
    for (int64_t& value : values) value %= 1'000'000'000'000;
    return testing::column_of(values, validity(rows));
  }

  Buffer bits_of(const std::vector<bool>& valid) {
    return testing::column_of(std::vector<int8_t>(valid.size()), valid).validity_buffer();
  }

  Column bools(int64_t rows) {
    Buffer bits = Buffer::allocate_zeroed(bitmap_bytes(rows));
    for (int64_t i = 0; i < rows; ++i) set_bit(bits.mutable_as<uint8_t>(), i, byte() & 1);
    return Column(TypeId::kBool, rows, std::move(bits), bits_of(validity(rows)), -1);
  }

  std::string word() {
    const uint8_t way = byte();
    std::string text(way % 40, static_cast<char>('a' + (way & 7)));
    for (char& c : text)
      if (way & 64) c = static_cast<char>(byte() & 0x7F);
    return way & 128 ? text + "\xC3\xA9" : text;
  }

  Column categories(int64_t rows) {
    std::vector<std::string> words(1 + byte() % 8);
    for (std::string& each : words) each = word();
    DictionaryBuilder builder;
    std::vector<int32_t> codes(static_cast<size_t>(rows));
    for (size_t i = 0; i < codes.size(); ++i)
      codes[i] = builder.add(words[(i < 64 ? byte() : i) % words.size()]);
    const Column drawn = testing::column_of(codes, validity(rows));
    return Column::categories(rows, drawn.values_buffer(), builder.finish(),
                              drawn.validity_buffer(), -1);
  }

  Column strings(int64_t rows) {
    const Column drawn = categories(rows);
    const Column& words = drawn.dictionary()->values();
    std::vector<StringView> views(static_cast<size_t>(rows));
    for (size_t i = 0; i < views.size(); ++i)
      views[i] = drawn.is_null(static_cast<int64_t>(i))
                     ? StringView{}
                     : words.values<StringView>()[static_cast<size_t>(drawn.values<int32_t>()[i])];
    Buffer buffer = Buffer::allocate(16 * rows);
    if (rows > 0) std::memcpy(buffer.mutable_data(), views.data(), 16 * views.size());
    return Column::strings(rows, std::move(buffer), words.text_buffers(), drawn.validity_buffer(),
                           -1);
  }

  Buffer spans(int64_t rows, int64_t items, const std::vector<bool>& valid) {
    std::vector<ListSpan> drawn(static_cast<size_t>(rows));
    for (size_t i = 0; i < drawn.size(); ++i) {
      const auto size = std::min<int64_t>(byte() % 5, items);
      const int64_t begin = byte() % (items - size + 1);
      drawn[i] = valid.empty() || valid[i] ? ListSpan{size > 0 ? begin : 0, size} : ListSpan{0, 0};
    }
    Buffer buffer = Buffer::allocate(16 * rows);
    if (rows > 0) std::memcpy(buffer.mutable_data(), drawn.data(), 16 * drawn.size());
    return buffer;
  }

  Column lists(int64_t rows, int level) {
    const int64_t items = std::min<int64_t>(rows, 40);
    const std::vector<bool> valid = validity(rows);
    Buffer where = spans(rows, items, valid);
    return Column::lists(rows, std::move(where), column(items, level + 1), bits_of(valid), -1);
  }

  Column maps(int64_t rows, int level) {
    const int64_t items = std::min<int64_t>(rows, 40);
    const std::vector<bool> valid = validity(rows);
    Buffer where = spans(rows, items, valid);
    std::vector<int64_t> keys = numbers<int64_t>(items);
    Column values = column(items, level + 1);
    const Dtype entry = Dtype::structure({{"key", TypeId::kInt64}, {"value", values.dtype()}});
    Column entries = Column::structs(entry, items, {testing::column_of(keys), std::move(values)});
    return Column::maps(rows, std::move(where), std::move(entries), bits_of(valid), -1);
  }

  Column structs(int64_t rows, int level) {
    Column x = column(rows, level + 1), y = column(rows, level + 1);
    const Dtype dtype = Dtype::structure({{"x", x.dtype()}, {"y", y.dtype()}});
    const std::vector<bool> valid = validity(rows);
    return Column::structs(dtype, rows, {std::move(x), std::move(y)}, bits_of(valid), -1);
  }

  Column decimals(int64_t rows) {
    const Column units = small(rows);
    Buffer wide = Buffer::allocate(16 * rows);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t low = units.values<int64_t>()[static_cast<size_t>(i)], high = low >> 63;
      std::memcpy(wide.mutable_as<char>() + 16 * i, &low, 8);
      std::memcpy(wide.mutable_as<char>() + 16 * i + 8, &high, 8);
    }
    return Column(Dtype::decimal(12 + byte() % 27, byte() % 12), rows, std::move(wide),
                  units.validity_buffer(), -1);
  }

  Column column(int64_t rows, int level) {
    const auto unit = static_cast<TimeUnit>(byte() & 3);
    switch (byte() % (level < kMostLevels ? 22 : 19)) {
      case 0:
        return fixed<int8_t>(rows);
      case 1:
        return fixed<int16_t>(rows);
      case 2:
        return fixed<int32_t>(rows);
      case 3:
        return fixed<int64_t>(rows);
      case 4:
        return fixed<uint8_t>(rows);
      case 5:
        return fixed<uint16_t>(rows);
      case 6:
        return fixed<uint32_t>(rows);
      case 7:
        return fixed<uint64_t>(rows);
      case 8:
        return fixed<float>(rows);
      case 9:
      case 10:
        return fixed<double>(rows);
      case 11:
        return bools(rows);
      case 12:
      case 13:
        return strings(rows);
      case 14:
        return categories(rows);
      case 15:
        return fixed<int32_t>(rows).with_dtype(TypeId::kDate);
      case 16:
        return small(rows).with_dtype(Dtype::timestamp(unit));
      case 17:
        return small(rows).with_dtype(Dtype::duration(unit));
      case 18:
        return decimals(rows);
      case 19:
        return lists(rows, level);
      case 20:
        return maps(rows, level);
      default:
        return structs(rows, level);
    }
  }

  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace hr::fuzzing
