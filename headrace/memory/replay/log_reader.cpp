// SPDX-License-Identifier: Apache-2.0
// Parses logs of allocations, line by line, trusting none.
#include "headrace/memory/replay/log_reader.h"

#include "headrace/base/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace hr {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

enum Column : size_t { kThread, kTime, kAction, kPointer, kSize, kStream, kTag, kTier, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"Thread", "Time",   "Action", "Pointer",
                                                           "Size",   "Stream", "Tag",    "Tier"};

[[noreturn]] void system_failure(const std::string& path, int code) {
  throw InputError(error_message("memory log", "the file cannot be read",
                                 {{"path", path}, {"error", std::strerror(code)}}),
                   path, 0, 0, code);
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) system_failure(path, errno);
  }
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// All bytes; a file that grows meanwhile is read up to where it ended at first.
Buffer read_text(const std::string& path) {
  const Descriptor file(path);
  struct stat status{};
  if (fstat(file.number(), &status) != 0) system_failure(path, errno);
  if (S_ISDIR(status.st_mode)) system_failure(path, EISDIR);
  Buffer text = Buffer::allocate(status.st_size);
  int64_t done = 0;
  while (done < status.st_size) {
    const ssize_t got = read(file.number(), text.mutable_as<char>() + done,
                             static_cast<size_t>(status.st_size - done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) system_failure(path, errno);
    if (got == 0) break;
    done += got;
  }
  text.shrink(done);
  return text;
}

// A field of the line at hand: its text without quotes, and where it begins.
struct Field {
  std::string_view text;
  int64_t column = 0;
};

class Parser {
 public:
  Parser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  MemoryLog parse() {
    MemoryLog log;
    if (!next_line()) fail("the file is empty", 1, {});
    read_header();
    const auto most = 1 + std::count(rest_.begin(), rest_.end(), '\n');
    log.buffer = Buffer::allocate(most * static_cast<int64_t>(sizeof(LogLine)));
    auto* const lines = log.buffer.mutable_as<LogLine>();
    while (next_line())
      if (!line_.empty()) lines[log.count++] = read_line(log);
    log.buffer.shrink(log.count * static_cast<int64_t>(sizeof(LogLine)));
    return log;
  }

 private:
  [[noreturn]] void fail(std::string_view what, int64_t column, std::string_view text) const {
    throw InputError(error_message("memory log", what,
                                   {{"path", path_},
                                    {"line", number_},
                                    {"column", column},
                                    {"text", std::string(text.substr(0, 40))}},
                                   "pass a log that hr.memory.log or RMM wrote"),
                     path_, number_, column);
  }

  bool next_line() {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    ++number_;
    return true;
  }

  // Cuts the line into fields.
  void cut() {
    fields_.clear();
    unquoted_.clear();
    size_t at = 0;
    for (;;) {
      Field field{{}, static_cast<int64_t>(at) + 1};
      if (at < line_.size() && line_[at] == '"') {
        std::string& text = unquoted_.emplace_back();
        for (++at;;) {
          const size_t quote = line_.find('"', at);
          if (quote == std::string_view::npos) fail("a quote is not closed", field.column, line_);
          text += line_.substr(at, quote - at);
          at = quote + 1;
          if (at >= line_.size() || line_[at] != '"') break;
          text += line_[at++];
        }
        if (at < line_.size() && line_[at] != ',')
          fail("text follows a closing quote", static_cast<int64_t>(at) + 1, line_);
        field.text = text;
      } else {
        const size_t end = std::min(line_.find(',', at), line_.size());
        field.text = line_.substr(at, end - at);
        at = end;
      }
      fields_.push_back(field);
      if (fields_.size() > 64) fail("more than 64 fields", field.column, field.text);
      if (at >= line_.size()) return;
      ++at;
    }
  }

  void read_header() {
    cut();
    places_.fill(-1);
    for (size_t k = 0; k < fields_.size(); ++k)
      for (size_t name = 0; name < kColumns; ++name)
        if (fields_[k].text == kNames[name]) places_[name] = static_cast<int>(k);
    for (const Column needed : {kThread, kAction, kPointer, kSize})
      if (places_[needed] < 0) fail("missing column " + std::string(kNames[needed]), 1, line_);
    num_fields_ = fields_.size();
  }

  const Field* field(Column column) const {
    return places_[column] < 0 ? nullptr : &fields_[static_cast<size_t>(places_[column])];
  }

  // "0x7f..", "7f.." where `base` is 16, "(nil)".
  uint64_t number(const Field& field, int base, std::string_view what) const {
    std::string_view text = field.text;
    if (text == "(nil)") return 0;
    if (text.starts_with("0x")) {
      text.remove_prefix(2);
      base = 16;
    }
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (code != std::errc() || end != text.data() + text.size())
      fail("not a valid " + std::string(what), field.column, field.text);
    return value;
  }

  MemoryAction action(const Field& field) const {
    for (int k = 0; *memory_action_name(static_cast<MemoryAction>(k)); ++k)
      if (field.text == memory_action_name(static_cast<MemoryAction>(k)))
        return static_cast<MemoryAction>(k);
    if (field.text == "deallocate") return MemoryAction::kFree;
    fail("not an action", field.column, field.text);
  }

  // "14:21:19:998533", "14:21:19.998533", or seconds since 1970 with a fraction.
  int64_t time(const Field& field) {
    std::array<int64_t, 3> parts{};
    std::string_view text = field.text;
    const auto whole = [&] {
      int64_t value = -1;
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (code != std::errc() || value < 0 || value > 9'000'000'000)
        fail("not a time", field.column, field.text);
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      return value;
    };
    size_t count = 0;
    parts[count++] = whole();
    while (count < 3 && text.starts_with(':')) {
      text.remove_prefix(1);
      parts[count++] = whole();
    }
    int64_t fraction = 0;
    if (text.starts_with('.') || (count == 3 && text.starts_with(':'))) {
      text.remove_prefix(1);
      int64_t unit = kSecond / 10;
      for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), unit /= 10)
        fraction += (text[0] - '0') * unit;
    }
    const bool clock = count == 3 && parts[0] < 24 && parts[1] < 60 && parts[2] <= 60;
    if (!text.empty() || !(clock || count == 1)) fail("not a time", field.column, field.text);
    if (!clock) return parts[0] * kSecond + fraction;
    int64_t now = ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * kSecond + fraction + days_;
    if (now < last_time_ - kDay / 2) {
      days_ += kDay;  // past midnight
      now += kDay;
    }
    return last_time_ = now;
  }

  template <class Number>
  static Number index_of(std::string_view text, std::vector<std::string>& names,
                         std::map<std::string, Number, std::less<>>& numbers) {
    if (text.empty()) return 0;
    if (const auto found = numbers.find(text); found != numbers.end()) return found->second;
    const auto index = static_cast<Number>(names.size());
    names.emplace_back(text);
    numbers.emplace(text, index);
    return index;
  }

  LogLine read_line(MemoryLog& log) {
    cut();
    if (fields_.size() != num_fields_)
      fail("the number of fields differs from the header", fields_.back().column, line_);
    LogLine line;
    line.thread = number(*field(kThread), 10, "thread");
    line.action = action(*field(kAction));
    line.pointer = number(*field(kPointer), 16, "pointer");
    const uint64_t bytes = number(*field(kSize), 10, "size");
    if (bytes > uint64_t{INT64_MAX}) fail("a size beyond 63 bits", field(kSize)->column, line_);
    line.bytes = static_cast<int64_t>(bytes);
    if (const Field* found = field(kTime)) line.time_ns = time(*found);
    if (const Field* found = field(kStream)) line.stream = number(*found, 10, "stream");
    if (const Field* found = field(kTag)) line.tag = index_of(found->text, log.tags, tags_);
    if (const Field* found = field(kTier)) {
      if (log.tiers.size() > 256) fail("more than 256 tiers", found->column, found->text);
      line.tier = index_of(found->text, log.tiers, tiers_);
    }
    return line;
  }

  const std::string& path_;
  std::string_view rest_;
  std::string_view line_;
  int64_t number_ = 0;
  std::vector<Field> fields_;
  std::list<std::string> unquoted_;
  std::array<int, kColumns> places_{};
  size_t num_fields_ = 0;
  int64_t days_ = 0;
  int64_t last_time_ = 0;
  std::map<std::string, uint32_t, std::less<>> tags_;
  std::map<std::string, uint16_t, std::less<>> tiers_;
};

}  // namespace

MemoryLog read_memory_log(const std::string& path) {
  const Buffer text = read_text(path);
  return Parser(path, {text.as<char>(), static_cast<size_t>(text.size_bytes())}).parse();
}

}  // namespace hr
