// SPDX-License-Identifier: Apache-2.0
// What a Parquet file says of itself, written: headers of pages, page indexes and the footer.
#pragma once
#include "headrace/io/parquet/levels.h"
#include "headrace/io/parquet/metadata.h"
#include "headrace/io/parquet/value_writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hr::parquet {

/// A data page of a chunk. Places count from the beginning of the chunk.
struct WrittenPage {
  int64_t begin = 0;
  int64_t bytes = 0;  ///< with its header
  int64_t first_row = 0;
  int64_t nulls = 0;
  bool has_values = false;
  std::optional<ValueBounds> bounds{};
};

/// A column chunk that was written; behind its pages its Bloom filter, if it has one.
struct WrittenChunk {
  Codec codec = Codec::kNone;
  Encoding encoding = Encoding::kPlain;  ///< of its data pages
  int64_t num_values = 0;                ///< nulls counted
  int64_t unpacked_bytes = 0;
  int64_t bytes = 0;             ///< of the pages with their headers
  int64_t dictionary_bytes = 0;  ///< of the dictionary's page, which comes first; 0 for none
  int64_t filter_bytes = 0;
  int64_t nulls = 0;
  std::optional<ValueBounds> bounds{};
  bool is_ascending = false;  ///< bounds of pages never fall
  std::vector<WrittenPage> pages{};
};

struct WrittenGroup {
  int64_t rows = 0;
  std::vector<WrittenChunk> chunks{};
};

std::string write_page_header(const PageHeader& page);

std::string write_filter_header(int64_t bytes);

/// The page indexes of all groups, which lie one after the other from the fourth byte of the file
/// on, and the footer with its size and the magic behind it. `arrow_schema`: to be kept.
std::string write_footer(const WrittenSchema& schema, const std::vector<WrittenGroup>& groups,
                         const std::string& arrow_schema);

}  // namespace hr::parquet
