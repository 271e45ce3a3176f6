// SPDX-License-Identifier: Apache-2.0
// One line of text, parsed by one lane: numbers, bools, dates, times, strings and nulls, in quotes
// or not. What is not surely as the reader of all fields takes it is refused, and that reader
// decides.
#pragma once
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/base/dtype.h"
#include "headrace/io/parquet_device/page_math.h"
#include "headrace/io/scale_decimal_math.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace hr {

/// Null words that lines know: few and short ones.
inline constexpr int kLineWords = 32;
inline constexpr int kLineWordBytes = 16;

/// A short word as bytes of two numbers, the first lowest, and its length.
struct LineWord {
  uint64_t low = 0;
  uint64_t high = 0;
  int size = -1;  ///< too long for a word

  friend HR_BOTH bool operator==(const LineWord& a, const LineWord& b) {
    return a.size == b.size && a.low == b.low && a.high == b.high;
  }
};

HR_BOTH constexpr LineWord line_word_of(const char* text, int64_t size) {
  LineWord word;
  if (size > kLineWordBytes) return word;
  word.size = static_cast<int>(size);
  for (int i = 0; i < word.size; ++i) {
    const uint64_t byte = static_cast<unsigned char>(text[i]);
    (i < 8 ? word.low : word.high) |= byte << (8 * (i % 8));
  }
  return word;
}

struct LineSyntax {
  char delimiter = ',';
  int quote = '"';   ///< -1: none
  int comment = -1;  ///< -1: none
  /// What begins like a number is one, as of CsvSyntax.
  bool plain_numbers = true;
  int num_nulls = 0;
  uint32_t null_lengths = 0;  ///< bit n: some null word has n bytes
  LineWord nulls[kLineWords]{};

  HR_BOTH static bool is_end(char c) { return c == '\n' || c == '\r'; }

  HR_BOTH bool is_quote(char c) const { return static_cast<unsigned char>(c) == quote; }

  HR_BOTH bool is_comment(char c) const { return static_cast<unsigned char>(c) == comment; }

  HR_BOTH bool ends_field(char c) const { return c == delimiter || is_end(c) || is_comment(c); }

  HR_BOTH bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter; }

  HR_BOTH bool is_null(const char* text, int64_t size) const {
    if (size > kLineWordBytes || (null_lengths >> size & 1) == 0) return false;
    const LineWord word = line_word_of(text, size);
    bool found = false;
    for (int i = 0; i < num_nulls; ++i) found |= word == nulls[i];
    return found;
  }

  void add_null(std::string_view word) {
    nulls[num_nulls++] = line_word_of(word.data(), static_cast<int64_t>(word.size()));
    null_lengths |= uint32_t{1} << word.size();
  }
};

/// What becomes of one field of each line.
struct LineField {
  bool wanted = false;  ///< else only its borders matter
  TypeId type = TypeId::kFloat64;
  TimeUnit unit = TimeUnit::kMicro;  ///< of timestamps
  std::byte* values = nullptr;       ///< a slot a line; of bools bits, false at first
  uint32_t* validity = nullptr;      ///< bits, true at first
  uint32_t* has_null = nullptr;
};

/// Text that lines stand in; a line end is before `end`, and kLineSlack bytes behind it are
/// readable. Views of strings count from `base`, which is the text `buffer` of their column.
struct LineText {
  char* begin = nullptr;
  const char* end = nullptr;
  const char* base = nullptr;
  uint32_t buffer = 0;
};

inline constexpr int64_t kLineSlack = 64;

HR_BOTH inline bool is_line_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

/// (-1)^negative * digits * 10^power; `cut`: digits that are not zero were left out at the end.
struct LineDecimal {
  uint64_t digits = 0;
  int64_t power = 0;
  bool negative = false;
  bool cut = false;
  const char* end = nullptr;  ///< null: no number
};

HR_BOTH inline LineDecimal scan_decimal(const char* p) {
  constexpr int kMost = 19;  // digits that surely fit
  LineDecimal number;
  number.negative = *p == '-';
  p += number.negative || *p == '+';
  int kept = 0;
  bool any = false;
  const auto take = [&](char c, int whole) {
    const auto digit = static_cast<unsigned char>(c - '0');
    any = true;
    if (kept == kMost) {
      number.cut |= digit != 0;
      number.power += whole;
      return;
    }
    number.digits = number.digits * 10 + digit;
    kept += number.digits != 0;
    number.power += whole - 1;
  };
  for (; is_line_digit(*p); ++p) take(*p, 1);
  if (*p == '.')
    for (++p; is_line_digit(*p); ++p) take(*p, 0);
  if (!any) return number;
  number.end = p;
  if ((*p | 0x20) != 'e') return number;
  ++p;
  const bool down = *p == '-';
  p += down || *p == '+';
  if (!is_line_digit(*p)) return number;
  int64_t exponent = 0;
  for (; is_line_digit(*p); ++p)
    if (exponent < 100'000'000) exponent = exponent * 10 + (*p - '0');
  number.power += down ? -exponent : exponent;
  number.end = p;
  return number;
}

/// A float at `p`: the byte behind it, or null.
template <class T>
HR_BOTH inline const char* parse_line_float(const char* p, const uint64_t* fives, T* value) {
  const LineDecimal number = scan_decimal(p);
  if (!number.end || !scale_decimal(number.digits, number.power, number.negative, fives, value))
    return nullptr;
  if (number.cut) {  // between digits and digits + 1; both give the same, or all digits decide
    T above;
    if (!scale_decimal(number.digits + 1, number.power, number.negative, fives, &above) ||
        above != *value)
      return nullptr;
  }
  return number.end;
}

/// A whole number at `p` that T holds: the byte behind it, or null.
template <class T>
HR_BOTH inline const char* parse_line_integer(const char* p, T* value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  if (!is_line_digit(*p)) return nullptr;
  uint64_t size = 0;
  for (; is_line_digit(*p); ++p) {
    const auto digit = static_cast<uint64_t>(*p - '0');
    if (size > (~uint64_t{0} - digit) / 10) return nullptr;
    size = size * 10 + digit;
  }
  const uint64_t most =
      static_cast<uint64_t>(std::numeric_limits<T>::max()) + (std::is_signed_v<T> && negative);
  if (size > most || (std::is_unsigned_v<T> && negative && size != 0)) return nullptr;
  *value = static_cast<T>(negative ? uint64_t{0} - size : size);
  return p;
}

/// true, True, TRUE, false, False, FALSE: 1 or 0, else -1.
HR_BOTH inline int line_bool(const LineWord& word) {
  if (word == line_word_of("true", 4) || word == line_word_of("True", 4) ||
      word == line_word_of("TRUE", 4))
    return 1;
  const bool is_false = word == line_word_of("false", 5) || word == line_word_of("False", 5) ||
                        word == line_word_of("FALSE", 5);
  return is_false ? 0 : -1;
}

/// nan and inf in any case, without a sign.
template <class T>
HR_BOTH inline bool line_float_word(LineWord word, T* value) {
  word.low |= 0x202020;
  if (word == line_word_of("nan", 3))
    *value = std::numeric_limits<T>::quiet_NaN();
  else if (word == line_word_of("inf", 3))
    *value = std::numeric_limits<T>::infinity();
  else
    return false;
  return true;
}

/// Calls f(T()) for the number type of a dtype; `type` is one.
template <class F>
HR_BOTH inline auto visit_line_type(TypeId type, F f) {
  switch (type) {
    case TypeId::kInt8:
      return f(int8_t{});
    case TypeId::kInt16:
      return f(int16_t{});
    case TypeId::kInt32:
      return f(int32_t{});
    case TypeId::kInt64:
      return f(int64_t{});
    case TypeId::kUInt8:
      return f(uint8_t{});
    case TypeId::kUInt16:
      return f(uint16_t{});
    case TypeId::kUInt32:
      return f(uint32_t{});
    case TypeId::kUInt64:
      return f(uint64_t{});
    case TypeId::kFloat32:
      return f(float{});
    default:
      return f(double{});
  }
}

/// Where the content of a field stands, and the byte that ended it.
struct LineSpan {
  const char* begin = nullptr;
  const char* end = nullptr;
  const char* next = nullptr;  ///< null: its quote is never closed
  bool quoted = false;
  bool doubled = false;    ///< holds doubled quotes
  bool is_defect = false;  ///< text behind its closing quote
};

/// The field at `p`, as `scan_field` of csv_syntax.h finds it.
HR_BOTH inline LineSpan scan_line_field(const LineSyntax& syntax, const char* p, const char* end) {
  LineSpan span;
  span.quoted = syntax.is_quote(*p);
  p += span.quoted;
  span.begin = p;
  if (span.quoted) {
    for (;; ++p) {
      while (p < end && !syntax.is_quote(*p)) ++p;
      if (p == end) return span;
      if (!syntax.is_quote(p[1])) break;
      span.doubled = true;
      ++p;
    }
    span.end = p++;
    span.is_defect = !syntax.ends_field(*p);
  }
  while (!syntax.ends_field(*p)) ++p;
  if (!span.quoted) span.end = p;
  span.next = p;
  return span;
}

/// Behind the fields of a line: the first byte of its end. A comment may stand before it.
HR_BOTH inline const char* end_of_line(const char* p) {
  while (!LineSyntax::is_end(*p)) ++p;
  return p;
}

/// The end of the line of which a field begins at `p`; null: a quote is never closed.
HR_BOTH inline const char* find_line_end(const LineSyntax& syntax, const char* p, const char* end) {
  for (;; ++p) {
    p = scan_line_field(syntax, p, end).next;
    if (!p || *p != syntax.delimiter) return p ? end_of_line(p) : p;
  }
}

/// Makes doubled quotes of a span single, in place; gives the end of what is left.
HR_BOTH inline const char* undouble_quotes(const LineSyntax& syntax, char* begin, const char* end) {
  char* to = begin;
  for (const char* p = begin; p < end; ++p) {
    *to++ = *p;
    p += syntax.is_quote(*p);
  }
  return to;
}

HR_BOTH inline bool is_line_number(TypeId type) {
  return type != TypeId::kBool && type != TypeId::kString && type != TypeId::kDate &&
         type != TypeId::kTimestamp;
}

struct LineEnd {
  const char* at = nullptr;  ///< null: a quote is never closed
  bool is_taken = false;
};

/// One line by one lane.
template <class Bits>
struct LineParser {
  const LineSyntax& syntax;
  const LineText& text;
  const uint64_t* fives;
  int64_t slot;      ///< of the line; -1: it is checked and not kept
  const Bits& bits;  ///< sets and clears bits in words that other lines share

  /// The line at `p`, which is not taken when it is blank or anything in it is not plain. Then some
  /// of its slots may be written. Doubled quotes of strings are made single in the text.
  HR_BOTH LineEnd parse(const LineField* fields, int count, const char* p) const {
    const char* first = p;
    while (syntax.is_blank(*first)) ++first;
    if (syntax.is_end(*first) || syntax.is_comment(*first)) return {end_of_line(first), false};
    for (int f = 0; f < count; ++f) {
      const char* const next = parse_field(fields[f], p);
      if (!next) return {find_line_end(syntax, p, text.end), false};
      const bool has_more = *next == syntax.delimiter;
      if (has_more != (f + 1 < count))
        return {has_more ? find_line_end(syntax, next + 1, text.end) : end_of_line(next), false};
      p = next + 1;
    }
    return {end_of_line(p - 1), true};
  }

 private:
  /// The byte that ends the field at `p`, or null.
  HR_BOTH const char* parse_field(const LineField& field, const char* p) const {
    const bool is_number = field.wanted && is_line_number(field.type);
    if (is_number && syntax.plain_numbers)
      if (const char* next = parse_bare_number(field, p)) return next;
    const LineSpan span = scan_line_field(syntax, p, text.end);
    if (!span.next || span.is_defect) return nullptr;
    if (!field.wanted) return span.next;
    const bool taken = field.type == TypeId::kString ? take_string(field, span)
                                                     : !span.doubled && take_word(field, span);
    return taken ? span.next : nullptr;
  }

  /// The byte that ends a field that is a number and blanks, or null.
  HR_BOTH const char* parse_bare_number(const LineField& field, const char* p) const {
    while (syntax.is_blank(*p)) ++p;
    p = parse_number(field, p);
    if (!p) return nullptr;
    while (syntax.is_blank(*p)) ++p;
    return syntax.ends_field(*p) ? p : nullptr;
  }

  /// False: it is not UTF-8.
  HR_BOTH bool take_string(const LineField& field, const LineSpan& span) const {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(span.begin);
    auto size = static_cast<uint32_t>(span.end - span.begin);
    parquet::WideValue view;
    if (!span.quoted && syntax.is_null(span.begin, size)) {
      set_null(field);
      keep(field, view);
      return true;
    }
    if (slot < 0) return parquet::is_text(bytes, size);
    if (span.doubled) {
      if (!parquet::is_text(bytes, size)) return false;
      char* const begin = text.begin + (span.begin - text.begin);
      size = static_cast<uint32_t>(undouble_quotes(syntax, begin, span.end) - span.begin);
    }
    if (!parquet::view_of(bytes, size, text.buffer, static_cast<uint64_t>(span.begin - text.base),
                          view))
      return false;
    keep(field, view);
    return true;
  }

  /// A null, or what is no string, in quotes, in blanks or neither.
  HR_BOTH bool take_word(const LineField& field, const LineSpan& span) const {
    const char *begin = span.begin, *end = span.end;
    while (begin < end && syntax.is_blank(*begin)) ++begin;
    while (begin < end && syntax.is_blank(end[-1])) --end;
    if (syntax.is_null(begin, end - begin)) {
      set_null(field);
      keep_zero(field);
      return true;
    }
    if (begin == end) return false;
    const LineWord word = line_word_of(begin, end - begin);
    if (field.type == TypeId::kBool) {
      const int value = line_bool(word);
      if (value > 0 && slot >= 0) bits.set(reinterpret_cast<uint32_t*>(field.values), slot);
      return value >= 0;
    }
    if (!is_line_number(field.type)) return take_time(field, begin, end);
    return parse_number(field, begin) == end || take_float_word(field, word);
  }

  HR_BOTH bool take_time(const LineField& field, const char* begin, const char* end) const {
    const IsoTime time = parse_iso_time(begin, end);
    if (time.end != end) return false;
    if (field.type == TypeId::kDate) {
      keep(field, static_cast<int32_t>(time.days));
      return !time.has_time;
    }
    int64_t value;
    if (!fit_time(time, field.unit, &value)) return false;
    keep(field, value);
    return true;
  }

  HR_BOTH bool take_float_word(const LineField& field, const LineWord& word) const {
    return visit_line_type(field.type, [&]<class T>(T value) {
      if constexpr (std::is_floating_point_v<T>) {
        if (!line_float_word(word, &value)) return false;
        keep(field, value);
        return true;
      }
      return false;
    });
  }

  /// The byte behind a number at `p`, or null.
  HR_BOTH const char* parse_number(const LineField& field, const char* p) const {
    return visit_line_type(field.type, [&]<class T>(T value) {
      const char* stop;
      if constexpr (std::is_floating_point_v<T>)
        stop = parse_line_float(p, fives, &value);
      else
        stop = parse_line_integer(p, &value);
      if (stop) keep(field, value);
      return stop;
    });
  }

  HR_BOTH void keep_zero(const LineField& field) const {
    if (field.type == TypeId::kDate)
      keep(field, int32_t{0});
    else if (field.type == TypeId::kTimestamp)
      keep(field, int64_t{0});
    else if (field.type != TypeId::kBool)
      visit_line_type(field.type, [&](auto zero) { keep(field, zero); });
  }

  HR_BOTH void set_null(const LineField& field) const {
    if (slot < 0) return;
    bits.clear(field.validity, slot);
    *field.has_null = 1;
  }

  template <class T>
  HR_BOTH void keep(const LineField& field, T value) const {
    if (slot >= 0) reinterpret_cast<T*>(field.values)[slot] = value;
  }
};

}  // namespace hr
