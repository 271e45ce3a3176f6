// SPDX-License-Identifier: Apache-2.0
// CSV syntax: where a field and a row end. The text has a line end (or one set there by the reader)
// at `end` and 64 readable bytes behind it, so that loops need no check of their own.
#pragma once
#include "headrace/algo/math/iso_time_math.h"
#include "headrace/io/parse_number_math.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hr {

inline constexpr int64_t kCsvPadding = 64;

inline bool may_be_in_number(char c) {
  return c == '.' || c == '+' || c == '-' || is_digit(c) || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z');
}

/// True for the text of a number, "-999" or "nan".
inline bool is_number(std::string word) {
  word.append(32, '\0');  // readable bytes
  const char* const end = word.data() + word.size() - 32;
  double value;
  return parse_float(word.data(), end, &value) == end && end > word.data();
}

/// True for the text of a date or time.
inline bool is_time(std::string word) {
  const size_t size = word.size();
  word.append(64, '\0');  // readable bytes
  const char* const end = word.data() + size;
  return size > 0 && parse_iso_time(word.data(), end).end == end;
}

struct CsvSyntax {
  char delimiter = ',';
  int quote = '"';   ///< -1: none
  int comment = -1;  ///< -1: none
  std::array<bool, 256> ends_field{};
  std::vector<std::string> null_words{};
  std::vector<std::string> true_words{};
  std::vector<std::string> false_words{};
  bool null_padding = false;
  bool truncate_ragged_lines = false;
  /// What begins like a number is one: no delimiter, quote or comment cuts it, no null word is one.
  bool plain_numbers = true;
  /// No null word is a date or time.
  bool plain_times = true;
  uint64_t null_lengths = 0;  ///< bit n: some null word has n bytes (bit 63: 63 or more)

  friend bool operator==(const CsvSyntax&, const CsvSyntax&) = default;

  void prepare() {
    for (const char c : {delimiter, '\r', '\n'}) ends_field[static_cast<uint8_t>(c)] = true;
    if (comment >= 0) ends_field[static_cast<size_t>(comment)] = true;
    for (const int c : {static_cast<int>(static_cast<uint8_t>(delimiter)), quote, comment})
      if (c >= 0 && may_be_in_number(static_cast<char>(c))) plain_numbers = false;
    for (const std::string& word : null_words)
      if (is_number(word)) plain_numbers = false;
    for (const std::string& word : null_words)
      if (is_time(word)) plain_times = false;
    for (const std::string& word : null_words)
      null_lengths |= uint64_t{1} << (word.size() < 63 ? word.size() : 63);
  }

  /// 1, 0 or -1, as `parse_bool`, also of the words given.
  int bool_of(std::string_view text) const {
    const auto is_one = [&](const std::vector<std::string>& words) {
      for (const std::string& word : words)
        if (word == text) return true;
      return false;
    };
    if (is_one(true_words)) return 1;
    return is_one(false_words) ? 0 : parse_bool(text);
  }

  /// Whether a row may have this many fields where there are `columns`.
  bool takes(size_t fields, size_t columns) const {
    return fields == columns || (fields < columns ? null_padding : truncate_ragged_lines);
  }

  bool ends(char c) const { return ends_field[static_cast<uint8_t>(c)]; }

  bool is_comment(char c) const { return static_cast<uint8_t>(c) == comment; }

  bool is_quote(char c) const { return static_cast<uint8_t>(c) == quote; }

  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter; }

  bool is_null(const char* begin, const char* end) const {
    const auto size = static_cast<size_t>(end - begin);
    if (!(null_lengths >> (size < 63 ? size : 63) & 1)) return false;
    for (const std::string& word : null_words)
      if (word.size() == size && std::memcmp(word.data(), begin, size) == 0) return true;
    return false;
  }
};

enum class FieldDefect : uint8_t { kNone, kTextAfterQuote, kOpenQuote };

/// One field: its content without the quotes, and the byte that ended it.
struct CsvField {
  const char* begin;
  const char* end;
  const char* next;
  bool quoted;
  bool doubled;  ///< holds doubled quotes
  FieldDefect defect;
};

/// First byte from `p` that ends an unquoted field.
inline const char* find_field_end(const CsvSyntax& syntax, const char* p) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x8080808080808080;
  const uint64_t delimiters = kOnes * static_cast<uint8_t>(syntax.delimiter);
  const uint64_t comments =
      kOnes * static_cast<uint8_t>(syntax.comment < 0 ? '\n' : syntax.comment);
  for (;; p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    // A byte of x - ones has its high bit set where x is zero; borrows can only spoil higher bytes.
    const uint64_t a = word ^ delimiters, b = word ^ (kOnes * '\n'), c = word ^ (kOnes * '\r'),
                   d = word ^ comments;
    const uint64_t hits =
        (((a - kOnes) & ~a) | ((b - kOnes) & ~b) | ((c - kOnes) & ~c) | ((d - kOnes) & ~d)) & kHigh;
    if (hits != 0) return p + (std::countr_zero(hits) >> 3);
  }
}

/// The field that begins at `p`, before `end`.
inline CsvField scan_field(const CsvSyntax& syntax, const char* p, const char* end) {
  if (!syntax.is_quote(*p)) {
    const char* stop = find_field_end(syntax, p);
    return {p, stop, stop, false, false, FieldDefect::kNone};
  }
  const char* q = ++p;
  bool doubled = false;
  for (;; q += 2) {
    q = static_cast<const char*>(
        std::memchr(q, syntax.quote, static_cast<size_t>(q < end ? end - q : 0)));
    if (!q) return {p, end, end, true, doubled, FieldDefect::kOpenQuote};
    if (!syntax.is_quote(q[1])) break;
    doubled = true;
  }
  if (syntax.ends(q[1])) return {p, q, q + 1, true, doubled, FieldDefect::kNone};
  return {p, q, find_field_end(syntax, q + 1), true, doubled, FieldDefect::kTextAfterQuote};
}

/// First byte of the next row, from a byte that ends this one: a line end, or a comment before it.
inline const char* next_row(const CsvSyntax& syntax, const char* p) {
  if (syntax.is_comment(*p))
    while (*p != '\n' && *p != '\r') ++p;
  return p + (*p == '\r' && p[1] == '\n' ? 2 : 1);
}

/// `p`, or the first byte of the next row if at `p` stands a row without fields: an empty or blank
/// line, or a comment alone.
inline const char* skip_empty_row(const CsvSyntax& syntax, const char* p) {
  const char* q = p;
  while (syntax.is_blank(*q)) ++q;
  if (*q == '\n' || *q == '\r' || syntax.is_comment(*q)) return next_row(syntax, q);
  return p;
}

/// Line ends in [begin, end) as an editor counts: CRLF is one.
inline int64_t count_line_ends(const char* begin, const char* end) {
  int64_t count = 0;
  for (const char* p = begin; p < end; ++p)
    count += *p == '\n' ? (p == begin || p[-1] != '\r') : *p == '\r';
  return count;
}

/// The content of a field with doubled quotes made single.
inline std::string single_quotes(const CsvField& field) {
  std::string text;
  for (const char* p = field.begin; p < field.end; ++p) {
    text += *p;
    if (field.doubled && *p == field.begin[-1]) ++p;
  }
  return text;
}

}  // namespace hr
