// SPDX-License-Identifier: Apache-2.0
// RFC 8259 to the letter: a loop over values with a stack of levels, strings by vectors.
#define HWY_TARGET_INCLUDE "headrace/io/json/row_parser_cpu.cpp"
#include "headrace/base/error.h"
#include "headrace/base/simd_targets.h"
#include "headrace/base/utf8.h"
#include "headrace/io/json/row_parser_kernels.h"
#include "headrace/io/parse_number_math.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

using json::BadRow;
using json::Builder;
using json::Kind;
using json::Piece;
using json::RowJob;

#if HWY_TARGET == HWY_SCALAR
// First byte from `p` that ends a run of plain text: a quote, a backslash, a control byte.
inline const char* find_special(const char* p) {
  while (*p != '"' && *p != '\\' && static_cast<uint8_t>(*p) >= 0x20) ++p;
  return p;
}
#else
namespace hn = hwy::HWY_NAMESPACE;

inline const char* find_special(const char* p) {
  const hn::CappedTag<uint8_t, 32> d;
  const auto quote = hn::Set(d, '"'), backslash = hn::Set(d, '\\'), blank = hn::Set(d, ' ');
  for (;; p += hn::MaxLanes(d)) {
    const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(p));
    const auto special =
        hn::Or(hn::Or(hn::Eq(bytes, quote), hn::Eq(bytes, backslash)), hn::Lt(bytes, blank));
    if (const intptr_t at = hn::FindFirstTrue(d, special); at >= 0) return p + at;
  }
}
#endif

constexpr int64_t kMostOfKey = 80;

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

// A string between its quotes, as it stands in the text or with its escapes resolved.
struct Text {
  const char* begin;
  int64_t size;
};

struct Number {
  IntegerText whole{};
  bool is_whole = false;
  double value = 0;
};

// Parses a row and stores it, or (kStores false) only checks it and finds keys that are repeated.
template <bool kStores>
class RowParser {
 public:
  // `ignored`: gets the values of repeated keys of a row that is checked; `left_out`: sorted, those
  // that are passed.
  RowParser(Piece& piece, bool spans_lines, bool is_utf8, std::vector<const char*>& ignored,
            const std::vector<const char*>& left_out)
      : piece_(piece),
        spans_lines_(spans_lines),
        is_utf8_(is_utf8),
        ignored_(ignored),
        left_out_(left_out) {}

  // Behind the row that begins at `p`; null for a bad one, of which `wrong` and `bad` tell, and
  // where a key is repeated.
  const char* parse(const char* p) {
    wrong = key_ = nullptr;
    members_.clear();
    if (*p != '{') return skip_value(p) ? fail(p, "a row is not an object", "", false) : nullptr;
    depth_ = 0;
    push({.builder = &piece_.root, .is_object = true});
    return run(p + 1, State::kFirstKey);
  }

  // Behind any value, of which nothing is stored; null where it is not JSON.
  const char* skip_value(const char* p) {
    depth_ = 0;
    target_ = nullptr;
    if (*p != '[' && *p != '{') return scalar(p);
    open(p);
    return run(p + 1, *p == '{' ? State::kFirstKey : State::kFirstItem);
  }

  const char* fail(const char* at, std::string_view what, std::string_view fix = "",
                   bool is_syntax = true) {
    wrong = at;
    if (is_syntax && !spans_lines_ && *at == '\n') what = "the line ends inside of a value";
    bad.what = what;
    bad.fix = fix;
    bad.is_syntax = is_syntax;
    bad.key.clear();
    if (!is_syntax && key_)
      for (const char* p = key_; *p != '"' && std::ssize(bad.key) < kMostOfKey; ++p) bad.key += *p;
    return nullptr;
  }

  BadRow bad{};
  const char* wrong = nullptr;
  bool is_repeated = false;

 private:
  enum class State : uint8_t { kFirstKey, kKey, kFirstItem, kValue, kAfter };

  struct Level {
    Builder* builder = nullptr;  // null: nothing is stored
    bool is_object = false;
    size_t ordinal = 0;          // of the next key
    int64_t begin = 0;           // first item of this list
    Builder* outside = nullptr;  // gets the text from `text` on, or a null, at the end
    const char* text = nullptr;
    size_t first_member = 0;  // of those that are compared for repetition
  };

  const char* run(const char* p, State state) {
    for (;;) {
      p = skip_blanks(p);
      switch (state) {
        case State::kFirstKey:
          if (*p == '}') break;
          [[fallthrough]];
        case State::kKey:
          if (!(p = key(p))) return nullptr;
          state = State::kValue;
          continue;
        case State::kFirstItem:
          if (*p == ']') break;
          [[fallthrough]];
        case State::kValue:
          if (const Level& list = levels_[depth_ - 1]; !list.is_object)
            target_ = list.builder ? list.builder->items.get() : nullptr;
          if (*p == '{' || *p == '[') {
            if (!open(p)) return nullptr;
            state = *p == '{' ? State::kFirstKey : State::kFirstItem;
            ++p;
            continue;
          }
          if (!(p = scalar(p))) return nullptr;
          state = State::kAfter;
          continue;
        case State::kAfter:
          const Level& level = levels_[depth_ - 1];
          if (*p == ',') {
            ++p;
            state = level.is_object ? State::kKey : State::kValue;
            continue;
          }
          if (*p != (level.is_object ? '}' : ']'))
            return fail(p, level.is_object ? "expected ',' or '}' behind a member"
                                           : "expected ',' or ']' behind an item");
          break;
      }
      close(++p);
      if (depth_ == 0) return p;
      state = State::kAfter;
    }
  }

  const char* skip_blanks(const char* p) const {
    while (*p == ' ' || *p == '\t' || *p == '\r' || (*p == '\n' && spans_lines_)) ++p;
    return p;
  }

  bool push(Level level) {
    level.first_member = members_.size();
    levels_[depth_++] = level;
    return true;
  }

  // ---- keys -------------------------------------------------------------------------------------
  // Behind the colon; `target_` is who gets the value.
  const char* key(const char* p) {
    if (*p != '"') return fail(p, "expected a key in double quotes");
    key_ = p + 1;
    Level& level = levels_[depth_ - 1];
    Builder* const object = level.builder;
    Builder* child = nullptr;
    if (object && level.ordinal < object->fields.order.size()) {
      const uint32_t place = object->fields.order[level.ordinal];
      const std::string& name = object->fields.names[place];
      if (object->fields.is_plain[place] && p[name.size() + 1] == '"' &&
          std::memcmp(p + 1, name.data(), name.size()) == 0) {
        child = object->fields.builders[place].get();
        if constexpr (!kStores) members_.push_back({name, nullptr});
        p += name.size() + 2;
      }
    }
    if (!child) {
      Text text;
      if (!(p = string(p, text))) return nullptr;
      const std::string_view name(text.begin, static_cast<size_t>(text.size));
      if constexpr (!kStores) members_.push_back({std::string(name), nullptr});
      if (object) child = look_up(*object, level.ordinal, name);
    }
    ++level.ordinal;
    p = skip_blanks(p);
    if (*p != ':') return fail(p, "expected ':' behind a key");
    p = skip_blanks(p + 1);
    if constexpr (!kStores) members_.back().value = p;
    if (child && !expects(*child, *object, p)) child = nullptr;
    if (is_repeated) return nullptr;
    target_ = child;
    return p;
  }

  Builder* look_up(Builder& object, size_t ordinal, std::string_view name) {
    json::Fields& fields = object.fields;
    auto at = fields.places.find(name);
    if (at == fields.places.end()) {
      if constexpr (!kStores) return nullptr;
      fields.add(name);
      at = fields.places.find(name);
    }
    if constexpr (kStores) fields.see(ordinal, at->second);
    return fields.builders[at->second].get();
  }

  // Makes a member ready for the value at `p`; false when that is not stored.
  bool expects(Builder& child, const Builder& object, const char* p) {
    if (child.skipped) return false;
    if (!left_out_.empty() && std::binary_search(left_out_.begin(), left_out_.end(), p))
      return false;
    if constexpr (kStores) {
      child.pad(object.rows);
      if (child.rows > object.rows) is_repeated = true;
    }
    return true;
  }

  // ---- arrays and objects -----------------------------------------------------------------------
  bool open(const char* p) {
    if (depth_ == json::kMostLevels) {
      fail(p, "values are nested in more than 64 levels");
      return false;
    }
    const bool is_object = *p == '{';
    Builder* const b = target_;
    if (!b) return push({.is_object = is_object});
    if (b->asked) {
      if (b->asked->is_string()) return push({.is_object = is_object, .outside = b, .text = p});
      misfit(p, *b, is_object ? "an object" : "an array");
      return false;
    }
    const Kind kind = is_object ? Kind::kStruct : Kind::kList;
    if (!takes(*b, kind, p)) {
      if (wrong) return false;
      return push({.is_object = is_object, .outside = b});
    }
    if constexpr (!kStores) {
      if (b->kind != kind) return push({.is_object = is_object});
    }
    if (is_object) return push({.builder = b, .is_object = true});
    if (kStores && !b->items) b->items = std::make_unique<Builder>();
    return push({.builder = b, .begin = b->items ? b->items->rows : 0});
  }

  // Ends the last level, behind whose bracket `p` is.
  void close(const char* p) {
    const Level& level = levels_[--depth_];
    if constexpr (!kStores) {
      if (level.is_object) find_repeated(level.first_member);
      members_.resize(level.first_member);
    }
    if (kStores && level.builder) {
      if (level.is_object)
        level.builder->append_object();
      else
        level.builder->append(ListSpan{level.begin, level.builder->items->rows - level.begin});
    } else if (kStores && level.outside) {
      if (level.text)
        append_text(*level.outside, {level.text, p - level.text});
      else
        level.outside->append_nulls(1);
    }
  }

  // All but the last of equal keys are ignored when the row is stored.
  void find_repeated(size_t first) {
    std::map<std::string_view, const char*> last;
    for (size_t m = first; m < members_.size(); ++m) {
      const auto [at, is_new] = last.emplace(members_[m].name, members_[m].value);
      if (is_new) continue;
      ignored_.push_back(at->second);
      at->second = members_[m].value;
    }
  }

  // ---- scalars ----------------------------------------------------------------------------------
  const char* scalar(const char* p) {
    Builder* const b = target_;
    switch (*p) {
      case '"': {
        const char* const begin = p;
        Text text;
        if (!(p = string(p, text))) return nullptr;
        return !b || put_string(*b, text, begin) ? p : nullptr;
      }
      case 't':
        if (std::memcmp(p, "true", 4) != 0) break;
        return !b || put_bool(*b, true, p) ? p + 4 : nullptr;
      case 'f':
        if (std::memcmp(p, "false", 5) != 0) break;
        return !b || put_bool(*b, false, p) ? p + 5 : nullptr;
      case 'n':
        if (std::memcmp(p, "null", 4) != 0) break;
        if (kStores && b) b->append_nulls(1);
        return p + 4;
      default:
        if (*p != '-' && !is_digit(*p)) break;
        return number(p, b);
    }
    return fail(p, "expected a value");
  }

  // Whether values of this kind can stand in a column; a new kind may be given to it.
  bool takes(Builder& b, Kind kind, const char* p) {
    if (b.kind == kind) return true;
    if (json::clash(b.kind, kind)) {
      if (b.fixed) {
        fail(p,
             "a column has " + std::string(json::plural_of(b.kind)) + " and " +
                 std::string(json::plural_of(kind)),
             "read it as text by dtypes={name: 'string'}, or pass on_bad=\"reject\" to set such "
             "rows aside",
             false);
      } else if constexpr (kStores) {
        b.mixed = true;
      }
      return false;
    }
    if constexpr (kStores) return b.become(kind);
    return true;
  }

  bool misfit(const char* p, const Builder& b, std::string_view found) {
    fail(p, std::string(found) + " does not fit the column's dtype " + std::string(b.asked->name()),
         "pass another dtype, or on_bad=\"reject\" to set such rows aside", false);
    return false;
  }

  bool refuse(Builder& b) {
    if (wrong) return false;
    if constexpr (kStores) b.append_nulls(1);
    return true;
  }

  void append_text(Builder& b, Text text) {
    StringView view{};
    view.size = static_cast<uint32_t>(text.size);
    if (text.size <= static_cast<int64_t>(sizeof view.inlined)) {
      std::memcpy(view.inlined, text.begin, static_cast<size_t>(text.size));
    } else {
      char* const room = piece_.text.mutable_as<char>() + piece_.text_size;
      if (room != text.begin) std::memcpy(room, text.begin, static_cast<size_t>(text.size));
      std::memcpy(view.indirect.prefix, room, sizeof view.indirect.prefix);
      view.indirect.offset = static_cast<uint32_t>(piece_.text_size);
      piece_.text_size += text.size;
    }
    b.append(view);
  }

  bool put_string(Builder& b, Text text, const char* p) {
    if (b.asked) {
      if (b.asked->is_temporal()) return put_time(b, text, p);
      if (!b.asked->has_text()) return misfit(p, b, "a string");
    } else {
      if (!takes(b, Kind::kString, p)) return refuse(b);
      if constexpr (kStores) b.times.look(text.begin, text.size);
    }
    if constexpr (kStores) append_text(b, text);
    return true;
  }

  bool put_time(Builder& b, Text text, const char* p) {
    const std::optional<int64_t> value = b.time_of(text.begin, text.size);
    if (!value) return misfit(p, b, "a string");
    if constexpr (kStores) b.append(*value);
    return true;
  }

  bool put_bool(Builder& b, bool value, const char* p) {
    if (b.asked && b.asked->is_string()) {
      if constexpr (kStores) append_text(b, {p, value ? 4 : 5});
      return true;
    }
    if (b.asked && !b.asked->is_bool()) return misfit(p, b, "a bool");
    if (!b.asked && !takes(b, Kind::kBool, p)) return refuse(b);
    if constexpr (kStores) b.append(static_cast<uint8_t>(value));
    return true;
  }

  const char* number(const char* p, Builder* b) {
    const char* const begin = p;
    const bool negative = *p == '-';
    p += negative;
    if (!is_digit(*p)) return fail(p, "expected a digit");
    if (*p == '0' && is_digit(p[1])) return fail(p, "a number begins with 0");
    const char* const first = p;
    uint64_t digits = 0;
    int64_t power = 0, count;
    p = take_digits(p, digits);
    count = p - first;
    const bool is_whole = *p != '.' && (*p | 0x20) != 'e';
    if (*p == '.') {
      const char* const point = p++;
      if (!is_digit(*p)) return fail(p, "expected a digit after the decimal point");
      p = take_digits(p, digits);
      power = point + 1 - p;
      count = p - first - 1;
    }
    if ((*p | 0x20) == 'e') {
      ++p;
      const bool is_small = *p == '-';
      if (*p == '-' || *p == '+') ++p;
      if (!is_digit(*p)) return fail(p, "expected a digit in the exponent");
      int64_t exponent = 0;
      for (; is_digit(*p); ++p) exponent = std::min<int64_t>(exponent * 10 + (*p - '0'), 100'000);
      power += is_small ? -exponent : exponent;
    }
    if (!b) return p;
    Number number{.is_whole = is_whole};
    if (is_whole) {
      number.whole = count < 19 ? IntegerText{digits, negative, false, p} : parse_integer(begin);
      if (number.whole.overflow) number.is_whole = false;
    }
    if (!number.is_whole && (count > 19 || !scale_decimal(digits, power, negative, &number.value)))
      parse_float(begin, p, &number.value);
    return put_number(*b, number, begin, p) ? p : nullptr;
  }

  static const char* take_digits(const char* p, uint64_t& digits) {
    for (uint64_t eight = load_eight(p); are_digits(eight); eight = load_eight(p)) {
      digits = digits * 100'000'000 + eight_digits(eight);
      p += 8;
    }
    for (; is_digit(*p); ++p) digits = digits * 10 + static_cast<uint64_t>(*p - '0');
    return p;
  }

  bool put_number(Builder& b, const Number& number, const char* begin, const char* end) {
    if (b.asked) return put_asked_number(b, number, begin, end);
    if (!number.is_whole) {
      if (!takes(b, Kind::kFloat, begin)) return refuse(b);
      if constexpr (kStores) b.append(number.value);
      return true;
    }
    if (!takes(b, Kind::kInteger, begin)) return refuse(b);
    if constexpr (kStores) append_integer(b, number.whole);
    return true;
  }

  static void append_integer(Builder& b, const IntegerText& whole) {
    int64_t value;
    const bool fits = fit_integer(whole, &value);
    if (b.kind == Kind::kFloat || (!fits && whole.negative)) {
      b.become(Kind::kFloat);
      const auto magnitude = static_cast<double>(whole.magnitude);
      b.append(whole.negative && whole.magnitude != 0 ? -magnitude : magnitude);
      return;
    }
    if ((!fits && b.negative) || (fits && value < 0 && b.large)) {
      b.become(Kind::kFloat);  // no integer holds both
      return append_integer(b, whole);
    }
    b.large |= !fits;
    b.negative |= fits && value < 0;
    b.append(fits ? static_cast<uint64_t>(value) : whole.magnitude);
  }

  bool put_asked_number(Builder& b, const Number& number, const char* begin, const char* end) {
    const Dtype dtype = *b.asked;
    if (dtype.is_string()) {
      if constexpr (kStores) append_text(b, {begin, end - begin});
      return true;
    }
    if (dtype.is_floating()) {
      double value = number.is_whole ? 0 : number.value;
      if (dtype.id() == TypeId::kFloat32) {
        float single = 0;
        parse_float(begin, end, &single);
        value = single;
      } else if (number.is_whole) {
        value = static_cast<double>(number.whole.magnitude);
        if (number.whole.negative && number.whole.magnitude != 0) value = -value;
      }
      if constexpr (kStores) b.append(value);
      return true;
    }
    bool fits = number.is_whole && dtype.is_integer();
    int64_t value = 0;
    if (fits)
      visit_real(dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_integral_v<T>) {
          T narrow;
          fits = fit_integer(number.whole, &narrow);
          value = fits ? static_cast<int64_t>(narrow) : 0;
        }
      });
    if (!fits) return misfit(begin, b, "a number");
    if constexpr (kStores) b.append(value);
    return true;
  }

  // ---- strings ----------------------------------------------------------------------------------
  // The string whose quote is at `p`; behind it.
  const char* string(const char* p, Text& text) {
    const char* const begin = ++p;
    p = find_special(p);
    if (*p == '"') {
      text = {begin, p - begin};
    } else {
      char* const room = piece_.text.mutable_as<char>() + piece_.text_size;
      char* out = room;
      const char* from = begin;
      for (; *p != '"'; p = find_special(p)) {
        std::memcpy(out, from, static_cast<size_t>(p - from));
        out += p - from;
        if (*p != '\\')
          return fail(p, *p == '\n' ? "a line ends inside of a string"
                                    : "a string holds a control byte, or is never closed");
        if (!(p = escape(p, out))) return nullptr;
        from = p;
      }
      std::memcpy(out, from, static_cast<size_t>(p - from));
      text = {room, out + (p - from) - room};
    }
    if (!is_utf8_ && !is_valid_utf8({begin, static_cast<size_t>(p - begin)}))
      return fail(begin, "a string is not valid UTF-8", "convert the file to UTF-8");
    return p + 1;
  }

  // Behind the escape at `p`, what it stands for behind `out`.
  const char* escape(const char* p, char*& out) {
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (const size_t at = kFrom.find(p[1]); p[1] != '\0' && at != kFrom.npos) {
      *out++ = kTo[at];
      return p + 2;
    }
    uint32_t code;
    if (p[1] != 'u' || !four_hex(p + 2, code)) return fail(p, "an escape is not one of JSON's");
    p += 6;
    if (code >= 0xD800 && code < 0xE000) {
      uint32_t low;
      if (code >= 0xDC00 || p[0] != '\\' || p[1] != 'u' || !four_hex(p + 2, low) || low < 0xDC00 ||
          low >= 0xE000)
        return fail(p - 6, "an escape is half of a surrogate pair, which is no character");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      p += 6;
    }
    out += put_character(code, out);
    return p;
  }

  static bool four_hex(const char* p, uint32_t& code) {
    code = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_digit(p[i]);
      if (digit < 0) return false;
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    return true;
  }

  struct Member {
    std::string name;
    const char* value;
  };

  Piece& piece_;
  const bool spans_lines_;
  const bool is_utf8_;
  std::vector<const char*>& ignored_;
  const std::vector<const char*>& left_out_;
  Level levels_[json::kMostLevels];
  int depth_ = 0;
  Builder* target_ = nullptr;
  const char* key_ = nullptr;  // the last one
  std::vector<Member> members_{};
};

// All rows of a piece.
class PieceParser {
 public:
  PieceParser(const RowJob& job, const char* text, int64_t size, Piece& piece)
      : job_(job),
        text_(text),
        end_(text + size),
        piece_(piece),
        is_utf8_(is_valid_utf8({text, static_cast<size_t>(size)})),
        checker_(piece, job.is_array, is_utf8_, ignored_, repeated_),
        parser_(piece, job.is_array, is_utf8_, ignored_, repeated_) {}

  void run() {
    const char* p = text_;
    while (piece_.root.rows < job_.max_rows) {
      while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') ++p;
      if (p == end_) return;
      if (job_.begins_array && *p == ']' && piece_.root.rows == 0 && piece_.bad_rows.empty()) {
        p = close_array(p);
        return;
      }
      if (!(p = row(p))) return;
    }
  }

 private:
  // Behind a row and what separates it from the next; null where parsing ends.
  const char* row(const char* begin) {
    const char* p = job_.is_careful ? check_and_store(begin) : parser_.parse(begin);
    if (p && !job_.is_careful && !(p = behind_row(p, parser_))) return reject(begin, parser_);
    if (!p) {
      // A value that does not fit may be one of a key that comes again.
      if (!job_.is_careful && (!parser_.wrong || !parser_.bad.is_syntax)) {
        piece_.needs_care = true;
        return nullptr;
      }
      return job_.is_careful ? reject(begin, checker_) : reject(begin, parser_);
    }
    return separator(p);
  }

  const char* check_and_store(const char* begin) {
    ignored_.clear();
    repeated_.clear();
    const char* p = checker_.parse(begin);
    if (!p && !checker_.bad.is_syntax) {
      ignored_.clear();
      if (checker_.skip_value(begin) && !ignored_.empty()) {
        take_repeated();
        p = checker_.parse(begin);
      }
    }
    if (p) p = behind_row(p, checker_);
    if (!p) return nullptr;
    take_repeated();
    parser_.parse(begin);
    return p;
  }

  void take_repeated() {
    repeated_ = std::exchange(ignored_, {});
    std::sort(repeated_.begin(), repeated_.end());
  }

  // To the end of a line, or the comma or bracket behind an item.
  template <class Parser>
  const char* behind_row(const char* p, Parser& parser) const {
    while (*p == ' ' || *p == '\t' || *p == '\r' || (*p == '\n' && job_.is_array)) ++p;
    if (job_.is_array) {
      if (*p == ',' || *p == ']') return p;
      return parser.fail(p, p == end_ ? "the array is never closed"
                                      : "expected ',' or ']' behind an item of the array");
    }
    if (*p == '\n' || p == end_) return p;
    return parser.fail(p, "unexpected text behind the object of a line");
  }

  const char* separator(const char* p) {
    if (!job_.is_array) return p == end_ ? p : p + 1;
    if (*p == ',') return p + 1;
    return close_array(p);
  }

  const char* close_array(const char* p) {
    piece_.is_closed = true;
    for (++p; *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n';) ++p;
    if (p != end_ && piece_.root.rows < job_.max_rows)
      piece_.bad_rows.push_back({.begin = p - text_,
                                 .end = end_ - text_,
                                 .at = p - text_,
                                 .what = "unexpected text behind the array",
                                 .is_syntax = true});
    return nullptr;
  }

  template <class Parser>
  const char* reject(const char* begin, Parser& parser) {
    if (job_.rejects && !job_.is_careful) {
      piece_.needs_care = true;
      return nullptr;
    }
    BadRow bad = parser.bad;
    const char* wrong = parser.wrong;
    const char* p = nullptr;
    if (!bad.is_syntax) {  // if the rest of the row is no JSON, that counts
      p = checker_.skip_value(begin);
      if (p) p = behind_row(p, checker_);
      if (!p) {
        bad = checker_.bad;
        wrong = checker_.wrong;
      }
    }
    bad.begin = begin - text_;
    bad.at = wrong - text_;
    if (!job_.is_array) {
      const void* const line_end = std::memchr(begin, '\n', static_cast<size_t>(end_ - begin));
      p = line_end ? static_cast<const char*>(line_end) : end_;
    }
    bad.end = (p ? p : end_) - text_;
    const bool goes_on = job_.rejects && p && (!job_.is_array || !bad.is_syntax);
    piece_.bad_rows.push_back(std::move(bad));
    return goes_on ? separator(p) : nullptr;
  }

  const RowJob& job_;
  const char* const text_;
  const char* const end_;
  Piece& piece_;
  std::vector<const char*> ignored_{};   // values of repeated keys, found in a row that is checked
  std::vector<const char*> repeated_{};  // the same, sorted, of one that is stored
  const bool is_utf8_;
  RowParser<false> checker_;
  RowParser<true> parser_;
};

void parse_rows(const RowJob& job, const char* text, int64_t size, Piece& piece) {
  PieceParser(job, text, size, piece).run();
}

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::json::cpu {

void parse_rows(const RowJob& job, const char* text, int64_t size, Piece& piece) {
  piece.root.kind = Kind::kStruct;
  if (!piece.text) piece.text = Buffer::allocate(size + kPadding);
  HR_SIMD(parse_rows)(job, text, size, piece);
}

}  // namespace hr::json::cpu
#endif
