// SPDX-License-Identifier: Apache-2.0
// Logs to a table: one row per line, its fields typed, other lines set aside.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/csv.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

struct LogOptions {
  /// "combined", "common", "nginx", "nginx_error", "apache_error", "syslog", "syslog5424", "cri" or
  /// "cef"; not used with a pattern.
  std::string format = "combined";
  /// A grok pattern, "%{IPORHOST:client} %{NUMBER:bytes:int}", found anywhere in a line.
  std::string pattern{};
  /// Fields to read, in the order wanted; empty: all.
  std::vector<std::string> columns{};
  /// Rows to read at most; -1: all.
  int64_t num_rows = -1;
  BadRows on_bad = BadRows::kReject;
  Compression compression = Compression::kInfer;
};

/// Names of the formats.
HR_API const std::vector<std::string>& log_formats();

/// Fields of each line, by all workers. Strings point into the text, which stays in memory with
/// them. `rejects` as of CsvResult, with `column` 0 or the number of the field that is not a value
/// of its dtype; empty lines are skipped. Rows in = rows of table + rows of rejects. Throws
/// InvalidArgumentError for an unknown format or a wrong pattern, ColumnNotFoundError for an
/// unknown field, InputError for an unreadable source, a line of over 1 GiB, and with
/// BadRows::kError for the first bad line, with path and line.
HR_API CsvResult read_log(const Source& source, const LogOptions& options = {});

}  // namespace hr
