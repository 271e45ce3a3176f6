// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/fixed_width.h"

#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/io/byte_buffer.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_fwf";
constexpr int64_t kReadBytes = int64_t{1} << 18;
constexpr int64_t kMaxLineBytes = int64_t{1} << 24;

class FixedWidthLines {
 public:
  FixedWidthLines(const Source& source, FixedWidthOptions options)
      : options_(std::move(options)),
        name_(source.name()),
        text_(source.open(kOp, options_.compression)) {
    for (const auto& [begin, end] : options_.columns)
      if (begin < 0 || (end >= 0 && end < begin))
        throw_error<InvalidArgumentError>(
            kOp, "a column ends before it begins", {{"begin", begin}, {"end", end}},
            "pass pairs of a first character and one behind the last");
  }

  int64_t read(char* into, int64_t size) {
    if (options_.columns.empty()) find_columns();
    while (given_ == made_.size()) {
      made_.clear();
      given_ = 0;
      while (made_.size() < kReadBytes && !is_over_) next_line();
      if (made_.size() == 0) {
        text_->check_unchanged();
        return 0;
      }
    }
    const int64_t some = std::min(size, made_.size() - given_);
    std::memcpy(into, made_.data() + given_, static_cast<size_t>(some));
    given_ += some;
    return some;
  }

 private:
  // The line that begins at `at`, without its end, and where the next one begins; nothing at the
  // end of the text.
  std::optional<std::string_view> line_at(int64_t at, int64_t& next) {
    for (int64_t more = kReadBytes;; more *= 2) {
      if (at < begin_ || at >= end_ || more > kReadBytes) load(at, more);
      if (at >= end_) return std::nullopt;
      const char* const line = buffer_.as<char>() + (at - begin_);
      const auto rest = static_cast<size_t>(end_ - at);
      const auto* const stop = static_cast<const char*>(std::memchr(line, '\n', rest));
      if (!stop && !reaches_end_) {
        if (more > kMaxLineBytes)
          throw InputError(error_message(kOp, "a line is longer than 16 MiB", {{"path", name_}},
                                         "check that this is text"),
                           name_);
        continue;
      }
      auto size = stop ? static_cast<size_t>(stop - line) : rest;
      next = at + static_cast<int64_t>(size) + (stop ? 1 : 0);
      if (size > 0 && line[size - 1] == '\r') --size;
      return std::string_view(line, size);
    }
  }

  void load(int64_t at, int64_t size) {
    end_ = text_->load(at + size);
    reaches_end_ = end_ < at + size;
    begin_ = std::min(at, end_);
    if (buffer_.size_bytes() < end_ - begin_) buffer_ = Buffer::allocate(size);
    if (end_ > begin_) text_->read(begin_, buffer_.mutable_as<char>(), end_ - begin_);
  }

  std::string_view without_comment(std::string_view line) const {
    return options_.comment ? line.substr(0, line.find(*options_.comment)) : line;
  }

  bool is_blank(char c) const { return options_.blanks.find(c) != std::string::npos; }

  // Behind the mark of UTF-8, which is no character.
  int64_t first_byte() {
    int64_t next = 0;
    const auto line = line_at(0, next);
    return line && line->starts_with("\xEF\xBB\xBF") ? 3 : 0;
  }

  // The runs of characters that some line fills.
  void find_columns() {
    std::vector<bool> filled;
    int64_t at = first_byte(), next = 0, rows = 0;
    for (int64_t skipped = 0; rows < options_.infer_rows; at = next) {
      const auto whole = line_at(at, next);
      if (!whole) break;
      if (skipped++ < options_.skip_rows) continue;
      const std::string_view line = without_comment(*whole);
      rows += !line.empty();
      size_t character = 0;
      for (size_t k = 0; k < line.size(); ++k) {
        if ((static_cast<uint8_t>(line[k]) & 0xC0) == 0x80) continue;
        if (filled.size() <= character) filled.resize(character + 1);
        if (!is_blank(line[k])) filled[character] = true;
        ++character;
      }
    }
    for (size_t k = 0; k < filled.size(); ++k) {
      if (!filled[k]) continue;
      const size_t begin = k;
      while (k < filled.size() && filled[k]) ++k;
      options_.columns.emplace_back(static_cast<int64_t>(begin), static_cast<int64_t>(k));
    }
    if (options_.columns.empty())
      throw InputError(error_message(kOp, "no columns in the first lines", {{"path", name_}},
                                     "pass colspecs= or widths="),
                       name_);
  }

  // Cuts the next line into its fields, to `made_`.
  void next_line() {
    if (at_ < 0) at_ = first_byte();
    int64_t next = 0;
    const auto whole = line_at(at_, next);
    if (!whole) {
      is_over_ = true;
      return;
    }
    at_ = next;
    ++line_;
    const std::string_view line = without_comment(*whole);
    if (line.find(kFieldSeparator) != line.npos)
      throw InputError(
          error_message(kOp, "a line has a control character that separates fields here",
                        {{"path", name_}, {"line", line_}, {"byte", 0x1f}}, "remove it"),
          name_, line_);
    const int64_t before = made_.size();
    bool is_empty = true;
    if (line_ > options_.skip_rows) {
      const bool ascii = is_ascii(line);
      for (size_t c = 0; c < options_.columns.size(); ++c) {
        if (c > 0) made_.append(kFieldSeparator);
        std::string_view field = cut(line, options_.columns[c], ascii);
        while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
        while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
        is_empty &= field.empty();
        made_.append(field);
      }
    }
    if (is_empty) made_.shrink(before);
    made_.append('\n');
  }

  static std::string_view cut(std::string_view line, std::pair<int64_t, int64_t> column,
                              bool ascii) {
    const size_t begin = byte_of(line, column.first, ascii);
    const size_t end = column.second < 0 ? line.size() : byte_of(line, column.second, ascii);
    return line.substr(begin, end - begin);
  }

  // Where a character begins; the end of the line for those behind.
  static size_t byte_of(std::string_view line, int64_t character, bool ascii) {
    if (ascii) return std::min(static_cast<size_t>(character), line.size());
    size_t k = 0;
    for (; k < line.size(); ++k)
      if ((static_cast<uint8_t>(line[k]) & 0xC0) != 0x80 && character-- == 0) break;
    return k;
  }

  FixedWidthOptions options_;
  std::string name_;
  std::shared_ptr<ByteSource> text_;
  Buffer buffer_{};  // bytes [begin_, end_) of the text
  int64_t begin_ = 0;
  int64_t end_ = 0;
  bool reaches_end_ = false;
  int64_t at_ = -1;   // the next line
  int64_t line_ = 0;  // those before it
  bool is_over_ = false;
  ByteBuffer made_{};
  int64_t given_ = 0;
};

}  // namespace

Source fixed_width_source(const Source& source, FixedWidthOptions options) {
  auto lines = std::make_shared<FixedWidthLines>(source, std::move(options));
  return Source::stream([lines](char* into, int64_t size) { return lines->read(into, size); },
                        source.name());
}

}  // namespace hr
