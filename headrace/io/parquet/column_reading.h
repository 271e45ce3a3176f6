// SPDX-License-Identifier: Apache-2.0
// For file.cpp: one column of several row groups, read to one place; a footer; errors that name the
// file, the column and the row group.
#pragma once
#include "headrace/data/column.h"
#include "headrace/data/table.h"
#include "headrace/io/parquet/chunk_reader.h"
#include "headrace/io/parquet/refusal.h"
#include "headrace/io/parquet/schema.h"
#include "headrace/io/source.h"
#include "headrace/memory/buffer/buffer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace hr::parquet {

/// Where something was refused, for the message.
struct Origin {
  std::string_view op;
  std::string_view file;
  std::string_view column{};
  int64_t group = -1;
};

/// Throws InputError or UnsupportedError.
[[noreturn]] void raise(const Origin& origin, const Refusal& refusal);

/// Calls f(), whose refusals are raised as errors.
template <class F>
auto with_origin(const Origin& origin, const F& f) {
  try {
    return f();
  } catch (const Refusal& refusal) {
    raise(origin, refusal);
  }
}

/// The bytes of the footer, which the metadata refers to. Throws Refusal.
Buffer read_footer(const ByteSource& source);

/// Whether all row groups of a column can be read to the same rows.
inline bool is_flat(const ColumnSchema& column) {
  return !column.is_tree() && column.leaf.lists.empty() &&
         column.leaf.conversion != Conversion::kCategory;
}

/// The same of a column of two files.
inline bool shares_rows(const ColumnSchema& a, const ColumnSchema& b) {
  return is_flat(a) && is_flat(b) && (a.leaf.max_definition > 0) == (b.leaf.max_definition > 0);
}

/// The first rows of a group, and a bit for each that a test picks.
struct WantedRows {
  explicit WantedRows(const Column& test);

  Buffer bits;
  int64_t rows;
  int64_t count;  ///< of the wanted ones
};

/// Tasks read different groups at the same time. What cannot be read throws Refusal.
class ColumnReading {
 public:
  /// `shares`: all groups can be read to the same `num_rows` rows.
  ColumnReading(const ColumnSchema& column, int64_t num_rows, size_t groups, bool shares);

  bool is_flat() const { return rows_.has_value(); }

  const ColumnSchema& column() const { return column_; }

  /// All rows of the reader's chunk, as those of group `g` from `first_row` on. Of flat columns.
  void read(ChunkReader& reader, size_t g, int64_t first_row, int64_t count);

  /// The same of the wanted rows.
  void pick(ChunkReader& reader, size_t g, int64_t first_row, const WantedRows& wanted);

  /// Of flat columns, for readers of group `g`: see ChunkReader.
  static uint32_t first_text(size_t g) { return static_cast<uint32_t>(2 * g); }

  /// The rows of group `g`, which has none without this. Of other columns.
  void put(size_t g, Column rows) { parts_[g] = std::move(rows); }

  Column finish(std::string_view op, int64_t num_rows);

 private:
  void end(const ChunkReader& reader, size_t g, RowsTarget& to);

  const ColumnSchema& column_;
  std::optional<FlatRows> rows_{};
  std::vector<int64_t> nulls_{};
  std::vector<Buffer> text_{};
  std::vector<std::optional<Column>> parts_;
};

/// The table of columns that were read.
Table finished(std::string_view op, std::vector<ColumnReading>& readings, int64_t rows);

/// The next rows of one column of a row group: read as they come, or of one that is not flat cut
/// from the whole.
class ColumnCursor {
 public:
  ColumnCursor(const ColumnSchema& column, std::unique_ptr<ChunkReader> reader)
      : column_(column), reader_(std::move(reader)) {}

  ColumnCursor(const ColumnSchema& column, Column whole)
      : column_(column), whole_(std::move(whole)) {}

  void skip(int64_t count) {
    if (reader_)
      reader_->skip(count);
    else
      at_ += count;
  }

  Column next(int64_t count) {
    if (!reader_) {
      at_ += count;
      return whole_.slice(at_ - count, count);
    }
    FlatRows rows(column_.leaf, count);
    RowsTarget to = rows.target(0);
    reader_->read(count, rows, to);
    return rows.finish(column_.leaf, count, to.nulls,
                       {reader_->dictionary_text(), to.text.finish()});
  }

 private:
  const ColumnSchema& column_;
  std::unique_ptr<ChunkReader> reader_{};
  Column whole_{};
  int64_t at_ = 0;
};

}  // namespace hr::parquet
