// SPDX-License-Identifier: Apache-2.0
// Parses the rows of one range of CSV text, row by row, field by field, straight to the columns.
#define HWY_TARGET_INCLUDE "headrace/io/csv_parse_cpu.cpp"
#include "headrace/algo/math/decimal_math.h"
#include "headrace/algo/math/duration_text_math.h"
#include "headrace/base/bits.h"
#include "headrace/base/simd_targets.h"
#include "headrace/base/utf8.h"
#include "headrace/data/column.h"
#include "headrace/io/csv_fields_kernels.h"
#include "headrace/io/csv_number_lines_kernels.h"
#include "headrace/io/csv_partial.h"
#include "headrace/io/csv_time_fields_kernels.h"
#include "headrace/io/decimal_number_tables.h"
#include "headrace/io/parse_number_math.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/decimal_number_math.h"

constexpr int64_t kOtherShapes = 16;  // then a range is taken to have another shape
constexpr int64_t kFewRows = 8;       // one in this number is needed: not worth another index

class RangeParser : CsvPartialWriter {
 public:
  RangeParser(const CsvParseJob& job, const char* text, int64_t size, const CsvRange& range,
              int64_t first_slot, uint32_t text_buffer, const CsvKeep* keep)
      : CsvPartialWriter(job, text, range, first_slot, text_buffer),
        keep_(keep),
        text_(text),
        end_(text + size),
        most_(std::min(job.max_rows, range.max_rows)),
        // A last row without line end ends where the reader set one.
        rows_end_(end_ + (size > 0 && end_[-1] != '\n' && end_[-1] != '\r')) {
    if (cpu::has_field_kernels()) {
      const int64_t bytes = rows_end_ - text_;
      room_ = Buffer::allocate(cpu::csv_fields_room(bytes));
      others_ =
          Buffer::allocate(cpu::csv_fields_most(bytes) * static_cast<int64_t>(sizeof(int32_t)));
      is_odd_.resize(targets_.size());
      if (keep_) kept_ = Buffer::allocate(cpu::csv_fields_room(bytes));
    }
    if (job.shares_text && std::any_of(targets_.begin(), targets_.end(), [](const CsvTarget& each) {
          return each.column >= 0 && each.dtype.is_string();
        }))
      reserve_shared_text(size + kCsvTileBytes + 64);
    if (job.notes_rows && size <= INT32_MAX)
      piece_.begins = Buffer::allocate(range.max_rows * static_cast<int64_t>(sizeof(int32_t)));
  }

  CsvPartial parse() {
    if (keep_ && keep_->begins && most_ * kFewRows < keep_->rows) return parse_few();
    const char* p = text_;
    const bool alone = targets_.size() == 1 && targets_[0].column == 0 && syntax_.plain_numbers;
    while (p < end_ && piece_.rows < most_) {
      if (p >= row_by_row_until_) {
        const char* const begin = p;
        if (alone && other_shapes_ < kOtherShapes) p = number_lines(p);
        if (p == begin && room_) p = parse_tile(p);
        if (p != begin) continue;
      }
      if (const char* after = skip_empty_row(syntax_, p); after != p) {
        p = after;
        continue;
      }
      if (keep_ && !is_kept(seen_)) {
        p = skip_row(p);
        ++seen_;
        continue;
      }
      const char* after = parse_row(p);
      if (!after) {
        after = reject(p, end_);
        if (job_.stop_at_bad_row) break;
      } else {
        note_begin(piece_.rows, p);
        ++piece_.rows;
        ++seen_;
      }
      p = after;
    }
    return finish();
  }

 private:
  // Some rows here and there.
  CsvPartial parse_few() {
    for (int64_t at = 0; at < keep_->rows && piece_.rows < most_; at += 56) {
      const int64_t count = std::min<int64_t>(56, keep_->rows - at);
      for (uint64_t bits = load_bits(keep_->bits, keep_->first + at, count); bits;
           bits &= bits - 1) {
        const char* const row = text_ + keep_->begins[at + std::countr_zero(bits)];
        if (!parse_row(row)) {
          reject(row, end_);
          return finish();
        }
        ++piece_.rows;
      }
    }
    return finish();
  }

  void note_begin(int64_t row, const char* p) {
    if (piece_.begins) piece_.begins.mutable_as<int32_t>()[row] = static_cast<int32_t>(p - text_);
  }

  // Lines that hold one number and nothing else, as far as they have the shape of "%.18e".
  const char* number_lines(const char* p) {
    begin_row();
    int64_t count = 0;
    if (targets_[0].dtype.id() == TypeId::kFloat64)
      p = cpu::parse_number_lines(p, end_, most_ - row_, &slot<double>(targets_[0]), &count);
    else if (targets_[0].dtype.id() == TypeId::kFloat32)
      p = cpu::parse_number_lines(p, end_, most_ - row_, &slot<float>(targets_[0]), &count);
    piece_.rows += count;
    other_shapes_ = count > 0 ? 0 : other_shapes_ + 1;
    if (count > 0) row_by_row_until_ = p + 1;  // one line of another shape is not worth a tile
    return p;
  }

  // Rows of a tile of text, column by column, as far as they are regular. Where a row is bad, all
  // are left to be parsed row by row, so that the first bad field is the one that is told.
  const char* parse_tile(const char* p) {
    fields_ = cpu::index_fields(syntax_, static_cast<int64_t>(targets_.size()), p, rows_end_,
                                keep_ ? keep_->rows - seen_ : most_ - piece_.rows,
                                room_.mutable_as<int32_t>());
    row_by_row_until_ = fields_.looked;
    if (fields_.rows == 0) return p;
    const int64_t indexed = fields_.rows;
    if (keep_) keep_rows();
    note_arenas();
    for (size_t f = 0; f < targets_.size(); ++f) {
      if (parse_column(f)) continue;
      forget_rows(fields_.rows);
      row_by_row_until_ = std::max(fields_.next, fields_.looked);
      return p;
    }
    if (piece_.begins)
      for (int64_t row = 0; row < fields_.rows; ++row)
        note_begin(piece_.rows + row, fields_.text + fields_.begin(row, 0));
    piece_.rows += fields_.rows;
    seen_ += indexed;
    return fields_.next;
  }

  bool is_kept(int64_t row) const { return get_bit(keep_->bits, keep_->first + row); }

  // Takes the rows of the tile that are needed; where they begin is one field more.
  void keep_rows() {
    auto* out = kept_.mutable_as<int32_t>();
    int64_t rows = 0;
    for (int64_t row = 0; row < fields_.rows; ++row) {
      if (!is_kept(seen_ + row)) continue;
      *out++ = static_cast<int32_t>(fields_.begin(row, 0) - 1);
      out = std::copy_n(fields_.ends + row * fields_.fields, fields_.fields, out);
      ++rows;
    }
    fields_.ends = kept_.mutable_as<int32_t>();
    fields_.fields += 1;
    fields_.rows = rows;
  }

  const char* skip_row(const char* p) const {
    for (;; ++p) {
      p = scan_field(syntax_, p, end_).next;
      if (*p != syntax_.delimiter) return next_row(syntax_, p);
    }
  }

  // One field of all rows of the tile; false when one of them is bad.
  bool parse_column(size_t f) {
    const CsvTarget& target = targets_[f];
    if (target.column < 0) return true;
    auto* const others = others_.mutable_as<int32_t>();
    const int64_t field = static_cast<int64_t>(f) + (keep_ ? 1 : 0);
    begin_row();
    int64_t count = is_odd_[f] ? -1 : parse_common_fields(target, field, others);
    if (2 * count > fields_.rows) is_odd_[f] = true;
    const bool all = count < 0;
    if (all) count = fields_.rows;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t row = all ? k : others[k];
      const char* const begin = fields_.text + fields_.begin(row, field);
      if (targets_.size() == 1 && skip_empty_row(syntax_, begin) != begin) {
        row_by_row_until_ = std::max(fields_.next, fields_.looked);
        fields_.rows = row;  // an empty line does not count: the tile ends before it
        fields_.next = begin;
        return true;
      }
      row_ = piece_.rows + row;
      if (parse_field(target, begin) != fields_.text + fields_.end(row, field)) return false;
    }
    return true;
  }

  // Has a kernel parse what it can of a field of all rows; gives the number of `others`, or -1
  // when there is no kernel.
  int64_t parse_common_fields(const CsvTarget& target, int64_t field, int32_t* others) {
    if (target.dtype.is_string())
      return cpu::parse_string_fields(syntax_, fields_, field, text_buffer_, arena(target),
                                      &slot<StringView>(target), others);
    if (target.dtype.is_date() && syntax_.plain_times)
      return cpu::parse_date_fields(fields_, field, &slot<int32_t>(target), others);
    if (target.dtype.is_timestamp() && !target.zone && syntax_.plain_times)
      return cpu::parse_time_fields(fields_, field, target.dtype.unit(), &slot<int64_t>(target),
                                    others);
    if (target.dtype.is_category() && fields_.fields > 1)  // of one field, a blank row is none
      return cpu::parse_category_fields(syntax_, fields_, field, entries(target),
                                        &slot<int32_t>(target), others);
    if (!target.dtype.is_real() || !syntax_.plain_numbers) return -1;
    return visit_real(target.dtype, [&]<class T>(std::type_identity<T>) {
      return cpu::parse_number_fields(fields_, field, &slot<T>(target), others);
    });
  }

  // The next row, or null when this one is bad.
  const char* parse_row(const char* p) {
    const char* const row = p;
    begin_row();
    note_entries();
    const size_t last = targets_.size() - 1;
    for (size_t f = 0; f <= last; ++f) {
      p = parse_field(targets_[f], p);
      if (!p) {
        blame_field(f, row, end_);
        return nullptr;
      }
      if ((*p == syntax_.delimiter) != (f < last)) {
        if (!(f < last ? syntax_.null_padding : syntax_.truncate_ragged_lines))
          return wrong_count(f, p, end_);
        p = f < last ? pad_row(f + 1, p) : cut_row(p);
        break;
      }
      if (f < last) ++p;
    }
    return next_row(syntax_, p);
  }

  // Fields that a row lacks, from one on, are null.
  const char* pad_row(size_t field, const char* p) {
    for (; field < targets_.size(); ++field)
      if (targets_[field].column >= 0) set_null(targets_[field]);
    return p;
  }

  const char* cut_row(const char* p) const {
    while (*p == syntax_.delimiter) p = scan_field(syntax_, p + 1, end_).next;
    return p;
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
      case TypeId::kDate:
      case TypeId::kTimestamp:
        return time_field(target, p);
      case TypeId::kCategory:
        return category_field(target, p);
      case TypeId::kDecimal:
        return general_field(target, p, [&](const char* begin, const char* end) {
          return fit_decimal(parse_decimal(begin, end), target.dtype, &slot<Int128>(target));
        });
      case TypeId::kDuration:
        return general_field(target, p, [&](const char* begin, const char* end) {
          return parse_duration({begin, end}, target.dtype.unit(), &slot<int64_t>(target));
        });
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
      const int value = syntax_.bool_of({begin, static_cast<size_t>(end - begin)});
      if (value < 0) return false;
      set_bit(part(target).bits.mutable_as<uint8_t>(), row_, value != 0);
      return true;
    });
  }

  const char* time_field(const CsvTarget& target, const char* p) {
    return general_field(target, p, [&](const char* begin, const char* end) {
      IsoTime time = parse_iso_time(begin, end);
      if (target.zone)
        return to_instant(*target.zone, time, end) &&
               fit_time(time, target.dtype.unit(), &slot<int64_t>(target));
      if (time.end != end) return false;
      if (!target.dtype.is_date())
        return fit_time(time, target.dtype.unit(), &slot<int64_t>(target));
      slot<int32_t>(target) = static_cast<int32_t>(time.days);
      return !time.has_time;
    });
  }

  // A number, bool or time in quotes or blanks, a null, or an invalid value. `parse` gets [begin,
  // end).
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
    return type_error(target, field);
  }

  // The text of a field with its quotes undone, or a null. `put` keeps it, or gives false when it
  // is not UTF-8.
  template <class Put>
  const char* text_field(const CsvTarget& target, const char* p, Put put) {
    const CsvField field = scan_field(syntax_, p, end_);
    if (field.defect != FieldDefect::kNone) return defect(field);
    if (!field.quoted && syntax_.is_null(field.begin, field.end)) {
      set_null(target);
      return field.next;
    }
    std::string_view text(field.begin, static_cast<size_t>(field.end - field.begin));
    std::string single;
    if (field.doubled) text = single = single_quotes(field);
    return put(text) ? field.next : not_utf8(target, text);
  }

  const char* string_field(const CsvTarget& target, const char* p) {
    return text_field(target, p, [&](std::string_view text) {
      if (!is_valid_utf8(text)) return false;
      StringView view{};
      view.size = static_cast<uint32_t>(text.size());
      if (text.size() <= sizeof view.inlined) {
        std::memcpy(view.inlined, text.data(), text.size());
      } else {
        ByteBuffer& text_of_range = arena(target);
        std::memcpy(view.indirect.prefix, text.data(), sizeof view.indirect.prefix);
        view.indirect.buffer = text_buffer_;
        view.indirect.offset = static_cast<uint32_t>(text_of_range.size());
        text_of_range.append(text);
      }
      slot<StringView>(target) = view;
      return true;
    });
  }

  const char* category_field(const CsvTarget& target, const char* p) {
    return text_field(target, p, [&](std::string_view text) {
      int32_t code = entries(target).find(text);
      if (code < 0) {
        if (!is_valid_utf8(text)) return false;
        code = entries(target).add(text);
      }
      slot<int32_t>(target) = code;
      return true;
    });
  }

  const CsvKeep* keep_;
  int64_t seen_ = 0;  // rows of the range, where not all are kept
  const char* text_;
  const char* end_;
  int64_t most_;          // rows wanted of the range
  const char* rows_end_;  // behind the last row's line end
  CsvFields fields_{};
  Buffer room_{};
  Buffer others_{};
  Buffer kept_{};               // fields of the rows of a tile that are needed
  std::vector<bool> is_odd_{};  // fields of another shape than the kernels'
  const char* row_by_row_until_ = nullptr;
  int64_t other_shapes_ = 0;  // times in a row that lines were not of the shape of number_lines
};

CsvPartial parse(const CsvParseJob& job, const char* text, int64_t size, const CsvRange& range,
                 int64_t first_slot, uint32_t text_buffer, const CsvKeep* keep) {
  return RangeParser(job, text, size, range, first_slot, text_buffer, keep).parse();
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

CsvPartial parse_range(const CsvParseJob& job, const char* text, int64_t size,
                       const CsvRange& range, int64_t first_slot, uint32_t text_buffer,
                       const CsvKeep* keep) {
  return HR_SIMD(parse)(job, text, size, range, first_slot, text_buffer, keep);
}

}  // namespace hr::cpu
#endif
