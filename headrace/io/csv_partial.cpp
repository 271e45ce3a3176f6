// SPDX-License-Identifier: Apache-2.0
// Keeps the piece of one range: nulls, what is wrong with a row, rows that are set aside.
#include "headrace/io/csv_partial.h"

#include "headrace/base/bits.h"
#include "headrace/base/utf8.h"

#include <algorithm>
#include <cstring>

namespace hr {

namespace {

constexpr int64_t kMaxRejectedText = int64_t{1} << 16;

// The dtype that a time has which does not fit.
const char* fitting_time(const CsvField& field) {
  const IsoTime time = parse_iso_time(field.begin, field.end);
  int64_t value;
  if (time.end && time.end != field.end && time.has_time &&
      parse_iso_offset(time.end, &value) == field.end)
    return time.nanos % 1000 == 0 ? "datetime64[us, UTC]" : "datetime64[ns, UTC]";
  if (time.end != field.end) return "string";
  if (fit_time(time, TimeUnit::kMicro, &value)) return "datetime64[us]";
  return fit_time(time, TimeUnit::kNano, &value) ? "datetime64[ns]" : "string";
}

struct RowCount {
  int64_t fields;
  bool has_defect;
};

// Of the row that begins or goes on at `p`.
RowCount count_fields(const CsvSyntax& syntax, const char* p, const char* end) {
  RowCount count{0, false};
  for (;; ++p) {
    const CsvField field = scan_field(syntax, p, end);
    ++count.fields;
    count.has_defect |= field.defect != FieldDefect::kNone;
    p = field.next;
    if (*p != syntax.delimiter) return count;
  }
}

}  // namespace

CsvPartialWriter::CsvPartialWriter(const CsvParseJob& job, const char* text, const CsvRange& range,
                                   int64_t first_slot, uint32_t text_buffer)
    : job_(job),
      syntax_(job.syntax),
      targets_(job.targets),
      text_buffer_(text_buffer),
      range_(range),
      first_slot_(first_slot),
      arenas_(job.shares_text ? 1 : static_cast<size_t>(job.num_columns)),
      noted_(arenas_.size()),
      entries_(static_cast<size_t>(job.num_columns)),
      counted_to_(text),
      counted_lines_(range.first_line) {
  piece_.parts.resize(entries_.size());
  for (const CsvTarget& target : targets_) {
    if (target.column < 0) continue;
    if (target.dtype.is_bool())
      part(target).bits = Buffer::allocate_zeroed(bitmap_bytes(range.max_rows));
    if (target.dtype.is_category())
      noted_entries_.push_back({static_cast<size_t>(target.column), 0});
  }
}

CsvPartial CsvPartialWriter::finish() {
  if (job_.shares_text)
    piece_.text = std::move(arenas_[0]);
  else
    for (size_t c = 0; c < arenas_.size(); ++c) piece_.parts[c].text = arenas_[c].finish();
  for (const Noted& each : noted_entries_)
    piece_.parts[each.column].entries = entries_[each.column].values();
  // Of 100 columns and 1,000 ranges they would be 15 MB that are not counted.
  if (std::all_of(piece_.parts.begin(), piece_.parts.end(),
                  [](const CsvPartial::Part& part) { return part.is_empty(); }))
    piece_.parts = {};
  return std::move(piece_);
}

void CsvPartialWriter::note_arenas() {
  for (size_t a = 0; a < arenas_.size(); ++a) noted_[a] = arenas_[a].size();
  note_entries();
}

void CsvPartialWriter::forget_rows(int64_t rows) {
  for (const Noted& each : noted_entries_) entries_[each.column].shrink(each.size);
  for (size_t a = 0; a < arenas_.size(); ++a) arenas_[a].shrink(noted_[a]);
  for (CsvPartial::Part& each : piece_.parts)
    if (each.validity)
      for (int64_t i = 0; i < rows; ++i)
        set_bit(each.validity.mutable_as<uint8_t>(), piece_.rows + i, true);
}

void CsvPartialWriter::set_null(const CsvTarget& target) {
  Buffer& validity = part(target).validity;
  if (!validity) {
    validity = Buffer::allocate(bitmap_bytes(range_.max_rows));
    std::memset(validity.mutable_data(), 0xFF, static_cast<size_t>(validity.size_bytes()));
  }
  set_bit(validity.mutable_as<uint8_t>(), row_, false);
  row_has_null_ = true;
  if (target.dtype.is_bool())
    set_bit(part(target).bits.mutable_as<uint8_t>(), row_, false);
  else
    std::memset(target.values + (first_slot_ + row_) * target.dtype.size_bytes(), 0,
                static_cast<size_t>(target.dtype.size_bytes()));
}

const char* CsvPartialWriter::defect(const CsvField& field) {
  trouble_ = {.what = field.defect == FieldDefect::kOpenQuote ? "a quote is never closed"
                                                              : "text follows a closing quote",
              .fix =
                  "double the quotes inside quoted text, or pass quote=None if quotes mean "
                  "nothing here"};
  return nullptr;
}

const char* CsvPartialWriter::type_error(const CsvTarget& target, const CsvField& field) {
  const std::string_view text(field.begin, static_cast<size_t>(field.end - field.begin));
  double number;
  const char* fits = "string";
  if (target.dtype.is_integer() && !text.empty() &&
      parse_float(field.begin, field.end, &number) == field.end)
    fits = "float64";
  if (target.dtype.is_decimal() && parse_float(field.begin, field.end, &number) == field.end)
    fits = "float64";
  if (target.dtype.is_temporal() && !target.dtype.has_zone()) fits = fitting_time(field);
  const std::string name = printable(target.name);
  trouble_ = {.what = "a value of column '" + name + "' is not " +
                      (target.dtype.is_integer() ? "an " : "a ") +
                      std::string(target.dtype.name()) + ": '" + printable(text) + "'",
              .fix = "pass dtypes={\"" + name + "\": \"" + fits +
                     "\"}, null_words that contain it, or on_bad=\"reject\""};
  return nullptr;
}

// Sets the row that begins at `p` aside and gives the next one.
const char* CsvPartialWriter::reject(const char* p, const char* end) {
  for (const Noted& each : noted_entries_) entries_[each.column].shrink(each.size);
  if (row_has_null_)  // its slots belong to the next row
    for (CsvPartial::Part& each : piece_.parts)
      if (each.validity) set_bit(each.validity.mutable_as<uint8_t>(), piece_.rows, true);
  const char* stop = p;
  for (;;) {
    stop = scan_field(syntax_, stop, end).next;
    if (*stop != syntax_.delimiter) break;
    ++stop;
  }
  const char* after = next_row(syntax_, stop);
  while (*stop != '\n' && *stop != '\r') ++stop;  // the comment is part of the text
  counted_lines_ += count_line_ends(counted_to_, p);
  counted_to_ = p;
  const std::string text =
      replace_invalid_utf8({p, static_cast<size_t>(std::min(stop - p, kMaxRejectedText))});
  piece_.bad_rows.push_back({.row = piece_.rows,
                             .line = counted_lines_,
                             .column = trouble_.column,
                             .text = static_cast<int64_t>(text.size()),
                             .what = static_cast<int64_t>(trouble_.what.size()),
                             .fix = static_cast<int64_t>(trouble_.fix.size())});
  piece_.bad_text.append(text);
  piece_.bad_text.append(trouble_.what);
  piece_.bad_text.append(trouble_.fix);
  return after;
}

const char* CsvPartialWriter::not_utf8(const CsvTarget& target, std::string_view text) {
  trouble_ = {.what = "the text of column '" + printable(target.name) + "' is not UTF-8: '" +
                      printable(text) + "'",
              .fix = "convert the file to UTF-8, or pass on_bad=\"reject\""};
  return nullptr;
}

const char* CsvPartialWriter::wrong_count(size_t field, const char* p, const char* end) {
  auto fields = static_cast<int64_t>(field) + 1;
  if (*p == syntax_.delimiter) fields += count_fields(syntax_, p + 1, end).fields;
  return wrong_count(fields);
}

void CsvPartialWriter::blame_field(size_t field, const char* row, const char* end) {
  const RowCount count = count_fields(syntax_, row, end);
  if (count.has_defect || syntax_.takes(static_cast<size_t>(count.fields), targets_.size()))
    trouble_.column = static_cast<int64_t>(field) + 1;
  else
    wrong_count(count.fields);
}

const char* CsvPartialWriter::wrong_count(int64_t fields) {
  const auto names = std::ssize(targets_);
  trouble_ = {.column = std::min(fields, names) + 1,
              .what = "a row has " + std::to_string(fields) + (fields == 1 ? " field" : " fields") +
                      " where there " +
                      (names == 1 ? "is 1 name" : "are " + std::to_string(names) + " names"),
              .fix = "fix the row, or pass on_bad=\"reject\" to set such rows aside"};
  return nullptr;
}

}  // namespace hr
