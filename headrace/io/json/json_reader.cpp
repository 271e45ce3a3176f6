// SPDX-License-Identifier: Apache-2.0
#include "headrace/io/json/json_reader.h"

#include "headrace/algo/keys/dictionary_encode.h"
#include "headrace/algo/select/concat.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/io/json/columns.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hr::json {

namespace {

constexpr std::string_view kOp = "read_json";
constexpr int64_t kMostOfRow = int64_t{1} << 16;
constexpr int64_t kWindow = int64_t{1} << 16;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Lines and characters of places in the source, which are asked for in order.
class LineCounter {
 public:
  explicit LineCounter(const ByteSource& text) : text_(text) {}

  int64_t line() const { return line_; }

  /// Of the place moved to, from 1.
  int64_t column() const { return characters_ + 1; }

  void move_to(int64_t place) {
    char window[4096];
    while (at_ < place) {
      const int64_t size = std::min<int64_t>(place - at_, sizeof window);
      text_.read(at_, window, size);
      for (int64_t i = 0; i < size; ++i) {
        if (window[i] == '\n') {
          ++line_;
          characters_ = 0;
        } else {
          characters_ += (static_cast<uint8_t>(window[i]) & 0xC0) != 0x80;
        }
      }
      at_ += size;
    }
  }

 private:
  const ByteSource& text_;
  int64_t at_ = 0;
  int64_t line_ = 1;
  int64_t characters_ = 0;
};

}  // namespace

Start find_start(ByteSource& text, const std::string& name, JsonForm form) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  char window[4096];
  Start start;
  bool is_first = true;
  for (int64_t at = 0;;) {
    const int64_t size =
        std::min<int64_t>(text.load(at + static_cast<int64_t>(sizeof window)) - at, sizeof window);
    if (size <= 0) break;
    text.read(at, window, size);
    int64_t i = 0;
    if (is_first && std::string_view(window, static_cast<size_t>(size)).starts_with(kMark))
      start.begin = i = std::ssize(kMark);
    is_first = false;
    while (i < size && is_blank(window[i])) ++i;
    at += i;
    if (i == size) continue;
    start.is_array = form == JsonForm::kArray || (form == JsonForm::kInfer && window[i] == '[');
    if (!start.is_array) return start;
    if (window[i] == '[') return {.is_array = true, .begin = at + 1};
    LineCounter counter(text);
    counter.move_to(at);
    throw InputError(error_message(kOp, "the text is not an array of objects",
                                   {{"path", name},
                                    {"line", counter.line()},
                                    {"column", counter.column()},
                                    {"text", printable({window + i, 1})}},
                                   "pass lines=True for an object a line"),
                     name, counter.line(), counter.column());
  }
  if (form == JsonForm::kLines) return start;
  throw InputError(error_message(kOp, "the text is empty", {{"path", name}},
                                 "pass lines=True if that means no rows"),
                   name, 1, 1);
}

Reader::Reader(ByteSource& text, const std::string& name, Start start, BadRows on_bad,
               int64_t chunk_bytes)
    : text_(text), name_(name), start_(start), on_bad_(on_bad), chunk_bytes_(chunk_bytes) {}

void Reader::read(const Builder& root, int64_t max_rows) {
  limit_ = max_rows < 0 ? std::numeric_limits<int64_t>::max() : max_rows;
  parse_all(root, false);
  if (!has_clashes()) return;
  // The first value of a column counts, in whichever piece.
  const std::unique_ptr<Builder> given = join_prototypes(roots());
  pieces_.clear();
  ranges_.clear();
  parse_all(*given, true);
}

void Reader::parse_all(const Builder& root, bool is_careful) {
  RowSplitter splitter(kOp, text_, name_, start_.is_array, start_.begin, chunk_bytes_);
  const bool is_limited = limit_ != std::numeric_limits<int64_t>::max();
  size_t checked = 0;
  rows_ = 0;
  bool is_enough = limit_ == 0;
  for (int64_t batch = is_limited ? 1 : kWindow; !is_enough && !splitter.is_done(); batch *= 2) {
    const std::vector<Range> some = splitter.next(batch);
    const size_t before = pieces_.size();
    ranges_.insert(ranges_.end(), some.begin(), some.end());
    pieces_.resize(ranges_.size());
    const int64_t packed = text_.packed_read();
    const ProgressPart part =
        packed < 0 && !some.empty()
            ? ProgressPart(some.front().begin, some.back().end, text_.known_size())
            : ProgressPart(packed, packed, text_.packed_size());
    parallel_for(std::ssize(some), [&](int64_t k) {
      const size_t at = before + static_cast<size_t>(k);
      pieces_[at] = parse(ranges_[at], root, is_careful, limit_);
    });
    is_enough = has_enough(checked, rows_);
    if (is_enough) end_at_limit(checked, root, is_careful);
  }
  check_end(!is_enough);
  text_.check_unchanged();
}

Piece Reader::parse(const Range& range, const Builder& root, bool is_careful, int64_t max_rows) {
  const int64_t size = range.end - range.begin;
  Buffer buffer = stock_.take(std::max(size, chunk_bytes_ + chunk_bytes_ / 16) + kPadding);
  char* const text = buffer.mutable_as<char>();
  text_.read(range.begin, text, size);
  std::memset(text + size, 0, kPadding);
  RowJob job{.is_array = start_.is_array,
             .begins_array = start_.is_array && range.begin == start_.begin,
             .rejects = on_bad_ == BadRows::kReject,
             .max_rows = max_rows,
             .is_careful = is_careful};
  Piece piece;
  for (;;) {
    piece.root = std::move(*root.prototype());
    cpu::parse_rows(job, text, size, piece);
    if (!piece.needs_care) break;
    job.is_careful = true;
    piece = Piece();
  }
  stock_.give(std::move(buffer));
  return piece;
}

// Adds up the rows of the pieces from `checked` on; true when the piece there reaches the limit.
// Throws for a bad row before.
bool Reader::has_enough(size_t& checked, int64_t& rows) const {
  for (; checked < pieces_.size(); ++checked) {
    const Piece& piece = pieces_[checked];
    rows += piece.root.rows;
    if (rows >= limit_) return true;
    for (const BadRow& bad : piece.bad_rows)
      if (on_bad_ == BadRows::kError || (start_.is_array && bad.is_syntax))
        fail(ranges_[checked], bad);
    if (piece.is_closed && checked + 1 < pieces_.size()) {
      const Range& next = ranges_[checked + 1];
      fail({next.begin, next.begin},
           {.what = "unexpected text behind the array", .is_syntax = true});
    }
  }
  return false;
}

// Drops what was parsed behind the last row wanted, which is in piece `last`: neither dtypes nor
// rejects come from there.
void Reader::end_at_limit(size_t last, const Builder& root, bool is_careful) {
  pieces_.resize(last + 1);
  ranges_.resize(last + 1);
  Piece& piece = pieces_[last];
  const int64_t wanted = limit_ - (rows_ - piece.root.rows);
  if (piece.root.rows > wanted || !piece.bad_rows.empty())
    piece = parse(ranges_[last], root, is_careful, wanted);
  rows_ = limit_;
}

void Reader::check_end(bool is_complete) const {
  if (!is_complete || !start_.is_array || (!pieces_.empty() && pieces_.back().is_closed)) return;
  const int64_t end = ranges_.empty() ? start_.begin : ranges_.back().end;
  fail({end, end}, {.what = "the array is never closed", .is_syntax = true});
}

std::vector<const Builder*> Reader::roots() const {
  std::vector<const Builder*> roots;
  for (const Piece& piece : pieces_) roots.push_back(&piece.root);
  return roots;
}

bool Reader::has_clashes() const {
  return have_clashes(roots());
}

std::shared_ptr<const Builder> Reader::prototype() const {
  return join_prototypes(roots());
}

JsonSchema Reader::infer_schema(const JsonOptions& options) const {
  JsonSchema schema{.num_rows = rows_};
  const std::vector<const Builder*> all = roots();
  const auto add = [&](const std::string& key) {
    schema.names.push_back(key);
    schema.dtypes.push_back(infer(key, members_of(all, key)));
  };
  std::vector<std::string> seen;
  for (const std::string& key : keys_of(all))
    if (std::ranges::any_of(members_of(all, key), [](const Builder* part) {
          return part && (part->is_seen || part->asked);
        }))
      seen.push_back(key);
  if (options.columns.empty()) {
    for (const std::string& key : seen) add(key);
  } else {
    for (const std::string& column : options.columns) {
      find_column(kOp, seen, column);
      add(column);
    }
  }
  return schema;
}

JsonResult Reader::finish(const JsonSchema& schema) {
  std::vector<Column> columns(schema.names.size());
  JsonResult result{.rejects = find_rejects()};
  const auto count = std::ssize(pieces_);
  std::vector<std::vector<Column>> parts(schema.names.size());
  for (auto& some : parts) some.resize(pieces_.size());
  for (Piece& piece : pieces_) {
    if (piece.text_size > 0)
      piece.text.shrink(piece.text_size);
    else
      piece.text = {};
    if (piece.text) piece.text.seal();
  }
  parallel_for(std::ssize(columns) * count, [&](int64_t task) {
    const auto column = static_cast<size_t>(task / count);
    const auto k = static_cast<size_t>(task % count);
    Piece& piece = pieces_[k];
    const Dtype dtype = schema.dtypes[column];
    parts[column][k] =
        json::finish(piece.root.fields.find(schema.names[column]), piece.root.rows,
                     dtype.is_category() ? Dtype(TypeId::kString) : dtype, piece.text);
  });
  for (size_t c = 0; c < columns.size(); ++c) {
    const Dtype dtype = schema.dtypes[c];
    const bool is_category = dtype.is_category();
    columns[c] = concatenate(kOp, is_category ? Dtype(TypeId::kString) : dtype, parts[c]);
    parts[c].clear();
    if (is_category) columns[c] = dictionary_encode(columns[c]);
  }
  result.table = Table(schema.names, std::move(columns));
  pieces_.clear();
  return result;
}

void Reader::fail(const Range& range, const BadRow& bad) const {
  LineCounter counter(text_);
  counter.move_to(range.begin + bad.at);
  const int64_t line = counter.line(), column = counter.column();
  std::string text(static_cast<size_t>(std::clamp<int64_t>(bad.end - bad.begin, 0, 200)), '\0');
  text_.read(range.begin + bad.begin, text.data(), std::ssize(text));
  const std::string shown = printable(text, 120);
  const std::string message =
      bad.key.empty()
          ? error_message(kOp, bad.what,
                          {{"path", name_}, {"line", line}, {"column", column}, {"text", shown}},
                          bad.fix)
          : error_message(kOp, bad.what,
                          {{"key", printable(bad.key)},
                           {"path", name_},
                           {"line", line},
                           {"column", column},
                           {"text", shown}},
                          bad.fix);
  throw InputError(message, name_, line, column);
}

Table Reader::find_rejects() const {
  CsvRejects rejects;
  LineCounter counter(text_);
  for (size_t k = 0; k < pieces_.size(); ++k) {
    for (const BadRow& bad : pieces_[k].bad_rows) {
      counter.move_to(ranges_[k].begin + bad.at);
      std::string text(static_cast<size_t>(std::min(bad.end - bad.begin, kMostOfRow)), '\0');
      text_.read(ranges_[k].begin + bad.begin, text.data(), std::ssize(text));
      std::string reason = bad.what;
      if (!bad.key.empty()) reason += ": key='" + printable(bad.key) + "'";
      rejects.add(counter.line(), counter.column(), replace_invalid_utf8(text), reason);
    }
  }
  return rejects.finish();
}

}  // namespace hr::json
