// SPDX-License-Identifier: Apache-2.0
// The CSV writer: rows formatted in pieces by all workers, written in order.
#include "headrace/io/csv_write.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/math/duration_text_math.h"
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/algo/math/number_text_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/ordered_writer.h"
#include "headrace/io/sink.h"
#include "headrace/io/text_cursor.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kOp = "to_csv";
constexpr int64_t kPieceCells = int64_t{1} << 15;  // about 1 MiB of text
constexpr int64_t kMaxFormatted = 400;             // "%.64f" of the largest double

struct FloatFormat {
  bool shortest = true;
  std::chars_format form = std::chars_format::general;
  int precision = 0;
};

FloatFormat parse_format(const std::string& text) {
  if (text == "shortest") return {};
  FloatFormat format{.shortest = false};
  const char* const end = text.data() + text.size();
  if (text.size() >= 4 && text.starts_with("%.")) {
    const auto [stop, code] = std::from_chars(text.data() + 2, end, format.precision);
    if (code == std::errc() && stop + 1 == end && format.precision >= 0 && format.precision <= 64) {
      format.form = *stop == 'e'   ? std::chars_format::scientific
                    : *stop == 'f' ? std::chars_format::fixed
                                   : std::chars_format::general;
      if (*stop == 'e' || *stop == 'f' || *stop == 'g') return format;
    }
  }
  throw_error<InvalidArgumentError>(kOp, "unknown float format", {{"float_format", text}},
                                    "pass shortest, or %.<n>e, %.<n>f or %.<n>g with n to 64");
}

// By the clocks of the zone, with what they are ahead: "2024-03-31 03:00:00+02:00".
char* write_zoned(int64_t value, TimeUnit unit, const TimezoneRules& zone, char* out) {
  const int64_t units = units_per_second(unit);
  const int32_t offset = ZoneClock(zone).offset_at(floor_divide(value, units));
  int64_t local;
  if (__builtin_add_overflow(value, offset * units, &local))
    throw_error<InvalidArgumentError>(kOp, "a time is out of range in its time zone",
                                      {{"value", value}}, "use a coarser unit");
  return write_iso_offset(offset, write_iso_time(local, unit, out));
}

// The bytes of text that ask for quotes, sixteen at a time.
class QuoteFinder {
 public:
  explicit QuoteFinder(char delimiter) : delimiter_(delimiter) {
    for (int i = 0; i < 16; ++i) delimiters_[i] = static_cast<uint8_t>(delimiter);
  }

  // In a string that stands in its view, the size in front.
  bool in_short(const StringView& view) const {
    constexpr Bytes kText = {0,    0,    0,    0,    0xFF, 0xFF, 0xFF, 0xFF,
                             0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    return any(found(&view) & kText);
  }

  bool in(std::string_view text) const {
    if (text.size() < 16) {
      for (const char c : text)
        if (c == delimiter_ || c == '"' || c == '\n' || c == '\r') return true;
      return false;
    }
    const char* const last = text.data() + text.size() - 16;
    for (const char* p = text.data(); p < last; p += 16)
      if (any(found(p))) return true;
    return any(found(last));
  }

 private:
  using Bytes __attribute__((vector_size(16))) = uint8_t;
  using Words __attribute__((vector_size(16))) = uint64_t;

  Bytes found(const void* text) const {
    Bytes bytes;
    std::memcpy(&bytes, text, sizeof bytes);
    return reinterpret_cast<Bytes>((bytes == delimiters_) | (bytes == '"') | (bytes == '\n') |
                                   (bytes == '\r'));
  }

  static bool any(Bytes bytes) {
    const auto words = reinterpret_cast<Words>(bytes);
    return (words[0] | words[1]) != 0;
  }

  char delimiter_;
  Bytes delimiters_{};
};

// First bytes of nothing, NA, null, NULL, blanks and a BOM.
constexpr auto kMistakenFirst = [] {
  std::array<bool, 256> first{};
  for (const char c : {'\0', 'N', 'n', ' ', '\t', '\xEF'}) first[static_cast<uint8_t>(c)] = true;
  return first;
}();

// One column, with what is looked up once for all rows.
class CellWriter {
 public:
  CellWriter(const Column& column, const CsvWriteOptions& options, const FloatFormat& format)
      : column_(column),
        dtype_(column.dtype()),
        options_(options),
        format_(format),
        quotes_(options.delimiter),
        validity_(column.validity()),
        offset_(column.offset()) {
    if (dtype_.is_complex())
      throw_error<TypeMismatchError>(kOp, "complex numbers cannot be written as text",
                                     {{"dtype", dtype_.name()}},
                                     "write the real and the imaginary part");
    if (dtype_.has_zone()) zone_ = timezone_rules(kOp, dtype_);
    if (dtype_.is_category())
      inside_ = std::make_unique<CellWriter>(column.dictionary()->values(), options, format);
    if (column.num_rows() == 0) return;
    if (dtype_.is_string()) strings_.emplace(column);
    if (dtype_.is_real())
      visit_real(dtype_,
                 [&]<class T>(std::type_identity<T>) { values_ = column.values<T>().data(); });
    if (dtype_.is_string()) kind_ = Kind::kString;
    if (dtype_.id() == TypeId::kInt64) kind_ = Kind::kInt64;
    if (dtype_.id() == TypeId::kFloat64 && format.shortest) kind_ = Kind::kFloat64;
  }

  // Bytes that must be writable where a cell begins; strings of more than 12 ask for theirs.
  int64_t room() const {
    const int64_t number = dtype_.is_floating() && !format_.shortest ? kMaxFormatted : kNumberRoom;
    return std::max(
        {number, kMaxIsoTime, kMaxDecimal, kMaxDuration, std::ssize(options_.null_word)});
  }

  // A cell at `at`; gives its end, elsewhere where a string took other room, which has `more` too.
  char* write(int64_t row, char* at, TextCursor& out, int64_t more) const {
    if (validity_ && !get_bit(validity_, offset_ + row)) return put(options_.null_word, at);
    switch (kind_) {
      case Kind::kString:
        return write_string(row, at, out, more);
      case Kind::kInt64:
        return write_integer(static_cast<const int64_t*>(values_)[row], at);
      case Kind::kFloat64:
        return write_float<FloatNotation::kShorter>(static_cast<const double*>(values_)[row], at);
      case Kind::kOther:
        break;
    }
    return write_other(row, at, out, more);
  }

  // A string that is not null.
  char* write_text(std::string_view text, char* at, TextCursor& out, int64_t more) const {
    out.at = at;
    at = out.room(2 * std::ssize(text) + 2 + more);
    if (!quotes_.in(text) && !is_mistaken(text)) return put(text, at);
    *at++ = '"';
    for (const char c : text) {
      if (c == '"') *at++ = '"';
      *at++ = c;
    }
    *at++ = '"';
    return at;
  }

 private:
  enum class Kind : uint8_t { kInt64, kFloat64, kString, kOther };

  static char* put(std::string_view text, char* at) {
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }

  // Bytes behind a string in its view are zero.
  char* write_string(int64_t row, char* at, TextCursor& out, int64_t more) const {
    const StringView& view = strings_->view(row);
    if (view.size > sizeof view.inlined) return write_text((*strings_)[row], at, out, more);
    const std::string_view text(view.inlined, view.size);
    if (quotes_.in_short(view) || view.size == options_.null_word.size() ||
        may_be_mistaken(view.inlined))
      return write_text(text, at, out, more);
    std::memcpy(at, view.inlined, sizeof view.inlined);
    return at + view.size;
  }

  // By the first byte.
  static bool may_be_mistaken(const char* text) {
    return kMistakenFirst[static_cast<uint8_t>(*text)];
  }

  // What a reader would take for null, for a blank line or for the mark of a BOM.
  bool is_mistaken(std::string_view text) const {
    if (text.empty() || text == options_.null_word) return true;
    if (!may_be_mistaken(text.data())) return false;
    return text == "NA" || text == "null" || text == "NULL" ||
           text.find_first_not_of(" \t") == text.npos || text.starts_with("\xEF\xBB\xBF");
  }

  char* write_other(int64_t row, char* at, TextCursor& out, int64_t more) const {
    if (inside_)
      return inside_->write(column_.values<int32_t>()[static_cast<size_t>(row)], at, out, more);
    if (dtype_.has_text()) return write_text(column_.string(row), at, out, more);
    if (dtype_.is_bool()) return put(column_.bit(row) ? "True" : "False", at);
    const auto place = static_cast<size_t>(row);
    if (dtype_.is_date()) return write_iso_date(column_.values<int32_t>()[place], at);
    if (zone_) return write_zoned(column_.values<int64_t>()[place], dtype_.unit(), *zone_, at);
    if (dtype_.is_temporal())
      return write_iso_time(column_.values<int64_t>()[place], dtype_.unit(), at);
    if (dtype_.is_decimal())
      return write_decimal(column_.values<Int128>()[place], dtype_.scale(), at);
    if (dtype_.is_duration())
      return write_duration(column_.values<int64_t>()[place], dtype_.unit(), at);
    return visit_real(dtype_, [&]<class T>(std::type_identity<T>) {
      const T value = static_cast<const T*>(values_)[row];
      if constexpr (std::is_floating_point_v<T>)
        return format_.shortest ? write_float<FloatNotation::kShorter>(value, at)
                                : write_formatted(value, at);
      else
        return write_integer(value, at);
    });
  }

  char* write_formatted(auto value, char* at) const {
    if (std::isnan(value)) return put("nan", at);
    return std::to_chars(at, at + kMaxFormatted, value, format_.form, format_.precision).ptr;
  }

  const Column& column_;
  const Dtype dtype_;
  const CsvWriteOptions& options_;
  const FloatFormat& format_;
  QuoteFinder quotes_;
  const uint8_t* validity_;
  int64_t offset_;
  Kind kind_ = Kind::kOther;
  const void* values_ = nullptr;
  std::optional<StringReader> strings_{};
  std::shared_ptr<const TimezoneRules> zone_{};
  std::unique_ptr<CellWriter> inside_{};  // of the dictionary
};

class RowWriter {
 public:
  RowWriter(const Table& table, const CsvWriteOptions& options)
      : table_(table), options_(options), format_(parse_format(options.float_format)) {
    if (table.num_columns() == 1 && options.null_word.empty()) options_.null_word = "NA";
    for (const char c : {options.delimiter, '"'})
      if (c == '\n' || c == '\r' || c == '\0')
        throw_error<InvalidArgumentError>(kOp, "the delimiter cannot be a line end or NUL");
    if (options.delimiter == '"')
      throw_error<InvalidArgumentError>(kOp, "the delimiter cannot be the quote");
    room_ = std::ssize(options_.line_end);
    for (const Column& column : table.columns()) {
      cells_.emplace_back(column, options_, format_);
      room_ += cells_.back().room() + 1;
    }
  }

  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  void header(ByteBuffer& buffer) const {
    TextCursor out(buffer);
    char* at = out.room(room_);
    for (size_t c = 0; c < cells_.size(); ++c) {
      at = cells_[c].write_text(table_.names()[c], at, out, room_);
      *at++ = options_.delimiter;
    }
    end_line(at, out);
  }

  void rows(int64_t begin, int64_t end, ByteBuffer& buffer) const {
    TextCursor out(buffer);
    for (int64_t row = begin; row < end; ++row) {
      char* at = out.room(room_);
      for (const CellWriter& cell : cells_) {
        at = cell.write(row, at, out, room_);
        *at++ = options_.delimiter;
      }
      end_line(at, out);
    }
  }

 private:
  // In place of the last delimiter.
  void end_line(char* at, TextCursor& out) const {
    std::memcpy(at - 1, options_.line_end.data(), options_.line_end.size());
    out.at = at - 1 + options_.line_end.size();
  }

  const Table& table_;
  CsvWriteOptions options_;
  FloatFormat format_;
  std::vector<CellWriter> cells_{};
  int64_t room_ = 0;  // of a row, long strings aside
};

// Formats the table in pieces of rows, the first with the header, and writes them to `to`.
template <class To>
void write_rows(const Table& values, const CsvWriteOptions& options, To& to) {
  const Table table = std::get<Table>(to_place(Value(values), host));
  const RowWriter writer(table, options);
  if (table.num_columns() == 0) return;
  const int64_t rows = table.num_rows();
  const int64_t piece_rows = std::max<int64_t>(1, kPieceCells / table.num_columns());
  const int64_t count = std::max<int64_t>(1, (rows + piece_rows - 1) / piece_rows);
  const int64_t slots = num_piece_slots();
  std::vector<ByteBuffer> texts(static_cast<size_t>(slots));
  write_in_order(to, count, slots, [&](int64_t piece, int64_t slot) {
    ByteBuffer& text = texts[static_cast<size_t>(slot)];
    text.clear();
    if (piece == 0 && options.header) writer.header(text);
    const int64_t begin = piece * piece_rows;
    writer.rows(begin, std::min(rows, begin + piece_rows), text);
    return text.view();
  });
}

}  // namespace

void write_csv(const Table& table, const std::string& path, const CsvWriteOptions& options) {
  const ScopedTag tag(kOp);
  Sink sink(kOp, path, options.durable);
  write_rows(table, options, sink);
  sink.commit();
}

void write_csv(const Table& table, const std::function<void(std::string_view)>& write,
               const CsvWriteOptions& options) {
  const ScopedTag tag(kOp);
  write_rows(table, options, write);
}

}  // namespace hr
