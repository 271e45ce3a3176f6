// SPDX-License-Identifier: Apache-2.0
// Structs that are written by hand are read back; what is cut off, too long or too deep is refused.
#include "headrace/io/parquet/thrift.h"

#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr::parquet {
namespace {

using testing::ThriftStruct;

std::string some_struct() {
  ThriftStruct inner;
  inner.text(1, "in").flag(2, true);
  return ThriftStruct()
      .number(1, -3, ThriftType::kInt32)
      .flag(2, false)
      .text(4, "text")
      .list(5, {inner, inner})
      .record(6, inner)
      .number(300, INT64_MIN)
      .bytes();
}

TEST(Thrift, FieldsAreReadAndOthersSkipped) {
  const std::string bytes = some_struct() + "rest";
  ThriftReader in(bytes);
  std::vector<int64_t> ids;
  for_each_field(in, [&](int64_t id, ThriftType) {
    ids.push_back(id);
    if (id == 1) {
      EXPECT_EQ(in.integer(), -3);
      return true;
    }
    if (id == 4) {
      EXPECT_EQ(in.binary(), "text");
      return true;
    }
    if (id == 300) {
      EXPECT_EQ(in.integer(), INT64_MIN);
      return true;
    }
    return false;
  });
  EXPECT_EQ(ids, (std::vector<int64_t>{1, 2, 4, 5, 6, 300}));
  EXPECT_EQ(bytes.substr(in.at()), "rest");
}

TEST(Thrift, EachCutIsRefused) {
  const std::string bytes = some_struct();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ThriftReader in(std::string_view(bytes).substr(0, size));
    EXPECT_THROW(for_each_field(in, [](int64_t, ThriftType) { return false; }), Refusal) << size;
  }
}

TEST(Thrift, DepthIsLimitedWithoutRecursion) {
  const auto nested = [](size_t levels) {
    // A struct whose field 1 is a struct, and so on.
    return std::string(levels, '\x1c') + std::string(levels + 1, '\0');
  };
  const std::string good = nested(60), deep = nested(1'000'000);
  ThriftReader in(good);
  in.skip(ThriftType::kStruct, false);
  EXPECT_EQ(in.at(), good.size());
  ThriftReader deeper(deep);
  EXPECT_THROW(deeper.skip(ThriftType::kStruct, false), Refusal);
}

TEST(Thrift, SizesAreComparedWithWhatIsLeft) {
  ThriftType of;
  for (const std::string& bytes : {std::string("\xfc\xff\xff\xff\xff\x0f"),
                                   std::string("\x5c"
                                               "abcd"),
                                   std::string("\xfc")}) {
    ThriftReader in(bytes);
    EXPECT_THROW(in.list_size(of), Refusal);
  }
  ThriftReader text(
      "\x05"
      "abcd");
  EXPECT_THROW(text.binary(), Refusal);
  ThriftReader number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_THROW(number.integer(), Refusal);
}

}  // namespace
}  // namespace hr::parquet
