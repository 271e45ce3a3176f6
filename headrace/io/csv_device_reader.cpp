// SPDX-License-Identifier: Apache-2.0
// Sends text to the device through pinned blocks, has its lines parsed there, and mends on the host
// what they leave.
#include "headrace/io/csv_device_reader.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device_copy.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_columns.h"
#include "headrace/io/csv_device_reader_kernels.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_csv";

[[noreturn]] void leave_to_host(std::string_view why) {
  throw_error<UnsupportedError>(kOp, why);
}

bool has_kernel(Dtype dtype) {
  return dtype.is_bool() || dtype.is_real() || dtype.is_string() || dtype.is_date() ||
         (dtype.is_timestamp() && !dtype.has_zone());
}

// What kernels can read; wanted with kernels alone.
[[maybe_unused]] void check_plain(const CsvDeviceJob& job) {
  if (!job.syntax.true_words.empty() || !job.syntax.false_words.empty())
    leave_to_host("bools have words of their own");
  for (const std::string& word : job.syntax.null_words)
    if (word.size() > kLineWordBytes || job.syntax.null_words.size() > kLineWords)
      leave_to_host("there are many null words or long ones");
  for (const CsvTarget& target : job.targets)
    if (target.column >= 0 && !has_kernel(target.dtype))
      leave_to_host("columns of " + std::string(target.dtype.name()) + " have no kernel");
}

LineSyntax line_syntax(const CsvSyntax& syntax) {
  LineSyntax lines{.delimiter = syntax.delimiter,
                   .quote = syntax.quote,
                   .comment = syntax.comment,
                   .plain_numbers = syntax.plain_numbers};
  for (const std::string& word : syntax.null_words) lines.add_null(word);
  return lines;
}

// Bytes up to and with the last row end that is surely whole; 0: none.
int64_t whole_lines(const CsvSyntax& syntax, const char* text, int64_t size, QuoteCount quotes) {
  if (!quotes.any)
    if (const void* last = memrchr(text, '\n', static_cast<size_t>(size)))
      return static_cast<const char*>(last) - text + 1;
  bool inside = quotes.odd;
  for (int64_t i = size - 1; i >= 0; --i) {
    inside ^= syntax.is_quote(text[i]);
    // A carriage return at the very end may have its line feed behind it.
    if (!inside && (text[i] == '\n' || (text[i] == '\r' && i + 1 < size))) return i + 1;
  }
  return 0;
}

template <class T>
int64_t bytes_of(size_t count) {
  return static_cast<int64_t>(count * sizeof(T));
}

class DeviceReader {
 public:
  explicit DeviceReader(const CsvDeviceJob& job) : job_(job), call_(kOp, job.place) {
    for (const CsvDeviceText& text : job.texts) {
      const std::shared_ptr<ByteSource> opened = text.open();
      if (opened->known_size() < 0 && job.limit < std::numeric_limits<int64_t>::max())
        leave_to_host("streams are read only as far as needed");
      // That a file became shorter is found when it is closed or all is read.
      const int64_t end = std::max(opened->load(std::numeric_limits<int64_t>::max()), text.begin);
      texts_.push_back({.begin = text.begin, .end = end, .first = bytes_});
      const int64_t bytes = end - text.begin;
      bytes_ += bytes;
      longest_ = std::max(longest_, bytes);
      rows_ += text.estimated_rows < 0 ? bytes / 16 : text.estimated_rows;
    }
    wanted_ = std::min(job.limit, bytes_);
  }

  CsvDeviceRows read() {
    int64_t slots = std::min(rows_ + rows_ / 32, wanted_ + kMostRefused) + kBlockRows;
    for (;;) {
      CsvDeviceRows lines;
      parse(slots);
      mend(lines.piece, slots);
      const auto num_gone = static_cast<int64_t>(gone_.size());
      lines.piece.rows = counts_.lines - num_gone;
      for (const Text& text : texts_) lines.rows_of_texts.push_back(rows_before(text.lines));
      for (size_t k = texts_.size(); --k > 0;) lines.rows_of_texts[k] -= lines.rows_of_texts[k - 1];
      if (std::min(counts_.lines, wanted_ + num_gone) <= slots) {
        lines.table = finish(std::min(lines.piece.rows, wanted_), slots);
        return lines;
      }
      slots = counts_.lines;  // the samples told of longer lines
    }
  }

 private:
  struct Text {
    int64_t begin;  // of the rows in it
    int64_t end;
    int64_t first;      // byte of the rows of all sources
    int64_t lines = 0;  // of all sources up to its end
  };

  struct There {
    Buffer values{};
    Buffer validity{};
    std::vector<Buffer> text{};  // of strings: what the host parsed, then all
  };

  static constexpr int64_t kBlocks = 4;  // under way
  static constexpr int64_t kFront = 64;  // room in each for the counts before the text

  Buffer bits(int64_t count, unsigned char byte) {
    Buffer made = call_.scratch(round_up(bitmap_bytes(count), 8));
    call_.fill(call_.writes(made), byte, made.size_bytes());
    return made;
  }

  // All lines up to the limit into `slots` slots.
  void parse(int64_t slots) {
    text_buffers_.clear();
    const size_t num_columns = job_.schema.names.size();
    const int64_t state_bytes = bytes_of<LineCounts>(1) + bytes_of<uint32_t>(num_columns);
    const Buffer state = call_.scratch(state_bytes);
    std::byte* const counts = call_.writes(state);
    call_.fill(counts, 0, state_bytes);
    there_.assign(num_columns, {});
    std::vector<LineField> fields(job_.targets.size());
    for (size_t f = 0; f < fields.size(); ++f) {
      const CsvTarget& target = job_.targets[f];
      if (target.column < 0) continue;
      There& column = there_[static_cast<size_t>(target.column)];
      column.validity = bits(slots, 0xFF);
      column.values = target.dtype.is_bool()
                          ? bits(slots, 0)
                          : call_.scratch(checked_multiply(kOp, slots, target.dtype.size_bytes()));
      fields[f] = {
          .wanted = true,
          .type = target.dtype.id(),
          .unit = target.dtype.is_timestamp() ? target.dtype.unit() : TimeUnit::kMicro,
          .values = call_.writes(column.values),
          .validity = call_.writes_as<uint32_t>(column.validity),
          .has_null = reinterpret_cast<uint32_t*>(counts + sizeof(LineCounts)) + target.column};
    }
    const int64_t block_bytes = std::min(job_.block_bytes, longest_ + 1);
    const Buffer there = call_.table(fields.data(), bytes_of<LineField>(fields.size()));
    const Buffer fives = call_.table(fast_float::powers::power_of_five_128,
                                     sizeof fast_float::powers::power_of_five_128);
    const Buffer refused = call_.scratch(bytes_of<RefusedLine>(kMostRefused));
    const int64_t num_tiles = divide_up(block_bytes + 1, kLineTile);
    const Buffer tiles = call_.scratch(num_tiles * static_cast<int64_t>(sizeof(LineTile)));
    const Buffer row_ends =
        call_.scratch(num_tiles * kTileWords * static_cast<int64_t>(sizeof(RowEndBits)));
    send_blocks({.syntax = line_syntax(job_.syntax),
                 .num_fields = static_cast<int>(fields.size()),
                 .slots = slots,
                 .fields = there.as<LineField>(),
                 .fives = fives.as<uint64_t>(),
                 .counts = reinterpret_cast<LineCounts*>(counts),
                 .refused = call_.writes_as<RefusedLine>(refused),
                 .tiles = call_.writes_as<LineTile>(tiles),
                 .row_ends = call_.writes_as<RowEndBits>(row_ends)},
                block_bytes, slots);
    std::vector<std::byte> found(static_cast<size_t>(state_bytes));
    call_.fetch(found.data(), counts, state_bytes);
    std::memcpy(&counts_, found.data(), sizeof counts_);
    check_counts(counts_);
    has_null_.resize(num_columns);
    std::memcpy(has_null_.data(), found.data() + sizeof counts_, found.size() - sizeof counts_);
    refused_.resize(static_cast<size_t>(counts_.refused));
    if (refused_.empty()) return;
    call_.fetch(refused_.data(), refused.data(), bytes_of<RefusedLine>(refused_.size()));
    std::sort(refused_.begin(), refused_.end(),
              [](const RefusedLine& a, const RefusedLine& b) { return a.slot < b.slot; });
  }

  // Room for the text of blocks on the device: what strings point to stays.
  class TextRooms {
   public:
    static constexpr int64_t kAlign = 64, kMostBytes = int64_t{1} << 31;

    // For `text_bytes` of some sources, or where `reuses` for a few blocks, over and over.
    TextRooms(DeviceCall& call, Place place, int64_t block_bytes, int64_t text_bytes, int64_t texts,
              bool reuses)
        : room_(round_up(block_bytes + 1, kAlign) + kLineSlack), reuses_(reuses) {
      // Two blocks of a source in a row hold more than the bytes of one, each up to the end of a
      // row.
      const int64_t most_blocks = 2 * (text_bytes / block_bytes + texts);
      int64_t left = reuses ? kBlocks * room_ : text_bytes + room_ + 2 * kAlign * most_blocks;
      const int64_t most = std::max(kMostBytes, kBlocks * room_);
      for (; left > 0; left -= most - room_) {
        buffers_.push_back(allocate_result(std::min(left, most), place));
        call.writes(buffers_.back());
      }
    }

    // For the block `k`; null: there is none.
    LineText take(int64_t k, int64_t size) {
      if (reuses_) {
        used_ = k % kBlocks * room_;
      } else if (used_ + room_ > buffers_[at_].size_bytes()) {
        ++at_;
        used_ = 0;
      }
      if (at_ == buffers_.size() || used_ + room_ > buffers_[at_].size_bytes()) return {};
      char* const base = const_cast<char*>(buffers_[at_].as<char>());
      char* const begin = base + used_;
      used_ += round_up(size, kAlign);
      return {begin, begin + size, base, static_cast<uint32_t>(at_)};
    }

    std::vector<Buffer>& buffers() { return buffers_; }

   private:
    int64_t room_;
    bool reuses_;
    std::vector<Buffer> buffers_{};
    size_t at_ = 0;
    int64_t used_ = 0;
  };

  bool has_strings() const {
    return std::any_of(job_.schema.dtypes.begin(), job_.schema.dtypes.end(),
                       [](Dtype dtype) { return dtype.is_string(); });
  }

  // Bytes of text that hold the rows of some slots, by the samples.
  int64_t text_bytes(int64_t slots) const {
    if (wanted_ >= bytes_ || rows_ == 0) return bytes_;
    const auto all = static_cast<double>(bytes_);
    const double bytes = 1.5 * static_cast<double>(slots) * all / static_cast<double>(rows_);
    return bytes < all ? static_cast<int64_t>(bytes) : bytes_;
  }

  // Blocks of whole lines: the device takes and parses one while the next ones are read.
  void send_blocks(const LineTargets& targets, int64_t block_bytes, int64_t slots) {
    TextRooms rooms(call_, job_.place, block_bytes, text_bytes(slots), std::ssize(texts_),
                    !has_strings());
    PinnedRing ring(kOp, kFront + block_bytes + 1 + kLineSlack, kBlocks,
                    current_stream(job_.place));
    std::vector<Text*> sent;  // the text of each block
    // Whether the rows up to this block, which is done, are enough.
    const auto is_enough = [&](int64_t k) {
      LineCounts counts;
      std::memcpy(&counts, ring.take(k).buffer.data(), sizeof counts);
      check_counts(counts);  // or the rest would be read in vain
      sent[static_cast<size_t>(k)]->lines = counts.lines;
      return counts.lines - counts.refused >= wanted_ && wanted_ < bytes_;
    };
    for (size_t t = 0; t < texts_.size(); ++t) {
      Text& text = texts_[t];
      const std::shared_ptr<ByteSource> source = job_.texts[t].open();
      for (int64_t at = text.begin; at < text.end;) {
        const int64_t k = std::ssize(sent);
        if (k >= kBlocks && is_enough(k - kBlocks)) break;
        PinnedBlock& block = ring.take(k);
        const BlockText found = read_block(*source, text, at, block_bytes, block);
        const LineText there = rooms.take(k, found.bytes);
        if (!there.begin) leave_to_host("the rows are longer than the samples tell");
        record_copy(kOp, "text to device", found.bytes, true, host, job_.place);
        ring.send(block, kFront, found.bytes + kLineSlack,
                  reinterpret_cast<const std::byte*>(there.begin));
        cuda::parse_lines(call_, targets, there, text.first + at - text.begin);
        ring.fetch(block, targets.counts, sizeof(LineCounts));
        ring.give(block);
        sent.push_back(&text);
        at += found.size;
        if (wanted_ < bytes_ && is_enough(k)) break;
      }
    }
    for (int64_t k = std::max<int64_t>(0, std::ssize(sent) - kBlocks); k < std::ssize(sent); ++k)
      is_enough(k);
    // A source without rows ends where the one before it does.
    for (size_t t = 1; t < texts_.size(); ++t)
      texts_[t].lines = std::max(texts_[t].lines, texts_[t - 1].lines);
    if (has_strings()) text_buffers_ = std::move(rooms.buffers());
  }

  struct BlockText {
    int64_t size;   // of the text that it takes
    int64_t bytes;  // with a line end
  };

  // Whole rows of a source from `at` on, into the block.
  BlockText read_block(ByteSource& source, const Text& text, int64_t at, int64_t block_bytes,
                       PinnedBlock& block) const {
    char* const bytes = block.buffer.mutable_as<char>() + kFront;
    const int64_t size = std::min(block_bytes, text.end - at);
    const QuoteCount quotes = read(source, at, bytes, size);
    if (at + size < text.end) {
      const int64_t whole = whole_lines(job_.syntax, bytes, size, quotes);
      if (whole == 0) leave_to_host("a line is longer than a block");
      return {whole, whole};
    }
    if (bytes[size - 1] == '\n' || bytes[size - 1] == '\r') return {size, size};
    bytes[size] = '\n';
    return {size, size + 1};
  }

  // One block by all workers.
  QuoteCount read(ByteSource& source, int64_t offset, char* into, int64_t size) const {
    constexpr int64_t kPartBytes = int64_t{512} << 10;
    std::atomic<bool> any{false};
    std::atomic<int64_t> num_odd{0};
    parallel_for(divide_up(size, kPartBytes), [&](int64_t part) {
      const int64_t begin = part * kPartBytes, bytes = std::min(kPartBytes, size - begin);
      source.read(offset + begin, into + begin, bytes);
      if (job_.syntax.quote < 0) return;
      const QuoteCount quotes =
          cpu::count_quotes(into + begin, bytes, static_cast<uint8_t>(job_.syntax.quote));
      if (quotes.any) any = true;
      if (quotes.odd) num_odd.fetch_add(1);
    });
    return {any, num_odd % 2 != 0};
  }

  static void check_counts(const LineCounts& counts) {
    if (counts.out_of_step != 0) leave_to_host("quotes are not all around whole fields");
    if (counts.refused > kMostRefused) leave_to_host("many fields are not plain");
  }

  // Has the host parse what the kernels refused, puts it in place, and lists slots without a row.
  void mend(CsvPartial& piece, int64_t num_slots) {
    gone_.clear();
    if (refused_.empty()) return;
    int64_t bytes = 0;
    for (const RefusedLine& line : refused_) bytes += line.size + 1;
    Buffer rows = Buffer::allocate(bytes + 2 * kCsvPadding);
    char* const text = rows.mutable_as<char>() + kCsvPadding;
    char* end = text;
    std::vector<const RefusedLine*> kept;  // those that are not blank
    std::vector<int64_t> first_lines;      // of each in what the host parses
    int64_t num_lines = 0;
    std::shared_ptr<ByteSource> source;
    size_t t = 0;  // its text
    for (const RefusedLine& line : refused_) {
      while (line.begin >= texts_[t].first + texts_[t].end - texts_[t].begin) {
        ++t;
        source.reset();
      }
      if (!source) source = job_.texts[t].open();
      source->read(line.begin - texts_[t].first + texts_[t].begin, end, line.size);
      end[line.size] = '\n';
      if (skip_empty_row(job_.syntax, end) != end) {
        gone_.push_back(line.slot);
        continue;
      }
      kept.push_back(&line);
      first_lines.push_back(num_lines);
      num_lines += count_line_ends(end, end + line.size + 1);
      end += line.size + 1;
    }
    std::memset(end, 0, kCsvPadding);
    *end = '\n';
    const auto count = static_cast<int64_t>(kept.size());
    CsvColumns columns(job_.schema, count);
    std::vector<CsvTarget> targets = job_.targets;
    for (CsvTarget& target : targets)
      if (target.column >= 0) target.values = columns.values(target.column);
    std::vector<CsvPartial> pieces(1);
    {
      const Pin pin(ranges_of(columns.accesses(), 0, count));
      pieces[0] = cpu::parse_range(
          {.syntax = job_.syntax,
           .targets = targets,
           .num_columns = static_cast<int64_t>(job_.schema.names.size()),
           .max_rows = count,
           .stop_at_bad_row = false},
          text, end - text, {.begin = 0, .end = end - text, .first_line = 0, .max_rows = count}, 0,
          0);
    }
    const std::vector<CsvBadRow> bad = std::move(pieces[0].bad_rows);
    piece.bad_text = std::move(pieces[0].bad_text);
    std::vector<bool> is_bad(kept.size());
    std::vector<const RefusedLine*> bad_lines;
    for (const CsvBadRow& row : bad) {
      const auto place = std::lower_bound(first_lines.begin(), first_lines.end(), row.line);
      const auto at = static_cast<size_t>(place - first_lines.begin());
      is_bad[at] = true;
      bad_lines.push_back(kept[at]);
      gone_.push_back(kept[at]->slot);
    }
    std::sort(gone_.begin(), gone_.end());
    for (size_t i = 0; i < bad.size(); ++i) {
      CsvBadRow row = bad[i];
      const int64_t slot = bad_lines[i]->slot;
      row.row = rows_before(slot);
      row.line = job_.texts[0].first_line + bad_lines[i]->ends;
      piece.bad_rows.push_back(row);
    }
    std::vector<int64_t> slots;
    for (size_t i = 0; i < kept.size(); ++i)
      if (!is_bad[i]) slots.push_back(kept[i]->slot);
    patch(columns.finish(pieces, {0}, count), std::move(slots), num_slots);
  }

  // Slots before this one that hold a row.
  int64_t rows_before(int64_t slot) const {
    return slot - (std::lower_bound(gone_.begin(), gone_.end(), slot) - gone_.begin());
  }

  // Rows of the host at the slots where they belong, as far as these are kept.
  void patch(const Table& rows, std::vector<int64_t> slots, int64_t num_slots) {
    slots.resize(static_cast<size_t>(std::lower_bound(slots.begin(), slots.end(), num_slots) -
                                     slots.begin()));
    const auto count = static_cast<int64_t>(slots.size());
    if (count == 0) return;
    const Buffer at = call_.table(slots.data(), bytes_of<int64_t>(slots.size()));
    std::vector<uint8_t> bytes(slots.size());
    const auto patch_bits = [&](const Buffer& into, auto bit) {
      for (int64_t i = 0; i < count; ++i) bytes[static_cast<size_t>(i)] = bit(i);
      const Buffer from = call_.table(bytes.data(), count);
      cuda::patch_bits(call_, call_.writes(into), at.as<int64_t>(), from.as<uint8_t>(), count);
    };
    for (size_t c = 0; c < there_.size(); ++c) {
      const Column& column = rows.column(static_cast<int64_t>(c));
      has_null_[c] |= column.null_count() > 0;
      patch_bits(there_[c].validity, [&](int64_t i) { return !column.is_null(i); });
      if (column.dtype().is_bool()) {
        patch_bits(there_[c].values, [&](int64_t i) { return column.bit(i); });
        continue;
      }
      const int64_t width = column.dtype().size_bytes();
      const Buffer values =
          column.dtype().is_string() ? send_text(column, c) : column.values_buffer();
      const Buffer from = call_.table(values.data(), count * width);
      cuda::patch_values(call_, call_.writes(there_[c].values), at.as<int64_t>(), from.data(),
                         count, width);
    }
  }

  // Puts the text of a column of the host behind that of the blocks; gives its views into it.
  Buffer send_text(const Column& column, size_t c) {
    const size_t first = text_buffers_.size();
    for (const Buffer& text : column.text_buffers()) {
      const Buffer& there = there_[c].text.emplace_back(
          allocate_result(std::max<int64_t>(text.size_bytes(), 1), job_.place));
      if (text.size_bytes() > 0)
        copy_to_cuda(text, 0, text.size_bytes(), call_.writes(there), current_stream(job_.place));
    }
    Buffer views = Buffer::allocate(column.num_rows() * bytes_of<StringView>(1));
    auto* out = views.mutable_as<StringView>();
    for (StringView view : column.values<StringView>()) {
      if (view.size > sizeof view.inlined) view.indirect.buffer += static_cast<uint32_t>(first);
      *out++ = view;
    }
    return views;
  }

  // What the views of a column point to, copied together in the order of the rows, so that the rest
  // of the text is released.
  std::vector<Buffer> gather_text(There& column, int64_t rows) {
    std::vector<Buffer> all = text_buffers_;
    all.insert(all.end(), column.text.begin(), column.text.end());
    const int64_t num_parts = divide_up(rows, cuda::kTextRows);
    const Buffer parts = call_.scratch(8 * (num_parts + 1));
    auto* const sums = call_.writes_as<int64_t>(parts);
    std::byte* const views = call_.writes(column.values);
    cuda::count_text(call_, views, rows, sums, sums + num_parts);
    int64_t bytes = 0;
    call_.fetch(&bytes, sums + num_parts, 8);
    if (bytes == 0) return {};
    if (bytes > std::numeric_limits<uint32_t>::max()) return all;
    std::vector<const char*> begins;
    for (const Buffer& text : all) begins.push_back(text.as<char>());
    const Buffer table = call_.table(begins.data(), bytes_of<const char*>(begins.size()));
    Buffer text = allocate_result(bytes, job_.place);
    cuda::gather_text(call_, views, rows, sums, table.as<const char*>(),
                      call_.writes_as<char>(text));
    return {std::move(text)};
  }

  // The columns of the first rows, closed up.
  Table finish(int64_t rows, int64_t slots) {
    const Buffer gone = call_.table(gone_.data(), bytes_of<int64_t>(gone_.size()));
    const auto num_gone = static_cast<int64_t>(gone_.size());
    const Buffer ones = bits(64 * static_cast<int64_t>(there_.size()), 0);
    const auto close_bits = [&](const Buffer& from, size_t column) {
      Buffer to = allocate_result(round_up(bitmap_bytes(rows), 8), job_.place);
      if (rows > 0)
        cuda::close_bits(call_, from.data(), gone.as<int64_t>(), num_gone, rows, call_.writes(to),
                         call_.writes_as<unsigned long long>(ones) + column);
      return to;
    };
    for (size_t c = 0; c < there_.size(); ++c) {
      There& column = there_[c];
      const Dtype dtype = job_.schema.dtypes[c];
      if (dtype.is_bool()) {
        column.values = close_bits(column.values, c);
        call_.fill(call_.writes(ones) + 8 * c, 0, 8);
      } else if (num_gone > 0 || rows < slots - slots / 8) {
        const Buffer from = std::move(column.values);
        column.values = allocate_result(rows * dtype.size_bytes(), job_.place);
        if (rows > 0)
          cuda::close_values(call_, from.data(), gone.as<int64_t>(), num_gone, rows,
                             dtype.size_bytes(), call_.writes(column.values));
      }
      if (has_null_[c] != 0) column.validity = close_bits(column.validity, c);
      if (dtype.is_string() && rows > 0) column.text = gather_text(column, rows);
    }
    call_.finish(0);
    std::vector<uint64_t> valid(there_.size());
    if (std::count(has_null_.begin(), has_null_.end(), 0U) < std::ssize(has_null_))
      call_.fetch(valid.data(), ones.data(), bytes_of<uint64_t>(valid.size()));
    std::vector<Column> columns;
    for (size_t c = 0; c < there_.size(); ++c) {
      const int64_t nulls = has_null_[c] ? rows - static_cast<int64_t>(valid[c]) : 0;
      const Dtype dtype = job_.schema.dtypes[c];
      const Buffer values = rows > 0 ? there_[c].values : Buffer();
      const Buffer validity = nulls > 0 ? there_[c].validity : Buffer();
      columns.push_back(dtype.is_string() ? Column::strings(rows, values, std::move(there_[c].text),
                                                            validity, nulls)
                                          : Column(dtype, rows, values, validity, nulls));
    }
    return Table(job_.schema.names, std::move(columns));
  }

  const CsvDeviceJob& job_;
  DeviceCall call_;
  std::vector<Text> texts_{};
  int64_t bytes_ = 0;    // of the rows of all sources
  int64_t longest_ = 0;  // of them, those of one text
  int64_t rows_ = 0;     // as estimated
  int64_t wanted_ = 0;
  std::vector<There> there_{};
  LineCounts counts_{};
  std::vector<uint32_t> has_null_{};
  std::vector<RefusedLine> refused_{};
  std::vector<Buffer> text_buffers_{};  // that strings point to
  std::vector<int64_t> gone_{};         // slots that hold no row, in order
};

}  // namespace

CsvDeviceRows parse_on_device(const CsvDeviceJob& job) {
  if constexpr (built_with_cuda) {
    check_plain(job);
    return DeviceReader(job).read();
  }
  leave_to_host("built without CUDA kernels");
}

}  // namespace hr
