// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/parquet/column_reading.h"

#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"

#include <cstring>
#include <numeric>
#include <string>
#include <utility>

namespace hr::parquet {

namespace {

constexpr int64_t kTailBytes = 8;  // the footer's size and the magic

}  // namespace

void raise(const Origin& origin, const Refusal& refusal) {
  std::string what = refusal.is_damage() ? "the file is damaged: " : "";
  what += refusal.what();
  const Detail path("path", origin.file), column("column", origin.column),
      group("row_group", origin.group);
  const std::string_view fix =
      refusal.is_damage() ? "fetch or write the file again"
      : origin.column.empty()
          ? "write the file otherwise"
          : "read the other columns: columns=[...], or write the file otherwise";
  std::string message = origin.column.empty() ? error_message(origin.op, what, {path}, fix)
                        : origin.group < 0
                            ? error_message(origin.op, what, {column, path}, fix)
                            : error_message(origin.op, what, {column, group, path}, fix);
  if (!refusal.is_damage()) throw UnsupportedError(std::move(message));
  throw InputError(std::move(message), std::string(origin.file));
}

Buffer read_footer(const ByteSource& source) {
  const int64_t size = source.known_size();
  char tail[kTailBytes];
  if (size < kTailBytes + 4) damaged("it is too short for a Parquet file");
  source.read(size - kTailBytes, tail, kTailBytes);
  const std::string_view magic(tail + 4, 4);
  if (magic == "PARE") unsupported("the file is encrypted");
  if (magic != "PAR1") damaged("it does not end as a Parquet file does");
  uint32_t footer;
  std::memcpy(&footer, tail, sizeof footer);
  if (footer > size - kTailBytes - 4) damaged("its footer is longer than the file");
  Buffer bytes = Buffer::allocate(footer);
  if (footer > 0) source.read(size - kTailBytes - footer, bytes.mutable_as<char>(), footer);
  return bytes;
}

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

Table finished(std::string_view op, std::vector<ColumnReading>& readings, int64_t rows) {
  std::vector<std::string> labels;
  std::vector<Column> values;
  for (ColumnReading& reading : readings) {
    labels.push_back(reading.column().name);
    values.push_back(reading.finish(op, rows));
  }
  return Table(std::move(labels), std::move(values));
}

}  // namespace hr::parquet
