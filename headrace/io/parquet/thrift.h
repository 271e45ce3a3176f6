// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol, read from untrusted bytes.
#pragma once
#include <cstdint>
#include <string_view>

namespace hr::parquet {

/// Of fields and of elements, as the protocol numbers them.
enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

/// A cursor over bytes that it borrows. Nothing is read past their end, no size is believed before
/// it is compared with what is left, and what is skipped may be nested 64 levels deep, without
/// recursion. All functions throw Refusal.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }

  /// The bytes from `begin` to the cursor.
  std::string_view since(size_t begin) const { return bytes_.substr(begin, at_ - begin); }

  int64_t integer();
  /// Of one byte.
  int small() { return static_cast<int8_t>(byte()); }
  double real();
  std::string_view binary();

  /// The header of the next field of a struct, whose id is 0 before the first; false at the end.
  bool next_field(int64_t& id, ThriftType& type);

  /// The header of a list: its size, at most the bytes that are left.
  int64_t list_size(ThriftType& type);

  /// Moves past a value. Bools stand in the header of a field and take a byte in a list.
  void skip(ThriftType type, bool in_list);

 private:
  uint8_t byte();
  uint64_t varint();
  void advance(uint64_t count);
  void skip_scalar(ThriftType type, bool in_list);

  std::string_view bytes_;
  size_t at_ = 0;
};

/// Calls `f(id, type)` at the value of each field of a struct; what it does not read (false) is
/// skipped.
template <class F>
void for_each_field(ThriftReader& in, const F& f) {
  ThriftType type;
  for (int64_t id = 0; in.next_field(id, type);)
    if (!f(id, type)) in.skip(type, false);
}

}  // namespace hr::parquet
