// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/log/log_lines.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/io/log/log_time_math.h"
#include "headrace/memory/budget/budget.h"
#include "headrace/memory/buffer/pin.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#ifdef HR_WITH_RE2
#include <re2/re2.h>
#endif

namespace hr {

namespace {

constexpr size_t kMaxBadText = size_t{1} << 16;  // of a bad line, that is told

// The field of an access log that ends where `stop` begins; null when nothing does.
const char* plain_end(const char* p, const char* end, std::string_view stop) {
  for (;; ++p) {
    while (p < end && *p != stop[0]) ++p;
    if (end - p < std::ssize(stop)) return nullptr;
    if (std::memcmp(p, stop.data(), stop.size()) == 0) return p;
  }
}

// The quote that ends a field: one behind a backslash, as Apache and nginx write it, does not.
const char* quote_end(const char* p, const char* end) {
  const char* const begin = p;
  for (;; ++p) {
    p = static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(end - p)));
    if (!p) return nullptr;
    const char* front = p;
    while (front > begin && front[-1] == '\\') --front;
    if ((p - front) % 2 == 0) return p;
  }
}

// The fields of a line of the common log format, or of the combined one, which has two more.
bool split_access_line(const char* p, const char* end, size_t count, std::string_view* fields) {
  const auto take = [&](size_t field, const char* stop, int64_t skip) {
    if (!stop) return false;
    fields[field] = {p, static_cast<size_t>(stop - p)};
    p = stop + skip;
    return true;
  };
  const auto is_empty = [&](size_t field) { return fields[field].empty(); };
  if (!take(0, plain_end(p, end, " "), 1) || !take(1, plain_end(p, end, " "), 1) ||
      !take(2, plain_end(p, end, " ["), 2) || !take(3, plain_end(p, end, "] \""), 3) ||
      is_empty(0) || is_empty(1) || is_empty(2))
    return false;
  if (!take(4, quote_end(p, end), 1) || p == end || *p++ != ' ' ||
      !take(5, plain_end(p, end, " "), 1) || is_empty(5))
    return false;
  if (count == 7) return take(6, std::find(p, end, ' '), 0) && p == end && !is_empty(6);
  if (!take(6, plain_end(p, end, " \""), 2) || is_empty(6) || !take(7, quote_end(p, end), 1))
    return false;
  if (end - p < 2 || p[0] != ' ' || p[1] != '"') return false;
  p += 2;
  return take(8, quote_end(p, end), 1) && p == end;
}

StringView view_of(std::string_view value, const char* text) {
  StringView view{};
  view.size = static_cast<uint32_t>(value.size());
  if (value.size() > sizeof view.inlined) {
    std::memcpy(view.indirect.prefix, value.data(), sizeof view.indirect.prefix);
    view.indirect.buffer = 0;
    view.indirect.offset = static_cast<uint32_t>(value.data() - text);
  } else if constexpr (std::endian::native == std::endian::little) {
    // Twelve bytes, of which those behind the value are made zero.
    const size_t size = value.size();
    uint64_t low;
    uint32_t high;
    std::memcpy(&low, value.data(), 8);
    std::memcpy(&high, value.data() + 8, 4);
    low &= size >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
    high &= size <= 8 ? 0 : static_cast<uint32_t>(((uint64_t{1} << (8 * (size - 8))) - 1));
    std::memcpy(view.inlined, &low, 8);
    std::memcpy(view.inlined + 8, &high, 4);
  } else {
    std::memcpy(view.inlined, value.data(), value.size());
  }
  return view;
}

// The text as strings keep it: under a limit where it can leave memory.
Buffer kept(Buffer text, int64_t size) {
  if (memory_limit() == std::numeric_limits<int64_t>::max()) return text;
  Buffer copy = Buffer::allocate_spillable(size);
  {
    std::byte* const out = copy.mutable_data();
    const Pin pin{{&copy, 0, size, true}};
    std::memcpy(out, text.data(), static_cast<size_t>(size));
  }
  copy.seal();
  return copy;
}

// A column of a piece that is being filled.
struct Filled {
  Filled(const LogField& field, int64_t rows)
      : type(field.type),
        dtype(field.dtype()),
        values(Buffer::allocate(rows * dtype.size_bytes())),
        validity(Buffer::allocate_zeroed(bitmap_bytes(rows))) {}

  void set_null(int64_t row) {
    std::memset(values.mutable_data() + row * dtype.size_bytes(), 0,
                static_cast<size_t>(dtype.size_bytes()));
    ++nulls;
  }

  // False for what is not a value of the dtype.
  bool put(int64_t row, std::string_view value, bool dash_is_null, const char* text) {
    const bool is_dash = dash_is_null && value.size() == 1 && value[0] == '-';
    if (!value.data() || is_dash || (value.empty() && type != LogType::kString)) {
      set_null(row);
      return true;
    }
    const char* const end = value.data() + value.size();
    bool good = true;
    if (type == LogType::kString) {
      values.mutable_as<StringView>()[row] = view_of(value, text);
    } else if (type == LogType::kInt) {
      const IntegerText number = parse_integer(value.data());
      good = number.end == end && fit_integer(number, values.mutable_as<int64_t>() + row);
    } else if (type == LogType::kFloat) {
      good = parse_float(value.data(), end, values.mutable_as<double>() + row) == end;
    } else {
      good = parse_log_time(value.data(), end, values.mutable_as<int64_t>() + row);
    }
    set_bit(validity.mutable_as<uint8_t>(), row, true);
    return good;
  }

  void forget(int64_t row, bool was_null) {
    set_bit(validity.mutable_as<uint8_t>(), row, false);
    nulls -= was_null;
  }

  Column finish(int64_t rows, const Buffer& text) {
    values.shrink(rows * dtype.size_bytes());
    Buffer valid = nulls > 0 ? std::move(validity) : Buffer();
    if (!dtype.is_string()) return Column(dtype, rows, std::move(values), std::move(valid), nulls);
    return Column::strings(rows, std::move(values), {text}, std::move(valid), nulls);
  }

  LogType type;
  Dtype dtype;
  Buffer values;
  Buffer validity;
  int64_t nulls = 0;
};

}  // namespace

#ifdef HR_WITH_RE2

struct LogParser::Pattern {
  explicit Pattern(const LogFormat& format) : whole_line(format.is_whole_line) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    regex.emplace(format.pattern, options);
    if (!regex->ok())
      throw_error<InvalidArgumentError>(
          "read_log", "invalid pattern",
          {{"reason", regex->error()}, {"at", printable(regex->error_arg(), 200)}},
          "RE2 has no lookahead and no back references");
    places.resize(format.fields.size());
    for (const auto& [name, place] : regex->NamedCapturingGroups())
      places[static_cast<size_t>(std::stoi(name.substr(1)))] = place;
  }

  bool split(const char* begin, const char* end, std::string_view* fields,
             std::vector<re2::StringPiece>& groups) const {
    groups.resize(static_cast<size_t>(regex->NumberOfCapturingGroups()) + 1);
    const re2::StringPiece line(begin, static_cast<size_t>(end - begin));
    if (!regex->Match(line, 0, line.size(),
                      whole_line ? re2::RE2::ANCHOR_BOTH : re2::RE2::UNANCHORED, groups.data(),
                      static_cast<int>(groups.size())))
      return false;
    for (size_t f = 0; f < places.size(); ++f) {
      const re2::StringPiece& group = groups[static_cast<size_t>(places[f])];
      fields[f] = {group.data(), group.size()};
    }
    return true;
  }

  bool whole_line;
  std::optional<re2::RE2> regex{};
  std::vector<int> places{};  // of the fields among the groups
};

#else

struct LogParser::Pattern {};

#endif

LogParser::LogParser(LogFormat format, std::vector<size_t> columns)
    : format_(std::move(format)), columns_(std::move(columns)) {
  if (format_.pattern.empty()) return;
#ifdef HR_WITH_RE2
  pattern_ = std::make_unique<Pattern>(format_);
#else
  throw_error<UnsupportedError>("read_log", "this build does not include RE2",
                                {{"pattern", format_.pattern}},
                                "build with it, or use format='combined' or 'common'");
#endif
}

LogParser::~LogParser() = default;

LogLines LogParser::parse(Buffer text, int64_t begin, int64_t end, int64_t most, bool stops) const {
  LogLines result;
  const char* const base = text.as<char>();
  const char* p = base + begin;
  const char* const text_end = base + end;
  const int64_t slots = std::min(std::count(p, text_end, '\n') + 1, most);
  std::vector<Filled> filled;
  for (const size_t field : columns_) filled.emplace_back(format_.fields[field], slots);
  const bool all_utf8 = is_valid_utf8({p, static_cast<size_t>(text_end - p)});
  std::vector<std::string_view> fields(format_.fields.size());
#ifdef HR_WITH_RE2
  std::vector<re2::StringPiece> groups;
#endif
  int64_t rows = 0;
  const auto split = [&](const char* line, const char* line_end) {
#ifdef HR_WITH_RE2
    if (pattern_) return pattern_->split(line, line_end, fields.data(), groups);
#endif
    return split_access_line(line, line_end, fields.size(), fields.data());
  };
  while (p < text_end && rows < most) {
    const auto* stop =
        static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(text_end - p)));
    const char* const next = stop ? stop + 1 : text_end;
    const char* line_end = stop ? stop : text_end;
    if (line_end > p && line_end[-1] == '\r') --line_end;
    const int64_t line = result.lines++;
    if (line_end == p) {
      p = next;
      continue;
    }
    std::string_view reason;
    size_t bad_field = 0;
    if (!all_utf8 && !is_valid_utf8({p, static_cast<size_t>(line_end - p)})) {
      reason = "the line is not UTF-8";
    } else if (!split(p, line_end)) {
      reason = "the line does not have the format";
    } else {
      size_t c = 0;
      while (c < columns_.size() &&
             filled[c].put(rows, fields[columns_[c]], format_.dash_is_null, base))
        ++c;
      if (c < columns_.size()) {
        reason = "a value does not match its dtype";
        bad_field = columns_[c] + 1;
        for (size_t k = 0; k <= c; ++k)
          filled[k].forget(rows, k < c && !get_bit(filled[k].validity.as<uint8_t>(), rows));
      }
    }
    if (reason.empty()) {
      ++rows;
    } else {
      const std::string_view whole(p, static_cast<size_t>(line_end - p));
      result.bad.push_back({line, static_cast<int64_t>(bad_field),
                            replace_invalid_utf8(whole.substr(0, kMaxBadText)), reason});
      if (stops) break;
    }
    p = next;
  }
  const bool keeps_text = std::any_of(filled.begin(), filled.end(),
                                      [](const Filled& each) { return each.dtype.is_string(); });
  if (keeps_text) text = kept(std::move(text), end);
  std::vector<std::string> names;
  std::vector<Column> columns;
  for (size_t c = 0; c < columns_.size(); ++c) {
    names.push_back(format_.fields[columns_[c]].name);
    columns.push_back(filled[c].finish(rows, text));
  }
  result.table = Table(std::move(names), std::move(columns));
  return result;
}

}  // namespace hr
