// SPDX-License-Identifier: Apache-2.0
// What a Parquet file says of itself: its footer and the headers of its pages, checked but not
// believed. Nothing here reads a file, so that decoders anywhere can stand on it.
#pragma once
#include "headrace/base/dtype.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hr::parquet {

enum class PhysicalType : uint8_t {
  kBoolean,
  kInt32,
  kInt64,
  kInt96,
  kFloat,
  kDouble,
  kByteArray,
  kFixed,
};

enum class Repetition : uint8_t { kRequired, kOptional, kRepeated };

enum class Codec : uint8_t { kNone, kSnappy, kGzip, kLzo, kBrotli, kLz4, kZstd, kLz4Raw };

enum class Encoding : uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};

/// What values stand for; where a file has the old converted types alone, they are told as these.
enum class LogicalKind : uint8_t {
  kNone,
  kString,
  kMap,
  kList,
  kEnum,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInteger,
  kNull,
  kJson,
  kBson,
  kUuid,
  kFloat16,
  kInterval,
  kOther,
};

struct LogicalType {
  LogicalKind kind = LogicalKind::kNone;
  TimeUnit unit = TimeUnit::kMicro;  ///< of times and timestamps
  bool is_utc = false;               ///< of timestamps: instants, not clocks
  bool is_signed = true;             ///< of integers
  int bits = 0;                      ///< of integers
  int precision = 0;                 ///< of decimals
  int scale = 0;
};

struct SchemaElement {
  std::optional<PhysicalType> type{};  ///< none for a group
  int64_t type_length = 0;             ///< of kFixed, at least 1
  Repetition repetition = Repetition::kRequired;
  std::string_view name{};
  int64_t num_children = 0;
  LogicalType logical{};
};

/// Of a column chunk or a page. Values are encoded as PLAIN has them, without a length.
struct Statistics {
  std::optional<std::string_view> least{}, most{};          ///< in the order of the logical type
  std::optional<std::string_view> old_least{}, old_most{};  ///< in the order of signed numbers
  std::optional<int64_t> null_count{};
};

/// Bytes of a file that the footer points to; none when there are 0 of them.
struct FileRange {
  int64_t offset = 0;
  int64_t bytes = 0;
};

struct ColumnChunk {
  PhysicalType type = PhysicalType::kInt32;
  Codec codec = Codec::kNone;
  int64_t num_values = 0;          ///< nulls counted
  int64_t uncompressed_bytes = 0;  ///< a claim
  int64_t compressed_bytes = 0;    ///< of all pages with their headers
  int64_t data_page_offset = 0;
  int64_t dictionary_page_offset = 0;  ///< 0 for none
  Statistics statistics{};
  FileRange column_index{};   ///< bounds of pages
  FileRange offset_index{};   ///< places of pages
  FileRange filter{};         ///< a Bloom filter; old writers leave its size out: 0
  bool is_all_coded = false;  ///< all of its data pages have indices into a dictionary
  bool is_elsewhere = false;  ///< in another file
  bool is_encrypted = false;

  /// Where its first page stands. Old writers leave the dictionary's place out or say 0.
  int64_t begin() const {
    return dictionary_page_offset > 0 && dictionary_page_offset < data_page_offset
               ? dictionary_page_offset
               : data_page_offset;
  }
};

struct RowGroupMetadata {
  std::vector<ColumnChunk> chunks{};  ///< one a leaf of the schema
  int64_t num_rows = 0;
};

struct FileMetadata {
  std::vector<SchemaElement> schema{};  ///< depth first; the first is the root
  int64_t num_rows = 0;
  int64_t num_leaves = 0;
  std::vector<RowGroupMetadata> row_groups{};
  std::string_view arrow_schema{};  ///< that the writer kept, in base64; empty for none
};

/// The metadata of a footer, whose bytes it borrows. Throws Refusal for what contradicts itself:
/// counts of children, chunks and rows fit together afterwards, and no number is negative.
FileMetadata parse_file_metadata(std::string_view footer);

enum class PageKind : uint8_t { kData, kIndex, kDictionary, kDataV2 };

struct PageHeader {
  PageKind kind = PageKind::kData;
  int64_t compressed_bytes = 0;
  int64_t uncompressed_bytes = 0;  ///< a claim
  std::optional<uint32_t> checksum{};
  int64_t num_values = 0;  ///< entries of a dictionary; else values, nulls counted
  Encoding encoding = Encoding::kPlain;
  Encoding definition_encoding = Encoding::kRle;  ///< of version 1
  Encoding repetition_encoding = Encoding::kRle;
  int64_t definition_bytes = 0;  ///< of version 2, never compressed
  int64_t repetition_bytes = 0;
  bool is_compressed = true;
};

/// A data page of a chunk, as the offset index has it.
struct PagePlace {
  int64_t offset = 0;
  int64_t bytes = 0;  ///< with its header
  int64_t first_row = 0;
};

/// The pages of a chunk of `rows` rows, of an offset index: they follow each other inside of the
/// chunk, from row 0 on, and each has a row. Throws Refusal.
std::vector<PagePlace> parse_offset_index(std::string_view bytes, const ColumnChunk& chunk,
                                          int64_t rows);

/// Bounds and numbers of nulls of `pages` pages, of a column index whose bytes they borrow. Bounds
/// of a page of nulls are empty. Throws Refusal.
std::vector<Statistics> parse_column_index(std::string_view bytes, size_t pages);

/// The header that `bytes` begin with; `size` says how many of them it is. Throws Refusal.
PageHeader parse_page_header(std::string_view bytes, int64_t& size);

/// The header of a Bloom filter.
struct FilterHeader {
  int64_t bytes = 0;      ///< of the filter behind it
  bool is_known = false;  ///< in blocks, by xxHash, not compressed
};

/// The same of a Bloom filter. Throws Refusal.
FilterHeader parse_filter_header(std::string_view bytes, int64_t& size);

}  // namespace hr::parquet
