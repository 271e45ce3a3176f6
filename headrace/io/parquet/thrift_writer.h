// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol, written.
#pragma once
#include "headrace/io/parquet/thrift.h"
#include "headrace/io/parquet/varint.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hr::parquet {

/// Appends the fields of a struct, in the order of their ids. What is nested is written by a
/// callable that appends its fields in turn.
class ThriftWriter {
 public:
  const std::string& bytes() const { return bytes_; }

  void integer(int id, int64_t value, ThriftType type = ThriftType::kInt32) {
    field(id, type);
    number(value);
  }

  void small(int id, int value) {
    field(id, ThriftType::kByte);
    bytes_ += static_cast<char>(value);
  }

  void flag(int id, bool value) { field(id, value ? ThriftType::kTrue : ThriftType::kFalse); }

  void binary(int id, std::string_view value) {
    field(id, ThriftType::kBinary);
    text(value);
  }

  template <class F>
  void record(int id, const F& fields) {
    field(id, ThriftType::kStruct);
    element(fields);
  }

  /// A struct without fields, as members of unions often are.
  void empty(int id) {
    record(id, [] {});
  }

  /// The head of a list, whose elements follow: by `element`, `number`, `text` or `bit`.
  void list(int id, ThriftType elements, size_t size) {
    field(id, ThriftType::kList);
    if (size < 15) {
      bytes_ += static_cast<char>(size << 4 | static_cast<size_t>(elements));
    } else {
      bytes_ += static_cast<char>(15 << 4 | static_cast<int>(elements));
      varint(size);
    }
  }

  template <class F>
  void element(const F& fields) {
    const int before = std::exchange(last_, 0);
    fields();
    end();
    last_ = before;
  }

  void number(int64_t value) { varint(zigzag(value)); }

  void text(std::string_view value) {
    varint(value.size());
    bytes_ += value;
  }

  void bit(bool value) { bytes_ += static_cast<char>(value ? 1 : 2); }

  /// Ends the struct that all belongs to.
  void end() { bytes_ += '\0'; }

 private:
  void varint(uint64_t value) {
    char bytes[kMostVarintBytes];
    bytes_.append(bytes, put_varint(value, bytes));
  }

  void field(int id, ThriftType type) {
    const int step = id - last_;
    if (step >= 1 && step <= 15) {
      bytes_ += static_cast<char>(step << 4 | static_cast<int>(type));
    } else {
      bytes_ += static_cast<char>(type);
      number(id);
    }
    last_ = id;
  }

  std::string bytes_{};
  int last_ = 0;
};

}  // namespace hr::parquet
