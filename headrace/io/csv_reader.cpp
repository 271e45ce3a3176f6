// SPDX-License-Identifier: Apache-2.0
// One reading of a CSV text: finds the rows, has them parsed, reports what is bad.
#include "headrace/io/csv_reader.h"

#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_device_reader.h"
#include "headrace/io/csv_reader_testing.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_csv";
constexpr int64_t kLongRange = int64_t{1} << 24;
// Where a bar is when the rows are found: of plain text, and of text that is decompressed for it.
constexpr int64_t kPlainPercent = 20, kPackedPercent = 80;

}  // namespace

CsvReader::CsvReader(const CsvScan::State& state, int64_t max_rows, int64_t chunk_bytes,
                     ByteSource& text)
    : state_(state),
      text_(text),
      chunk_bytes_(chunk_bytes),
      limit_(std::numeric_limits<int64_t>::max()) {
  if (state.options.num_rows >= 0) limit_ = state.options.num_rows;
  if (max_rows >= 0) limit_ = std::min(limit_, max_rows);
}

CsvReader::Wanted CsvReader::want(const std::vector<bool>& columns) const {
  Wanted wanted;
  wanted.targets.resize(state_.layout.names.size());
  for (size_t f = 0; f < wanted.targets.size(); ++f)
    wanted.targets[f].name = state_.layout.names[f];
  for (size_t c = 0; c < state_.fields.size(); ++c) {
    if (!columns.empty() && !columns[c]) continue;
    CsvTarget& target = wanted.targets[static_cast<size_t>(state_.fields[c])];
    target.column = static_cast<int64_t>(wanted.schema.names.size());
    target.dtype = state_.schema.dtypes[c];
    if (target.dtype.has_zone()) target.zone = timezone_rules(kOp, target.dtype);
    wanted.schema.names.push_back(target.name);
    wanted.schema.dtypes.push_back(target.dtype);
  }
  return wanted;
}

CsvResult CsvReader::read(const std::vector<bool>& columns, Place place) {
  Wanted wanted = want(columns);
  if (place.is_host() || wanted.schema.names.empty()) return read_here(wanted);
  CsvResult result;
  if (!place.is_gpu()) {
    result = read_here(wanted);
    result.table = std::get<Table>(to_place(result.table, place));
    return result;
  }
  try {
    return read_lines(wanted, place);
  } catch (const UnsupportedError& error) {
    chunk_bytes_ = std::min(chunk_bytes_, kCsvChunkBytes);
    result.table = std::get<Table>(run_on_host(kOp, error.what(), place, {}, [&](const auto&) {
      result = read_here(wanted);
      return std::vector<Value>{result.table};
    })[0]);
  }
  return result;
}

CsvResult CsvReader::read_lines(Wanted& wanted, Place place) {
  const CsvDeviceText text{
      .open = [this] { return std::shared_ptr<ByteSource>(std::shared_ptr<void>(), &text_); },
      .begin = state_.layout.data_begin,
      .first_line = state_.layout.first_line,
      .estimated_rows = state_.layout.estimated_rows};
  CsvDeviceRows lines = parse_on_device({.syntax = state_.syntax,
                                         .targets = wanted.targets,
                                         .schema = wanted.schema,
                                         .texts = {&text, 1},
                                         .limit = limit_,
                                         .place = place,
                                         .block_bytes = chunk_bytes_});
  CsvRejects rejects;
  const std::vector<CsvPartial> pieces{std::move(lines.piece)};
  check_bad_rows({}, pieces, rejects);
  text_.check_unchanged();
  return {.table = std::move(lines.table), .rejects = rejects.finish()};
}

CsvResult CsvReader::read_here(Wanted& wanted) {
  const bool limited = limit_ != std::numeric_limits<int64_t>::max();
  // Empty lines and rejects make rows fewer than line ends, so a limited read may need more text.
  for (int64_t enough = limited ? limit_ : -1;; enough *= 2) {
    const int64_t found = text_.known_size() < 0 ? kPackedPercent : kPlainPercent;
    const CsvRanges ranges = [&] {
      const ProgressPart part(0, found, 100);
      return find_ranges(kOp, text_, state_.source.name(), state_.syntax, state_.layout.data_begin,
                         state_.layout.first_line, enough, chunk_bytes_, stock_);
    }();
    const ProgressPart part(found, 100, 100);
    CsvColumns columns(wanted.schema, ranges.max_rows);
    std::vector<int64_t> first_slots;
    std::vector<CsvPartial> pieces =
        parse(wanted, columns, {.ranges = ranges.ranges, .most = limit_}, first_slots, nullptr);
    CsvRejects rejects;
    const int64_t rows = check_bad_rows(ranges, pieces, rejects);
    if (rows < limit_ && !ranges.complete) {
      enough = std::max<int64_t>(enough, 1);
      continue;
    }
    text_.check_unchanged();
    return {.table = columns.finish(pieces, first_slots, limit_), .rejects = rejects.finish()};
  }
}

std::vector<CsvPartial> CsvReader::parse(Wanted& wanted, CsvColumns& columns, const Batch& batch,
                                         std::vector<int64_t>& first_slots, Texts* texts) {
  for (CsvTarget& target : wanted.targets)
    if (target.column >= 0) target.values = columns.values(target.column);
  const std::vector<BufferAccess> accesses = columns.accesses();
  const auto count = static_cast<int64_t>(batch.ranges.size());
  int64_t slot = 0, text_bytes = 0;
  for (size_t i = 0; i < batch.ranges.size(); ++i) {
    first_slots.push_back(slot);
    text_bytes += batch.ranges[i].end - batch.ranges[i].begin;
    slot += batch.bits ? batch.kept[i + 1] - batch.kept[i] : batch.ranges[i].max_rows;
  }
  const CsvParseJob job{.syntax = state_.syntax,
                        .targets = wanted.targets,
                        .num_columns = static_cast<int64_t>(wanted.schema.names.size()),
                        .max_rows = batch.most,
                        .stop_at_bad_row = state_.options.on_bad == BadRows::kError,
                        .notes_rows = texts && texts->empty(),
                        .shares_text = memory_limit() != std::numeric_limits<int64_t>::max()};
  const bool has_texts = texts && !texts->empty();
  if (texts) texts->resize(batch.ranges.size());
  std::vector<CsvPartial> pieces(static_cast<size_t>(count));
  std::atomic<int64_t> lowest_bad{count};
  parallel_for(count, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    CsvPartial& piece = pieces[at];
    if (i > lowest_bad || (batch.bits && batch.kept[at] == batch.kept[at + 1])) return;
    Buffer text = has_texts ? std::move((*texts)[at]) : text_of(batch.ranges[at]);
    piece = parse_range(job, batch, at, accesses, first_slots[at], text);
    if (job.shares_text) columns.keep_text(piece, first_slots[at], text_bytes);
    if (texts && !has_texts)
      (*texts)[at] = std::move(text);
    else
      stock_.give(std::move(text));
    if (!job.stop_at_bad_row || piece.bad_rows.empty()) return;
    for (int64_t lowest = lowest_bad; i < lowest;)
      if (lowest_bad.compare_exchange_weak(lowest, i)) break;
  });
  return pieces;
}

CsvPartial CsvReader::parse_range(const CsvParseJob& job, const Batch& batch, size_t index,
                                  const std::vector<BufferAccess>& accesses, int64_t first,
                                  Buffer& text) {
  CsvRange range = batch.ranges[index];
  CsvKeep keep;
  if (batch.bits) {
    keep = {batch.bits, batch.rows[index], batch.rows[index + 1] - batch.rows[index],
            batch.begins[index] ? batch.begins[index].as<int32_t>() : nullptr};
    range.max_rows = batch.kept[index + 1] - batch.kept[index];
  }
  const Pin pin(ranges_of(accesses, first, first + range.max_rows));
  return cpu::parse_range(job, text.as<char>() + kCsvPadding, range.end - range.begin, range, first,
                          static_cast<uint32_t>(index), batch.bits ? &keep : nullptr);
}

Buffer CsvReader::text_of(const CsvRange& range) {
  Buffer buffer = take(range);
  char* text = buffer.mutable_as<char>() + kCsvPadding;
  const int64_t size = range.end - range.begin;
  text_.read(range.begin, text, size);
  std::fill_n(text + size, kCsvPadding, '\0');
  text[size] = '\n';
  return buffer;
}

Buffer CsvReader::take(const CsvRange& range) {
  const int64_t size = range.end - range.begin;
  try {
    return stock_.take(std::max(size, chunk_bytes_ + chunk_bytes_ / 16) + 2 * kCsvPadding);
  } catch (OutOfMemoryError& error) {
    if (size > kLongRange)
      error.add_note("read_csv: one row of '" + state_.source.name() + "' at or after line " +
                     std::to_string(range.first_line) + " has about " + std::to_string(size) +
                     " bytes; look for missing line ends or a quote that is never closed");
    throw;
  }
}

// Bad rows before row `most`.
void CsvReader::report_all(const std::vector<CsvPartial>& pieces, int64_t most,
                           CsvRejects& rejects) const {
  int64_t rows = 0;
  for (const CsvPartial& piece : pieces) {
    const char* text = piece.bad_text.data();
    for (const CsvBadRow& bad : piece.bad_rows) {
      if (rows + bad.row >= most) break;
      const std::string_view row(text, static_cast<size_t>(bad.text));
      const std::string_view what(text + bad.text, static_cast<size_t>(bad.what));
      const std::string_view fix(text + bad.text + bad.what, static_cast<size_t>(bad.fix));
      report(bad.line, bad.column, row, what, fix, rejects);
      text += bad.text + bad.what + bad.fix;
    }
    rows += piece.rows;
  }
}

// Rows read, up to the limit; bad rows before it are an error or rejects.
int64_t CsvReader::check_bad_rows(const CsvRanges& ranges, const std::vector<CsvPartial>& pieces,
                                  CsvRejects& rejects) const {
  report_all(pieces, limit_, rejects);
  int64_t rows = 0;
  for (const CsvPartial& piece : pieces) rows += piece.rows;
  report_open_row(ranges, rows, rejects);
  return std::min(rows, limit_);
}

void CsvReader::report_open_row(const CsvRanges& ranges, int64_t rows, CsvRejects& rejects) const {
  if (!ranges.complete || ranges.rest < 0 || rows >= limit_) return;
  std::string row(static_cast<size_t>(std::min(ranges.text_end - ranges.rest, int64_t{1} << 16)),
                  '\0');
  text_.read(ranges.rest, row.data(), static_cast<int64_t>(row.size()));
  report(ranges.rest_line, 0, replace_invalid_utf8(row), "a quote is never closed",
         "close it, or pass quote=None if quotes mean nothing here", rejects);
}

void CsvReader::report(int64_t line, int64_t column, std::string_view text, std::string_view what,
                       std::string_view fix, CsvRejects& rejects) const {
  if (state_.options.on_bad == BadRows::kReject) {
    rejects.add(line, column, text, std::string(what).append("; ").append(fix));
    return;
  }
  const std::string& name = state_.source.name();
  throw InputError(
      error_message(
          kOp, what,
          {{"path", name}, {"line", line}, {"column", column}, {"text", printable(text, 200)}},
          fix),
      name, line, column);
}

}  // namespace hr
