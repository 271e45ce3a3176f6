// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/metadata_writer.h"

#include "headrace/io/parquet/thrift_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hr::parquet {

namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kWriter = "headrace version 1";
constexpr int kVersion = 2;

template <class Enum>
int64_t number_of(Enum value) {
  return static_cast<int64_t>(value);
}

// The old word for what a column stands for; -1: there is none.
int64_t converted_type(const LogicalType& logical) {
  switch (logical.kind) {
    case LogicalKind::kString:
      return 0;
    case LogicalKind::kMap:
      return 1;
    case LogicalKind::kList:
      return 3;
    case LogicalKind::kDecimal:
      return 5;
    case LogicalKind::kDate:
      return 6;
    case LogicalKind::kTimestamp:
      // The old ones are instants, of milliseconds and microseconds.
      if (!logical.is_utc || logical.unit == TimeUnit::kNano) return -1;
      return logical.unit == TimeUnit::kMilli ? 9 : 10;
    case LogicalKind::kInteger: {
      int64_t power = 0;
      while (8 << power < logical.bits) ++power;
      return (logical.is_signed ? 15 : 11) + power;
    }
    default:
      return -1;
  }
}

// The number of a member of the union LogicalType.
int logical_member(LogicalKind kind) {
  return kind == LogicalKind::kInteger ? 10 : static_cast<int>(kind);
}

void write_logical(ThriftWriter& to, const LogicalType& logical) {
  to.record(logical_member(logical.kind), [&] {
    switch (logical.kind) {
      case LogicalKind::kDecimal:
        to.integer(1, logical.scale);
        to.integer(2, logical.precision);
        break;
      case LogicalKind::kTimestamp:
        to.flag(1, logical.is_utc);
        to.record(2, [&] { to.empty(static_cast<int>(logical.unit)); });
        break;
      case LogicalKind::kInteger:
        to.small(1, logical.bits);
        to.flag(2, logical.is_signed);
        break;
      default:
        break;
    }
  });
}

void write_element(ThriftWriter& to, const SchemaElement& element, bool is_root) {
  if (element.type) to.integer(1, number_of(*element.type));
  if (element.type_length > 0) to.integer(2, element.type_length);
  if (!is_root) to.integer(3, number_of(element.repetition));
  to.binary(4, element.name);
  if (!element.type) to.integer(5, element.num_children);
  const LogicalType& logical = element.logical;
  if (logical.kind == LogicalKind::kNone) return;
  if (const int64_t converted = converted_type(logical); converted >= 0) to.integer(6, converted);
  if (logical.kind == LogicalKind::kDecimal) {
    to.integer(7, logical.scale);
    to.integer(8, logical.precision);
  }
  to.record(10, [&] { write_logical(to, logical); });
}

void write_statistics(ThriftWriter& to, const WrittenChunk& chunk) {
  to.integer(3, chunk.nulls, ThriftType::kInt64);
  if (!chunk.bounds) return;
  to.binary(5, chunk.bounds->most);
  to.binary(6, chunk.bounds->least);
  to.flag(7, chunk.bounds->is_exact);
  to.flag(8, chunk.bounds->is_exact);
}

// Where the parts of a chunk lie in the file.
struct Places {
  int64_t begin = 0;
  int64_t column_index = 0;
  int64_t column_index_bytes = 0;
  int64_t offset_index = 0;
  int64_t offset_index_bytes = 0;
};

void write_chunk_metadata(ThriftWriter& to, const WrittenLeaf& leaf, const WrittenChunk& chunk,
                          const Places& places) {
  const bool has_dictionary = chunk.dictionary_bytes > 0;
  to.integer(1, number_of(leaf.type.physical));
  to.list(2, ThriftType::kInt32, has_dictionary ? 3 : 2);
  if (has_dictionary) to.number(number_of(Encoding::kPlain));
  to.number(number_of(Encoding::kRle));
  to.number(number_of(chunk.encoding));
  to.list(3, ThriftType::kBinary, leaf.path.size());
  for (const std::string& name : leaf.path) to.text(name);
  to.integer(4, number_of(chunk.codec));
  to.integer(5, chunk.num_values, ThriftType::kInt64);
  to.integer(6, chunk.unpacked_bytes, ThriftType::kInt64);
  to.integer(7, chunk.bytes, ThriftType::kInt64);
  to.integer(9, places.begin + chunk.dictionary_bytes, ThriftType::kInt64);
  if (has_dictionary) to.integer(11, places.begin, ThriftType::kInt64);
  to.record(12, [&] { write_statistics(to, chunk); });
  const auto write_count = [&](PageKind kind, Encoding encoding, size_t count) {
    to.element([&] {
      to.integer(1, number_of(kind));
      to.integer(2, number_of(encoding));
      to.integer(3, static_cast<int64_t>(count));
    });
  };
  to.list(13, ThriftType::kStruct, has_dictionary ? 2 : 1);
  if (has_dictionary) write_count(PageKind::kDictionary, Encoding::kPlain, 1);
  write_count(PageKind::kData, chunk.encoding, chunk.pages.size());
  if (chunk.filter_bytes == 0) return;
  to.integer(14, places.begin + chunk.bytes, ThriftType::kInt64);
  to.integer(15, chunk.filter_bytes);
}

// Empty when there are values without bounds: then there is none.
std::string column_index(const WrittenChunk& chunk) {
  const std::vector<WrittenPage>& pages = chunk.pages;
  if (std::any_of(pages.begin(), pages.end(),
                  [](const WrittenPage& page) { return page.has_values && !page.bounds; }))
    return {};
  ThriftWriter to;
  to.list(1, ThriftType::kTrue, pages.size());
  for (const WrittenPage& page : pages) to.bit(!page.has_values);
  to.list(2, ThriftType::kBinary, pages.size());
  for (const WrittenPage& page : pages) to.text(page.bounds ? page.bounds->least : "");
  to.list(3, ThriftType::kBinary, pages.size());
  for (const WrittenPage& page : pages) to.text(page.bounds ? page.bounds->most : "");
  to.integer(4, chunk.is_ascending ? 1 : 0);
  to.list(5, ThriftType::kInt64, pages.size());
  for (const WrittenPage& page : pages) to.number(page.nulls);
  to.end();
  return to.bytes();
}

std::string offset_index(const WrittenChunk& chunk, int64_t begin) {
  ThriftWriter to;
  to.list(1, ThriftType::kStruct, chunk.pages.size());
  for (const WrittenPage& page : chunk.pages)
    to.element([&] {
      to.integer(1, begin + page.begin, ThriftType::kInt64);
      to.integer(2, page.bytes);
      to.integer(3, page.first_row, ThriftType::kInt64);
    });
  to.end();
  return to.bytes();
}

void write_chunk(ThriftWriter& to, const WrittenLeaf& leaf, const WrittenChunk& chunk,
                 const Places& places) {
  to.integer(2, 0, ThriftType::kInt64);
  to.record(3, [&] { write_chunk_metadata(to, leaf, chunk, places); });
  to.integer(4, places.offset_index, ThriftType::kInt64);
  to.integer(5, places.offset_index_bytes);
  if (places.column_index_bytes == 0) return;
  to.integer(6, places.column_index, ThriftType::kInt64);
  to.integer(7, places.column_index_bytes);
}

void write_group(ThriftWriter& to, const WrittenSchema& schema, const WrittenGroup& group,
                 const std::vector<Places>& places, size_t ordinal) {
  int64_t unpacked = 0, packed = 0;
  to.list(1, ThriftType::kStruct, group.chunks.size());
  for (size_t c = 0; c < group.chunks.size(); ++c) {
    unpacked += group.chunks[c].unpacked_bytes;
    packed += group.chunks[c].bytes;
    to.element([&] { write_chunk(to, schema.leaves[c], group.chunks[c], places[c]); });
  }
  to.integer(2, unpacked, ThriftType::kInt64);
  to.integer(3, group.rows, ThriftType::kInt64);
  if (!places.empty()) to.integer(5, places[0].begin, ThriftType::kInt64);
  to.integer(6, packed, ThriftType::kInt64);
  if (ordinal <= INT16_MAX) to.integer(7, static_cast<int64_t>(ordinal), ThriftType::kInt16);
}

}  // namespace

std::string write_page_header(const PageHeader& page) {
  const bool is_dictionary = page.kind == PageKind::kDictionary;
  ThriftWriter to;
  to.integer(1, number_of(page.kind));
  to.integer(2, page.uncompressed_bytes);
  to.integer(3, page.compressed_bytes);
  if (page.checksum) to.integer(4, static_cast<int32_t>(*page.checksum));
  to.record(is_dictionary ? 7 : 5, [&] {
    to.integer(1, page.num_values);
    to.integer(2, number_of(page.encoding));
    if (is_dictionary) return;
    to.integer(3, number_of(page.definition_encoding));
    to.integer(4, number_of(page.repetition_encoding));
  });
  to.end();
  return to.bytes();
}

std::string write_filter_header(int64_t bytes) {
  ThriftWriter to;
  to.integer(1, bytes);
  for (const int algorithm_hash_compression : {2, 3, 4})
    to.record(algorithm_hash_compression, [&] { to.empty(1); });
  to.end();
  return to.bytes();
}

std::string write_footer(const WrittenSchema& schema, const std::vector<WrittenGroup>& groups,
                         const std::string& arrow_schema) {
  std::vector<std::vector<Places>> places(groups.size());
  auto at = static_cast<int64_t>(kMagic.size());
  int64_t rows = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    rows += groups[g].rows;
    for (const WrittenChunk& chunk : groups[g].chunks) {
      places[g].push_back({.begin = at});
      at += chunk.bytes + chunk.filter_bytes;
    }
  }
  std::string bytes;
  const auto add = [&](const std::string& index, int64_t& place, int64_t& size) {
    place = at + std::ssize(bytes);
    size = std::ssize(index);
    bytes += index;
  };
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t c = 0; c < places[g].size(); ++c)
      add(column_index(groups[g].chunks[c]), places[g][c].column_index,
          places[g][c].column_index_bytes);
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t c = 0; c < places[g].size(); ++c)
      add(offset_index(groups[g].chunks[c], places[g][c].begin), places[g][c].offset_index,
          places[g][c].offset_index_bytes);
  ThriftWriter to;
  to.integer(1, kVersion);
  to.list(2, ThriftType::kStruct, schema.elements.size());
  for (const SchemaElement& element : schema.elements)
    to.element([&] { write_element(to, element, &element == schema.elements.data()); });
  to.integer(3, rows, ThriftType::kInt64);
  to.list(4, ThriftType::kStruct, groups.size());
  for (size_t g = 0; g < groups.size(); ++g)
    to.element([&] { write_group(to, schema, groups[g], places[g], g); });
  to.list(5, ThriftType::kStruct, 1);
  to.element([&] {
    to.binary(1, "ARROW:schema");
    to.binary(2, arrow_schema);
  });
  to.binary(6, kWriter);
  to.list(7, ThriftType::kStruct, schema.leaves.size());
  for (size_t c = 0; c < schema.leaves.size(); ++c)
    to.element([&] { to.empty(1); });  // the order of the type
  to.end();
  bytes += to.bytes();
  const auto size = static_cast<uint32_t>(to.bytes().size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  return bytes.append(kMagic);
}

}  // namespace hr::parquet
