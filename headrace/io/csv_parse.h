// SPDX-License-Identifier: Apache-2.0
// Second pass over CSV text: the rows of one range parsed into their places in the columns.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/csv_row_splitter.h"
#include "headrace/io/csv_syntax.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

/// What becomes of one field of each row.
struct CsvTarget {
  int64_t column = -1;  ///< column of the result; -1: only its borders matter
  Dtype dtype{};
  std::string name{};
  std::byte* values = nullptr;                  ///< first slot of the whole column; null for bools
  std::shared_ptr<const TimezoneRules> zone{};  ///< of a timestamp with a zone
};

struct CsvBadRow {
  int64_t row;     ///< good rows of the range before it
  int64_t line;    ///< from 1
  int64_t column;  ///< field from 1, 0 for the row
  int64_t text;    ///< sizes in the arena, one after the other: the row,
  int64_t what;    ///< what is wrong,
  int64_t fix;     ///< and the fix
};

/// What one range produced in addition to the values of fixed width.
struct CsvPartial {
  struct Part {
    Buffer validity{};  ///< from bit 0; empty: no nulls
    Buffer bits{};      ///< of a bool column, from bit 0
    Buffer text{};      ///< of a string column: what its views point into
    Column entries{};   ///< of a category column: what its codes stand for

    bool is_empty() const { return !validity && !bits && !text && !entries.dtype().is_string(); }
  };

  int64_t rows = 0;
  std::vector<Part> parts{};  ///< one per column of the result, or none where all would be empty
  ByteBuffer text{};          ///< of all string columns, where the job says so
  std::vector<CsvBadRow> bad_rows{};
  ByteBuffer bad_text{};
  Buffer begins{};  ///< int32 offsets of the good rows, if they are noted
};

/// Rows of a range to keep: one bit per good row, of which this many are known.
struct CsvKeep {
  const uint8_t* bits = nullptr;
  int64_t first = 0;  ///< bit of the range's first row
  int64_t rows = 0;
  const int32_t* begins = nullptr;  ///< of each row in the text of the range; null: not known
};

struct CsvParseJob {
  const CsvSyntax& syntax;
  const std::vector<CsvTarget>& targets;  ///< one a field
  int64_t num_columns;                    ///< of the result
  int64_t max_rows;                       ///< good rows wanted of a range
  bool stop_at_bad_row;
  bool notes_rows = false;   ///< where each begins
  bool shares_text = false;  ///< one text buffer a range for all columns, which `keep_text` parts
};

namespace cpu {

/// Parses the rows in [text, text + size), where text[size] is a line end and kCsvPadding bytes
/// follow and stand before. Values go to the slots from `first_slot` on (the range's max_rows of
/// them), one a good row, without gaps; string views name their text buffer `text_buffer`. With
/// `keep` only these rows are parsed and get slots, `max_rows` of the range are as many, and the
/// columns are those of a file with more than one.
CsvPartial parse_range(const CsvParseJob& job, const char* text, int64_t size,
                       const CsvRange& range, int64_t first_slot, uint32_t text_buffer,
                       const CsvKeep* keep = nullptr);

}  // namespace cpu

}  // namespace hr
