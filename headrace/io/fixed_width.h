// SPDX-License-Identifier: Apache-2.0
// Text whose fields stand at fixed places of each line, made delimited for the CSV reader.
#pragma once
#include "headrace/io/csv.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hr {

/// Stands between the fields; the CSV reader reads them with it and without quotes.
inline constexpr char kFieldSeparator = '\x1f';

struct FixedWidthOptions {
  /// Characters [first, second) of each field; -1: to the end of the line. Empty: found in the
  /// first lines, at the columns in which none has more than blanks.
  std::vector<std::pair<int64_t, int64_t>> columns{};
  int64_t infer_rows = 100;
  /// What is cut off at both ends of a field.
  std::string blanks = " \t";
  std::optional<char> comment{};
  int64_t skip_rows = 0;
  Compression compression = Compression::kInfer;
};

/// The text of `source`, line by line, with separators; it is read as far as it is needed. Lines
/// are numbered as before; what a comment leaves and skipped ones are empty. Characters are code
/// points. Reading throws InputError for a line of over 16 MiB or one that holds a separator, and
/// where no columns are found; InvalidArgumentError for columns that end before they begin.
HR_API Source fixed_width_source(const Source& source, FixedWidthOptions options);

}  // namespace hr
