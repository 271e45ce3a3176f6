// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/arrow_schema.h"

#include "headrace/io/flat_table.h"

namespace hr::parquet {

namespace {

using flat::Damage;
using flat::FlatTable;
using flat::load;

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
      throw Damage("not base64");
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

TimeUnit unit_of(int16_t number) {
  if (number < 0 || number > 3) throw Damage("an unknown unit of time");
  return static_cast<TimeUnit>(number);
}

// `left`: hints that may still be made, as tables of the message may be part of several others.
ArrowHint hint_of(FlatTable field, int level, int64_t& left) {
  ArrowHint hint{.name = std::string(field.text(0))};
  auto type = field.number<uint8_t>(2, 0);
  for (; type == kList || type == kLargeList || type == kFixedSizeList; ++level) {
    const std::vector<FlatTable> children = field.tables(5);
    if (children.size() != 1 || level >= kMostLevels) throw Damage("a list without one item");
    field = children[0];
    type = field.number<uint8_t>(2, 0);
  }
  if (level >= kMostLevels || --left < 0) throw Damage("too many fields");
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
  } catch (const Damage&) {
    return {};
  }
}

}  // namespace hr::parquet
