// SPDX-License-Identifier: Apache-2.0
// The log reader: cuts the text into pieces of whole lines, has them parsed, joins what they give.
#include "headrace/io/log/log.h"

#include "headrace/algo/select/concat.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_columns.h"
#include "headrace/io/log/log_lines.h"
#include "headrace/memory/budget/budget.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_log";
constexpr int64_t kPieceBytes = int64_t{1} << 20;
constexpr int64_t kMoreBytes = int64_t{1} << 14;  // behind a piece, for its last line
constexpr int64_t kMaxLineBytes = int64_t{1} << 30;
constexpr int64_t kPadding = 64;

class LogReader {
 public:
  LogReader(const Source& source, const LogOptions& options)
      : options_(options),
        name_(source.name()),
        text_(source.open(kOp, options.compression)),
        format_(options.pattern.empty() ? log_format(options.format)
                                        : grok_format(options.pattern)),
        columns_(chosen()),
        parser_(format_, columns_),
        most_(options.num_rows < 0 ? std::numeric_limits<int64_t>::max() : options.num_rows) {}

  CsvResult read() {
    std::vector<std::vector<Column>> parts(columns_.size());
    CsvRejects rejects;
    int64_t rows = 0, lines = 0;
    // A few pieces at once where few rows may do, and under a limit: what they give is too small to
    // leave memory until it is joined.
    const bool is_limited = memory_limit() != std::numeric_limits<int64_t>::max();
    const int64_t step = options_.num_rows < 0 && !is_limited
                             ? std::numeric_limits<int64_t>::max() / 4
                             : 2 * threads() * kPieceBytes;
    int64_t more = kMoreBytes;
    for (int64_t begin = 0; rows < most_;) {
      const int64_t wanted = begin + step + more;
      const int64_t loaded = text_->load(wanted);
      const int64_t until = std::min(begin + step, loaded);
      const int64_t count = (until - begin + kPieceBytes - 1) / kPieceBytes;
      std::vector<std::optional<LogLines>> pieces(static_cast<size_t>(count));
      parallel_for(count, [&](int64_t k) {
        const int64_t first = begin + k * kPieceBytes;
        pieces[static_cast<size_t>(k)] = parse(first, std::min(first + kPieceBytes, until), loaded,
                                               loaded < wanted, most_ - rows);
      });
      if (!std::all_of(pieces.begin(), pieces.end(), [](const auto& each) { return bool(each); })) {
        more *= 4;  // a line that goes on behind what is loaded
        continue;
      }
      std::vector<std::vector<Column>> batch(columns_.size());
      for (std::optional<LogLines>& piece : pieces) {
        if (rows >= most_) break;
        report(*piece, lines, rejects);
        lines += piece->lines;
        const Table part = piece->table.slice(0, std::min(piece->table.num_rows(), most_ - rows));
        rows += part.num_rows();
        for (size_t c = 0; c < parts.size(); ++c) batch[c].push_back(part.columns()[c]);
        piece.reset();
      }
      for (size_t c = 0; c < parts.size(); ++c) {
        if (is_limited && !batch[c].empty()) batch[c] = {joined(c, std::move(batch[c]))};
        std::move(batch[c].begin(), batch[c].end(), std::back_inserter(parts[c]));
      }
      begin = until;
      if (until == loaded && loaded < wanted) break;
    }
    text_->check_unchanged();
    std::vector<std::string> names;
    std::vector<Column> values(columns_.size());
    parallel_for(std::ssize(columns_), [&](int64_t k) {
      const auto c = static_cast<size_t>(k);
      values[c] = joined(c, std::move(parts[c]));
    });
    for (const size_t field : columns_) names.push_back(format_.fields[field].name);
    return {.table = Table(std::move(names), std::move(values)), .rejects = rejects.finish()};
  }

 private:
  Column joined(size_t column, std::vector<Column> parts) const {
    return concatenate(kOp, format_.fields[columns_[column]].dtype(), parts);
  }

  std::vector<size_t> chosen() const {
    std::vector<std::string> names;
    for (const LogField& field : format_.fields) names.push_back(field.name);
    std::vector<size_t> places;
    for (const std::string& name : options_.columns)
      places.push_back(static_cast<size_t>(find_column(kOp, names, name)));
    if (options_.columns.empty())
      for (size_t f = 0; f < names.size(); ++f) places.push_back(f);
    const Table check(options_.columns, std::vector<Column>(options_.columns.size()));
    return places;
  }

  // The lines that begin in [begin, end); they may go on behind it. Nothing when the last of them
  // does not end in what is loaded.
  std::optional<LogLines> parse(int64_t begin, int64_t end, int64_t loaded, bool is_all,
                                int64_t most) const {
    const int64_t before = begin > 0 ? 1 : 0;
    for (int64_t more = kMoreBytes;; more *= 4) {
      if (more > 2 * kMaxLineBytes)
        throw InputError(error_message(kOp, "a line is longer than 1 GiB", {{"path", name_}},
                                       "check that this is text"),
                         name_);
      const int64_t until = std::min(end + more, loaded);
      const int64_t size = until - begin + before;
      Buffer text = Buffer::allocate(size + kPadding);
      char* const bytes = text.mutable_as<char>();
      text_->read(begin - before, bytes, size);
      std::memset(bytes + size, 0, kPadding);
      // Where the first line begins here, and the last one ends.
      const char* const piece_end = bytes + before + (end - begin);
      const char* first = bytes + before;
      if (before && bytes[0] != '\n') {
        first = std::find(static_cast<const char*>(bytes) + 1, piece_end, '\n');
        if (first == piece_end) return none();
        ++first;
      }
      if (first == piece_end) return none();
      const char* last = piece_end;
      if (last[-1] != '\n') {
        const char* const text_end = bytes + size;
        last = std::find(last, text_end, '\n');
        if (last == text_end && until < loaded) continue;
        if (last == text_end && !is_all) return std::nullopt;
        last += last < text_end;
      }
      return parser_.parse(std::move(text), first - bytes, last - bytes, most,
                           options_.on_bad == BadRows::kError);
    }
  }

  LogLines none() const { return parser_.parse(Buffer::allocate(kPadding), 0, 0, 0, false); }

  // Bad lines of a piece before which there are `lines`.
  void report(const LogLines& piece, int64_t lines, CsvRejects& rejects) const {
    for (const LogBadLine& bad : piece.bad) {
      const int64_t line = lines + bad.line + 1;
      if (options_.on_bad == BadRows::kReject) {
        rejects.add(line, bad.column, bad.text, bad.reason);
        continue;
      }
      throw InputError(
          error_message(kOp, bad.reason,
                        {{"path", name_}, {"line", line}, {"text", printable(bad.text, 200)}},
                        "pass on_bad='reject' to set such lines aside, or another format"),
          name_, line, bad.column);
    }
  }

  const LogOptions& options_;
  std::string name_;
  std::shared_ptr<ByteSource> text_;
  LogFormat format_;
  std::vector<size_t> columns_;
  LogParser parser_;
  int64_t most_;
};

}  // namespace

CsvResult read_log(const Source& source, const LogOptions& options) {
  const ScopedTag tag(kOp);
  return LogReader(source, options).read();
}

}  // namespace hr
