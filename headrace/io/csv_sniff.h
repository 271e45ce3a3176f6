// SPDX-License-Identifier: Apache-2.0
// What the head and a few samples of CSV text tell: names, dtypes, where the data begin.
#pragma once
#include "headrace/io/csv.h"
#include "headrace/io/csv_syntax.h"

#include <string>
#include <string_view>
#include <vector>

namespace hr {

struct CsvLayout {
  std::vector<std::string> names{};  ///< of all fields
  std::vector<Dtype> dtypes{};       ///< given ones, else inferred
  int64_t data_begin = 0;            ///< offset of the first row of data
  int64_t first_line = 1;            ///< and its line
  int64_t estimated_rows = 0;
};

/// Reads the head of `text` and, where the size is known, 15 samples of 64 KiB behind it (larger
/// ones where rows are long), all up to the end of the last row that begins in them; where all
/// dtypes are given, a 16th of the text at most.
CsvLayout sniff_csv(std::string_view op, ByteSource& text, const std::string& name,
                    const CsvOptions& options, const CsvSyntax& syntax);

}  // namespace hr
