// SPDX-License-Identifier: Apache-2.0
// The JSON writer: rows formatted in pieces by all workers, written in order.
#include "headrace/io/json/json_write.h"

#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/math/duration_text_math.h"
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/algo/math/number_text_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/civil_date.h"
#include "headrace/base/error.h"
#include "headrace/data/dictionary.h"
#include "headrace/data/string_reader.h"
#include "headrace/data/struct_fields.h"
#include "headrace/data/timezone_rules.h"
#include "headrace/io/byte_buffer.h"
#include "headrace/io/ordered_writer.h"
#include "headrace/io/sink.h"
#include "headrace/io/text_cursor.h"
#include "headrace/plan/graph/placement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hr {

namespace {

constexpr std::string_view kOp = "to_json";
constexpr int64_t kPieceCells = int64_t{1} << 15;

// How many bytes a byte of a string takes: 1, 2 for \n and its like, 6 for \u001f and its like.
constexpr std::array<uint8_t, 256> kEscapedBytes = [] {
  std::array<uint8_t, 256> bytes{};
  for (size_t c = 0; c < 256; ++c) bytes[c] = c < 0x20 ? 6 : 1;
  for (const char c : {'"', '\\', '\b', '\f', '\n', '\r', '\t'}) bytes[static_cast<uint8_t>(c)] = 2;
  return bytes;
}();

bool is_plain(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  const auto is_special = [](uint64_t word) {
    const uint64_t quote = word ^ (kOnes * '"'), backslash = word ^ (kOnes * '\\');
    return ((((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) |
             ((word - kOnes * 0x20) & ~word)) &
            kHigh) != 0;
  };
  const char* p = text.data();
  size_t left = text.size();
  uint64_t word;
  for (; left >= 8; left -= 8, p += 8) {
    std::memcpy(&word, p, 8);
    if (is_special(word)) return false;
  }
  if (left == 0) return true;
  word = kOnes * ' ';
  std::memcpy(&word, p, left);
  return !is_special(word);
}

char* write_escaped(std::string_view text, char* to) {
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    switch (kEscapedBytes[byte]) {
      case 1:
        *to++ = c;
        break;
      case 2: {
        constexpr std::string_view kFrom = "\"\\\b\f\n\r\t", kWords = "\"\\bfnrt";
        *to++ = '\\';
        *to++ = kWords[kFrom.find(c)];
        break;
      }
      default:
        std::memcpy(to, "\\u00", 4);
        to[4] = static_cast<char>('0' + (byte >> 4));
        to[5] = "0123456789abcdef"[byte & 15];
        to += 6;
    }
  }
  return to;
}

void write_string(std::string_view text, TextCursor& out) {
  const auto size = std::ssize(text);
  const bool plain = is_plain(text);
  char* to = out.room((plain ? size : 6 * size) + 2);
  *to++ = '"';
  if (plain) {
    if (size > 0) std::memcpy(to, text.data(), text.size());
    to += size;
  } else {
    to = write_escaped(text, to);
  }
  *to++ = '"';
  out.at = to;
}

// What stands before a member of an object.
std::string key_text(std::string_view name, bool is_first) {
  ByteBuffer key;
  {
    TextCursor out(key);
    out.put(is_first ? "{" : ",");
    write_string(name, out);
    out.put(":");
  }
  return std::string(key.view());
}

// One column, with what is looked up once for all rows.
class CellWriter {
 public:
  explicit CellWriter(const Column& column)
      : column_(column), dtype_(column.dtype()), validity_(column.validity()) {
    if (dtype_.is_complex())
      throw_error<TypeMismatchError>(kOp, "complex numbers cannot be written as text",
                                     {{"dtype", dtype_.name()}},
                                     "write the real and the imaginary part");
    if (dtype_.has_zone()) zone_ = timezone_rules(kOp, dtype_);
    if (dtype_.is_string()) strings_.emplace(column_);
    if (dtype_.is_real())
      visit_real(dtype_,
                 [&]<class T>(std::type_identity<T>) { values_ = column.values<T>().data(); });
    if (dtype_.has_items()) inside_ = std::make_unique<CellWriter>(*column.items());
    if (dtype_.is_struct()) {
      fields_ = struct_fields(kOp, column);
      for (size_t f = 0; f < fields_.size(); ++f) {
        keys_.push_back(key_text(dtype_.fields()[f].name, f == 0));
        members_.push_back(std::make_unique<CellWriter>(fields_[f]));
      }
    }
    if (dtype_.is_category()) inside_ = std::make_unique<CellWriter>(column.dictionary()->values());
  }

  void write(int64_t row, TextCursor& out) const {
    if (validity_ && !get_bit(validity_, column_.offset() + row)) return out.put("null");
    if (strings_) return write_string((*strings_)[row], out);
    const auto at = static_cast<size_t>(row);
    if (dtype_.is_real()) return write_number(at, out);
    if (dtype_.is_bool()) return out.put(column_.bit(row) ? "true" : "false");
    if (dtype_.is_category()) return inside_->write(column_.values<int32_t>()[at], out);
    if (dtype_.has_items()) return write_list(column_.values<ListSpan>()[at], out);
    if (dtype_.is_struct()) return write_object(row, out);
    if (dtype_.is_decimal()) {
      const Int128 units = column_.values<Int128>()[at];
      out.at = write_decimal(units, dtype_.scale(), out.room(kMaxDecimal));
      return;
    }
    write_time(at, out);
  }

 private:
  void write_number(size_t row, TextCursor& out) const {
    char* const begin = out.room(kNumberRoom);
    visit_real(dtype_, [&]<class T>(std::type_identity<T>) {
      const T value = static_cast<const T*>(values_)[row];
      if constexpr (!std::is_floating_point_v<T>)
        out.at = write_integer(value, begin);
      else if (std::isfinite(value))
        out.at = write_float<FloatNotation::kShorter>(value, begin);
      else
        out.put("null");
    });
  }

  void write_list(const ListSpan& span, TextCursor& out) const {
    out.put("[");
    for (int64_t i = 0; i < span.size; ++i) {
      if (i > 0) out.put(",");
      inside_->write(span.begin + i, out);
    }
    out.put("]");
  }

  void write_object(int64_t row, TextCursor& out) const {
    if (members_.empty()) out.put("{");
    for (size_t f = 0; f < members_.size(); ++f) {
      out.put(keys_[f]);
      members_[f]->write(row, out);
    }
    out.put("}");
  }

  void write_time(size_t row, TextCursor& out) const {
    char* const begin = out.room(std::max<int64_t>(kMaxIsoTime, kMaxDuration) + 2);
    *begin = '"';
    char* end = begin + 1;
    if (dtype_.is_date()) {
      end = write_iso_date(column_.values<int32_t>()[row], end);
    } else if (dtype_.is_duration()) {
      end = write_duration(column_.values<int64_t>()[row], dtype_.unit(), end);
    } else {
      int64_t value = column_.values<int64_t>()[row];
      int32_t offset = 0;
      if (zone_) {
        const int64_t units = units_per_second(dtype_.unit());
        offset = ZoneClock(*zone_).offset_at(floor_divide(value, units));
        if (__builtin_add_overflow(value, offset * units, &value))
          throw_error<InvalidArgumentError>(kOp, "a time is out of range in its time zone",
                                            {{"value", value}}, "use a coarser unit");
      }
      end = write_iso_time(value, dtype_.unit(), end);
      *std::find(begin, end, ' ') = 'T';
      if (zone_) end = write_iso_offset(offset, end);
    }
    *end++ = '"';
    out.at = end;
  }

  const Column& column_;
  const Dtype dtype_;
  const uint8_t* validity_;
  const void* values_ = nullptr;
  std::shared_ptr<const TimezoneRules> zone_{};
  std::optional<StringReader> strings_{};
  std::unique_ptr<CellWriter> inside_{};  // of items, of dictionaries
  std::vector<Column> fields_{};
  std::vector<std::string> keys_{};
  std::vector<std::unique_ptr<CellWriter>> members_{};
};

class RowWriter {
 public:
  RowWriter(const Table& table, bool lines) : lines_(lines) {
    for (size_t c = 0; c < table.names().size(); ++c) {
      keys_.push_back(key_text(table.names()[c], c == 0));
      cells_.emplace_back(table.columns()[c]);
    }
  }

  void write(int64_t begin, int64_t end, ByteBuffer& buffer) const {
    TextCursor out(buffer);
    for (int64_t row = begin; row < end; ++row) {
      if (!lines_ && row > 0) out.put(",");
      if (cells_.empty()) out.put("{");
      for (size_t c = 0; c < cells_.size(); ++c) {
        out.put(keys_[c]);
        cells_[c].write(row, out);
      }
      out.put(lines_ ? "}\n" : "}");
    }
  }

 private:
  bool lines_;
  std::vector<std::string> keys_{};
  std::vector<CellWriter> cells_{};
};

template <class To>
void write_rows(const Table& values, const JsonWriteOptions& options, To& to) {
  const Table table = std::get<Table>(to_place(Value(values), host));
  const RowWriter writer(table, options.lines);
  const int64_t rows = table.num_rows();
  const int64_t piece_rows =
      std::max<int64_t>(1, kPieceCells / std::max<int64_t>(1, table.num_columns()));
  const int64_t count = std::max<int64_t>(1, (rows + piece_rows - 1) / piece_rows);
  const int64_t slots = num_piece_slots();
  std::vector<ByteBuffer> pieces(static_cast<size_t>(slots));
  write_in_order(to, count, slots, [&](int64_t piece, int64_t slot) {
    ByteBuffer& text = pieces[static_cast<size_t>(slot)];
    text.clear();
    if (piece == 0 && !options.lines) text.append('[');
    const int64_t begin = piece * piece_rows;
    writer.write(begin, std::min(rows, begin + piece_rows), text);
    if (piece == count - 1 && !options.lines) text.append(']');
    return text.view();
  });
}

}  // namespace

void write_json(const Table& table, const std::string& path, const JsonWriteOptions& options) {
  const ScopedTag tag(kOp);
  Sink sink(kOp, path, options.durable);
  write_rows(table, options, sink);
  sink.commit();
}

void write_json(const Table& table, const std::function<void(std::string_view)>& write,
                const JsonWriteOptions& options) {
  const ScopedTag tag(kOp);
  write_rows(table, options, write);
}

}  // namespace hr
