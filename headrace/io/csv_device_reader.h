// SPDX-License-Identifier: Apache-2.0
// CSV text, of one file or several, parsed where its columns go: on a CUDA device, block by block
// while the next ones are read.
#pragma once
#include "headrace/io/csv.h"
#include "headrace/io/csv_parse.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace hr {

/// With what stands around the text a pinned block of 16 MiB.
inline constexpr int64_t kLineBlockBytes = (int64_t{1} << 24) - 4096;

struct CsvDeviceText {
  std::function<std::shared_ptr<ByteSource>()> open{};
  int64_t begin = 0;            ///< of the first row
  int64_t first_line = 1;       ///< its line
  int64_t estimated_rows = -1;  ///< -1: not known
};

struct CsvDeviceJob {
  const CsvSyntax& syntax;
  const std::vector<CsvTarget>& targets;  ///< one a field; where the host would put them is unused
  const CsvSchema& schema;                ///< of the wanted columns
  std::span<const CsvDeviceText> texts;   ///< of the same fields; one is open at a time
  int64_t limit = std::numeric_limits<int64_t>::max();  ///< rows wanted of one text
  Place place{};
  int64_t block_bytes = kLineBlockBytes;
};

/// Rows on a device that are not yet a table.
struct CsvDeviceRows {
  CsvPartial piece{};                    ///< how many rows there are, and those that are bad
  std::vector<int64_t> rows_of_texts{};  ///< the good ones of each text
  Table table{};                         ///< the good rows up to the limit
};

/// Parses the rows. Lines that the kernels do not surely take as `cpu::parse_range` does are parsed
/// by that, on the host, and their values put in place. Throws UnsupportedError when all of the
/// text needs the host: columns of other dtypes than numbers, bools, dates, times without a zone
/// and strings, quotes in the middle of fields that are not even in a row, rows longer than a
/// block, too many fields that are not plain, a build without kernels.
CsvDeviceRows parse_on_device(const CsvDeviceJob& job);

}  // namespace hr
