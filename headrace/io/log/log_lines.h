// SPDX-License-Identifier: Apache-2.0
// The lines of one piece of a log: their fields to columns. For log.cpp.
#pragma once
#include "headrace/data/table.h"
#include "headrace/io/log/log_format.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

struct LogBadLine {
  int64_t line;    ///< of the piece, from 0
  int64_t column;  ///< field from 1, or 0
  std::string text;
  std::string_view reason;
};

struct LogLines {
  Table table{};
  std::vector<LogBadLine> bad{};
  int64_t lines = 0;
};

/// Finds and types fields; for any number of threads.
class LogParser {
 public:
  /// `columns`: the fields wanted, in order. Throws InvalidArgumentError for a pattern that is
  /// none, UnsupportedError without RE2.
  LogParser(LogFormat format, std::vector<size_t> columns);
  ~LogParser();

  /// The lines in [begin, end) of `text`, whose last one ends at `end` (a line end, or the end of
  /// the text, behind which 64 bytes are readable). Strings point into the text, which is kept if
  /// there are any. The first `most` good lines only; `stops` at the first bad one.
  LogLines parse(Buffer text, int64_t begin, int64_t end, int64_t most, bool stops) const;

 private:
  struct Pattern;

  LogFormat format_;
  std::vector<size_t> columns_;
  std::unique_ptr<Pattern> pattern_;
};

}  // namespace hr
