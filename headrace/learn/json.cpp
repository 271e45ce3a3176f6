// SPDX-License-Identifier: Apache-2.0
// A strict parser, and views of what it found.
#include "headrace/learn/json.h"

#include "headrace/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace hr {

namespace {

constexpr int kMostLevels = 100;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number of four hexadecimal digits; -1 if they are none.
int32_t hex4(std::string_view digits) {
  uint32_t code = 0;
  if (digits.size() < 4) return -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 4, code, 16);
  return error == std::errc() && end == digits.data() + 4 ? static_cast<int32_t>(code) : -1;
}

// What stands between the quotes of a valid string.
std::string decoded(std::string_view raw) {
  std::string made;
  made.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      made.push_back(raw[i]);
      continue;
    }
    constexpr std::string_view kShort = "bfnrt", kMeant = "\b\f\n\r\t";
    const char escape = raw[++i];
    const size_t found = kShort.find(escape);
    if (escape != 'u') {
      made.push_back(found == std::string_view::npos ? escape : kMeant[found]);
      continue;
    }
    auto code = static_cast<uint32_t>(hex4(raw.substr(i + 1)));
    i += 4;
    if (code >= 0xD800 && code < 0xDC00) {
      const auto low = static_cast<uint32_t>(hex4(raw.substr(i + 3)));
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    char bytes[4];
    made.append(bytes, put_character(code, bytes));
  }
  return made;
}

}  // namespace

class Json::Parser {
 public:
  Parser(Document& document, JsonFault& fault)
      : text_(document.text), nodes_(document.nodes), fault_(fault) {}

  bool document() {
    if (text_.size() >= std::numeric_limits<uint32_t>::max()) return refuse("it is too long");
    if (!value(0)) return false;
    skip_space();
    return at_ == text_.size() || refuse("something follows the value");
  }

 private:
  bool refuse(std::string_view what) {
    fault_ = {what, at_};
    return false;
  }

  bool at_end() const { return at_ >= text_.size(); }

  char here() const { return at_end() ? '\0' : text_[at_]; }

  bool take(char c) {
    if (here() != c || at_end()) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (!at_end() && std::string_view(" \n\r\t").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool value(int level) {
    skip_space();
    if (level >= kMostLevels) return refuse("values lie too deep in each other");
    const size_t place = nodes_.size(), begin = at_;
    nodes_.push_back({Kind::kNull, static_cast<uint32_t>(begin), 0, 0});
    bool good = false;
    Kind kind = Kind::kNull;
    switch (here()) {
      case '{':
        kind = Kind::kObject;
        good = object(level);
        break;
      case '[':
        kind = Kind::kArray;
        good = array(level);
        break;
      case '"':
        kind = Kind::kString;
        good = string();
        break;
      case 't':
      case 'f':
        kind = Kind::kBool;
        good = word(here() == 't' ? "true" : "false");
        break;
      case 'n':
        good = word("null");
        break;
      default:
        kind = Kind::kNumber;
        good = number();
    }
    Node& made = nodes_[place];
    made.kind = kind;
    made.size = static_cast<uint32_t>(at_ - begin);
    made.next = static_cast<uint32_t>(nodes_.size());
    return good;
  }

  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return refuse("no such value");
    at_ += word.size();
    return true;
  }

  bool digits() {
    const size_t begin = at_;
    while (is_digit(here())) ++at_;
    return at_ > begin || refuse("a digit is missing");
  }

  bool number() {
    take('-');
    if (!is_digit(here())) return refuse("no value begins so");
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    return digits();
  }

  bool escape() {
    if (!take('u')) {
      if (at_end() || std::string_view("\"\\/bfnrt").find(here()) == std::string_view::npos)
        return refuse("no such escape");
      ++at_;
      return true;
    }
    const int32_t code = hex4(text_.substr(at_));
    if (code < 0) return refuse("\\u needs four hexadecimal digits");
    at_ += 4;
    if (code < 0xD800 || code > 0xDFFF) return true;
    const int32_t low = text_.substr(at_, 2) == "\\u" ? hex4(text_.substr(at_ + 2)) : -1;
    if (code > 0xDBFF || low < 0xDC00 || low > 0xDFFF) return refuse("half of a surrogate pair");
    at_ += 6;
    return true;
  }

  bool string() {
    ++at_;
    while (!take('"')) {
      if (at_end()) return refuse("a string has no end");
      if (take('\\')) {
        if (!escape()) return false;
        continue;
      }
      if (static_cast<unsigned char>(here()) < 0x20) return refuse("a control character");
      const int size = utf8_sequence(text_.data() + at_, text_.data() + text_.size());
      if (size == 0) return refuse("it is not UTF-8");
      at_ += static_cast<size_t>(size);
    }
    return true;
  }

  bool array(int level) {
    ++at_;
    skip_space();
    if (take(']')) return true;
    do {
      if (!value(level + 1)) return false;
      skip_space();
    } while (take(','));
    return take(']') || refuse("an array has no end");
  }

  bool object(int level) {
    ++at_;
    skip_space();
    if (take('}')) return true;
    std::vector<std::string> keys;
    do {
      skip_space();
      const size_t begin = at_;
      if (here() != '"') return refuse("a key is missing");
      if (!value(level + 1)) return false;
      keys.push_back(decoded(text_.substr(begin + 1, at_ - begin - 2)));
      skip_space();
      if (!take(':')) return refuse("a colon is missing");
      if (!value(level + 1)) return false;
      skip_space();
    } while (take(','));
    if (!take('}')) return refuse("an object has no end");
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end() ||
           refuse("an object has a key twice");
  }

  std::string_view text_;
  std::vector<Node>& nodes_;
  JsonFault& fault_;
  size_t at_ = 0;
};

std::optional<Json> Json::parse(std::string text, JsonFault& fault) {
  auto document = std::make_shared<Document>();
  document->text = std::move(text);
  if (!Parser(*document, fault).document()) return std::nullopt;
  return Json(std::move(document), 0);
}

std::string_view Json::text() const {
  return document_->text;
}

std::string_view Json::own_text() const {
  return text().substr(node().begin, node().size);
}

bool Json::boolean() const {
  return own_text() == "true";
}

std::optional<int64_t> Json::integer() const {
  const std::string_view text = own_text();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double Json::number() const {
  const std::string_view text = own_text();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  const bool small =
      text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  return (text[0] == '-' ? -1 : 1) * (small ? 0.0 : std::numeric_limits<double>::infinity());
}

std::string Json::string() const {
  return decoded(own_text().substr(1, own_text().size() - 2));
}

std::vector<Json> Json::items() const {
  std::vector<Json> found;
  if (kind() != Kind::kArray && kind() != Kind::kObject) return found;
  for (uint32_t place = place_ + 1; place < node().next; place = document_->nodes[place].next)
    found.push_back(Json(document_, place));
  return found;
}

std::vector<std::pair<std::string, Json>> Json::members() const {
  std::vector<std::pair<std::string, Json>> found;
  if (kind() != Kind::kObject) return found;
  const std::vector<Json> all = items();
  for (size_t i = 0; i + 1 < all.size(); i += 2) found.emplace_back(all[i].string(), all[i + 1]);
  return found;
}

std::optional<Json> Json::find(std::string_view key) const {
  for (auto& [name, value] : members())
    if (name == key) return value;
  return std::nullopt;
}

}  // namespace hr
