// SPDX-License-Identifier: Apache-2.0
// First pass over CSV text: cuts it into ranges of whole rows, in parallel, quotes respected.
#pragma once
#include "headrace/base/api.h"
#include "headrace/io/csv_syntax.h"
#include "headrace/io/source.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace hr {

/// Where a reader stands between two bytes.
enum class QuoteState : uint8_t {
  kOutside,
  kInside,       ///< in a quoted field
  kMaybeClosed,  ///< behind a quote in a quoted field: the end, or the first of a doubled one
  kComment,
};

/// What following a piece of text from one state finds. Offsets are within the piece.
struct ChunkOutcome {
  int64_t row_ends = 0;
  int64_t first_row = -1;       ///< behind the first row end; -1: none
  int64_t first_row_lines = 0;  ///< line ends up to there
  int64_t last_row = -1;        ///< behind the last row end
  int64_t lines = 0;            ///< line ends in all: LF, CRLF or CR, in quotes too
  bool has_special = false;     ///< quotes or comments
  QuoteState end = QuoteState::kOutside;
};

/// Rows that begin in [begin, end) of the text: whole rows, the last one perhaps without line end.
struct CsvRange {
  int64_t begin;
  int64_t end;
  int64_t first_line;  ///< line number of `begin`, from 1
  int64_t max_rows;    ///< row ends, empty lines included
};

struct CsvRanges {
  std::vector<CsvRange> ranges{};
  int64_t max_rows = 0;
  /// The ranges reach the end of the text.
  bool complete = true;
  /// Begin and line of the first row behind the ranges, or -1; if they are complete, its quote is
  /// never closed.
  int64_t rest = -1;
  int64_t rest_line = 0;
  int64_t text_end = 0;
};

/// Buffers that workers take and give back, so that each is allocated once.
class BufferPool {
 public:
  Buffer take(int64_t size_bytes);
  void give(Buffer buffer);

 private:
  std::mutex mutex_;
  std::vector<Buffer> buffers_;
};

/// Where a reader stands at `offset` of a loaded text whose rows begin at `begin`: told by the 16
/// MiB before it at most. Nothing when these do not tell; where they hold no quote and no comment,
/// they are taken for rows.
std::optional<QuoteState> state_before(const ByteSource& text, const CsvSyntax& syntax,
                                       int64_t begin, int64_t offset);

/// Bytes of the whole rows that `text` begins with: up to behind the last row end. A CR at the
/// end may be half of a line end, so that the row is not whole yet.
HR_API int64_t whole_rows(const CsvSyntax& syntax, std::string_view text);

/// Ranges over the rows from offset `begin` on, where line `first_line` begins, until at least
/// `enough_rows` row ends are seen (-1: all). `chunk_bytes` alone decides the borders. Throws
/// InputError for a row of more than 1 GiB.
CsvRanges find_ranges(std::string_view op, ByteSource& text, std::string_view name,
                      const CsvSyntax& syntax, int64_t begin, int64_t first_line,
                      int64_t enough_rows, int64_t chunk_bytes, BufferPool& stock);

}  // namespace hr
