// SPDX-License-Identifier: Apache-2.0
// The CSV writer: rows formatted in pieces by all workers, written in order.
#include "headrace/io/csv_write.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/math/duration_text_math.h"
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/ordered_writer.h"
#include "headrace/io/sink.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kOp = "to_csv";
constexpr int64_t kPieceCells = int64_t{1} << 15;  // about 1 MiB of text
constexpr int64_t kMaxNumber = 400;                // "%.64f" of the largest double

constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t k = 0; k < 100; ++k) {
    pairs[2 * k] = static_cast<char>('0' + k / 10);
    pairs[2 * k + 1] = static_cast<char>('0' + k % 10);
  }
  return pairs;
}();

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

class Formatter {
 public:
  Formatter(const Table& table, const CsvWriteOptions& options)
      : table_(table), options_(options), format_(parse_format(options.float_format)) {
    if (table.num_columns() == 1 && options.null_word.empty()) options_.null_word = "NA";
    for (const char c : {options.delimiter, '"'})
      if (c == '\n' || c == '\r' || c == '\0')
        throw_error<InvalidArgumentError>(kOp, "the delimiter cannot be a line end or NUL");
    if (options.delimiter == '"')
      throw_error<InvalidArgumentError>(kOp, "the delimiter cannot be the quote");
    for (const Column& column : table.columns())
      if (column.dtype().is_complex())
        throw_error<TypeMismatchError>(kOp, "complex numbers cannot be written as text",
                                       {{"dtype", column.dtype().name()}},
                                       "write the real and the imaginary part");
    for (const Column& column : table.columns()) {
      const Dtype dtype = column.dtype().is_category() ? column.dtype().item() : column.dtype();
      zones_.push_back(dtype.has_zone() ? timezone_rules(kOp, dtype) : nullptr);
      plain_.push_back(plain_of(column));
    }
  }

  void header(ByteBuffer& out) const {
    for (size_t c = 0; c < table_.names().size(); ++c) {
      if (c > 0) out.append(options_.delimiter);
      text(table_.names()[c], out);
    }
    out.append(options_.line_end);
  }

  void rows(int64_t begin, int64_t end, ByteBuffer& out) const {
    for (int64_t row = begin; row < end; ++row) {
      for (size_t c = 0; c < plain_.size(); ++c) {
        if (c > 0) out.append(options_.delimiter);
        if (!plain_cell(plain_[c], row, out)) cell(table_.columns()[c], zones_[c].get(), row, out);
      }
      out.append(options_.line_end);
    }
  }

 private:
  // A column of int64, float64 or strings, which most are: what its cells are read from.
  struct Plain {
    TypeId id;
    const void* values;
    const uint8_t* validity;
    int64_t offset;
    const Column* column;
  };

  static Plain plain_of(const Column& column) {
    const TypeId id = column.dtype().id();
    Plain plain{id, nullptr, column.validity(), column.offset(), &column};
    if (column.num_rows() == 0) return plain;
    if (id == TypeId::kInt64) plain.values = column.values<int64_t>().data();
    if (id == TypeId::kFloat64) plain.values = column.values<double>().data();
    if (id == TypeId::kString) plain.values = column.values<StringView>().data();
    return plain;
  }

  // False for a cell of another dtype, or null.
  bool plain_cell(const Plain& plain, int64_t row, ByteBuffer& out) const {
    if (!plain.values || (plain.validity && !get_bit(plain.validity, plain.offset + row)))
      return false;
    if (plain.id == TypeId::kString) {
      const StringView& view = static_cast<const StringView*>(plain.values)[row];
      if (view.size > sizeof view.inlined) {
        text(plain.column->string(row), out);
      } else if (!write_short_text(view, out)) {
        text({view.inlined, view.size}, out);
      }
      return true;
    }
    char* const begin = out.reserve(kMaxNumber);
    char* const end = plain.id == TypeId::kInt64
                          ? write_integer(static_cast<const int64_t*>(plain.values)[row], begin)
                          : number(static_cast<const double*>(plain.values)[row], begin);
    out.advance(end - begin);
    return true;
  }

  // Two digits at a time, from the last ones on.
  static char* write_integer(int64_t value, char* out) {
    auto rest = static_cast<uint64_t>(value);
    if (value < 0) {
      *out++ = '-';
      rest = 0 - rest;
    }
    char digits[20];
    char* at = digits + sizeof digits;
    while (rest >= 100) {
      at -= 2;
      std::memcpy(at, kPairs.data() + 2 * (rest % 100), 2);
      rest /= 100;
    }
    if (rest >= 10) {
      at -= 2;
      std::memcpy(at, kPairs.data() + 2 * rest, 2);
    } else {
      *--at = static_cast<char>('0' + rest);
    }
    const auto size = digits + sizeof digits - at;
    std::memcpy(out, at, static_cast<size_t>(size));
    return out + size;
  }

  // A text of up to 12 bytes that needs no quotes; false for others. Bytes behind a short text are
  // zero.
  bool write_short_text(const StringView& view, ByteBuffer& out) const {
    if (view.size <= 4 || view.size == options_.null_word.size()) return false;
    uint64_t low;
    uint32_t high;
    std::memcpy(&low, view.inlined, 8);
    std::memcpy(&high, view.inlined + 8, 4);
    if (has_special(low) || has_special(high)) return false;
    if (view.inlined[0] == ' ' || view.inlined[0] == '\t' || view.inlined[0] == '\xEF')
      return false;
    char* const to = out.reserve(16);
    std::memcpy(to, view.inlined, 12);
    out.advance(view.size);
    return true;
  }

  bool has_special(uint64_t word) const {
    constexpr uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
    const auto has = [&](char byte) {
      const uint64_t x = word ^ (kOnes * static_cast<uint8_t>(byte));
      return (x - kOnes) & ~x & kHigh;
    };
    return has(options_.delimiter) | has('"') | has('\n') | has('\r');
  }

  void cell(const Column& column, const TimezoneRules* zone, int64_t row, ByteBuffer& out) const {
    if (column.is_null(row)) return out.append(options_.null_word);
    const Dtype dtype = column.dtype();
    if (dtype.has_text()) return text(column.string(row), out);
    if (dtype.is_category()) {
      const int32_t code = column.values<int32_t>()[static_cast<size_t>(row)];
      return cell(column.dictionary()->values(), zone, code, out);
    }
    if (dtype.is_bool()) return out.append(column.bit(row) ? "True" : "False");
    if (dtype.is_temporal()) {
      char* const begin = out.reserve(kMaxIsoTime);
      const auto at = static_cast<size_t>(row);
      if (zone)
        return out.advance(write_zoned(column.values<int64_t>()[at], dtype.unit(), *zone, begin) -
                           begin);
      const char* const end =
          dtype.is_date() ? write_iso_date(column.values<int32_t>()[at], begin)
                          : write_iso_time(column.values<int64_t>()[at], dtype.unit(), begin);
      return out.advance(end - begin);
    }
    if (dtype.is_decimal()) {
      char* const begin = out.reserve(kMaxDecimal);
      const Int128 units = column.values<Int128>()[static_cast<size_t>(row)];
      return out.advance(write_decimal(units, dtype.scale(), begin) - begin);
    }
    if (dtype.is_duration()) {
      char* const begin = out.reserve(kMaxDuration);
      return out.advance(
          write_duration(column.values<int64_t>()[static_cast<size_t>(row)], dtype.unit(), begin) -
          begin);
    }
    visit_real(dtype, [&]<class T>(std::type_identity<T>) {
      const T value = column.values<T>().data()[row];
      char* const begin = out.reserve(kMaxNumber);
      char* end;
      if constexpr (std::is_floating_point_v<T>)
        end = number(value, begin);
      else
        end = std::to_chars(begin, begin + kMaxNumber, value).ptr;
      out.advance(end - begin);
    });
  }

  template <class T>
  char* number(T value, char* begin) const {
    char* const room = begin + kMaxNumber;
    if (std::isnan(value)) {
      std::memcpy(begin, "nan", 3);
      return begin + 3;
    }
    if (!format_.shortest)
      return std::to_chars(begin, room, value, format_.form, format_.precision).ptr;
    char* end = std::to_chars(begin, room, value).ptr;
    // A whole number keeps a point, so that it is read as a float again.
    if (std::isfinite(value) &&
        std::none_of(begin, end, [](char c) { return c == '.' || c == 'e'; })) {
      *end++ = '.';
      *end++ = '0';
    }
    return end;
  }

  void text(std::string_view value, ByteBuffer& out) const {
    if (!needs_quotes(value)) return out.append(value);
    out.append('"');
    for (size_t at = 0;;) {
      const size_t quote = value.find('"', at);
      out.append(value.substr(at, quote == value.npos ? quote : quote + 1 - at));
      if (quote == value.npos) break;
      out.append('"');
      at = quote + 1;
    }
    out.append('"');
  }

  // Also what a reader would take for null, for a blank line or for the mark of a BOM.
  bool needs_quotes(std::string_view value) const {
    if (value.empty() || value == options_.null_word || value == "NA" || value == "null" ||
        value == "NULL")
      return true;
    bool blank = true;
    for (const char c : value) {
      if (c == options_.delimiter || c == '"' || c == '\n' || c == '\r') return true;
      blank &= c == ' ' || c == '\t';
    }
    return blank || value.starts_with("\xEF\xBB\xBF");
  }

  const Table& table_;
  CsvWriteOptions options_;
  FloatFormat format_;
  std::vector<std::shared_ptr<const TimezoneRules>> zones_{};
  std::vector<Plain> plain_{};  // by column
};

// Formats the table in pieces of rows, the first with the header, and writes them to `to`.
template <class To>
void write_rows(const Table& values, const CsvWriteOptions& options, To& to) {
  const Table table = std::get<Table>(to_place(Value(values), host));
  const Formatter formatter(table, options);
  if (table.num_columns() == 0) return;
  const int64_t rows = table.num_rows();
  const int64_t piece_rows = std::max<int64_t>(1, kPieceCells / table.num_columns());
  const int64_t count = std::max<int64_t>(1, (rows + piece_rows - 1) / piece_rows);
  const int64_t slots = num_piece_slots();
  std::vector<ByteBuffer> texts(static_cast<size_t>(slots));
  write_in_order(to, count, slots, [&](int64_t piece, int64_t slot) {
    ByteBuffer& text = texts[static_cast<size_t>(slot)];
    text.clear();
    if (piece == 0 && options.header) formatter.header(text);
    const int64_t begin = piece * piece_rows;
    formatter.rows(begin, std::min(rows, begin + piece_rows), text);
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
