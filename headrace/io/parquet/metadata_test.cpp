// SPDX-License-Identifier: Apache-2.0
// Footers and headers of pages that contradict themselves are refused.
#include "headrace/io/parquet/metadata.h"

#include "headrace/io/parquet/parquet_testing.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hr::parquet {
namespace {

using testing::element;
using testing::ThriftStruct;

ThriftStruct group_of(const std::string& name, int children) {
  return ThriftStruct().text(4, name).number(5, children);
}

ThriftStruct chunk_of(int64_t values) {
  ThriftStruct metadata, statistics, chunk;
  statistics.text(1, "old").number(3, 2).text(5, "most").text(6, "least");
  metadata.number(1, 2).number(4, 1).number(5, values).number(6, 100).number(7, 50).number(9, 4);
  return chunk.number(2, 0).record(3, metadata.number(11, 0).record(12, statistics));
}

std::string footer(const std::vector<ThriftStruct>& schema, int64_t rows, int64_t rows_of_group,
                   const std::vector<ThriftStruct>& chunks) {
  ThriftStruct group;
  group.list(1, chunks).number(2, 0).number(3, rows_of_group);
  return ThriftStruct().number(1, 2).list(2, schema).number(3, rows).list(4, {group}).bytes();
}

TEST(Metadata, OfAFile) {
  const std::string bytes =
      footer({group_of("root", 1), element("n", PhysicalType::kInt64)}, 9, 9, {chunk_of(9)});
  const FileMetadata file = parse_file_metadata(bytes);
  EXPECT_EQ(file.num_rows, 9);
  EXPECT_EQ(file.num_leaves, 1);
  const ColumnChunk& chunk = file.row_groups.at(0).chunks.at(0);
  EXPECT_EQ(chunk.codec, Codec::kSnappy);
  EXPECT_EQ(chunk.begin(), 4);
  EXPECT_EQ(chunk.statistics.least, "least");
  EXPECT_EQ(chunk.statistics.old_most, "old");
  EXPECT_EQ(chunk.statistics.null_count, 2);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(parse_file_metadata(std::string_view(bytes).substr(0, size)), Refusal);
}

// Whether all pages of a chunk are indices: as its pages are counted, or its encodings listed.
TEST(Metadata, OfChunksWhosePagesAreAllCoded) {
  const auto is_coded = [](const std::vector<int64_t>& encodings,
                           const std::vector<ThriftStruct>& counts) {
    ThriftStruct metadata;
    metadata.number(1, 2).numbers(2, encodings).number(4, 1).number(5, 9).number(6, 100);
    metadata.number(7, 50).number(9, 4);
    if (!counts.empty()) metadata.list(13, counts);
    const ThriftStruct chunk = ThriftStruct().number(2, 0).record(3, metadata);
    const std::string bytes =
        footer({group_of("root", 1), element("n", PhysicalType::kInt64)}, 9, 9, {chunk});
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(parse_file_metadata(std::string_view(bytes).substr(0, size)), Refusal);
    return parse_file_metadata(bytes).row_groups.at(0).chunks.at(0).is_all_coded;
  };
  const auto pages = [](int64_t kind, int64_t encoding, int64_t count) {
    return ThriftStruct().number(1, kind).number(2, encoding).number(3, count);
  };
  EXPECT_TRUE(is_coded({2}, {}));
  EXPECT_TRUE(is_coded({2, 3, 4}, {}));
  EXPECT_FALSE(is_coded({}, {}));
  EXPECT_FALSE(is_coded({3}, {}));
  EXPECT_FALSE(is_coded({2, 0}, {}));
  EXPECT_FALSE(is_coded({8, 0, 3}, {}));  // the dictionary is plain, and perhaps a page
  EXPECT_FALSE(is_coded({8, 3}, {}));
  EXPECT_TRUE(is_coded({8, 0, 3}, {pages(2, 0, 1), pages(0, 8, 5)}));
  EXPECT_FALSE(is_coded({2}, {pages(2, 2, 1), pages(0, 2, 5), pages(3, 0, 1)}));
}

TEST(Metadata, CountsFitTogether) {
  const ThriftStruct leaf = element("n", PhysicalType::kInt64);
  const auto refused = [](const std::string& bytes) {
    EXPECT_THROW(parse_file_metadata(bytes), Refusal);
  };
  refused(footer({}, 9, 9, {chunk_of(9)}));
  refused(footer({group_of("root", 2), leaf}, 9, 9, {chunk_of(9)}));
  refused(footer({group_of("root", 1), leaf, leaf}, 9, 9, {chunk_of(9)}));
  refused(footer({group_of("root", 1), leaf}, 9, 9, {}));
  refused(footer({group_of("root", 1), leaf}, 9, 8, {chunk_of(9)}));
  refused(footer({group_of("root", 1), leaf}, -1, -1, {chunk_of(9)}));
  refused(footer({group_of("root", 1), leaf}, 9, 9, {chunk_of(-9)}));
  refused(footer({leaf}, 9, 9, {chunk_of(9)}));
}

TEST(Metadata, OfPages) {
  const std::string bytes = testing::data_page(7, Encoding::kRleDictionary, "12345");
  int64_t size = 0;
  const PageHeader page = parse_page_header(bytes, size);
  EXPECT_EQ(bytes.substr(static_cast<size_t>(size)), "12345");
  EXPECT_EQ(page.num_values, 7);
  EXPECT_EQ(page.encoding, Encoding::kRleDictionary);
  EXPECT_EQ(page.compressed_bytes, 5);
  for (int64_t cut = 0; cut < size; ++cut) {
    int64_t used;
    EXPECT_THROW(
        parse_page_header(std::string_view(bytes).substr(0, static_cast<size_t>(cut)), used),
        Refusal);
  }
  const auto refused = [](const ThriftStruct& header) {
    int64_t used;
    EXPECT_THROW(parse_page_header(header.bytes(), used), Refusal);
  };
  const ThriftStruct kind = ThriftStruct().number(1, 7).number(2, 0);
  refused(ThriftStruct().number(1, 0).number(2, 5).number(3, int64_t{1} << 31).record(5, kind));
  refused(ThriftStruct().number(1, 0).number(2, -5).number(3, 5).record(5, kind));
  refused(ThriftStruct().number(1, 9).number(2, 5).number(3, 5).record(5, kind));
  refused(ThriftStruct().number(1, 0).number(2, 5).number(3, 5));
  // Levels of version 2 that are longer than the page, also when their sum wraps.
  for (const int64_t levels : {int64_t{6}, INT64_MAX})
    refused(ThriftStruct().number(1, 3).number(2, 5).number(3, 5).record(
        8, ThriftStruct().number(1, 7).number(4, 0).number(5, levels).number(6, levels)));
}

TEST(Schema, OfListsAndWhatIsRefused) {
  const auto column = [](const std::vector<ThriftStruct>& elements, size_t leaves = 1) {
    std::vector<ThriftStruct> schema{group_of("root", 1)};
    schema.insert(schema.end(), elements.begin(), elements.end());
    const std::string bytes = footer(schema, 9, 9, std::vector<ThriftStruct>(leaves, chunk_of(9)));
    return read_schema(parse_file_metadata(bytes)).at(0);
  };
  const ThriftStruct optional = element("n", PhysicalType::kInt64, Repetition::kOptional);
  const ThriftStruct list = ThriftStruct().number(3, 1).text(4, "l").number(5, 1).number(6, 3);
  const ThriftStruct items = ThriftStruct().number(3, 2).text(4, "list").number(5, 1);
  const ColumnSchema lists = column({list, items, optional});
  EXPECT_EQ(lists.dtype, Dtype::list(TypeId::kInt64));
  EXPECT_EQ(lists.leaf.max_definition, 3);
  EXPECT_EQ(lists.leaf.max_repetition, 1);
  EXPECT_EQ(lists.leaf.lists.at(0).present, 1);
  EXPECT_EQ(lists.leaf.lists.at(0).item, 2);
  // As old writers have it: repeated without a word, and an element in place of the middle group.
  const ThriftStruct repeated = element("n", PhysicalType::kInt64, Repetition::kRepeated);
  EXPECT_EQ(column({repeated}).dtype, Dtype::list(TypeId::kInt64));
  EXPECT_EQ(column({list, repeated}).dtype, Dtype::list(TypeId::kInt64));
  EXPECT_THAT(column({group_of("s", 2), optional, optional}, 2).refusal,
              ::testing::HasSubstr("same name"));
  EXPECT_EQ(column({element("n", PhysicalType::kByteArray)}).refusal, "binary data");
  EXPECT_EQ(column({element("n", PhysicalType::kInt64).number(6, 15)}).refusal,
            "an integer of a wrong width");
  EXPECT_EQ(column({element("n", PhysicalType::kInt32).number(6, 11)}).dtype, TypeId::kUInt8);
  // Converted timestamps are clocks.
  EXPECT_EQ(column({element("n", PhysicalType::kInt64).number(6, 9)}).dtype,
            Dtype::timestamp(TimeUnit::kMilli));
}

}  // namespace
}  // namespace hr::parquet
