// SPDX-License-Identifier: Apache-2.0
// Columns of a CSV result: slots for the parser, gaps closed, bitmaps joined, rejects gathered.
#pragma once
#include "headrace/data/access_pattern.h"
#include "headrace/data/table.h"
#include "headrace/io/csv.h"
#include "headrace/io/csv_parse.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace hr {

/// Columns that are being filled: one slot a possible row, then closed up to the rows there are.
class CsvColumns {
 public:
  CsvColumns(const CsvSchema& schema, int64_t slots);

  /// First slot of a column; null for bools, which live in the pieces.
  std::byte* values(int64_t column);

  /// What the slots of a piece take, for its pin.
  std::vector<BufferAccess> accesses() const;

  /// Parts the text that the columns of a piece share: each gets its own, behind that of other
  /// pieces, in buffers that are large enough to leave memory. Many threads may call it at once,
  /// each for a piece of its own. `text_bytes`: of all pieces.
  void keep_text(CsvPartial& piece, int64_t first_slot, int64_t text_bytes);

  /// The table of the pieces' rows, at most `max_rows`. `first_slots` tells where each piece
  /// began. The columns are used up.
  Table finish(std::vector<CsvPartial>& pieces, const std::vector<int64_t>& first_slots,
               int64_t max_rows);

 private:
  Column finish_column(size_t column, std::vector<CsvPartial>& pieces,
                       const std::vector<int64_t>& first_slots, const std::vector<int64_t>& rows);

  /// The text of one column.
  struct ByteSource {
    struct Block {
      Buffer buffer;
      int64_t used;
    };

    std::mutex mutex{};
    std::deque<Block> blocks{};  // where they lie they stay: others write to them
  };

  /// Room for text of a column: a buffer and an offset in it.
  struct TextRoom {
    Buffer* buffer;
    uint32_t index;
    int64_t offset;
  };

  TextRoom take_text_room(ByteSource& text, int64_t bytes, int64_t block_bytes);

  const CsvSchema& schema_;
  std::vector<Buffer> values_;
  std::deque<ByteSource> text_;  // one per column
};

/// Makes the table of rejects.
class CsvRejects {
 public:
  void add(int64_t line, int64_t column, std::string_view text, std::string_view reason);
  Table finish();

 private:
  struct Strings {
    std::vector<StringView> views{};
    std::vector<Buffer> full{};
    ByteBuffer arena{};

    void add(std::string_view text);
    Column finish();
  };

  std::vector<int64_t> lines_{};
  std::vector<int64_t> columns_{};
  Strings texts_{};
  Strings reasons_{};
};

}  // namespace hr
