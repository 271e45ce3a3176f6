// SPDX-License-Identifier: Apache-2.0
// Parses the rows of one range of CSV text, row by row, field by field, straight to the columns.
#define HWY_TARGET_INCLUDE "headrace/io/csv_parse_cpu.cpp"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/simd_targets.h"
#include "headrace/data/column.h"
#include "headrace/io/csv_number_lines_kernels.h"
#include "headrace/io/csv_parse.h"
#include "headrace/io/decimal_number_tables.h"
#include "headrace/io/parse_number_math.h"
#include "headrace/io/utf8.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/decimal_number_math.h"

constexpr int64_t kMaxRejectedText = int64_t{1} << 16;
constexpr int64_t kOtherShapes = 16;  // then a range is taken to have another shape

// What is wrong with a row; empty `what`: nothing.
struct Trouble {
  int64_t column = 0;
  std::string what{};
  std::string fix{};
};

class RangeParser {
 public:
  RangeParser(const CsvParseJob& job, const char* text, int64_t size, const CsvRange& range,
              int64_t first_slot, uint32_t text_buffer)
      : job_(job),
        syntax_(job.syntax),
        targets_(job.targets),
        text_(text),
        end_(text + size),
        range_(range),
        first_slot_(first_slot),
        text_buffer_(text_buffer),
        arenas_(static_cast<size_t>(job.num_columns)) {
    piece_.parts.resize(static_cast<size_t>(job.num_columns));
    for (const CsvTarget& target : targets_)
      if (target.column >= 0 && target.dtype.is_bool())
        part(target).bits = Buffer::allocate_zeroed(bitmap_bytes(range.max_rows));
    counted_to_ = text;
    counted_lines_ = range.first_line;
  }

  CsvPiece parse() {
    const char* p = text_;
    const bool alone = targets_.size() == 1 && targets_[0].column == 0 && syntax_.plain_numbers;
    while (p < end_ && piece_.rows < job_.max_rows) {
      if (alone && other_shapes_ < kOtherShapes) p = number_lines(p);
      if (p >= end_ || piece_.rows >= job_.max_rows) break;
      if (const char* after = skip_empty_row(syntax_, p); after != p) {
        p = after;
        continue;
      }
      const char* after = parse_row(p);
      if (!after) {
        after = reject(p);
        if (job_.stop_at_bad_row) break;
      } else {
        ++piece_.rows;
      }
      p = after;
    }
    for (size_t c = 0; c < arenas_.size(); ++c) piece_.parts[c].text = arenas_[c].finish();
    return std::move(piece_);
  }

 private:
  // Lines that hold one number and nothing else, as far as they have one shape.
  const char* number_lines(const char* p) {
    const int64_t rows = piece_.rows;
    switch (targets_[0].dtype.id()) {
      case TypeId::kFloat64:
        p = float_lines<double>(p);
        break;
      case TypeId::kFloat32:
        p = float_lines<float>(p);
        break;
      case TypeId::kInt64:
        p = short_lines<int64_t>(p);
        break;
      default:
        break;
    }
    other_shapes_ = piece_.rows > rows ? 0 : other_shapes_ + 1;
    return p;
  }

  template <class T>
  const char* float_lines(const char* p) {
    const int64_t most = std::min(job_.max_rows, range_.max_rows) - piece_.rows;
    int64_t count = 0;
    p = cpu::parse_number_lines(p, end_, most, &slot<T>(targets_[0]), &count);
    piece_.rows += count;
    return count > 0 ? p : short_lines<T>(p);
  }

  template <class T>
  const char* short_lines(const char* p) {
    T* const values = &slot<T>(targets_[0]) - piece_.rows;
    const int64_t most = std::min(job_.max_rows, range_.max_rows);
    int64_t row = piece_.rows;
    while (row < most && p < end_) {
      const ShortNumber number = parse_short_number(p);
      if (!number.end) break;
      const char* stop = number.end + (*number.end == '\r');
      if (*stop != '\n' || !round_short(number, values + row)) break;
      p = stop + 1;
      ++row;
    }
    piece_.rows = row;
    return p;
  }

  // The next row, or null when this one is bad.
  const char* parse_row(const char* p) {
    row_has_null_ = false;
    const size_t last = targets_.size() - 1;
    for (size_t f = 0; f <= last; ++f) {
      p = parse_field(targets_[f], p);
      if (!p) {
        trouble_.column = static_cast<int64_t>(f) + 1;
        return nullptr;
      }
      if ((*p == syntax_.delimiter) != (f < last)) return wrong_count(f, p);
      if (f < last) ++p;
    }
    return next_row(syntax_, p);
  }

  const char* wrong_count(size_t field, const char* p) {
    const auto expected = static_cast<int64_t>(targets_.size());
    auto fields = static_cast<int64_t>(field) + 1;
    while (*p == syntax_.delimiter) {
      p = scan_field(syntax_, p + 1, end_).next;
      ++fields;
    }
    trouble_ = {.column = std::min(fields, expected) + 1,
                .what = "a row has " + std::to_string(fields) + " fields, the first one has " +
                        std::to_string(expected),
                .fix = "mend the row, or pass on_bad=\"reject\" to set such rows aside"};
    return nullptr;
  }

  // The byte that ended the field, or null and trouble.
  const char* parse_field(const CsvTarget& target, const char* p) {
    if (target.column < 0) return skip_field(p);
    switch (target.dtype.id()) {
      case TypeId::kFloat64:
        return float_field<double>(target, p);
      case TypeId::kFloat32:
        return float_field<float>(target, p);
      case TypeId::kString:
        return string_field(target, p);
      case TypeId::kBool:
        return bool_field(target, p);
      default:
        return visit_real(target.dtype, [&]<class T>(std::type_identity<T>) {
          return integer_field<T>(target, p);
        });
    }
  }

  const char* skip_field(const char* p) {
    const CsvField field = scan_field(syntax_, p, end_);
    return field.defect == FieldDefect::kNone ? field.next : defect(field);
  }

  template <class T>
  T& slot(const CsvTarget& target) {
    return reinterpret_cast<T*>(target.values)[first_slot_ + piece_.rows];
  }

  // Puts the number into T, rounded once; false when it does not fit.
  template <class T>
  static bool round_short(const ShortNumber& number, T* value) {
    if constexpr (std::is_integral_v<T>) {
      return !number.has_point && fit_integer(IntegerText{number.digits, number.negative}, value);
    } else {
      // Digits and powers of ten that are exact in T: so is all but the quotient.
      if (sizeof(T) == 4 && (number.digits >= 1 << 24 || number.places > 10))
        return scale_decimal(number.digits, -number.places, number.negative, value);
      const T size =
          static_cast<T>(number.digits) / static_cast<T>(kTens[static_cast<size_t>(number.places)]);
      *value = number.negative ? -size : size;
      return true;
    }
  }

  template <class T>
  const char* float_field(const CsvTarget& target, const char* p) {
    if (const char* next = plain_float(p, &slot<T>(target))) return next;
    return general_field(target, p, [&](const char* begin, const char* end) {
      return parse_float(begin, end, &slot<T>(target)) == end;
    });
  }

  // The byte that ends a field that is a number alone, or null.
  template <class T>
  const char* plain_float(const char* p, T* value) {
    if (!syntax_.plain_numbers) return nullptr;
    const ShortNumber number = parse_short_number(p);
    if (number.end && syntax_.ends(*number.end) && round_short(number, value)) return number.end;
    const LongNumber longer = parse_long_number(p);
    if (longer.end && syntax_.ends(*longer.end) &&
        scale_decimal(longer.digits, longer.power, longer.negative, value))
      return longer.end;
    const char* next = parse_float(p, end_, value);
    return next && syntax_.ends(*next) ? next : nullptr;
  }

  template <class T>
  const char* integer_field(const CsvTarget& target, const char* p) {
    if (const char* next = plain_integer(p, &slot<T>(target))) return next;
    return general_field(target, p, [&](const char* begin, const char* end) {
      const IntegerText text = parse_integer(begin);
      return text.end == end && fit_integer(text, &slot<T>(target));
    });
  }

  template <class T>
  const char* plain_integer(const char* p, T* value) {
    if (!syntax_.plain_numbers) return nullptr;
    const ShortNumber few = parse_short_number(p);
    if (few.end && syntax_.ends(*few.end) && round_short(few, value)) return few.end;
    const IntegerText number = parse_integer(p);
    return number.end && syntax_.ends(*number.end) && fit_integer(number, value) ? number.end
                                                                                 : nullptr;
  }

  const char* bool_field(const CsvTarget& target, const char* p) {
    return general_field(target, p, [&](const char* begin, const char* end) {
      const int value = parse_bool({begin, static_cast<size_t>(end - begin)});
      if (value < 0) return false;
      set_bit(part(target).bits.mutable_as<uint8_t>(), piece_.rows, value != 0);
      return true;
    });
  }

  // A number or bool in quotes or blanks, a null, or a misfit. `parse` gets [begin, end).
  template <class Parse>
  const char* general_field(const CsvTarget& target, const char* p, Parse parse) {
    const CsvField field = scan_field(syntax_, p, end_);
    if (field.defect != FieldDefect::kNone) return defect(field);
    const char *begin = field.begin, *end = field.end;
    while (begin < end && syntax_.is_blank(*begin)) ++begin;
    while (begin < end && syntax_.is_blank(end[-1])) --end;
    if (syntax_.is_null(begin, end)) {
      set_null(target);
      return field.next;
    }
    if (begin < end && parse(begin, end)) return field.next;
    return misfit(target, field);
  }

  const char* string_field(const CsvTarget& target, const char* p) {
    const CsvField field = scan_field(syntax_, p, end_);
    if (field.defect != FieldDefect::kNone) return defect(field);
    if (!field.quoted && syntax_.is_null(field.begin, field.end)) {
      set_null(target);
      return field.next;
    }
    std::string_view text(field.begin, static_cast<size_t>(field.end - field.begin));
    std::string single;
    if (field.doubled) text = single = single_quotes(field);
    if (!is_valid_utf8(text)) {
      trouble_ = {.what = "the text of column '" + printable(target.name) + "' is not UTF-8: '" +
                          printable(text) + "'",
                  .fix = "convert the file to UTF-8, or pass on_bad=\"reject\""};
      return nullptr;
    }
    StringView view{};
    view.size = static_cast<uint32_t>(text.size());
    if (text.size() <= sizeof view.inlined) {
      std::memcpy(view.inlined, text.data(), text.size());
    } else {
      TextArena& arena = arenas_[static_cast<size_t>(target.column)];
      std::memcpy(view.far.prefix, text.data(), sizeof view.far.prefix);
      view.far.buffer = text_buffer_;
      view.far.offset = static_cast<uint32_t>(arena.size());
      arena.append(text);
    }
    slot<StringView>(target) = view;
    return field.next;
  }

  CsvPiece::Part& part(const CsvTarget& target) {
    return piece_.parts[static_cast<size_t>(target.column)];
  }

  void set_null(const CsvTarget& target) {
    Buffer& validity = part(target).validity;
    if (!validity) {
      validity = Buffer::allocate(bitmap_bytes(range_.max_rows));
      std::memset(validity.mutable_data(), 0xFF, static_cast<size_t>(validity.size_bytes()));
    }
    set_bit(validity.mutable_as<uint8_t>(), piece_.rows, false);
    row_has_null_ = true;
    if (target.dtype.is_bool())
      set_bit(part(target).bits.mutable_as<uint8_t>(), piece_.rows, false);
    else
      std::memset(target.values + (first_slot_ + piece_.rows) * target.dtype.size_bytes(), 0,
                  static_cast<size_t>(target.dtype.size_bytes()));
  }

  const char* defect(const CsvField& field) {
    trouble_ = {.what = field.defect == FieldDefect::kOpenQuote ? "a quote is never closed"
                                                                : "text follows a closing quote",
                .fix =
                    "double the quotes inside quoted text, or pass quote=None if quotes mean "
                    "nothing here"};
    return nullptr;
  }

  const char* misfit(const CsvTarget& target, const CsvField& field) {
    const std::string_view text(field.begin, static_cast<size_t>(field.end - field.begin));
    double number;
    const char* fits = "string";
    if (target.dtype.is_integer() && !text.empty() &&
        parse_float(field.begin, field.end, &number) == field.end)
      fits = "float64";
    const std::string name = printable(target.name);
    trouble_ = {.what = "a value of column '" + name + "' is not " +
                        (target.dtype.is_integer() ? "an " : "a ") +
                        std::string(target.dtype.name()) + ": '" + printable(text) + "'",
                .fix = "pass dtypes={\"" + name + "\": \"" + fits +
                       "\"}, null_words that hold it, or on_bad=\"reject\""};
    return nullptr;
  }

  // Sets the row that begins at `p` aside and gives the next one.
  const char* reject(const char* p) {
    if (row_has_null_)  // its slots belong to the next row
      for (CsvPiece::Part& each : piece_.parts)
        if (each.validity) set_bit(each.validity.mutable_as<uint8_t>(), piece_.rows, true);
    const char* stop = p;
    for (;;) {
      stop = scan_field(syntax_, stop, end_).next;
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

  const CsvParseJob& job_;
  const CsvSyntax& syntax_;
  const std::vector<CsvTarget>& targets_;
  const char* text_;
  const char* end_;
  const CsvRange& range_;
  int64_t first_slot_;
  uint32_t text_buffer_;
  std::vector<TextArena> arenas_;
  CsvPiece piece_{};
  Trouble trouble_{};
  bool row_has_null_ = false;
  int64_t other_shapes_ = 0;  // lines in a row that were not of the shape of number_lines
  const char* counted_to_ = nullptr;
  int64_t counted_lines_ = 0;
};

CsvPiece parse(const CsvParseJob& job, const char* text, int64_t size, const CsvRange& range,
               int64_t first_slot, uint32_t text_buffer) {
  return RangeParser(job, text, size, range, first_slot, text_buffer).parse();
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

CsvPiece parse_range(const CsvParseJob& job, const char* text, int64_t size, const CsvRange& range,
                     int64_t first_slot, uint32_t text_buffer) {
  return HR_SIMD(parse)(job, text, size, range, first_slot, text_buffer);
}

}  // namespace hr::cpu
#endif
