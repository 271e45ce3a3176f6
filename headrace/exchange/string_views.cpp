// SPDX-License-Identifier: Apache-2.0
// Views, offsets and text of others: bounds, prefixes and UTF-8.
#include "headrace/exchange/string_views.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/exchange/string_views_kernels.h"
#include "headrace/exchange/string_views_math.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace hr {

namespace {

constexpr int64_t kViewBytes = sizeof(StringView);
// Whose text the caches hold from one look to the next.
constexpr int64_t kCheckedRows = 1024;
constexpr int64_t kCheckedBytes = 16 << 10;

bool is_valid(const uint8_t* validity, int64_t bit) {
  return !validity || get_bit(validity, bit);
}

bool is_inside(const StringView& view, const std::vector<Buffer>& text) {
  return view.size <= sizeof view.inlined ||
         (view.indirect.buffer < text.size() &&
          int64_t{view.indirect.offset} + view.size <= text[view.indirect.buffer].size_bytes());
}

// The view with the text's own first bytes, or zeros behind it.
StringView with_prefix(const StringView& view, std::string_view text) {
  StringView result{};
  result.size = view.size;
  if (text.size() <= sizeof view.inlined) {
    if (!text.empty()) std::memcpy(result.inlined, text.data(), text.size());
  } else {
    result.indirect = view.indirect;
    std::memcpy(result.indirect.prefix, text.data(), sizeof result.indirect.prefix);
  }
  return result;
}

bool has_prefix(const StringView& view, std::string_view text) {
  if (text.size() > sizeof view.inlined)
    return std::memcmp(view.indirect.prefix, text.data(), sizeof view.indirect.prefix) == 0;
  const StringView other = with_prefix(view, text);
  return std::memcmp(&view, &other, sizeof view) == 0;
}

constexpr std::string_view kDecode =
    "decode the bytes with the encoding that they have, in Python as "
    "[None if b is None else b.decode('latin-1') for b in column.cast('binary').to_pylist()]";

void check_text(const TextOrigin& origin, int64_t row, std::string_view text) {
  if (is_ascii(text) || is_valid_utf8(text)) return;
  throw_error<InvalidArgumentError>(origin.op, "a string is not UTF-8",
                                    {{"column", origin.column},
                                     {origin.row_word, origin.first_row + row},
                                     {"byte", valid_utf8_bytes(text)},
                                     {"text", printable(text)}},
                                    origin.fix.empty() ? kDecode : origin.fix);
}

[[noreturn]] void refuse_view(const TextOrigin& origin, int64_t row, const StringView& view) {
  throw_error<InvalidArgumentError>(origin.op, "a string view is out of range of its buffer",
                                    {{"column", origin.column},
                                     {origin.row_word, origin.first_row + row},
                                     {"buffer", view.indirect.buffer},
                                     {"offset", view.indirect.offset},
                                     {"bytes", view.size}},
                                    origin.fix);
}

// Strings that follow each other are checked together; each on its own where that finds something.
template <class Offset>
void check_texts(const TextOrigin& origin, int64_t first, int64_t last, const Offset* offsets,
                 const TextPiece& text, const uint8_t* validity, int64_t validity_offset) {
  const auto between = [&](int64_t from, int64_t to) {
    return std::string_view(text.bytes + (offsets[from] - text.first),
                            static_cast<size_t>(offsets[to] - offsets[from]));
  };
  const std::string_view all = between(first, last);
  if (is_ascii(all)) return;
  bool good = is_valid_utf8(all);
  for (int64_t row = first; good && row < last; ++row)  // none begins within a letter
    good = offsets[row] == offsets[last] || (text.bytes[offsets[row] - text.first] & 0xC0) != 0x80;
  for (int64_t row = first; !good && row < last; ++row)
    if (is_valid(validity, validity_offset + row)) check_text(origin, row, between(row, row + 1));
}

// Which bytes of the sixteen behind a size belong to a view: of 13, those of a longer one.
struct ViewMask {
  uint64_t low, high;
};
constexpr auto kViewMasks = [] {
  std::array<ViewMask, sizeof(StringView::inlined) + 2> masks{};
  for (size_t size = 0; size < masks.size() - 1; ++size)
    for (size_t i = 0; i < size; ++i)
      (i < 4 ? masks[size].low : masks[size].high) |= uint64_t{0xFF} << 8 * (i < 4 ? i + 4 : i - 4);
  masks.back().low = masks[4].low;
  return masks;
}();

// Views of rows whose offsets are good and whose strings, from `text` on, all fit in their views.
// The four bytes before each can be read, and twelve from its begin on.
template <class Offset>
void make_short_views(int64_t num_rows, const Offset* offsets, const char* text,
                      StringView* views) {
  static_assert(std::endian::native == std::endian::little);
  const ViewMask* const masks = kViewMasks.data();
  char* out = reinterpret_cast<char*>(views);
  for (int64_t row = 0; row < num_rows; ++row, out += kViewBytes) {
    const auto size = static_cast<uint64_t>(offsets[row + 1] - offsets[row]);
    uint64_t low, high;
    std::memcpy(&low, text - 4, 8);
    std::memcpy(&high, text + 4, 8);
    low = (low & masks[size].low) | size;
    high &= masks[size].high;
    std::memcpy(out, &low, 8);
    std::memcpy(out + 8, &high, 8);
    text += size;
  }
}

// Views of rows whose offsets are good.
template <class Offset>
bool make_views(int64_t num_rows, const Offset* offsets, const TextPiece& text, StringView* views) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kShort = sizeof(StringView::inlined);
  const uint64_t in_part = (uint64_t{1} << text.part_bits) - 1;
  uint64_t longest = 0;
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto begin = static_cast<uint64_t>(offsets[row]);
    const uint64_t size = static_cast<uint64_t>(offsets[row + 1]) - begin;
    const auto at = static_cast<int64_t>(begin) - text.first;
    uint32_t front = 0;
    uint64_t back = 0;
    if (at + static_cast<int64_t>(kShort) <= text.readable) [[likely]] {
      std::memcpy(&front, text.bytes + at, 4);
      std::memcpy(&back, text.bytes + at + 4, 8);
    } else {
      char padded[kShort] = {};
      if (size > 0) std::memcpy(padded, text.bytes + at, std::min(size, kShort));
      std::memcpy(&front, padded, 4);
      std::memcpy(&back, padded + 4, 8);
    }
    const ViewMask& mask = kViewMasks[std::min(size, kShort + 1)];
    const uint64_t place = ((begin >> text.part_bits) + text.buffer) | (begin & in_part) << 32;
    // In registers: words that are put together in memory would be waited for.
    const uint64_t low = size | (uint64_t{front} << 32 & mask.low);
    const uint64_t high = size > kShort ? place : back & mask.high;
    std::memcpy(views + row, &low, 8);
    std::memcpy(reinterpret_cast<char*>(views + row) + 8, &high, 8);
    longest = std::max(longest, size);
  }
  return longest > kShort;
}

// Throws for offsets that fall or leave the text. True when a string is longer than its view.
template <class Offset>
bool check_offsets(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                   const TextPiece& text) {
  // Bits of all offsets and differences: signs of those that are negative, which others are not
  // while none is, and what is left of 13 and more. So the loop has no branch and is vectorized.
  using Bits = std::make_unsigned_t<Offset>;
  Bits signs = 0, sizes = 0;
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto to = static_cast<Bits>(offsets[row + 1]);
    const Bits size = to - static_cast<Bits>(offsets[row]);
    signs |= to | size;
    sizes |= size + (15 - sizeof(StringView::inlined));
  }
  const int64_t end = text.first + text.size;
  const bool falls = static_cast<Offset>(signs) < 0;
  if (!falls && offsets[0] >= text.first && offsets[num_rows] <= end &&
      offsets[num_rows] - offsets[0] <= kTextPart)
    return sizes > 15;
  for (int64_t row = 0; row < num_rows; ++row)
    if (const int64_t from = offsets[row], to = offsets[row + 1];
        from < text.first || to < from || to > end || to - from > kTextPart)
      throw_error<InvalidArgumentError>(
          origin.op, "the offsets of a string column are not increasing",
          {{"row", origin.first_row + row}, {"begin", from}, {"end", to}, {"text_bytes", end}},
          origin.fix);
  return true;
}

}  // namespace

Column check_string_views(const TextOrigin& origin, const Column& column, NullViews nulls) {
  const std::span<const StringView> views = column.values<StringView>();
  const std::vector<Buffer>& text = column.text_buffers();
  std::atomic<bool> bad_nulls{false}, bad_prefixes{false};
  parallel_morsels(column.num_rows(), [&](Morsel morsel) {
    // Producers put one string after the other: these are checked together.
    const char *begin = nullptr, *end = nullptr;
    int64_t first = morsel.begin;
    const auto check_until = [&](int64_t last) {
      if (!is_ascii({begin, static_cast<size_t>(end - begin)}))
        for (int64_t row = first; row < last; ++row)
          if (!column.is_null(row)) check_text(origin, row, column.string(row));
      first = last;
    };
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const StringView& view = views[static_cast<size_t>(row)];
      if (column.is_null(row)) {
        if (view.size != 0 &&
            (nulls == NullViews::kEmpty || !is_inside(view, text) ||
             !has_prefix(view, column.string(row)) || !is_valid_utf8(column.string(row))))
          bad_nulls = true;
        continue;
      }
      if (is_short_ascii(view)) continue;
      if (!is_inside(view, text)) refuse_view(origin, row, view);
      const std::string_view bytes = column.string(row);
      if (!has_prefix(view, bytes)) bad_prefixes = true;
      if (bytes.data() != end || end - begin > kCheckedBytes) {
        check_until(row);
        begin = bytes.data();
      }
      end = bytes.data() + bytes.size();
    }
    check_until(morsel.end);
  });
  if (!bad_nulls && !bad_prefixes) return column;
  record_copy(origin.op,
              bad_nulls ? "null strings become empty" : "string views get their prefixes",
              column.num_rows() * kViewBytes, false);
  Buffer buffer = Buffer::allocate(column.num_rows() * kViewBytes);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(column.num_rows()));
  auto* out = buffer.mutable_as<StringView>();
  uint8_t* bits = validity.mutable_as<uint8_t>();
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    const bool valid = !column.is_null(row);
    out[row] =
        valid ? with_prefix(views[static_cast<size_t>(row)], column.string(row)) : StringView{};
    if (valid) set_bit(bits, row, true);
  }
  return Column::strings(column.num_rows(), std::move(buffer), text, std::move(validity),
                         column.null_count());
}

template <class Offset>
bool write_views(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                 const TextPiece& text, const uint8_t* validity, int64_t validity_offset,
                 StringView* views) {
  bool has_long = false;
  for (int64_t first = 0; first < num_rows; first += kCheckedRows) {
    const int64_t last = std::min(first + kCheckedRows, num_rows);
    TextOrigin here = origin;
    here.first_row += first;
    const bool may_have_long = check_offsets(here, last - first, offsets + first, text);
    const int64_t begin = offsets[first] - text.first, end = offsets[last] - text.first;
    if (!may_have_long && begin >= 4 && end + int64_t{sizeof(StringView::inlined)} <= text.readable)
      make_short_views(last - first, offsets + first, text.bytes + begin, views + first);
    else
      has_long |= make_views(last - first, offsets + first, text, views + first);
    if (validity)
      for (int64_t row = first; row < last; ++row)
        if (!get_bit(validity, validity_offset + row)) views[row] = {};
    check_texts(origin, first, last, offsets, text, validity, validity_offset);
  }
  return has_long;
}

template bool write_views(const TextOrigin&, int64_t, const int32_t*, const TextPiece&,
                          const uint8_t*, int64_t, StringView*);
template bool write_views(const TextOrigin&, int64_t, const int64_t*, const TextPiece&,
                          const uint8_t*, int64_t, StringView*);

namespace {

void mend_view(const TextOrigin& origin, int64_t row, std::span<const ViewedText> texts,
               StringView& view) {
  if (is_short_ascii(view)) return;
  if (view.size <= sizeof view.inlined) {
    const std::string text(view.inlined, view.size);
    check_text(origin, row, text);
    view = with_prefix(view, text);
    return;
  }
  const uint32_t buffer = view.indirect.buffer;
  if (buffer >= texts.size() ||
      uint64_t{view.indirect.offset} + view.size > texts[buffer].bytes.size())
    refuse_view(origin, row, view);
  const std::string_view text = texts[buffer].bytes.substr(view.indirect.offset, view.size);
  if (!texts[buffer].is_ascii) check_text(origin, row, text);
  std::memcpy(view.indirect.prefix, text.data(), sizeof view.indirect.prefix);
  view.indirect.buffer = texts[buffer].buffer;
  view.indirect.offset += texts[buffer].begin;
}

}  // namespace

void mend_views(const TextOrigin& origin, int64_t num_rows, std::span<const ViewedText> texts,
                const uint8_t* validity, int64_t validity_offset, StringView* views) {
  constexpr int64_t kBlock = 64;
  for (int64_t first = 0; first < num_rows; first += kBlock) {
    const int64_t last = std::min(first + kBlock, num_rows);
    if (!validity && cpu::all_short_ascii(views + first, last - first)) continue;
    for (int64_t row = first; row < last; ++row) {
      if (is_valid(validity, validity_offset + row))
        mend_view(origin, row, texts, views[row]);
      else
        views[row] = {};
    }
  }
}

template <class Offset>
Buffer views_from_offsets(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                          TextParts text, const uint8_t* validity, int64_t validity_offset) {
  static_assert(kTextPart == int64_t{1} << 30);
  record_copy(origin.op, "string offsets become views", num_rows * kViewBytes, false);
  Buffer buffer = Buffer::allocate(num_rows * kViewBytes);
  auto* views = buffer.mutable_as<StringView>();
  const TextPiece piece{text.text, 0, text.size_bytes, text.size_bytes, 0, 30};
  parallel_morsels(num_rows, [&](Morsel morsel) {
    TextOrigin here = origin;
    here.first_row += morsel.begin;
    write_views(here, morsel.end - morsel.begin, offsets + morsel.begin, piece, validity,
                validity_offset + morsel.begin, views + morsel.begin);
  });
  return buffer;
}

template Buffer views_from_offsets(const TextOrigin&, int64_t, const int32_t*, TextParts,
                                   const uint8_t*, int64_t);
template Buffer views_from_offsets(const TextOrigin&, int64_t, const int64_t*, TextParts,
                                   const uint8_t*, int64_t);

}  // namespace hr
