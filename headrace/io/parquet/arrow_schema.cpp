// SPDX-License-Identifier: Apache-2.0
// Flatbuffers by hand: a table begins with the distance back to its vtable, which has the place of
// each field in the table; what a field refers to lies ahead of it.
#include "headrace/io/parquet/arrow_schema.h"

#include <cstring>

namespace hr::parquet {

namespace {

constexpr int kMostLevels = 64;

// Numbers of Arrow's union of types.
enum ArrowType : uint8_t {
  kTimestamp = 10,
  kList = 12,
  kStruct = 13,
  kFixedSizeList = 16,
  kMap = 17,
  kDuration = 18,
  kLargeList = 21
};

struct Misread {};

std::string decode_base64(std::string_view text) {
  std::string bytes;
  uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    int digit;
    if (c >= 'A' && c <= 'Z') {
      digit = c - 'A';
    } else if (c >= 'a' && c <= 'z') {
      digit = c - 'a' + 26;
    } else if (c >= '0' && c <= '9') {
      digit = c - '0' + 52;
    } else if (c == '+' || c == '/') {
      digit = c == '+' ? 62 : 63;
    } else if (c == '=') {
      break;
    } else {
      throw Misread{};
    }
    word = word << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(word >> bits & 0xFF);
    }
  }
  return bytes;
}

template <class T>
T load(std::string_view bytes, size_t at) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) throw Misread{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

class FlatTable {
 public:
  FlatTable(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {
    const auto back = load<int32_t>(bytes, at);
    const int64_t vtable = static_cast<int64_t>(at) - back;
    if (vtable < 0) throw Misread{};
    vtable_ = static_cast<size_t>(vtable);
    vtable_size_ = load<uint16_t>(bytes, vtable_);
  }

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

  std::string text(int field) const {
    const size_t place = place_of(field);
    if (!place) return {};
    const size_t begin = place + load<uint32_t>(bytes_, place);
    const auto size = load<uint32_t>(bytes_, begin);
    if (size > bytes_.size() - begin - 4) throw Misread{};
    return std::string(bytes_.substr(begin + 4, size));
  }

  // The tables of a vector.
  std::vector<FlatTable> tables(int field) const {
    std::vector<FlatTable> found;
    const size_t place = place_of(field);
    if (!place) return found;
    const size_t begin = place + load<uint32_t>(bytes_, place);
    const auto size = load<uint32_t>(bytes_, begin);
    if (size > (bytes_.size() - begin - 4) / 4) throw Misread{};
    for (uint32_t i = 0; i < size; ++i) {
      const size_t at = begin + 4 + 4 * size_t{i};
      found.emplace_back(bytes_, at + load<uint32_t>(bytes_, at));
    }
    return found;
  }

 private:
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

TimeUnit unit_of(int16_t number) {
  if (number < 0 || number > 3) throw Misread{};
  return static_cast<TimeUnit>(number);
}

// `left`: hints that may still be made, as tables of the message may be part of several others.
ArrowHint hint_of(FlatTable field, int level, int64_t& left) {
  ArrowHint hint{.name = field.text(0)};
  auto type = field.number<uint8_t>(2, 0);
  for (; type == kList || type == kLargeList || type == kFixedSizeList; ++level) {
    const std::vector<FlatTable> children = field.tables(5);
    if (children.size() != 1 || level >= kMostLevels) throw Misread{};
    field = children[0];
    type = field.number<uint8_t>(2, 0);
  }
  if (level >= kMostLevels || --left < 0) throw Misread{};
  if (type == kStruct || type == kMap)
    for (const FlatTable& child : field.tables(5))
      hint.children.push_back(hint_of(child, level + 1, left));
  const std::optional<FlatTable> details = field.table(3);
  if (type == kTimestamp && details) {
    hint.zone = details->text(1);
    hint.is_in_seconds = unit_of(details->number<int16_t>(0, 0)) == TimeUnit::kSecond;
  }
  if (type == kDuration && details)
    hint.duration = unit_of(details->number<int16_t>(0, static_cast<int16_t>(TimeUnit::kMilli)));
  if (const std::optional<FlatTable> dictionary = field.table(4)) {
    hint.is_dictionary = true;
    hint.is_ordered = dictionary->number<uint8_t>(2, 0) != 0;
  }
  return hint;
}

}  // namespace

std::vector<ArrowHint> parse_arrow_schema(std::string_view base64) {
  try {
    const std::string bytes = decode_base64(base64);
    std::string_view message = bytes;
    if (load<uint32_t>(message, 0) == 0xFFFFFFFF) message.remove_prefix(4);
    load<uint32_t>(message, 0);  // its size
    message.remove_prefix(4);
    const FlatTable header(message, load<uint32_t>(message, 0));
    const std::optional<FlatTable> schema = header.table(2);
    if (header.number<uint8_t>(1, 0) != 1 || !schema) return {};
    std::vector<ArrowHint> hints;
    auto left = static_cast<int64_t>(bytes.size());
    for (const FlatTable& field : schema->tables(1)) hints.push_back(hint_of(field, 0, left));
    return hints;
  } catch (const Misread&) {
    return {};
  }
}

}  // namespace hr::parquet
