// SPDX-License-Identifier: Apache-2.0
// The footer of a Parquet file that is put together from files of its parts.
#pragma once
#include "headrace/base/api.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// The column chunks of a whole Parquet file in memory that has one row group.
struct ParquetChunks {
  std::string_view pages{};      ///< of the file: what lies between its magic and its footer
  std::string records{};         ///< the thrift of each ColumnChunk, with places as in that file
  int64_t count = 0;             ///< of them
  int64_t total_byte_size = 0;   ///< of the row group, as Parquet has it
  int64_t total_compressed = 0;  ///< the same
};

/// Throws InternalError for bytes that are no such file.
HR_API ParquetChunks parquet_chunks(std::string_view file);

/// Of the file that has, behind the magic, the pages of all parts in the order of `add`.
class HR_API ParquetFooter {
 public:
  /// `file` has the schema and the metadata; its own rows do not count.
  explicit ParquetFooter(std::string_view file);

  /// The next row group; `parts` have its columns.
  void add(int64_t rows, const std::vector<ParquetChunks>& parts);

  /// What follows the pages: the footer, its length, the magic.
  std::string finish() const;

 private:
  std::string before_rows_{};
  std::string before_groups_{};
  std::string after_groups_{};
  std::string groups_{};
  int64_t num_groups_ = 0;
  int64_t rows_ = 0;
  int64_t offset_ = 4;  // of the next part's pages
};

}  // namespace hr
