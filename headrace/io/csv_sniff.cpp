// SPDX-License-Identifier: Apache-2.0
// Finds header, names, dtypes and the first row of data.
#include "headrace/io/csv_sniff.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_guess.h"
#include "headrace/io/csv_row_splitter_kernels.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace hr {

namespace {

constexpr int64_t kHeadBytes = int64_t{1} << 18;
constexpr int64_t kFewBytes = int64_t{1} << 15;  // of one of many files
constexpr int64_t kMaxHeadBytes = int64_t{1} << 24;
constexpr int64_t kSampleBytes = int64_t{1} << 16;
constexpr int64_t kMaxSampleBytes = int64_t{1} << 20;  // where rows are long
constexpr int64_t kSamples = 15;
constexpr int64_t kShare = 256;  // of the text, for each of the samples that only count rows
constexpr int64_t kLeastSampleBytes = int64_t{1} << 12;

// A piece of text with the byte before it, a line end and padding behind it.
class Sample {
 public:
  // Of CSV text of which `loaded` bytes can be read: all, or more than the sample.
  Sample(const ByteSource& text, int64_t loaded, int64_t offset, int64_t size)
      : offset_(offset),
        size_(std::clamp<int64_t>(loaded - offset, 0, size)),
        reaches_end_(loaded - offset <= size),
        buffer_(Buffer::allocate(kFront + size_ + kCsvPadding)) {
    char* bytes = buffer_.mutable_as<char>() + kFront;
    const int64_t before = offset > 0 ? 1 : 0;
    bytes[-1] = '\n';
    text.read(offset - before, bytes - before, before + size_);
    std::fill_n(bytes + size_, kCsvPadding, '\0');
    bytes[size_] = '\n';
  }

  const char* begin() const { return buffer_.as<char>() + kFront; }

  const char* end() const { return begin() + size_; }

  // True when what ends at `p` is whole: the piece goes on behind it or the text ends there.
  bool has_all(const char* p) const { return p < end() || reaches_end_; }

  bool reaches_end() const { return reaches_end_; }

  int64_t size() const { return size_; }

  int64_t offset_of(const char* p) const { return offset_ + (p - begin()); }

 private:
  static constexpr int64_t kFront = 1;

  int64_t offset_;
  int64_t size_;
  bool reaches_end_;
  Buffer buffer_;
};

// Where a sample lies.
struct Stretch {
  int64_t offset;
  int64_t size;
};

struct Row {
  std::vector<CsvField> fields{};
  const char* stop = nullptr;  ///< the byte that ended it
  FieldDefect defect = FieldDefect::kNone;
};

Row scan_row(const CsvSyntax& syntax, const char* p, const char* end) {
  Row row;
  for (;;) {
    row.fields.push_back(scan_field(syntax, p, end));
    const CsvField& field = row.fields.back();
    if (row.defect == FieldDefect::kNone) row.defect = field.defect;
    row.stop = field.next;
    if (*field.next != syntax.delimiter) return row;
    p = field.next + 1;
  }
}

// What the rows tell that begin in one sample.
struct Looked {
  std::vector<CsvGuess> estimates{};
  int64_t rows = 0;
  int64_t bytes = 0;
  bool has_endless_row = false;  // one that does not end within 16 MiB
  bool is_doubtful = false;      // no quote tells whether all of them lie in a quoted field
};

class Sniffer {
 public:
  Sniffer(std::string_view op, ByteSource& text, const std::string& name, const CsvOptions& options,
          const CsvSyntax& syntax)
      : op_(op), text_(text), name_(name), options_(options), syntax_(syntax) {}

  CsvLayout sniff() {
    for (int64_t size = options_.few_samples ? kFewBytes : kHeadBytes;; size *= 2) {
      const Sample head(text_, text_.load(size + 1), 0, size);
      layout_ = {};
      if (read_first_row(head) && guess_dtypes(head)) return std::move(layout_);
      if (size >= kMaxHeadBytes)
        fail("the first row is longer than 16 MiB", line_,
             "check that this is CSV text, its line ends and quote=");
    }
  }

 private:
  [[noreturn]] void fail(std::string_view what, int64_t line, std::string_view fix) {
    if (line == 0) throw InputError(error_message(op_, what, {{"path", name_}}, fix), name_);
    throw InputError(error_message(op_, what, {{"path", name_}, {"line", line}}, fix), name_, line);
  }

  // False when the head is too short for it.
  bool read_first_row(const Sample& head) {
    const char* p = head.begin();
    const std::string_view start(p, static_cast<size_t>(head.size()));
    if (start.starts_with("\xEF\xBB\xBF")) p += 3;
    if (start.starts_with("\xFE\xFF") || start.starts_with("\xFF\xFE"))
      fail("the text is UTF-16", 0, "convert it to UTF-8");
    line_ = 1;
    for (int64_t skipped = 0; skipped < options_.skip_rows && p < head.end(); ++skipped) {
      while (*p != '\n' && *p != '\r') ++p;
      if (!head.has_all(p + 1)) return false;
      p = next_row(syntax_, p);
      ++line_;
    }
    for (;;) {
      if (p >= head.end()) {
        if (!head.reaches_end()) return false;
        return no_rows(head);
      }
      const char* after = skip_empty_row(syntax_, p);
      if (after == p) break;
      if (!head.has_all(after)) return false;
      p = after;
      ++line_;
    }
    const Row row = scan_row(syntax_, p, head.end());
    if (!head.has_all(row.stop)) return false;
    const bool has_header = options_.header == CsvHeader::kYes ||
                            (options_.header == CsvHeader::kInfer && options_.names.empty());
    if (row.defect != FieldDefect::kNone && has_header)
      fail(row.defect == FieldDefect::kOpenQuote ? "a quote in the header is never closed"
                                                 : "text follows a closing quote in the header",
           line_, "fix the header, or pass quote=None if quotes mean nothing here");
    const char* data = has_header ? std::min(next_row(syntax_, row.stop), head.end()) : p;
    if (has_header && !head.has_all(data)) return false;
    layout_.data_begin = data - head.begin();
    layout_.first_line = line_ + count_line_ends(p, data);
    name_fields(row, has_header);
    return true;
  }

  bool no_rows(const Sample& head) {
    if (options_.names.empty())
      fail("the text has no rows, not even a header", 0, "pass names=[...] for an empty table");
    layout_.data_begin = head.size();
    layout_.first_line = line_;
    layout_.names = options_.names;
    check_names();
    return true;
  }

  void name_fields(const Row& row, bool has_header) {
    const auto count = row.fields.size();
    if (!options_.names.empty()) {
      if (!syntax_.takes(count, options_.names.size()))
        throw_error<InvalidArgumentError>(
            op_, "names and the fields of the first row differ in number",
            {{"names", options_.names.size()}, {"fields", count}, {"path", name_}},
            "pass one name for each field");
      layout_.names = options_.names;
    } else {
      std::set<std::string, std::less<>> taken;
      for (size_t f = 0; f < count; ++f) {
        std::string name = has_header ? single_quotes(row.fields[f]) : std::string();
        if (!is_valid_utf8(name))
          fail("a column name is not UTF-8: '" + printable(name) + "'", line_,
               "convert the file to UTF-8, or pass names=[...]");
        if (name.empty())
          name = (has_header ? "Unnamed: " : "") + std::to_string(f);  // as in pandas
        std::string unique = name;                                     // pandas' way: a, a.1, a.2
        for (int k = 1; !taken.insert(unique).second; ++k) unique = name + "." + std::to_string(k);
        layout_.names.push_back(std::move(unique));
      }
    }
    check_names();
  }

  void check_names() {
    for (const std::string& name : layout_.names)
      if (name.find('\0') != std::string::npos)
        fail("a column name contains a NUL byte: '" + printable(name) + "'", line_,
             "pass names=[...], or check that this is text");
  }

  // False when the head is too short: no row begins in it.
  bool guess_dtypes(const Sample& head) {
    const size_t count = layout_.names.size();
    layout_.dtypes.resize(count);
    guess_ = std::vector<bool>(count, !options_.dtype.has_value());
    if (options_.dtype) std::fill(layout_.dtypes.begin(), layout_.dtypes.end(), *options_.dtype);
    for (const auto& [name, dtype] : options_.dtypes) {
      const auto f = static_cast<size_t>(find_column(op_, layout_.names, name));
      layout_.dtypes[f] = dtype;
      guess_[f] = false;
    }
    guesses_ = std::find(guess_.begin(), guess_.end(), true) != guess_.end();

    const char* const begin = head.begin() + layout_.data_begin;
    Looked all;
    std::vector<Looked> samples;
    const std::vector<Stretch> places = sample_places(head);
    const char* const until =
        guesses_ ? head.end() : std::min(head.end(), begin + sample_bytes(head));
    if (places.empty()) {
      all = look_at(head, begin, until);
    } else {
      text_.load(text_.known_size());
      samples.resize(places.size());
      parallel_for(1 + std::ssize(places), [&](int64_t k) {
        if (k == 0)
          all = look_at(head, begin, until);
        else
          samples[static_cast<size_t>(k - 1)] = look_from(places[static_cast<size_t>(k - 1)]);
      });
    }
    if (guesses_ && all.rows == 0 && !head.reaches_end()) {
      if (all.has_endless_row || head.size() >= kMaxHeadBytes)
        fail("the first row does not end within 16 MiB, so its dtypes are unknown",
             layout_.first_line, "pass dtypes=, or check the line ends and quote=");
      return false;
    }
    for (const Looked& sample : samples) {
      all.rows += sample.rows;
      all.bytes += sample.bytes;
    }
    estimate_rows(head, all);
    join_samples(all.estimates, samples, places);
    for (size_t f = 0; f < count; ++f)
      if (guess_[f]) layout_.dtypes[f] = all.estimates[f].dtype();
    return true;
  }

  void estimate_rows(const Sample& head, const Looked& all) {
    // What text usually shrinks to is a guess; only the size of a plain text is known.
    const int64_t size = head.reaches_end() ? head.size() : text_.known_size();
    const int64_t bytes = size >= 0 ? size : 4 * text_.packed_size();
    if (all.bytes == 0)
      layout_.estimated_rows = head.reaches_end() ? 0 : -1;
    else if (bytes < 0)
      layout_.estimated_rows = -1;
    else
      layout_.estimated_rows = static_cast<int64_t>(
          std::llround(static_cast<double>(bytes - layout_.data_begin) *
                       static_cast<double>(all.rows) / static_cast<double>(all.bytes)));
  }

  // A few rows at least; where nothing is guessed the samples only estimate the number of rows.
  int64_t sample_bytes(const Sample& head) const {
    if (!guesses_) return std::clamp(text_.known_size() / kShare, kLeastSampleBytes, kSampleBytes);
    const int64_t bytes = head.size() - layout_.data_begin;
    const ChunkOutcome rows =
        cpu::follow_chunk(syntax_, head.begin() + layout_.data_begin, bytes, QuoteState::kOutside);
    return std::clamp(2 * bytes / std::max<int64_t>(rows.row_ends, 1), kSampleBytes,
                      kMaxSampleBytes);
  }

  // Of the samples behind the head; those of a short text leave no row out.
  std::vector<Stretch> sample_places(const Sample& head) const {
    std::vector<Stretch> places;
    const int64_t begin = head.size() - 2;  // with the line end before the first row behind it
    const int64_t size = text_.known_size();
    if (head.reaches_end() || size < begin || options_.few_samples) return places;
    const int64_t bytes = sample_bytes(head);
    const int64_t count = std::min(kSamples, divide_up(size - begin, bytes - 2));
    for (int64_t k = 0; k < count; ++k)
      places.push_back({begin + k * ((size - begin) / count), bytes});
    return places;
  }

  // The rows behind the first row end in a place; none where nothing tells which line ends end
  // rows.
  Looked look_from(const Stretch& place) const {
    const Sample sample(text_, text_.known_size(), place.offset, place.size);
    ChunkOutcome rows =
        cpu::follow_chunk(syntax_, sample.begin(), sample.size(), QuoteState::kOutside);
    const bool is_doubtful = !rows.has_special;
    if (guesses_ && rows.has_special) {
      const std::optional<QuoteState> state = state_before_sample(place);
      if (!state) return {};
      if (*state != QuoteState::kOutside)
        rows = cpu::follow_chunk(syntax_, sample.begin(), sample.size(), *state);
    }
    if (rows.first_row < 0) return {};
    Looked looked = look_at(sample, sample.begin() + rows.first_row, sample.end());
    looked.is_doubtful = is_doubtful;
    return looked;
  }

  std::optional<QuoteState> state_before_sample(const Stretch& place) const {
    return state_before(text_, syntax_, layout_.data_begin, place.offset);
  }

  // A sample without quotes may lie in a quoted field as a whole. Mostly it changes no dtype; where
  // it does, it counts if the text before it does not say that it lies there.
  void join_samples(std::vector<CsvGuess>& known, std::vector<Looked>& samples,
                    const std::vector<Stretch>& places) const {
    const auto join = [&](Looked& sample) {
      for (size_t f = 0; f < sample.estimates.size(); ++f) known[f].join(sample.estimates[f]);
      sample.estimates.clear();
    };
    const auto changes = [&](const Looked& sample) {
      for (size_t f = 0; f < sample.estimates.size(); ++f) {
        CsvGuess both = known[f];
        both.join(sample.estimates[f]);
        if (guess_[f] && both.dtype() != known[f].dtype()) return true;
      }
      return false;
    };
    for (Looked& sample : samples)
      if (!sample.is_doubtful) join(sample);
    for (bool again = true; again;) {
      again = false;
      for (size_t k = 0; k < samples.size(); ++k) {
        if (!changes(samples[k])) continue;
        const std::optional<QuoteState> state = state_before_sample(places[k]);
        if (!state || *state == QuoteState::kInside)
          samples[k].estimates.clear();
        else
          join(samples[k]);
        again = true;
      }
    }
  }

  // Whole rows with the right number of fields count; others are dealt with when they are read.
  Looked look_at(const Sample& sample, const char* p, const char* end) const {
    Looked looked{.estimates = std::vector<CsvGuess>(layout_.names.size())};
    const char* const begin = p;
    while (p < end) {
      if (const char* after = skip_empty_row(syntax_, p); after != p) {
        p = after;
        continue;
      }
      const Row row = scan_row(syntax_, p, sample.end());
      if (!sample.has_all(row.stop)) {
        if (guesses_) look_at_cut_row(sample.offset_of(p), 2 * (sample.end() - p), looked);
        break;
      }
      p = next_row(syntax_, row.stop);
      note(row, looked);
    }
    looked.bytes += std::max<int64_t>(0, std::min(p, sample.end()) - begin);
    return looked;
  }

  // A row that goes on behind its sample, read whole.
  void look_at_cut_row(int64_t offset, int64_t least, Looked& looked) const {
    for (int64_t size = std::max(least, kLeastSampleBytes);;
         size = std::min(2 * size, kMaxHeadBytes)) {
      const Sample sample(text_, text_.load(offset + size + 1), offset, size);
      const Row row = scan_row(syntax_, sample.begin(), sample.end());
      if (sample.has_all(row.stop)) {
        looked.bytes += row.stop - sample.begin();
        return note(row, looked);
      }
      looked.has_endless_row = size >= kMaxHeadBytes;
      if (looked.has_endless_row) return;
    }
  }

  void note(const Row& row, Looked& looked) const {
    ++looked.rows;
    const size_t fields = std::min(row.fields.size(), guess_.size());
    if (row.defect != FieldDefect::kNone || !syntax_.takes(row.fields.size(), guess_.size()))
      return;
    for (size_t f = 0; f < fields; ++f)
      if (guess_[f]) looked.estimates[f].look(syntax_, row.fields[f]);
  }

  std::string op_;
  ByteSource& text_;
  const std::string& name_;
  const CsvOptions& options_;
  const CsvSyntax& syntax_;
  CsvLayout layout_{};
  std::vector<bool> guess_{};  // which dtypes are not given
  bool guesses_ = false;       // any of them
  int64_t line_ = 1;
};

}  // namespace

CsvLayout sniff_csv(std::string_view op, ByteSource& text, const std::string& name,
                    const CsvOptions& options, const CsvSyntax& syntax) {
  return Sniffer(op, text, name, options, syntax).sniff();
}

}  // namespace hr
