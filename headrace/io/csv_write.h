// SPDX-License-Identifier: Apache-2.0
// A table to CSV text, formatted by all workers, put in place whole or not at all.
#pragma once
#include "headrace/data/table.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hr {

struct CsvWriteOptions {
  char delimiter = ',';
  bool header = true;
  /// "shortest" (the fewest digits that read back to the same value), or "%.<n>e", "%.<n>f" or
  /// "%.<n>g" with n from 0 to 64: the bytes that C's printf gives.
  std::string float_format = "shortest";
  /// Stands for null. A column alone in its table writes NA instead of an empty word, since an
  /// empty line is not a row.
  std::string null_word{};
  std::string line_end = "\n";
  /// Waits until the bytes are on the disk before the new file takes the old one's place.
  bool durable = true;
};

/// Writes `table` to `path`: a regular file through a temporary one in the same folder, renamed at
/// the end and removed on error; anything else (a pipe, a terminal) directly. Strings that hold the
/// delimiter, a quote or a line end, or that a reader would take for null, are quoted. Bools are
/// `true` and `false`, NaN `nan`. The same bytes for any number of threads; O(threads) MiB of
/// scratch. Throws InputError with path and errno when the system refuses, InvalidArgumentError for
/// a bad option.
HR_API void write_csv(const Table& table, const std::string& path,
                      const CsvWriteOptions& options = {});

/// The same text handed to `write` piece by piece, in order, on the calling thread.
HR_API void write_csv(const Table& table, const std::function<void(std::string_view)>& write,
                      const CsvWriteOptions& options = {});

}  // namespace hr
