// SPDX-License-Identifier: Apache-2.0
// The CSV reader: checks, sniffs, finds the rows, has them parsed, reports what is bad.
#include "headrace/io/csv.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_columns.h"
#include "headrace/io/csv_lines.h"
#include "headrace/io/csv_read.h"
#include "headrace/io/csv_sniff.h"
#include "headrace/io/parse_number_math.h"
#include "headrace/io/utf8.h"
#include "headrace/plan/placement.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace hr {

struct CsvScan::State {
  Source source;
  CsvOptions options;
  CsvSyntax syntax{};
  CsvLayout layout{};
  CsvSchema schema{};
  std::vector<int64_t> fields{};  // of each schema column
};

namespace {

constexpr std::string_view kOp = "read_csv";
constexpr int64_t kLongRange = int64_t{1} << 24;

int64_t chunk_bytes_at(Place place) {
  return place.is_gpu() ? kLineBlockBytes : kCsvChunkBytes;
}

void check_byte(std::string_view what, char byte) {
  if (byte == '\n' || byte == '\r' || byte == '\0' || static_cast<uint8_t>(byte) >= 0x80 ||
      is_digit(byte))
    throw_error<InvalidArgumentError>(kOp, "this byte cannot have a meaning of its own",
                                      {{"option", what}, {"byte", static_cast<uint8_t>(byte)}},
                                      "pass one ASCII character that is no digit and no line end");
}

CsvSyntax checked_syntax(const CsvOptions& options) {
  check_byte("delimiter", options.delimiter);
  if (options.quote) check_byte("quote", *options.quote);
  if (options.comment) check_byte("comment", *options.comment);
  if (options.quote == options.delimiter || options.comment == options.delimiter ||
      (options.quote && options.quote == options.comment))
    throw_error<InvalidArgumentError>(kOp, "delimiter, quote and comment must differ");
  if (options.skip_rows < 0 || options.num_rows < -1)
    throw_error<InvalidArgumentError>(
        kOp, "a number of rows is negative",
        {{"skip_rows", options.skip_rows}, {"num_rows", options.num_rows}});
  if (!options.columns.empty() && !options.column_indices.empty())
    throw_error<InvalidArgumentError>(kOp, "columns are given by name and by position", {},
                                      "pass one of the two");
  const auto check_dtype = [](std::string_view name, Dtype dtype) {
    if (dtype.is_complex())
      throw_error<TypeMismatchError>(kOp, "complex numbers are not read from text",
                                     {{"column", name}, {"dtype", dtype.name()}},
                                     "read two float columns");
  };
  if (options.dtype) check_dtype("*", *options.dtype);
  for (const auto& [name, dtype] : options.dtypes) check_dtype(name, dtype);
  CsvSyntax syntax{.delimiter = options.delimiter,
                   .quote = options.quote ? static_cast<uint8_t>(*options.quote) : -1,
                   .comment = options.comment ? static_cast<uint8_t>(*options.comment) : -1,
                   .null_words = options.null_words};
  syntax.prepare();
  return syntax;
}

// The fields that the options choose, in their order.
std::vector<int64_t> chosen_fields(const CsvOptions& options, const CsvLayout& layout) {
  const auto count = static_cast<int64_t>(layout.names.size());
  std::vector<int64_t> fields;
  for (const std::string& name : options.columns)
    fields.push_back(find_column(kOp, layout.names, name));
  for (const int64_t index : options.column_indices) {
    if (index < 0 || index >= count)
      throw_error<ColumnNotFoundError>(kOp, "no column at this position",
                                       {{"position", index}, {"columns", count}});
    fields.push_back(index);
  }
  if (options.columns.empty() && options.column_indices.empty())
    for (int64_t f = 0; f < count; ++f) fields.push_back(f);
  return fields;
}

std::shared_ptr<const CsvScan::State> make_state(Source source, CsvOptions options,
                                                 const CsvSyntax& syntax, Text& text) {
  auto state = std::make_shared<CsvScan::State>(
      CsvScan::State{.source = std::move(source), .options = std::move(options), .syntax = syntax});
  state->layout = sniff_csv(kOp, text, state->source.name(), state->options, syntax);
  state->fields = chosen_fields(state->options, state->layout);
  for (const int64_t field : state->fields) {
    const auto f = static_cast<size_t>(field);
    state->schema.names.push_back(state->layout.names[f]);
    state->schema.dtypes.push_back(state->layout.dtypes[f]);
  }
  const Table check(state->schema.names, std::vector<Column>(state->schema.names.size()));
  state->schema.estimated_rows = state->layout.estimated_rows;
  if (const int64_t limit = state->options.num_rows; limit >= 0)
    state->schema.estimated_rows = std::min(state->schema.estimated_rows, limit);
  return state;
}

class Reading {
 public:
  Reading(const CsvScan::State& state, const std::vector<bool>& wanted, int64_t max_rows,
          int64_t chunk_bytes, Text& text)
      : state_(state),
        text_(text),
        chunk_bytes_(chunk_bytes),
        limit_(std::numeric_limits<int64_t>::max()) {
    if (state.options.num_rows >= 0) limit_ = state.options.num_rows;
    if (max_rows >= 0) limit_ = std::min(limit_, max_rows);
    targets_.resize(state.layout.names.size());
    for (size_t f = 0; f < targets_.size(); ++f) targets_[f].name = state.layout.names[f];
    for (size_t c = 0; c < state.fields.size(); ++c) {
      if (!wanted.empty() && !wanted[c]) continue;
      CsvTarget& target = targets_[static_cast<size_t>(state.fields[c])];
      target.column = static_cast<int64_t>(schema_.names.size());
      target.dtype = state.schema.dtypes[c];
      schema_.names.push_back(target.name);
      schema_.dtypes.push_back(target.dtype);
    }
  }

  // The rows at `place`.
  CsvResult read(Place place) {
    if (place.is_host() || schema_.names.empty()) return read_here();
    CsvResult result;
    if (!place.is_gpu()) {
      result = read_here();
      result.table = std::get<Table>(to_place(result.table, place));
      return result;
    }
    try {
      return read_lines(place);
    } catch (const UnsupportedError& error) {
      chunk_bytes_ = std::min(chunk_bytes_, kCsvChunkBytes);
      result.table = std::get<Table>(run_on_host(kOp, error.what(), place, {}, [&](const auto&) {
        result = read_here();
        return std::vector<Value>{result.table};
      })[0]);
    }
    return result;
  }

 private:
  CsvResult read_lines(Place place) {
    CsvLines lines = parse_csv_lines({.syntax = state_.syntax,
                                      .targets = targets_,
                                      .schema = schema_,
                                      .begin = state_.layout.data_begin,
                                      .first_line = state_.layout.first_line,
                                      .estimated_rows = state_.layout.estimated_rows,
                                      .limit = limit_,
                                      .place = place,
                                      .block_bytes = chunk_bytes_},
                                     text_);
    CsvRejects rejects;
    const std::vector<CsvPiece> pieces{std::move(lines.piece)};
    judge({}, pieces, rejects);
    text_.check_unchanged();
    return {.table = std::move(lines.table), .rejects = rejects.finish()};
  }

  CsvResult read_here() {
    const bool limited = limit_ != std::numeric_limits<int64_t>::max();
    // Empty lines and rejects make rows fewer than line ends, so a limited read may need more text.
    for (int64_t enough = limited ? limit_ : -1;; enough *= 2) {
      const CsvRanges ranges =
          find_ranges(kOp, text_, state_.source.name(), state_.syntax, state_.layout.data_begin,
                      state_.layout.first_line, enough, chunk_bytes_, stock_);
      CsvColumns columns(schema_, ranges.max_rows);
      for (CsvTarget& target : targets_)
        if (target.column >= 0) target.values = columns.values(target.column);
      std::vector<int64_t> first_slots;
      std::vector<CsvPiece> pieces = parse(ranges, columns.touches(), first_slots);
      CsvRejects rejects;
      const int64_t rows = judge(ranges, pieces, rejects);
      if (rows < limit_ && !ranges.complete) {
        enough = std::max<int64_t>(enough, 1);
        continue;
      }
      text_.check_unchanged();
      return {.table = columns.finish(pieces, first_slots, limit_), .rejects = rejects.finish()};
    }
  }

  std::vector<CsvPiece> parse(const CsvRanges& ranges, const std::vector<Touch>& touches,
                              std::vector<int64_t>& first_slots) {
    const auto count = static_cast<int64_t>(ranges.ranges.size());
    int64_t slot = 0;
    for (const CsvRange& range : ranges.ranges) {
      first_slots.push_back(slot);
      slot += range.max_rows;
    }
    const CsvParseJob job{.syntax = state_.syntax,
                          .targets = targets_,
                          .num_columns = static_cast<int64_t>(schema_.names.size()),
                          .max_rows = limit_,
                          .stop_at_bad_row = state_.options.on_bad == BadRows::kError};
    std::vector<CsvPiece> pieces(static_cast<size_t>(count));
    std::atomic<int64_t> lowest_bad{count};
    parallel_for(count, [&](int64_t i) {
      CsvPiece& piece = pieces[static_cast<size_t>(i)];
      piece.parts.resize(schema_.names.size());
      if (i > lowest_bad) return;
      const CsvRange& range = ranges.ranges[static_cast<size_t>(i)];
      Buffer buffer = take(range);
      char* text = buffer.mutable_as<char>() + kCsvPadding;
      const int64_t size = range.end - range.begin;
      text_.read(range.begin, text, size);
      std::fill_n(text + size, kCsvPadding, '\0');
      text[size] = '\n';
      const int64_t first = first_slots[static_cast<size_t>(i)];
      const Pin pin(ranges_of(touches, first, first + range.max_rows));
      piece = cpu::parse_range(job, text, size, range, first, static_cast<uint32_t>(i));
      stock_.give(std::move(buffer));
      if (!job.stop_at_bad_row || piece.bad_rows.empty()) return;
      for (int64_t lowest = lowest_bad; i < lowest;)
        if (lowest_bad.compare_exchange_weak(lowest, i)) break;
    });
    return pieces;
  }

  Buffer take(const CsvRange& range) {
    const int64_t size = range.end - range.begin;
    try {
      return stock_.take(std::max(size, chunk_bytes_) + 2 * kCsvPadding);
    } catch (OutOfMemoryError& error) {
      if (size > kLongRange)
        error.add_note("read_csv: one row of '" + state_.source.name() + "' at or behind line " +
                       std::to_string(range.first_line) + " has about " + std::to_string(size) +
                       " bytes; look for missing line ends or a quote that is never closed");
      throw;
    }
  }

  // Rows read, up to the limit; bad rows before it are an error or rejects.
  int64_t judge(const CsvRanges& ranges, const std::vector<CsvPiece>& pieces,
                CsvRejects& rejects) const {
    int64_t rows = 0;
    for (const CsvPiece& piece : pieces) {
      const char* text = piece.bad_text.data();
      for (const CsvBadRow& bad : piece.bad_rows) {
        if (rows + bad.row >= limit_) break;
        const std::string_view row(text, static_cast<size_t>(bad.text));
        const std::string_view what(text + bad.text, static_cast<size_t>(bad.what));
        const std::string_view fix(text + bad.text + bad.what, static_cast<size_t>(bad.fix));
        report(bad.line, bad.column, row, what, fix, rejects);
        text += bad.text + bad.what + bad.fix;
      }
      rows += piece.rows;
    }
    if (ranges.open_row >= 0 && rows < limit_) {
      std::string row(
          static_cast<size_t>(std::min(ranges.text_end - ranges.open_row, int64_t{1} << 16)), '\0');
      text_.read(ranges.open_row, row.data(), static_cast<int64_t>(row.size()));
      report(ranges.open_line, 0, replace_invalid_utf8(row), "a quote is never closed",
             "close it, or pass quote=None if quotes mean nothing here", rejects);
    }
    return std::min(rows, limit_);
  }

  void report(int64_t line, int64_t column, std::string_view text, std::string_view what,
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

  const CsvScan::State& state_;
  Text& text_;
  int64_t chunk_bytes_;
  int64_t limit_;
  CsvSchema schema_{};  // of the wanted columns
  std::vector<CsvTarget> targets_{};
  BufferStock stock_{};
};

}  // namespace

CsvScan::CsvScan(Source source, CsvOptions options) {
  const ScopedTag tag(kOp);
  const CsvSyntax syntax = checked_syntax(options);
  const std::shared_ptr<Text> text = source.open(kOp, options.compression);
  state_ = make_state(std::move(source), std::move(options), syntax, *text);
}

const CsvSchema& CsvScan::schema() const {
  return state_->schema;
}

const CsvOptions& CsvScan::options() const {
  return state_->options;
}

const Source& CsvScan::source() const {
  return state_->source;
}

CsvResult CsvScan::read(const std::vector<bool>& wanted, int64_t max_rows, Place place) const {
  return read_in_chunks(*this, wanted, max_rows, chunk_bytes_at(place), place);
}

CsvResult read_in_chunks(const CsvScan& scan, const std::vector<bool>& wanted, int64_t max_rows,
                         int64_t chunk_bytes, Place place) {
  const ScopedTag tag(kOp);
  const CsvScan::State& state = scan.state();
  if (!wanted.empty() && wanted.size() != state.schema.names.size())
    throw_error<InvalidArgumentError>(
        kOp, "one flag a column is needed",
        {{"flags", wanted.size()}, {"columns", state.schema.names.size()}});
  const std::shared_ptr<Text> text = state.source.open(kOp, state.options.compression);
  return Reading(state, wanted, max_rows, chunk_bytes, *text).read(place);
}

CsvResult read_csv(const Source& source, const CsvOptions& options, Place place) {
  const ScopedTag tag(kOp);
  const CsvSyntax syntax = checked_syntax(options);
  const std::shared_ptr<Text> text = source.open(kOp, options.compression);
  const auto state = make_state(source, options, syntax, *text);
  return Reading(*state, {}, -1, chunk_bytes_at(place), *text).read(place);
}

}  // namespace hr
