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
#include <cstring>

namespace hr {

namespace {

constexpr std::string_view kOp = "read_csv";

[[noreturn]] void leave_to_host(std::string_view why) {
  throw_error<UnsupportedError>(kOp, why);
}

// What kernels can read; wanted with kernels alone.
[[maybe_unused]] void check_plain(const CsvDeviceJob& job) {
  if (!job.syntax.plain_numbers)
    leave_to_host("a delimiter, quote, comment or null word looks like a number");
  if (!job.syntax.true_words.empty() || !job.syntax.false_words.empty())
    leave_to_host("bools have words of their own");
  if (job.syntax.null_padding || job.syntax.truncate_ragged_lines)
    leave_to_host("rows may have other numbers of fields");
  for (const CsvTarget& target : job.targets)
    if (target.column >= 0 && !target.dtype.is_bool() && !target.dtype.is_real())
      leave_to_host("columns of " + std::string(target.dtype.name()) + " have no kernel");
}

LineSyntax line_syntax(const CsvSyntax& syntax) {
  LineSyntax lines{.delimiter = syntax.delimiter};
  int known = 0;
  for (const std::string& word : syntax.null_words)
    if (word.size() <= kLineWordBytes && known < kLineWords)
      lines.nulls[known++] = line_word_of(word.data(), static_cast<int>(word.size()));
  return lines;
}

// Bytes up to and with the last line end that is surely whole; 0: none.
int64_t whole_lines(const char* text, int64_t size) {
  if (const void* last = memrchr(text, '\n', static_cast<size_t>(size)))
    return static_cast<const char*>(last) - text + 1;
  // A carriage return at the very end may have its line feed behind it.
  const void* last = size > 1 ? memrchr(text, '\r', static_cast<size_t>(size - 1)) : nullptr;
  return last ? static_cast<const char*>(last) - text + 1 : 0;
}

template <class T>
int64_t bytes_of(size_t count) {
  return static_cast<int64_t>(count * sizeof(T));
}

class DeviceReader {
 public:
  DeviceReader(const CsvDeviceJob& job, ByteSource& text)
      : job_(job),
        text_(text),
        end_(text.load(std::numeric_limits<int64_t>::max())),
        wanted_(std::min(job.limit, end_)),
        call_(kOp, job.place) {}

  CsvDeviceRows read() {
    int64_t slots = job_.estimated_rows;
    slots = slots < 0 ? (end_ - job_.begin) / 16 : slots + slots / 32;
    slots = std::min(slots, wanted_ + kMostRefused) + kBlockRows;
    for (;;) {
      CsvDeviceRows lines;
      parse(slots);
      mend(lines.piece, slots);
      const auto num_gone = static_cast<int64_t>(gone_.size());
      lines.piece.rows = counts_.lines - num_gone;
      if (std::min(counts_.lines, wanted_ + num_gone) <= slots) {
        lines.table = finish(std::min(lines.piece.rows, wanted_), slots);
        return lines;
      }
      slots = counts_.lines;  // the samples told of longer lines
    }
  }

 private:
  struct There {
    Buffer values{};
    Buffer validity{};
  };

  Buffer bits(int64_t count, unsigned char byte) {
    Buffer made = call_.scratch(round_up(bitmap_bytes(count), 8));
    call_.fill(call_.writes(made), byte, made.size_bytes());
    return made;
  }

  // All lines up to the limit into `slots` slots.
  void parse(int64_t slots) {
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
          .values = call_.writes(column.values),
          .validity = call_.writes_as<uint32_t>(column.validity),
          .has_null = reinterpret_cast<uint32_t*>(counts + sizeof(LineCounts)) + target.column};
    }
    const int64_t block_bytes = std::min(job_.block_bytes, end_ - job_.begin + 1);
    const Buffer there = call_.table(fields.data(), bytes_of<LineField>(fields.size()));
    const Buffer fives = call_.table(fast_float::powers::power_of_five_128,
                                     sizeof fast_float::powers::power_of_five_128);
    const Buffer refused = call_.scratch(bytes_of<RefusedLine>(kMostRefused));
    const Buffer tiles = call_.scratch(8 * (block_bytes / kLineTile + 2));
    send_blocks({.syntax = line_syntax(job_.syntax),
                 .quote = job_.syntax.quote,
                 .comment = job_.syntax.comment,
                 .num_fields = static_cast<int>(fields.size()),
                 .slots = slots,
                 .fields = there.as<LineField>(),
                 .fives = fives.as<uint64_t>(),
                 .counts = reinterpret_cast<LineCounts*>(counts),
                 .refused = call_.writes_as<RefusedLine>(refused),
                 .tiles = call_.writes_as<int64_t>(tiles)},
                block_bytes);
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

  // Blocks of whole lines: the device takes and parses one while the next ones are read.
  void send_blocks(const LineTargets& targets, int64_t block_bytes) {
    constexpr int64_t kBlocks = 4;
    constexpr int64_t kFront = 64;  // room for the counts before the text
    const int64_t room = round_up(block_bytes + 1, kLineTile);
    const Buffer rooms = call_.scratch(kBlocks * room);
    PinnedRing ring(kOp, kFront + block_bytes + 1, kBlocks, current_stream(job_.place));
    const auto is_enough = [&](const PinnedBlock& block) {
      LineCounts counts;
      std::memcpy(&counts, block.buffer.data(), sizeof counts);
      check_counts(counts);  // or the rest would be read in vain
      return counts.lines - counts.refused >= wanted_;
    };
    int64_t at = job_.begin;
    for (int64_t k = 0; at < end_; ++k) {
      PinnedBlock& block = ring.take(k);
      if (k >= kBlocks && is_enough(block)) break;
      char* const text = block.buffer.mutable_as<char>() + kFront;
      int64_t size = std::min(block_bytes, end_ - at);
      read(at, text, size);
      int64_t bytes = size;
      if (at + size < end_) {
        bytes = size = whole_lines(text, size);
        if (size == 0) leave_to_host("a line is longer than a block");
      } else if (text[size - 1] != '\n' && text[size - 1] != '\r') {
        text[bytes++] = '\n';
      }
      record_copy(kOp, "text to device", bytes, true, host, job_.place);
      const std::byte* const there = rooms.data() + k % kBlocks * room;
      ring.send(block, kFront, bytes, there);
      cuda::parse_lines(call_, targets, reinterpret_cast<const char*>(there), bytes, at);
      ring.fetch(block, targets.counts, sizeof(LineCounts));
      ring.give(block);
      at += size;
      if (wanted_ < end_ && is_enough(ring.take(k))) break;
    }
  }

  // One block by all workers.
  void read(int64_t offset, char* into, int64_t size) const {
    constexpr int64_t kPartBytes = int64_t{512} << 10;
    parallel_for(divide_up(size, kPartBytes), [&](int64_t part) {
      const int64_t begin = part * kPartBytes;
      text_.read(offset + begin, into + begin, std::min(kPartBytes, size - begin));
    });
  }

  static void check_counts(const LineCounts& counts) {
    if (counts.special != 0) leave_to_host("there are quotes or comments in the text");
    if (counts.refused > kMostRefused) leave_to_host("many fields are not plain numbers");
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
    std::vector<int64_t> slots;  // of the lines that are not blank
    for (const RefusedLine& line : refused_) {
      text_.read(line.begin, end, line.size);
      end[line.size] = '\n';
      if (skip_empty_row(job_.syntax, end) != end) {
        gone_.push_back(line.slot);
        continue;
      }
      end += line.size + 1;
      slots.push_back(line.slot);
    }
    std::memset(end, 0, kCsvPadding);
    *end = '\n';
    const auto count = static_cast<int64_t>(slots.size());
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
    for (const CsvBadRow& row : bad) gone_.push_back(slots[static_cast<size_t>(row.line)]);
    std::sort(gone_.begin(), gone_.end());
    for (CsvBadRow row : bad) {
      const int64_t slot = slots[static_cast<size_t>(row.line)];
      row.row = slot - (std::lower_bound(gone_.begin(), gone_.end(), slot) - gone_.begin());
      row.line = job_.first_line + slot;
      piece.bad_rows.push_back(row);
    }
    for (auto row = bad.rbegin(); row != bad.rend(); ++row) slots.erase(slots.begin() + row->line);
    patch(columns.finish(pieces, {0}, count), std::move(slots), num_slots);
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
      const Buffer from = call_.table(column.values_buffer().data(), count * width);
      cuda::patch_values(call_, call_.writes(there_[c].values), at.as<int64_t>(), from.data(),
                         count, width);
    }
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
    }
    call_.finish(0);
    std::vector<uint64_t> valid(there_.size());
    if (std::count(has_null_.begin(), has_null_.end(), 0U) < std::ssize(has_null_))
      call_.fetch(valid.data(), ones.data(), bytes_of<uint64_t>(valid.size()));
    std::vector<Column> columns;
    for (size_t c = 0; c < there_.size(); ++c) {
      const int64_t nulls = has_null_[c] ? rows - static_cast<int64_t>(valid[c]) : 0;
      columns.emplace_back(job_.schema.dtypes[c], rows, rows > 0 ? there_[c].values : Buffer(),
                           nulls > 0 ? there_[c].validity : Buffer(), nulls);
    }
    return Table(job_.schema.names, std::move(columns));
  }

  const CsvDeviceJob& job_;
  ByteSource& text_;
  int64_t end_;
  int64_t wanted_;
  DeviceCall call_;
  std::vector<There> there_{};
  LineCounts counts_{};
  std::vector<uint32_t> has_null_{};
  std::vector<RefusedLine> refused_{};
  std::vector<int64_t> gone_{};  // slots that hold no row, in order
};

}  // namespace

CsvDeviceRows parse_on_device(const CsvDeviceJob& job, ByteSource& text) {
  if constexpr (built_with_cuda) {
    check_plain(job);
    if (text.known_size() < 0 && job.limit < std::numeric_limits<int64_t>::max())
      leave_to_host("streams are read only as far as needed");
    return DeviceReader(job, text).read();
  }
  leave_to_host("built without CUDA kernels");
}

}  // namespace hr
