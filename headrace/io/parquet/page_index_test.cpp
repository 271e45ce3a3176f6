// SPDX-License-Identifier: Apache-2.0
// Page indexes: what fits together is read, all else is refused.
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/thrift_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hr::parquet {
namespace {

std::string offsets(const std::vector<PagePlace>& pages) {
  ThriftWriter to;
  to.list(1, ThriftType::kStruct, pages.size());
  for (const PagePlace& page : pages)
    to.element([&] {
      to.integer(1, page.offset, ThriftType::kInt64);
      to.integer(2, page.bytes);
      to.integer(3, page.first_row, ThriftType::kInt64);
    });
  to.end();
  return to.bytes();
}

TEST(PageIndex, PagesFollowEachOtherInTheirChunk) {
  ColumnChunk chunk;
  chunk.data_page_offset = 100;
  chunk.compressed_bytes = 50;
  const auto parse = [&](const std::vector<PagePlace>& pages) {
    return parse_offset_index(offsets(pages), chunk, 30);
  };
  const std::vector<PagePlace> found = parse({{100, 20, 0}, {120, 30, 10}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].offset, 120);
  EXPECT_EQ(found[1].bytes, 30);
  EXPECT_EQ(found[1].first_row, 10);
  EXPECT_THROW(parse({}), Refusal);
  EXPECT_THROW(parse({{99, 20, 0}}), Refusal);
  EXPECT_THROW(parse({{100, 51, 0}}), Refusal);
  EXPECT_THROW(parse({{100, 0, 0}}), Refusal);
  EXPECT_THROW(parse({{100, 20, 1}}), Refusal);
  EXPECT_THROW(parse({{100, 20, 0}, {119, 20, 10}}), Refusal);
  EXPECT_THROW(parse({{100, 20, 0}, {120, 20, 0}}), Refusal);
  EXPECT_THROW(parse({{100, 20, 0}, {120, 20, 30}}), Refusal);
  EXPECT_THROW(parse({{INT64_MAX, 20, 0}}), Refusal);
  const std::string bytes = offsets({{100, 20, 0}, {120, 30, 10}});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parse_offset_index(bytes.substr(0, size), chunk, 30), Refusal);
}

TEST(PageIndex, BoundsOfEachPage) {
  ThriftWriter to;
  to.list(1, ThriftType::kTrue, 3);
  for (const bool is_null : {false, true, false}) to.bit(is_null);
  for (const int id : {2, 3}) {
    to.list(id, ThriftType::kBinary, 3);
    for (const char* text : {"a", "", "c"}) to.text(text);
  }
  to.integer(4, 1);
  to.list(5, ThriftType::kInt64, 3);
  for (const int64_t nulls : {0, 9, -1}) to.number(nulls);
  to.end();
  const std::string bytes = to.bytes();
  const std::vector<Statistics> found = parse_column_index(bytes, 3);
  EXPECT_EQ(found[0].least, "a");
  EXPECT_EQ(found[2].most, "c");
  EXPECT_FALSE(found[1].least);
  EXPECT_EQ(found[1].null_count, 9);
  EXPECT_FALSE(found[2].null_count);
  EXPECT_THROW(parse_column_index(bytes, 2), Refusal);
  EXPECT_THROW(parse_column_index(bytes, 4), Refusal);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parse_column_index(bytes.substr(0, size), 3), Refusal);
}

}  // namespace
}  // namespace hr::parquet
