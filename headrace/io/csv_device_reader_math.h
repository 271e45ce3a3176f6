// SPDX-License-Identifier: Apache-2.0
// One line of plain fields, parsed by one lane: numbers, bools and nulls without quotes. What is
// not surely as the reader of all fields takes it is refused, and that reader decides.
#pragma once
#include "headrace/base/dtype.h"
#include "headrace/io/scale_decimal_math.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hr {

/// Null words that lines know: few and short ones.
inline constexpr int kLineWords = 8;
inline constexpr int kLineWordBytes = 8;

/// A short word as bytes of one number, the first lowest, and its length.
struct LineWord {
  uint64_t bytes = 0;
  int size = -1;

  friend HR_BOTH bool operator==(LineWord a, LineWord b) {
    return a.size == b.size && a.bytes == b.bytes;
  }
};

struct LineSyntax {
  char delimiter = ',';
  LineWord nulls[kLineWords]{};

  HR_BOTH static bool is_end(char c) { return c == '\n' || c == '\r'; }

  HR_BOTH bool ends_field(char c) const { return c == delimiter || is_end(c); }

  HR_BOTH bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter; }
};

/// What becomes of one field of each line.
struct LineField {
  bool wanted = false;  ///< else only its borders matter
  TypeId type = TypeId::kFloat64;
  std::byte* values = nullptr;   ///< a slot a line; of bools bits, false at first
  uint32_t* validity = nullptr;  ///< bits, true at first
  uint32_t* has_null = nullptr;
};

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

/// The text from `p` to the field's end without blanks at its own end, if it is short.
HR_BOTH inline LineWord line_word(const LineSyntax& syntax, const char* p) {
  LineWord word{0, 0};
  int blanks = 0;
  for (; !syntax.ends_field(*p); ++p) {
    const bool blank = syntax.is_blank(*p);
    if (!blank && word.size + blanks >= kLineWordBytes) return {};
    if (blank) {
      ++blanks;
      continue;
    }
    if (blanks > 0) return {};  // of two words
    word.bytes |= static_cast<uint64_t>(static_cast<unsigned char>(*p)) << (8 * word.size);
    ++word.size;
  }
  return word;
}

constexpr LineWord line_word_of(const char* text, int size) {
  LineWord word{0, size};
  for (int i = 0; i < size; ++i)
    word.bytes |= static_cast<uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  return word;
}

/// true, True, TRUE, false, False, FALSE: 1 or 0, else -1.
HR_BOTH inline int line_bool(LineWord word) {
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
  word.bytes |= 0x202020;
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

/// A wanted field at `p`, of the line with the slot `slot` (-1: it is checked and not kept). `bits`
/// sets and clears bits in words that other lines share. Gives the byte that ends it, or null.
template <class Bits>
HR_BOTH inline const char* parse_line_field(const LineSyntax& syntax, const LineField& field,
                                            const uint64_t* fives, const char* p, int64_t slot,
                                            const Bits& bits) {
  while (syntax.is_blank(*p)) ++p;
  const auto keep = [&](auto value) {
    if (slot >= 0) reinterpret_cast<decltype(value)*>(field.values)[slot] = value;
  };
  if (field.type != TypeId::kBool) {
    const char* end = visit_line_type(field.type, [&](auto value) -> const char* {
      const char* stop;
      if constexpr (std::is_floating_point_v<decltype(value)>)
        stop = parse_line_float(p, fives, &value);
      else
        stop = parse_line_integer(p, &value);
      if (stop) keep(value);
      return stop;
    });
    if (end) {
      while (syntax.is_blank(*end)) ++end;
      return syntax.ends_field(*end) ? end : nullptr;
    }
  }
  const LineWord word = line_word(syntax, p);
  if (word.size < 0) return nullptr;
  bool is_null = false;
  for (const LineWord& null : syntax.nulls) is_null |= word == null;
  if (is_null) {
    if (slot >= 0) {
      bits.clear(field.validity, slot);
      *field.has_null = 1;
    }
    if (field.type != TypeId::kBool) visit_line_type(field.type, keep);
  } else if (field.type == TypeId::kBool) {
    const int value = line_bool(word);
    if (value < 0) return nullptr;
    if (value > 0 && slot >= 0) bits.set(reinterpret_cast<uint32_t*>(field.values), slot);
  } else {
    const bool known = visit_line_type(field.type, [&](auto value) {
      if constexpr (std::is_floating_point_v<decltype(value)>) {
        if (!line_float_word(word, &value)) return false;
        keep(value);
        return true;
      }
      return false;
    });
    if (!known) return nullptr;
  }
  while (!syntax.ends_field(*p)) ++p;
  return p;
}

/// The line at `p`; false when it is blank or anything in it is not plain. Then some of its slots
/// may be written.
template <class Bits>
HR_BOTH inline bool parse_line(const LineSyntax& syntax, const LineField* fields, int count,
                               const uint64_t* fives, const char* p, int64_t slot,
                               const Bits& bits) {
  const char* first = p;
  while (syntax.is_blank(*first)) ++first;
  if (syntax.is_end(*first)) return false;
  for (int f = 0; f < count; ++f) {
    if (fields[f].wanted)
      p = parse_line_field(syntax, fields[f], fives, p, slot, bits);
    else
      while (!syntax.ends_field(*p)) ++p;
    if (!p || (*p == syntax.delimiter) != (f + 1 < count)) return false;
    ++p;
  }
  return true;
}

}  // namespace hr
