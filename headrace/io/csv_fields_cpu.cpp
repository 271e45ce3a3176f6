// SPDX-License-Identifier: Apache-2.0
// Finds the fields of a tile of CSV text, 64 bytes at a time as bit masks, and reads text fields.
#define HWY_TARGET_INCLUDE "headrace/io/csv_fields_cpu.cpp"
#include "headrace/base/simd_targets.h"
#include "headrace/base/utf8.h"
#include "headrace/io/csv_fields_kernels.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();

namespace hr::HWY_NAMESPACE {
namespace {

#include "headrace/io/byte_bits_math.h"

// Bit i: the parity of bits 0 to i.
inline uint64_t running_parity(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Places of set bits; up to 7 places behind them are written too.
inline int32_t* put_places(uint64_t bits, int32_t base, int32_t* to) {
  int32_t* const last = to + std::popcount(bits);
  for (; to < last; to += 8)
    for (int i = 0; i < 8; ++i) {
      to[i] = base + std::countr_zero(bits);
      bits &= bits - 1;
    }
  return last;
}

// What one block of 64 bytes holds outside of quotes.
struct Block {
  uint64_t separators;  // delimiters
  uint64_t line_ends;   // first bytes of line ends
  uint64_t stop;        // the index ends before the first of these
};

class Indexer {
 public:
  Indexer(const CsvSyntax& syntax, int64_t fields, const char* text, const char* end, int32_t* room)
      : syntax_(syntax),
        text_(text),
        end_(end),
        ends_(room + 16),
        lines_(fields == 1 ? ends_ : ends_ + cpu::csv_fields_most(end - text)) {
    result_.text = text;
    result_.fields = fields;
    result_.ends = ends_;
  }

  CsvFields index(int64_t most) {
    const int64_t size = std::min<int64_t>(end_ - text_, kCsvTileBytes);
    int32_t *to = ends_, *to_line = lines_;
    int64_t at = 0;
    bool stopped = false;
    for (; at < size && !stopped; at += 64) {
      Block block = look(at, bits_between(0, std::min<int64_t>(size - at, 64)));
      stopped = block.stop != 0;
      if (stopped) {
        const uint64_t before = bits_between(0, std::countr_zero(block.stop));
        block.separators &= before;
        block.line_ends &= before;
      }
      const auto base = static_cast<int32_t>(at);
      to_line = put_places(block.line_ends, base, to_line);
      if (result_.fields > 1) to = put_places(block.separators | block.line_ends, base, to);
    }
    const int64_t lines = to_line - lines_;
    count_rows(result_.fields > 1 ? to - ends_ : lines, lines, most);
    const bool is_regular = result_.rows > 0 && result_.rows == lines && !stopped;
    result_.looked = is_regular ? result_.next : text_ + std::min(at, size);
    return result_;
  }

 private:
  Block look(int64_t at, uint64_t valid) {
    const char* const p = text_ + at;
    uint64_t separators = equal_bits(p, static_cast<uint8_t>(syntax_.delimiter));
    uint64_t line_feeds = equal_bits(p, '\n') & valid;
    uint64_t returns = equal_bits(p, '\r') & valid;
    uint64_t stop = 0;
    result_.ascii &= is_ascii(p);
    if (syntax_.quote >= 0) {
      const uint64_t quotes = equal_bits(p, static_cast<uint8_t>(syntax_.quote)) & valid;
      if ((quotes | inside_) != 0) {
        const uint64_t any_end = separators | line_feeds | returns;
        const uint64_t inside = running_parity(quotes) ^ inside_;
        // A quote opens behind the end of a field or, doubled, behind one that closed; where one
        // closes, a field ends.
        const uint64_t open = quotes & inside, closed = quotes & ~inside;
        stop |= open & ~((any_end | closed) << 1 | may_open_);
        const uint64_t behind = closed << 1 | closed_;
        stop |= behind & ~(any_end | quotes) & valid;
        may_open_ = (any_end | closed) >> 63;
        closed_ = closed >> 63;
        inside_ = uint64_t{0} - (inside >> 63);
        separators &= ~inside;
        line_feeds &= ~inside;
        returns &= ~inside;
        result_.quotes = true;
        if (syntax_.comment >= 0)
          stop |= equal_bits(p, static_cast<uint8_t>(syntax_.comment)) & ~inside & valid;
        return with_line_ends({separators & valid, line_feeds, stop}, p, returns);
      }
      may_open_ = (separators | line_feeds | returns) >> 63;
      if (closed_ != 0 && ((separators | line_feeds | returns) & 1) == 0) stop |= 1;
      closed_ = 0;
    }
    if (syntax_.comment >= 0) stop |= equal_bits(p, static_cast<uint8_t>(syntax_.comment)) & valid;
    return with_line_ends({separators & valid, line_feeds, stop}, p, returns);
  }

  // All line ends of a tile are LF, or all are CRLF. `block.line_ends` are line feeds so far.
  Block with_line_ends(Block block, const char* p, uint64_t returns) {
    if (result_.fields == 1) block.stop |= block.separators;
    const uint64_t either = block.line_ends | returns;
    if (either == 0) {
      if (return_before_) block.stop |= 1;
      return_before_ = false;
      return block;
    }
    if (!knows_line_end_) {
      knows_line_end_ = true;
      result_.line_end = (returns & (either & -either)) != 0 ? 2 : 1;
      ends_[-1] = -result_.line_end;
    }
    if (result_.line_end == 1) {
      block.stop |= returns;
      return block;
    }
    const uint64_t feeds = block.line_ends;
    block.stop |= feeds ^ (returns << 1 | static_cast<uint64_t>(return_before_));
    return_before_ = returns >> 63 != 0;
    const bool feed_behind = return_before_ && p[64] == '\n';  // else p[64] may not be readable
    block.line_ends = returns & (feeds >> 1 | static_cast<uint64_t>(feed_behind) << 63);
    return block;
  }

  static bool is_ascii(const char* p) {
    uint64_t words[8];
    std::memcpy(words, p, 64);
    uint64_t all = 0;
    for (const uint64_t word : words) all |= word;
    return (all & 0x8080808080808080) == 0;
  }

  void count_rows(int64_t ends, int64_t lines, int64_t most) {
    const int64_t fields = result_.fields;
    const int64_t rows = std::min({lines, ends / fields, most});
    int64_t row = 0;
    if (fields == 1) row = rows;
    while (row < rows && lines_[row] == ends_[(row + 1) * fields - 1]) ++row;
    result_.rows = row;
    result_.next = row == 0 ? text_ : text_ + ends_[row * fields - 1] + result_.line_end;
  }

  const CsvSyntax& syntax_;
  const char* text_;
  const char* end_;
  int32_t* ends_;
  int32_t* lines_;
  CsvFields result_{};
  uint64_t inside_ = 0;    // all ones: the last block ended in quotes
  uint64_t may_open_ = 1;  // its last byte ended a field or closed a quote
  uint64_t closed_ = 0;    // its last byte closed a quote
  bool return_before_ = false;
  bool knows_line_end_ = false;
};

CsvFields index(const CsvSyntax& syntax, int64_t fields, const char* text, const char* end,
                int64_t most, int32_t* room) {
  return Indexer(syntax, fields, text, end, room).index(most);
}

bool has_kernels() {
  return HWY_TARGET != HWY_SCALAR;
}

#if HWY_TARGET == HWY_SCALAR
int64_t strings(const CsvSyntax&, const CsvFields&, int64_t, uint32_t, ByteBuffer&, StringView*,
                int32_t*) {
  return 0;
}
#else
// 16 of these from 16 - n on: n bytes of ones, then zeros.
alignas(32) constexpr uint8_t kKeepFirst[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                255, 255, 255, 255, 255, 255, 255, 255};

// Whether the byte is among `size` at `p`.
inline bool holds(const char* p, uint64_t size, uint8_t byte) {
  const hn::FixedTag<uint8_t, 16> d8;
  for (;; p += 16, size -= 16) {
    const uint64_t here = size < 16 ? size : 16;
    const auto found = hn::VecFromMask(
        d8, hn::Eq(hn::LoadU(d8, reinterpret_cast<const uint8_t*>(p)), hn::Set(d8, byte)));
    const auto kept = hn::And(found, hn::LoadU(d8, kKeepFirst + 16 - here));
    if (!hn::AllTrue(d8, hn::Eq(kept, hn::Zero(d8)))) return true;
    if (size <= 16) return false;
  }
}

int64_t strings(const CsvSyntax& syntax, const CsvFields& fields, int64_t field, uint32_t buffer,
                ByteBuffer& arena, StringView* values, int32_t* others) {
  const hn::FixedTag<uint8_t, 16> d8;
  const auto bytes_of = [](const void* p) { return static_cast<const uint8_t*>(p); };
  const bool check_blank = fields.fields == 1;  // then such a row is none
  char* const first = arena.reserve(fields.next - fields.text + 64);
  char* to = first;
  const auto offset = static_cast<uint32_t>(arena.size());
  int64_t num_others = 0;
  for (int64_t row = 0; row < fields.rows; ++row) {
    const char* begin = fields.text + fields.begin(row, field);
    auto size = static_cast<uint64_t>(fields.text + fields.end(row, field) - begin);
    bool is_other;
    if (fields.quotes && syntax.is_quote(*begin)) {
      ++begin;
      size -= 2;
      is_other = holds(begin, size, static_cast<uint8_t>(syntax.quote));  // doubled ones
    } else {
      is_other = (syntax.null_lengths >> (size < 63 ? size : 63) & 1 &&
                  syntax.is_null(begin, begin + size)) ||
                 (check_blank && static_cast<uint8_t>(*begin) <= ' ');
    }
    if (is_other || (!fields.ascii && !is_valid_utf8({begin, size}))) {
      others[num_others++] = static_cast<int32_t>(row);
      continue;
    }
    const auto text = hn::LoadU(d8, bytes_of(begin));
    if (size <= sizeof(StringView::inlined)) {
      const auto kept = hn::And(text, hn::LoadU(d8, kKeepFirst + 16 - size));
      hn::StoreU(hn::ShiftLeftBytes<4>(d8, kept), d8, reinterpret_cast<uint8_t*>(values + row));
      values[row].size = static_cast<uint32_t>(size);
      continue;
    }
    StringView& view = values[row];
    view.size = static_cast<uint32_t>(size);
    std::memcpy(view.indirect.prefix, begin, sizeof view.indirect.prefix);
    view.indirect.buffer = buffer;
    view.indirect.offset = offset + static_cast<uint32_t>(to - first);
    hn::StoreU(text, d8, reinterpret_cast<uint8_t*>(to));
    for (uint64_t i = 16; i < size; i += 16)
      hn::StoreU(hn::LoadU(d8, bytes_of(begin + i)), d8, reinterpret_cast<uint8_t*>(to) + i);
    to += size;
  }
  arena.advance(to - first);
  return num_others;
}
#endif

}  // namespace
}  // namespace hr::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hr::cpu {

bool has_field_kernels() {
  return HR_SIMD(has_kernels)();
}

CsvFields index_fields(const CsvSyntax& syntax, int64_t fields, const char* text, const char* end,
                       int64_t most, int32_t* room) {
  return HR_SIMD(index)(syntax, fields, text, end, most, room);
}

int64_t parse_string_fields(const CsvSyntax& syntax, const CsvFields& fields, int64_t field,
                            uint32_t buffer, ByteBuffer& arena, StringView* values,
                            int32_t* others) {
  return HR_SIMD(strings)(syntax, fields, field, buffer, arena, values, others);
}

}  // namespace hr::cpu
#endif
