// SPDX-License-Identifier: Apache-2.0
// CSV text of which only some rows are read: the columns that tell which, then the others.
#include "headrace/algo/select/concat.h"
#include "headrace/algo/select/filter.h"
#include "headrace/algo/select/mask_prefix.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_csv";
constexpr int64_t kChunksPerWorker = 4;  // of a batch, whose text stays in memory

// The columns of a table with true in `wanted`, which names those that `has` says it has.
Table columns_of(const Table& table, const std::vector<bool>& has,
                 const std::vector<bool>& wanted) {
  std::vector<std::string> names;
  std::vector<Column> columns;
  int64_t next = 0;
  for (size_t c = 0; c < has.size(); ++c) {
    if (!has[c]) continue;
    if (wanted[c]) {
      names.push_back(table.names()[static_cast<size_t>(next)]);
      columns.push_back(table.column(next));
    }
    ++next;
  }
  return Table(std::move(names), std::move(columns));
}

Table joined(std::vector<Table> batches) {
  if (batches.size() == 1) return std::move(batches[0]);
  const std::vector<std::string> names = batches[0].names();
  std::vector<std::vector<Column>> parts(names.size());
  for (const Table& batch : batches)
    for (size_t c = 0; c < names.size(); ++c)
      parts[c].push_back(batch.column(static_cast<int64_t>(c)));
  batches.clear();
  std::vector<Column> columns;
  for (std::vector<Column>& each : parts) {
    columns.push_back(concatenate(kOp, each[0].dtype(), each));
    each.clear();
  }
  return Table(names, std::move(columns));
}

}  // namespace

CsvResult CsvReader::read_where(const CsvFilter& filter, const std::vector<bool>& columns,
                                int64_t most) {
  if (state_.options.on_bad == BadRows::kReject)
    throw_error<InvalidArgumentError>(kOp, "a filter cannot be combined with on_bad='reject'",
                                      {{"path", state_.source.name()}},
                                      "filter the rows after reading");
  const size_t count = state_.schema.names.size();
  const std::vector<bool> wanted = columns.empty() ? std::vector<bool>(count, true) : columns;
  // Codes follow the order in which the strings come, so categories are read whole.
  std::vector<bool> before(count), after(count);
  for (size_t c = 0; c < count; ++c) {
    before[c] = filter.reads[c] || (wanted[c] && state_.schema.dtypes[c].is_category());
    after[c] = wanted[c] && !before[c];
  }
  Wanted first = want(before), second = want(after), all = want(wanted);
  // Where few rows are needed the text is read in sections, each twice as long as the one before.
  const bool limited = most >= 0 || limit_ != std::numeric_limits<int64_t>::max();
  int64_t enough = limited ? std::max<int64_t>(most < 0 ? limit_ : most, 1) : -1;
  int64_t begin = state_.layout.data_begin, line = state_.layout.first_line;
  int64_t rows = 0, left = most < 0 ? std::numeric_limits<int64_t>::max() : most;
  std::vector<Table> batches;
  CsvRejects rejects;
  for (bool complete = false; !complete && rows < limit_ && left > 0;) {
    const CsvRanges ranges = find_ranges(kOp, text_, state_.source.name(), state_.syntax, begin,
                                         line, enough, chunk_bytes_, stock_);
    const std::span<const CsvRange> every(ranges.ranges);
    const auto size = static_cast<size_t>(kChunksPerWorker * threads());
    for (size_t at = 0; at < every.size() && rows < limit_ && left > 0; at += size) {
      const auto some = every.subspan(at, std::min(size, every.size() - at));
      const ProgressPart part(some.front().begin, some.back().end, text_.known_size());
      batches.push_back(read_batch(first, second, filter, wanted,
                                   {.ranges = some, .most = limit_ - rows, .most_kept = left},
                                   rows));
      left -= batches.back().num_rows();
    }
    if (left > 0) report_open_row(ranges, rows, rejects);
    complete = ranges.complete;
    begin = ranges.rest;
    line = ranges.rest_line;
    enough = 2 * std::max(enough, ranges.max_rows);
  }
  text_.check_unchanged();
  std::vector<CsvPartial> none;
  if (batches.empty()) batches.push_back(CsvColumns(all.schema, 0).finish(none, {}, 0));
  return {.table = joined(std::move(batches)), .rejects = rejects.finish()};
}

// The wanted columns of the rows that stay of a batch; adds its rows to `rows`.
Table CsvReader::read_batch(Wanted& first, Wanted& second, const CsvFilter& filter,
                            const std::vector<bool>& wanted, Batch batch, int64_t& rows) {
  int64_t slots = 0;
  for (const CsvRange& range : batch.ranges) slots += range.max_rows;
  const bool reads_more = !second.schema.names.empty();
  Texts texts;
  CsvColumns before(first.schema, slots);
  std::vector<int64_t> first_slots;
  std::vector<CsvPartial> pieces =
      parse(first, before, batch, first_slots, reads_more ? &texts : nullptr);
  // Behind a bad row nothing counts, but one before it may be found bad in the other columns.
  const auto bad = std::find_if(pieces.begin(), pieces.end(),
                                [](const CsvPartial& piece) { return !piece.bad_rows.empty(); });
  for (auto piece = bad; piece != pieces.end(); ++piece)
    if (piece != bad) piece->rows = 0;
  batch.rows = {0};
  for (const CsvPartial& piece : pieces)
    batch.rows.push_back(std::min(batch.rows.back() + piece.rows, batch.most));
  std::vector<bool> has(wanted.size());
  for (size_t c = 0, next = 0; c < has.size(); ++c) {
    has[c] = next < first.schema.names.size() && state_.schema.names[c] == first.schema.names[next];
    next += has[c];
  }
  for (CsvPartial& piece : pieces) batch.begins.push_back(std::move(piece.begins));
  Table known = before.finish(pieces, first_slots, batch.most);
  Column test = filter.test(columns_of(known, has, filter.reads));
  // Nothing counts after the last row that is needed.
  const auto [count, picked] = mask_prefix(Mask(test), batch.most_kept);
  if (picked == batch.most_kept) {
    batch.most = count;
    known = known.slice(0, count);
    test = test.slice(0, count);
    for (int64_t& row : batch.rows) row = std::min(row, count);
  }
  const Mask mask(test);
  const Buffer bits = bitmap_from_mask(mask);
  batch.bits = bits.as<uint8_t>();
  batch.kept = {0};
  for (size_t i = 0; i + 1 < batch.rows.size(); ++i)
    batch.kept.push_back(batch.kept.back() +
                         count_bits(batch.bits, batch.rows[i], batch.rows[i + 1] - batch.rows[i]));
  CsvRejects rejects;
  Table more;
  if (reads_more) {
    CsvColumns after(second.schema, batch.kept.back());
    std::vector<int64_t> slots_after;
    std::vector<CsvPartial> fresh = parse(second, after, batch, slots_after, &texts);
    report_all(fresh, std::numeric_limits<int64_t>::max(), rejects);
    more = after.finish(fresh, slots_after, batch.kept.back());
  }
  report_all(pieces, batch.most, rejects);
  rows += count;
  std::vector<std::string> names;
  std::vector<Column> columns;
  int64_t next_known = 0, next_more = 0;
  for (size_t c = 0; c < wanted.size(); ++c) {
    if (has[c]) {
      const Column& column = known.column(next_known++);
      if (wanted[c])
        columns.push_back(batch.kept.back() == count ? column : hr::filter(column, mask));
    } else if (wanted[c]) {
      columns.push_back(more.column(next_more++));
    }
    if (wanted[c]) names.push_back(state_.schema.names[c]);
  }
  return Table(std::move(names), std::move(columns));
}

}  // namespace hr
