// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/npy/npy_header.h"

#include <charconv>

namespace hr::npy {

namespace {

constexpr size_t kMostDimensions = 64;  // as NumPy has

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // The next character that is no blank, taken if it is `c`.
  bool take(char c) {
    skip_blanks();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  // In either kind of quotes, without escapes.
  bool take_string(std::string_view& string) {
    skip_blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const size_t end = text_.find(text_[0], 1);
    if (end == text_.npos) return false;
    string = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return string.find('\\') == string.npos;
  }

  // Of Python 2 perhaps with an L behind.
  bool take_size(int64_t& size) {
    skip_blanks();
    const char* const end = text_.data() + text_.size();
    const auto [stop, bad] = std::from_chars(text_.data(), end, size);
    if (bad != std::errc() || size < 0) return false;
    text_.remove_prefix(static_cast<size_t>(stop - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);
    return true;
  }

  bool is_at_list() {
    skip_blanks();
    return text_.starts_with('[');
  }

  bool is_at_end() {
    skip_blanks();
    return text_.empty();
  }

 private:
  void skip_blanks() {
    const size_t begin = text_.find_first_not_of(" \t\n\r");
    text_.remove_prefix(begin == text_.npos ? text_.size() : begin);
  }

  std::string_view text_;
};

const char* parse_shape(Parser& parser, std::vector<int64_t>& shape) {
  if (!parser.take('(')) return "the shape is no tuple";
  while (!parser.take(')')) {
    int64_t size;
    if (!parser.take_size(size)) return "the shape has no valid sizes";
    if (shape.size() == kMostDimensions) return "the shape has more than 64 dimensions";
    shape.push_back(size);
    if (parser.take(',')) continue;
    if (!parser.take(')')) return "the shape has no end";
    return shape.size() == 1 ? "the shape is no tuple" : nullptr;  // "(3)" is a number
  }
  return nullptr;
}

}  // namespace

const char* parse_header(std::string_view text, Header& header) {
  Parser parser(text);
  bool has_descr = false, has_order = false, has_shape = false;
  if (!parser.take('{')) return "the header is no dict";
  while (!parser.take('}')) {
    std::string_view key, descr;
    if (!parser.take_string(key) || !parser.take(':'))
      return "the header has a key that is no string";
    if (key == "descr" && !has_descr) {
      has_descr = true;
      if (parser.is_at_list()) {  // of records, which are not read
        header.descr = "[";
        return nullptr;
      }
      if (!parser.take_string(descr)) return "the dtype is no string";
      header.descr = descr;
    } else if (key == "fortran_order" && !has_order) {
      has_order = true;
      header.is_fortran = parser.take_word("True");
      if (!header.is_fortran && !parser.take_word("False")) return "fortran_order is no bool";
    } else if (key == "shape" && !has_shape) {
      has_shape = true;
      if (const char* const wrong = parse_shape(parser, header.shape)) return wrong;
    } else {
      return "the header has a key that is unknown or there twice";
    }
    if (parser.take(',')) continue;
    if (!parser.take('}')) return "the header has no end";
    break;
  }
  if (!parser.is_at_end()) return "the header goes on behind its end";
  return has_descr && has_order && has_shape ? nullptr : "the header lacks a key";
}

}  // namespace hr::npy
