// SPDX-License-Identifier: Apache-2.0
// A table to a Parquet file, encoded by all workers, put in place whole or not at all.
#pragma once
#include "headrace/base/api.h"
#include "headrace/data/table.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

struct ParquetWriteOptions {
  /// "snappy", "gzip", "zstd", "lz4", "brotli" or "none". Columns that it does not make smaller are
  /// left as they are.
  std::string compression = "snappy";
  /// A level of the codec; its usual one when not given.
  std::optional<int> level{};
  /// Rows of a row group; at most 2^20, or in layout "gpu" 10 * 2^20, when not given.
  std::optional<int64_t> row_group_rows{};
  /// "default", or "gpu": long row groups, and no compression that saves less than a tenth.
  std::string layout = "default";
  /// Columns with a Bloom filter, for searches of single values.
  std::vector<std::string> bloom_filter{};
  /// Whether each page has a CRC.
  bool checksums = false;
};

/// Writes `table` to `path`: a regular file through a temporary one in the same folder, renamed at
/// the end and removed on error; anything else (a pipe) directly. Pages of 2^15 rows or about 1 MiB
/// have bounds and an index; the Arrow schema is kept. The same bytes for any number of threads;
/// scratch is some chunks a thread, fewer under a limit. Throws InputError with path and errno when
/// the system refuses, InvalidArgumentError for a bad option, TypeMismatchError for complex
/// numbers.
HR_API void write_parquet(const Table& table, const std::string& path,
                          const ParquetWriteOptions& options = {});

/// The same bytes handed to `write` piece by piece, in order, on the calling thread.
HR_API void write_parquet(const Table& table, const std::function<void(std::string_view)>& write,
                          const ParquetWriteOptions& options = {});

}  // namespace hr
