// SPDX-License-Identifier: Apache-2.0
// Finds header, names, dtypes and the first row of data.
#include "headrace/io/csv_sniff.h"

#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/io/parse_number_math.h"
#include "headrace/base/utf8.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hr {

namespace {

constexpr int64_t kHeadBytes = int64_t{1} << 18;
constexpr int64_t kMaxHeadBytes = int64_t{1} << 24;
constexpr int64_t kSampleBytes = int64_t{1} << 16;
constexpr int64_t kSamples = 15;
constexpr int64_t kShare = 256;  // of the text, for each of the samples that only count rows
constexpr int64_t kLeastSampleBytes = int64_t{1} << 12;

// A piece of text with a line end and padding behind it.
class Sample {
 public:
  // Of a text of which `loaded` bytes can be read: all, or more than the sample.
  Sample(const Text& text, int64_t loaded, int64_t offset, int64_t size) {
    size_ = loaded - offset;
    reaches_end_ = size_ <= size;
    size_ = std::clamp<int64_t>(size_, 0, size);
    buffer_ = Buffer::allocate(size_ + kCsvPadding);
    char* bytes = buffer_.mutable_as<char>();
    text.read(offset, bytes, size_);
    std::fill_n(bytes + size_, kCsvPadding, '\0');
    bytes[size_] = '\n';
  }

  const char* begin() const { return buffer_.as<char>(); }

  const char* end() const { return begin() + size_; }

  // True when what ends at `p` is whole: the piece goes on behind it or the text ends there.
  bool has_all(const char* p) const { return p < end() || reaches_end_; }

  bool reaches_end() const { return reaches_end_; }

  int64_t size() const { return size_; }

 private:
  Buffer buffer_{};
  int64_t size_ = 0;
  bool reaches_end_ = false;
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

// What the values of one column have been so far.
struct Guess {
  bool boolean = false;
  bool integer = false;
  bool negative = false;
  bool large = false;  // an integer that only uint64 holds
  bool floating = false;
  bool day = false;
  bool time = false;   // with a time of day
  bool nanos = false;  // finer than microseconds
  bool far = false;    // further than 64 bits of nanoseconds reach
  bool text = false;

  void look(const CsvSyntax& syntax, const CsvField& field) {
    const char *begin = field.begin, *end = field.end;
    while (begin < end && syntax.is_blank(*begin)) ++begin;
    while (begin < end && syntax.is_blank(end[-1])) --end;
    if (text || syntax.is_null(begin, end)) return;
    if (begin == end) {
      text = true;
      return;
    }
    double number;
    if (const IntegerText whole = parse_integer(begin); whole.end == end) {
      int64_t fits;
      integer = true;
      negative |= whole.negative && whole.magnitude != 0;
      if (!fit_integer(whole, &fits)) (whole.overflow || whole.negative ? floating : large) = true;
    } else if (parse_float(begin, end, &number) == end) {
      floating = true;
    } else if (parse_bool({begin, static_cast<size_t>(end - begin)}) >= 0) {
      boolean = true;
    } else if (const IsoTime when = parse_iso_time(begin); when.end == end) {
      int64_t fits;
      (when.has_time ? time : day) = true;
      nanos |= when.nanos % 1000 != 0;
      far |= !fit_time(when, TimeUnit::kNano, &fits);
    } else {
      text = true;
    }
  }

  void join(const Guess& other) {
    boolean |= other.boolean;
    integer |= other.integer;
    negative |= other.negative;
    large |= other.large;
    floating |= other.floating;
    day |= other.day;
    time |= other.time;
    nanos |= other.nanos;
    far |= other.far;
    text |= other.text;
  }

  Dtype dtype() const {
    const bool number = integer || floating;
    if (text || boolean + number + (day || time) > 1 || (nanos && far)) return TypeId::kString;
    if (time) return Dtype::timestamp(nanos ? TimeUnit::kNano : TimeUnit::kMicro);
    if (day) return TypeId::kDate;
    if (boolean) return TypeId::kBool;
    if (floating || (large && negative) || !number) return TypeId::kFloat64;
    return large ? TypeId::kUInt64 : TypeId::kInt64;
  }
};

// What the rows of one sample tell.
struct Looked {
  std::vector<Guess> guesses{};
  int64_t rows = 0;
  int64_t bytes = 0;
};

class Sniffer {
 public:
  Sniffer(std::string_view op, Text& text, const std::string& name, const CsvOptions& options,
          const CsvSyntax& syntax)
      : op_(op), text_(text), name_(name), options_(options), syntax_(syntax) {}

  CsvLayout sniff() {
    for (int64_t size = kHeadBytes;; size *= 2) {
      const Sample head(text_, text_.load(size + 1), 0, size);
      if (read_first_row(head)) {
        guess_dtypes(head);
        return std::move(layout_);
      }
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
           line_, "mend the header, or pass quote=None if quotes mean nothing here");
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
      if (options_.names.size() != count)
        throw_error<InvalidArgumentError>(
            op_, "the names do not fit the first row",
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
        if (name.empty()) name = "f" + std::to_string(f);
        std::string unique = name;  // pandas' way: a, a.1, a.2
        for (int k = 1; !taken.insert(unique).second; ++k) unique = name + "." + std::to_string(k);
        layout_.names.push_back(std::move(unique));
      }
    }
    check_names();
  }

  void check_names() {
    for (const std::string& name : layout_.names)
      if (name.find('\0') != std::string::npos)
        fail("a column name holds a NUL byte: '" + printable(name) + "'", line_,
             "pass names=[...], or check that this is text");
  }

  void guess_dtypes(const Sample& head) {
    const size_t count = layout_.names.size();
    layout_.dtypes.resize(count);
    guess_ = std::vector<bool>(count, !options_.dtype.has_value());
    if (options_.dtype) std::fill(layout_.dtypes.begin(), layout_.dtypes.end(), *options_.dtype);
    for (const auto& [name, dtype] : options_.dtypes) {
      const auto f = static_cast<size_t>(find_column(op_, layout_.names, name));
      layout_.dtypes[f] = dtype;
      guess_[f] = false;
    }

    const int64_t size = head.reaches_end() ? head.size() : text_.known_size();
    const int64_t step = head.reaches_end() ? 0 : (size - head.size()) / kSamples;
    // Where nothing is guessed the samples only estimate the number of rows.
    const bool guesses = std::find(guess_.begin(), guess_.end(), true) != guess_.end();
    const int64_t most =
        guesses ? kSampleBytes : std::clamp(size / kShare, kLeastSampleBytes, kSampleBytes);
    if (step > 0) text_.load(size);
    std::vector<Looked> looked(step > 0 ? 1 + kSamples : 1);
    parallel_for(std::ssize(looked), [&](int64_t k) {
      Looked& mine = looked[static_cast<size_t>(k)];
      if (k == 0) {
        const char* const begin = head.begin() + layout_.data_begin;
        mine = look_at(head, begin, guesses ? head.end() : std::min(head.end(), begin + most));
        return;
      }
      const int64_t offset = head.size() + (k - 1) * step;
      const Sample sample(text_, size, offset, std::min(most, size - offset));
      const char* p = sample.begin();
      while (*p != '\n' && *p != '\r') ++p;
      mine = look_at(sample, next_row(syntax_, p), sample.end());
    });
    Looked all = std::move(looked[0]);
    for (size_t k = 1; k < looked.size(); ++k) {
      for (size_t f = 0; f < count; ++f) all.guesses[f].join(looked[k].guesses[f]);
      all.rows += looked[k].rows;
      all.bytes += looked[k].bytes;
    }
    for (size_t f = 0; f < count; ++f)
      if (guess_[f]) layout_.dtypes[f] = all.guesses[f].dtype();

    // What text usually shrinks to is a guess; only the size of a plain text is known.
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

  // Whole rows with the right number of fields count; others are dealt with when they are read.
  Looked look_at(const Sample& sample, const char* p, const char* end) const {
    Looked looked{.guesses = std::vector<Guess>(layout_.names.size())};
    const char* const begin = p;
    while (p < end) {
      if (const char* after = skip_empty_row(syntax_, p); after != p) {
        p = after;
        continue;
      }
      const Row row = scan_row(syntax_, p, sample.end());
      if (!sample.has_all(row.stop)) break;
      p = next_row(syntax_, row.stop);
      ++looked.rows;
      if (row.defect != FieldDefect::kNone || row.fields.size() != guess_.size()) continue;
      for (size_t f = 0; f < guess_.size(); ++f)
        if (guess_[f]) looked.guesses[f].look(syntax_, row.fields[f]);
    }
    looked.bytes = std::max<int64_t>(0, std::min(p, sample.end()) - begin);
    return looked;
  }

  std::string op_;
  Text& text_;
  const std::string& name_;
  const CsvOptions& options_;
  const CsvSyntax& syntax_;
  CsvLayout layout_{};
  std::vector<bool> guess_{};  // which dtypes are not given
  int64_t line_ = 1;
};

}  // namespace

CsvLayout sniff_csv(std::string_view op, Text& text, const std::string& name,
                    const CsvOptions& options, const CsvSyntax& syntax) {
  return Sniffer(op, text, name, options, syntax).sniff();
}

}  // namespace hr
