// SPDX-License-Identifier: Apache-2.0
// One reading of a CSV text: which columns, how many rows, what is bad. For csv.cpp.
#pragma once
#include "headrace/io/csv.h"
#include "headrace/io/csv_columns.h"
#include "headrace/io/csv_parse.h"
#include "headrace/io/csv_row_splitter.h"
#include "headrace/io/csv_sniff.h"

#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace hr {

/// Bytes of text that a worker holds, and as many of what it makes of them: fewer under a limit.
int64_t csv_chunk_bytes();

struct CsvScan::State {
  Source source;
  CsvOptions options;
  CsvSyntax syntax{};
  CsvLayout layout{};
  CsvSchema schema{};
  std::vector<int64_t> fields{};  // of each schema column
};

class CsvReader {
 public:
  CsvReader(const CsvScan::State& state, int64_t max_rows, int64_t chunk_bytes, ByteSource& text);

  /// The rows at `place`; `wanted` as of CsvScan::read.
  CsvResult read(const std::vector<bool>& wanted, Place place);
  /// Throws for the first bad row of what was parsed.
  void check(const CsvRanges& ranges, const std::vector<CsvPartial>& pieces) const {
    CsvRejects rejects;
    check_bad_rows(ranges, pieces, rejects);
  }

  /// At most `most` of the rows that the filter wants.
  CsvResult read_where(const CsvFilter& filter, const std::vector<bool>& wanted, int64_t most);

 private:
  /// Some columns: one target a field.
  struct Wanted {
    CsvSchema schema{};
    std::vector<CsvTarget> targets{};
  };

  /// Texts of ranges, as the parser wants them, by range.
  using Texts = std::vector<Buffer>;

  /// Some ranges of the text, at most `most` rows of them; `bits`: which rows to keep.
  struct Batch {
    std::span<const CsvRange> ranges;
    int64_t most;
    int64_t most_kept = std::numeric_limits<int64_t>::max();
    const uint8_t* bits = nullptr;
    std::vector<int64_t> rows{};   ///< first row of each range, then the end; empty without bits
    std::vector<int64_t> kept{};   ///< the same of those to keep
    std::vector<Buffer> begins{};  ///< of the rows of each range
  };

  Wanted want(const std::vector<bool>& columns) const;
  CsvResult read_lines(Wanted& wanted, Place place);
  CsvResult read_here(Wanted& wanted);

  /// Parses to `columns`. The last argument: buffers of text, filled if empty, else used; null:
  /// read and dropped.
  std::vector<CsvPartial> parse(Wanted& wanted, CsvColumns& columns, const Batch& batch,
                                std::vector<int64_t>& first_slots, Texts* texts);
  CsvPartial parse_range(const CsvParseJob& job, const Batch& batch, size_t index,
                         const std::vector<BufferAccess>& accesses, int64_t first, Buffer& text);
  Buffer text_of(const CsvRange& range);
  Buffer take(const CsvRange& range);

  Table read_batch(Wanted& first, Wanted& second, const CsvFilter& filter,
                   const std::vector<bool>& wanted, Batch batch, int64_t& rows);
  void report_all(const std::vector<CsvPartial>& pieces, int64_t most, CsvRejects& rejects) const;
  int64_t check_bad_rows(const CsvRanges& ranges, const std::vector<CsvPartial>& pieces,
                         CsvRejects& rejects) const;
  void report_open_row(const CsvRanges& ranges, int64_t rows, CsvRejects& rejects) const;
  void report(int64_t line, int64_t column, std::string_view text, std::string_view what,
              std::string_view fix, CsvRejects& rejects) const;

  const CsvScan::State& state_;
  ByteSource& text_;
  int64_t chunk_bytes_;
  int64_t limit_;
  BufferPool stock_{};
};

}  // namespace hr
