// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/thrift.h"

#include "headrace/io/parquet/refusal.h"

#include <array>
#include <cstring>

namespace hr::parquet {

namespace {

constexpr size_t kDeepest = 64;

bool is_nested(ThriftType type) {
  return type == ThriftType::kList || type == ThriftType::kSet || type == ThriftType::kStruct;
}

}  // namespace

uint8_t ThriftReader::byte() {
  if (at_ == bytes_.size()) damaged("the metadata is cut off");
  return static_cast<uint8_t>(bytes_[at_++]);
}

void ThriftReader::advance(uint64_t count) {
  if (count > bytes_.size() - at_) damaged("the metadata is cut off");
  at_ += count;
}

uint64_t ThriftReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint64_t part = byte();
    value |= (part & 127) << shift;
    if (part < 128) return value;
  }
  damaged("a number of the metadata is too long");
}

int64_t ThriftReader::integer() {
  const uint64_t bits = varint();
  return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
}

double ThriftReader::real() {
  double value;
  const size_t begin = at_;
  advance(sizeof value);
  std::memcpy(&value, bytes_.data() + begin, sizeof value);
  return value;
}

std::string_view ThriftReader::binary() {
  const uint64_t size = varint();
  const size_t begin = at_;
  advance(size);
  return bytes_.substr(begin, size);
}

bool ThriftReader::next_field(int64_t& id, ThriftType& type) {
  const uint8_t head = byte();
  if (head == 0) return false;
  type = static_cast<ThriftType>(head & 15);
  const int64_t next = head >> 4 ? id + (head >> 4) : integer();
  if (next <= 0 || next > INT16_MAX) damaged("a field of the metadata has no valid number");
  id = next;
  return true;
}

int64_t ThriftReader::list_size(ThriftType& type) {
  const uint8_t head = byte();
  type = static_cast<ThriftType>(head & 15);
  const uint64_t size = head >> 4 == 15 ? varint() : head >> 4;
  if (size > bytes_.size() - at_) damaged("a list of the metadata is longer than the metadata");
  return static_cast<int64_t>(size);
}

void ThriftReader::skip_scalar(ThriftType type, bool in_list) {
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      if (in_list) advance(1);
      return;
    case ThriftType::kByte:
      return advance(1);
    case ThriftType::kInt16:
    case ThriftType::kInt32:
    case ThriftType::kInt64:
      varint();
      return;
    case ThriftType::kDouble:
      return advance(8);
    case ThriftType::kBinary:
      return advance(varint());
    default:
      damaged("the metadata has an unknown type");  // of maps Parquet has none
  }
}

void ThriftReader::skip(ThriftType type, bool in_list) {
  // Structs and lists that are open: the number of elements that follow, -1 for a struct.
  struct Open {
    ThriftType type;
    int64_t left;
    int64_t id;
  };
  std::array<Open, kDeepest> open;
  size_t depth = 0;
  for (;;) {
    if (is_nested(type)) {
      if (depth == kDeepest) damaged("the metadata is nested too deeply");
      Open& next = open[depth++];
      next = {ThriftType::kStop, -1, 0};
      if (type != ThriftType::kStruct) next.left = list_size(next.type);
    } else {
      skip_scalar(type, in_list);
    }
    for (;; --depth) {
      if (depth == 0) return;
      Open& top = open[depth - 1];
      if (top.left < 0 ? next_field(top.id, top.type) : top.left-- > 0) break;
    }
    type = open[depth - 1].type;
    in_list = open[depth - 1].left >= 0;
  }
}

}  // namespace hr::parquet
