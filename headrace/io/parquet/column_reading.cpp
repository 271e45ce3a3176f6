// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/column_reading.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"

#include <numeric>
#include <utility>

namespace hr::parquet {

WantedRows::WantedRows(const Column& test)
    : bits(bitmap_from_mask(Mask(test))),
      rows(test.num_rows()),
      count(rows > 0 ? count_bits(bits.as<uint8_t>(), 0, rows) : 0) {}

ColumnReading::ColumnReading(const ColumnSchema& column, int64_t num_rows, size_t groups,
                             bool shares)
    : column_(column), parts_(shares ? 0 : groups) {
  if (!shares) return;
  rows_.emplace(column.leaf, num_rows);
  nulls_.resize(groups);
  text_.resize(column.leaf.dtype.is_string() ? 2 * groups : 0);
}

void ColumnReading::read(ChunkReader& reader, size_t g, int64_t first_row, int64_t count) {
  RowsTarget to = rows_->target(first_row);
  reader.read(count, *rows_, to);
  end(reader, g, to);
}

void ColumnReading::pick(ChunkReader& reader, size_t g, int64_t first_row,
                         const WantedRows& wanted) {
  RowsTarget to = rows_->target(first_row);
  reader.pick(wanted.rows, wanted.bits.as<uint8_t>(), 0, *rows_, to);
  end(reader, g, to);
}

void ColumnReading::end(const ChunkReader& reader, size_t g, RowsTarget& to) {
  nulls_[g] = to.nulls;
  if (text_.empty()) return;
  text_[2 * g] = reader.dictionary_text();
  text_[2 * g + 1] = to.text.finish();
}

Column ColumnReading::finish(std::string_view op, int64_t num_rows) {
  if (!is_flat()) {
    std::vector<Column> parts;
    for (std::optional<Column>& part : parts_)
      if (part) parts.push_back(*std::move(part));
    return concatenate(op, column_.dtype, parts);
  }
  return rows_->finish(column_.leaf, num_rows,
                       std::accumulate(nulls_.begin(), nulls_.end(), int64_t{0}), std::move(text_));
}

}  // namespace hr::parquet
