// SPDX-License-Identifier: Apache-2.0
// Chunks of the text, the states at their borders, and the ranges of rows that follow from them.
#include "headrace/io/csv_row_splitter.h"

#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/exec/interrupt.h"
#include "headrace/exec/workers.h"
#include "headrace/io/csv_row_splitter_kernels.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kMaxRowBytes = int64_t{1} << 30;
constexpr int64_t kMaxBytesBefore = int64_t{1} << 24;
constexpr int64_t kStepBytes = int64_t{1} << 12;
constexpr int64_t kMaxStepBytes = int64_t{1} << 20;
constexpr int64_t kLoadingShare = 90;  // percent of the time that decompression takes
constexpr int64_t kFront = 64;         // room before the chunk: its byte before stands there

struct Chunk {
  int64_t begin;
  int64_t size;
  ChunkOutcome outside{};
  ChunkOutcome inside{};
};

class ChunkReader {
 public:
  ChunkReader(const ByteSource& text, const CsvSyntax& syntax, int64_t data_begin,
              int64_t available, int64_t chunk_bytes, BufferPool& stock)
      : text_(text),
        syntax_(syntax),
        data_begin_(data_begin),
        available_(available),
        chunk_bytes_(chunk_bytes),
        stock_(stock) {}

  void set_available(int64_t available) { available_ = available; }

  // Both states that a chunk commonly begins in.
  void follow(Chunk& chunk) const {
    Buffer buffer = stock_.take(kFront + chunk_bytes_ + kCsvPadding);
    const char* text = read(chunk, buffer);
    chunk.outside = cpu::follow_chunk(syntax_, text, chunk.size, QuoteState::kOutside);
    // Nothing of a chunk without quotes ends a quoted field.
    chunk.inside = {.lines = chunk.outside.lines, .end = QuoteState::kInside};
    if (chunk.outside.has_special)
      chunk.inside = cpu::follow_chunk(syntax_, text, chunk.size, QuoteState::kInside);
    stock_.give(std::move(buffer));
  }

  ChunkOutcome follow_from(const Chunk& chunk, QuoteState state) const {
    if (state == QuoteState::kOutside) return chunk.outside;
    if (state == QuoteState::kInside) return chunk.inside;
    Buffer buffer = stock_.take(kFront + chunk_bytes_ + kCsvPadding);
    const ChunkOutcome outcome = cpu::follow_chunk(syntax_, read(chunk, buffer), chunk.size, state);
    stock_.give(std::move(buffer));
    return outcome;
  }

 private:
  const char* read(const Chunk& chunk, Buffer& buffer) const {
    char* text = buffer.mutable_as<char>() + kFront;
    const int64_t before = chunk.begin > data_begin_ ? 1 : 0;
    const int64_t behind = chunk.begin + chunk.size < available_ ? 1 : 0;
    text[-1] = '\n';
    text_.read(chunk.begin - before, text - before, before + chunk.size + behind);
    std::fill_n(text + chunk.size + behind, kCsvPadding - behind, '\0');
    return text;
  }

  const ByteSource& text_;
  const CsvSyntax& syntax_;
  int64_t data_begin_;
  int64_t available_;
  int64_t chunk_bytes_;
  BufferPool& stock_;
};

int64_t loaded(ByteSource& text, int64_t end) {
  const ProgressPart part(0, kLoadingShare, 100);
  return text.load(end);
}

void follow_all(const ByteSource& text, const ChunkReader& reader, std::vector<Chunk>& chunks) {
  const ProgressPart part(text.packed_read() < 0 ? 0 : kLoadingShare, 100, 100);
  parallel_for(std::ssize(chunks),
               [&](int64_t i) { reader.follow(chunks[static_cast<size_t>(i)]); });
}

}  // namespace

Buffer BufferPool::take(int64_t size_bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (!buffers_.empty() && buffers_.back().size_bytes() >= size_bytes) {
      Buffer buffer = std::move(buffers_.back());
      buffers_.pop_back();
      return buffer;
    }
  }
  return Buffer::allocate(size_bytes);
}

void BufferPool::give(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.push_back(std::move(buffer));
}

std::optional<QuoteState> state_before(const ByteSource& text, const CsvSyntax& syntax,
                                       int64_t begin, int64_t offset) {
  BufferPool stock;
  const ChunkReader reader(text, syntax, begin, offset, kMaxStepBytes, stock);
  // The state at the offset by that at `at`, which moves back until all states lead to one.
  std::array ends{QuoteState::kOutside, QuoteState::kInside, QuoteState::kMaybeClosed,
                  QuoteState::kComment};
  const auto end_of = [&](QuoteState state) { return ends[static_cast<size_t>(state)]; };
  bool has_special = false;
  int64_t at = offset;
  for (int64_t step = kStepBytes; at > begin && offset - at < kMaxBytesBefore;
       step = std::min(2 * step, kMaxStepBytes)) {
    Chunk chunk{.begin = std::max(begin, at - step), .size = std::min(step, at - begin)};
    reader.follow(chunk);
    has_special |= chunk.outside.has_special;
    const QuoteState outside = end_of(chunk.outside.end), inside = end_of(chunk.inside.end);
    // Nothing of a chunk without quotes tells a closed field from none.
    const QuoteState closed = chunk.outside.has_special
                                  ? end_of(reader.follow_from(chunk, QuoteState::kMaybeClosed).end)
                                  : outside;
    const QuoteState comment =
        syntax.comment >= 0 ? end_of(reader.follow_from(chunk, QuoteState::kComment).end) : outside;
    ends = {outside, inside, closed, comment};
    at = chunk.begin;
    if (outside == inside && outside == closed && outside == comment) return outside;
  }
  if (at > begin && has_special) return std::nullopt;
  return end_of(QuoteState::kOutside);
}

int64_t whole_rows(const CsvSyntax& syntax, std::string_view text) {
  Buffer buffer = Buffer::allocate(kFront + static_cast<int64_t>(text.size()) + kCsvPadding);
  char* const to = buffer.mutable_as<char>() + kFront;
  to[-1] = '\n';
  std::copy(text.begin(), text.end(), to);
  std::fill_n(to + text.size(), kCsvPadding, '\0');
  auto size = static_cast<int64_t>(text.size());
  if (size > 0 && to[size - 1] == '\r') --size;
  const ChunkOutcome found = cpu::follow_chunk(syntax, to, size, QuoteState::kOutside);
  return std::max<int64_t>(found.last_row, 0);
}

CsvRanges find_ranges(std::string_view op, ByteSource& text, std::string_view name,
                      const CsvSyntax& syntax, int64_t begin, int64_t first_line,
                      int64_t enough_rows, int64_t chunk_bytes, BufferPool& stock) {
  CsvRanges result;
  QuoteState state = QuoteState::kOutside;
  int64_t at = begin;         // next chunk
  int64_t line = first_line;  // of `at`
  int64_t last_row = begin;   // begin of the last row that was seen to begin
  CsvRange open{.begin = begin, .end = -1, .first_line = first_line, .max_rows = 0};
  const auto close = [&](int64_t end) {
    open.end = end;
    if (open.end - open.begin > kMaxRowBytes + chunk_bytes)
      throw InputError(error_message(op, "a row is longer than 1 GiB",
                                     {{"path", name}, {"line", open.first_line}},
                                     "look for a quote that is never closed, or pass quote=None"),
                       std::string(name), open.first_line);
    result.max_rows += open.max_rows;
    if (open.begin < open.end) result.ranges.push_back(open);
  };

  // Doubling batches, so that a few rows are found without reading much; all at once otherwise.
  const bool all = enough_rows < 0;
  for (int64_t batch = 1;; batch *= 2) {
    const int64_t wanted = all ? std::numeric_limits<int64_t>::max()
                               : checked_add(op, at, checked_multiply(op, batch, chunk_bytes) + 1);
    const int64_t available = loaded(text, wanted);
    const bool over = available < wanted;
    const int64_t until = over ? available : wanted - 1;
    ChunkReader reader(text, syntax, begin, available, chunk_bytes, stock);
    std::vector<Chunk> chunks;
    for (int64_t c = at; c < until; c += chunk_bytes)
      chunks.push_back({.begin = c, .size = std::min(chunk_bytes, until - c)});
    follow_all(text, reader, chunks);
    for (const Chunk& chunk : chunks) {
      const ChunkOutcome outcome = reader.follow_from(chunk, state);
      state = outcome.end;
      if (outcome.row_ends > 0) {
        const bool first_chunk = chunk.begin == begin;
        if (first_chunk) {
          open.max_rows = outcome.row_ends + 1;
        } else {
          close(chunk.begin + outcome.first_row);
          open = {.begin = chunk.begin + outcome.first_row,
                  .end = -1,
                  .first_line = line + outcome.first_row_lines,
                  .max_rows = outcome.row_ends};
        }
        last_row = chunk.begin + outcome.last_row;
      } else if (open.max_rows == 0) {
        open.max_rows = 1;
      }
      line += outcome.lines;
    }
    at = until;
    if (!over && (all || result.max_rows + open.max_rows <= enough_rows)) continue;
    result.complete = over;
    result.text_end = at;
    break;
  }

  // What is open now ends at the end of the text, or before its last row when that is cut off.
  if (!result.complete || state == QuoteState::kInside) {
    Buffer rows = Buffer::allocate(last_row - open.begin);
    text.read(open.begin, rows.mutable_as<char>(), rows.size_bytes());
    result.rest = last_row;
    result.rest_line =
        open.first_line + count_line_ends(rows.as<char>(), rows.as<char>() + rows.size_bytes());
    open.max_rows -= open.max_rows > 0;
    close(last_row);
  } else {
    if (last_row == result.text_end && open.max_rows > 0) open.max_rows -= 1;
    close(result.text_end);
  }
  return result;
}

}  // namespace hr
