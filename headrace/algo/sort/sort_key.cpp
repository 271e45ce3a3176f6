// SPDX-License-Identifier: Apache-2.0
// Keys of a sort: what bits each takes, and the words that they make together.
#include "headrace/algo/sort/sort_key.h"

#include "headrace/algo/select/bitmap_builder.h"
#include "headrace/algo/sort/category_ranks.h"
#include "headrace/algo/sort/sort_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/data/access_pattern.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>

namespace hr {

namespace {

constexpr int kWordBits = 64;

uint64_t low_bits(int bits) {
  return bits >= kWordBits ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

std::string_view text_at(const StringView& view, const std::vector<const char*>& text) {
  if (view.size <= sizeof view.inlined) return {view.inlined, view.size};
  return {text[view.indirect.buffer] + view.indirect.offset, view.size};
}

// The upper or lower word of a decimal, in the order of its values; `alone` where the lower ones
// tell all.
uint64_t decimal_word(const std::byte* decimal, bool upper, bool alone) {
  uint64_t words[2];
  std::memcpy(words, decimal, sizeof words);
  const uint64_t sign = uint64_t{upper || alone} << (kWordBits - 1);
  return words[upper] ^ sign;
}

// Bits of the next piece of the longest string, of which `left` bytes remain.
int piece_bits(int64_t left) {
  return static_cast<int>(8 * std::min<int64_t>(left, 8));
}

int64_t common_prefix(std::string_view a, std::string_view b, int64_t most) {
  int64_t same = 0;
  while (same < most && a[static_cast<size_t>(same)] == b[static_cast<size_t>(same)]) ++same;
  return same;
}

// Length of the longest string, and what all begin with; 0 where there is none.
struct StringExtent {
  int64_t longest = 0;
  int64_t common = 0;
};

StringExtent extent_of_strings(const Column& column, const std::vector<const char*>& text) {
  const int64_t rows = column.num_rows();
  const Nulls is_null(column);
  const StringView* const views = column.values<StringView>().data();
  int64_t first = 0;
  while (first < rows && is_null(first)) ++first;
  if (first == rows) return {};
  const std::string_view begin = text_at(views[first], text);
  StringExtent all{0, static_cast<int64_t>(begin.size())};
  std::vector<StringExtent> found(static_cast<size_t>(num_morsels(rows)), all);
  parallel_morsels(rows, {reads(column)}, [&](Morsel morsel) {
    StringExtent& mine = found[static_cast<size_t>(morsel.index)];
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      if (is_null(row)) continue;
      const auto size = static_cast<int64_t>(views[row].size);
      mine.longest = std::max(mine.longest, size);
      mine.common = std::min(mine.common, size);
      if (mine.common > 0)
        mine.common = common_prefix(text_at(views[row], text), begin, mine.common);
    }
  });
  for (const StringExtent& each : found) {
    all.longest = std::max(all.longest, each.longest);
    all.common = std::min(all.common, each.common);
  }
  return all;
}

// Whether one of the decimals does not fit into 64 bits.
bool has_wide_decimals(const Column& column) {
  std::atomic<bool> wide{false};
  const auto* const words = column.values<std::array<int64_t, 2>>().data();
  parallel_morsels(column.num_rows(), {reads(column)}, [&](Morsel morsel) {
    bool mine = false;
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      mine |= words[row][1] != words[row][0] >> (kWordBits - 1);
    if (mine) wide = true;
  });
  return wide;
}

// The least and the greatest integer, as words in their order; both 0 where there is none.
cpu::WordRange range_of_integers(const Column& column) {
  const Dtype dtype = column.dtype();
  const int64_t rows = column.num_rows(), width = dtype.size_bytes();
  const Nulls is_null(column);
  std::vector<cpu::WordRange> ranges(static_cast<size_t>(num_morsels(rows)), {~uint64_t{0}, 0});
  parallel_morsels(rows, {reads(column)}, [&](Morsel morsel) {
    std::array<uint64_t, kBlockRows> words;
    cpu::WordRange& mine = ranges[static_cast<size_t>(morsel.index)];
    const std::byte* const values = column.values_buffer().data() + column.offset() * width;
    for (int64_t begin = morsel.begin; begin < morsel.end; begin += kBlockRows) {
      const int64_t count = std::min(kBlockRows, morsel.end - begin);
      cpu::integer_words(dtype, values + begin * width, count, 0, false, words.data());
      int64_t kept = count;
      if (is_null.any()) {
        kept = 0;
        for (int64_t i = 0; i < count; ++i)
          if (!is_null(begin + i))
            words[static_cast<size_t>(kept++)] = words[static_cast<size_t>(i)];
      }
      const cpu::WordRange range = cpu::word_range(words.data(), kept);
      mine.least = std::min(mine.least, range.least);
      mine.greatest = std::max(mine.greatest, range.greatest);
    }
  });
  cpu::WordRange all{~uint64_t{0}, 0};
  for (const cpu::WordRange& range : ranges) {
    all.least = std::min(all.least, range.least);
    all.greatest = std::max(all.greatest, range.greatest);
  }
  return all.least > all.greatest ? cpu::WordRange{0, 0} : all;
}

}  // namespace

Buffer bytes_of_bits(const Buffer& bitmap, int64_t offset, int64_t rows) {
  Buffer bytes = Buffer::allocate_spillable(rows);
  if (rows == 0) return bytes;
  uint8_t* const out = bytes.mutable_as<uint8_t>();
  const uint8_t* const bits = bitmap.as<uint8_t>();
  const std::vector<BufferAccess> accesses{{&bitmap, offset, 1, 1, rows}, writes(bytes, 1)};
  parallel_morsels(rows, accesses, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; row += kWordBits) {
      const int64_t count = std::min<int64_t>(kWordBits, morsel.end - row);
      const uint64_t word = load_bits(bits, offset + row, count);
      for (int64_t i = 0; i < count; ++i) out[row + i] = static_cast<uint8_t>(word >> i & 1);
    }
  });
  return bytes;
}

Buffer bits_of_bytes(const Buffer& bytes, int64_t rows) {
  Buffer bitmap = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (rows == 0) return bitmap;
  const uint8_t* const in = bytes.as<uint8_t>();
  uint8_t* const out = bitmap.mutable_as<uint8_t>();
  // Morsels begin at whole bytes.
  parallel_morsels(rows, {{&bytes, 0, 8, 8, rows}}, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      out[row >> 3] = static_cast<uint8_t>(out[row >> 3] | (in[row] != 0) << (row & 7));
  });
  return bitmap;
}

void check_sort_keys(const std::vector<Column>& keys, const std::vector<SortOrder>& orders) {
  if (keys.empty() || keys.size() != orders.size())
    throw_error<InvalidArgumentError>("sort", "keys and orders differ in number",
                                      {{"keys", keys.size()}, {"orders", orders.size()}});
  for (const Column& key : keys) {
    if (key.num_rows() != keys[0].num_rows())
      throw_error<InvalidArgumentError>(
          "sort", "keys differ in length",
          {{"rows", keys[0].num_rows()}, {"other_rows", key.num_rows()}});
    if (key.dtype().is_complex() || key.dtype().is_nested())
      throw_error<TypeMismatchError>("sort", "complex numbers and lists have no order",
                                     {{"dtype", key.dtype().name()}}, "sort by abs() or .real");
  }
}

SortKeys::SortKeys(const std::vector<Column>& columns, const std::vector<SortOrder>& orders) {
  check_sort_keys(columns, orders);
  keys_.resize(columns.size());
  for (size_t k = 0; k < columns.size(); ++k) {
    const Column& column = columns[k];
    Key& key = keys_[k];
    key.dtype = column.dtype();
    key.order = orders[k];
    key.nullable = column.null_count() > 0;
    prepare(key, column, columns.size() == 1);
    if (!exact_) continue;  // behind a long text, for `compare` alone
    const auto index = static_cast<int64_t>(k);
    // Floats have words to spare for what is missing.
    if (key.nullable && !key.dtype.is_floating()) add(index, Kind::kMissing, 0, 1);
    if (key.dtype.is_decimal()) {
      for (const int64_t piece : {0, 1})
        if (piece == 1 || key.wide) add(index, Kind::kPiece, piece, kWordBits);
      continue;
    }
    if (!key.dtype.is_string()) {
      add(index, Kind::kValue, 0, key.bits);
      continue;
    }
    const int64_t pieces = (key.longest - key.skipped + 7) / 8;
    for (int64_t piece = 0; piece < std::min(pieces, kPieces); ++piece)
      add(index, Kind::kPiece, piece, piece_bits(key.longest - key.skipped - 8 * piece));
    if (pieces > kPieces) {
      exact_ = false;  // what follows cannot be told by words
      continue;
    }
    add(index, Kind::kLength, 0, std::bit_width(static_cast<uint64_t>(key.longest)));
  }
  if (words_.empty()) words_.emplace_back();  // keys of one value
}

// What must be known of all rows: the range of integers, the common begin of strings.
void SortKeys::prepare(Key& key, const Column& column, bool alone) {
  const Dtype dtype = column.dtype();
  if (dtype.is_string()) {
    for (const Buffer& buffer : column.text_buffers()) {
      key.text_buffers.push_back(buffer);
      key.text.push_back(buffer.as<char>());
    }
    const StringExtent extent = extent_of_strings(column, key.text);
    key.longest = extent.longest;
    key.skipped = extent.common;
    return;
  }
  if (dtype.is_category()) {
    key.ranks = category_ranks(*column.dictionary());
    key.num_ranks = column.dictionary()->size();
    key.bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(key.num_ranks - 1, 0)));
    return;
  }
  if (dtype.is_decimal()) {
    key.wide = has_wide_decimals(column);
    return;
  }
  key.bits = dtype.is_bool() ? 1 : static_cast<int>(8 * dtype.size_bytes());
  if (dtype.is_floating()) return;
  if (key.order.descending) key.low = low_bits(key.bits);
  if (dtype.is_bool() || (alone && !key.nullable)) return;
  const cpu::WordRange all = range_of_integers(column);
  key.low = key.order.descending ? all.greatest : all.least;
  key.bits = std::bit_width(all.greatest - all.least);
}

// The next bits of the words; a field may lie across two.
void SortKeys::add(int64_t key, Kind kind, int64_t piece, int bits) {
  while (bits > 0) {
    if (free_bits_ == 0) {
      words_.emplace_back();
      free_bits_ = kWordBits;
    }
    const int taken = std::min(bits, free_bits_);
    words_.back().push_back({key, kind, piece, bits - taken, taken, free_bits_ - taken});
    free_bits_ -= taken;
    bits -= taken;
  }
}

void SortKeys::part_of(const Part& part, const KeyRows& rows, int64_t begin, int64_t count,
                       uint64_t* out) const {
  const Key& key = keys_[static_cast<size_t>(part.key)];
  const uint8_t* const valid = rows.valid ? rows.valid + begin : nullptr;
  uint64_t missing = 0;
  switch (part.kind) {
    case Kind::kMissing: {
      const auto null = static_cast<uint64_t>(!key.order.missing_first);
      for (int64_t i = 0; i < count; ++i) out[i] = valid && !valid[i] ? null : 1 - null;
      return;
    }
    case Kind::kValue: {
      const std::byte* const values = rows.values + begin * key.dtype.size_bytes();
      if (key.dtype.is_category()) {
        const int32_t* const codes = reinterpret_cast<const int32_t*>(values);
        const int32_t* const ranks = key.ranks.as<int32_t>();
        const auto last = static_cast<uint64_t>(std::max<int64_t>(key.num_ranks - 1, 0));
        for (int64_t i = 0; i < count; ++i) {
          if (valid && !valid[i]) {
            out[i] = 0;
            continue;
          }
          const auto rank = static_cast<uint64_t>(ranks[codes[i]]);
          out[i] = key.order.descending ? last - rank : rank;
        }
      } else if (key.dtype.is_floating()) {
        cpu::float_words(key.dtype, values, count, key.order.descending, key.order.missing_first,
                         out);
        missing = key.order.missing_first ? 0 : low_bits(key.bits);
      } else {
        cpu::integer_words(key.dtype, values, count, key.low, key.order.descending, out);
      }
      break;
    }
    case Kind::kPiece:
    case Kind::kLength: {
      if (key.dtype.is_decimal()) {
        const std::byte* const decimals = rows.values + begin * 16;
        for (int64_t i = 0; i < count; ++i) {
          const uint64_t word = decimal_word(decimals + 16 * i, part.piece == 0, !key.wide);
          out[i] = key.order.descending ? ~word : word;
        }
        break;
      }
      const StringView* const views = reinterpret_cast<const StringView*>(rows.values) + begin;
      const int64_t at = key.skipped + 8 * part.piece;
      const bool length = part.kind == Kind::kLength;
      const int unused = length ? 0 : kWordBits - piece_bits(key.longest - at);
      for (int64_t i = 0; i < count; ++i) {
        if (valid && !valid[i]) continue;
        const uint64_t word =
            length ? views[i].size : piece_at(text_at(views[i], key.text), at) >> unused;
        const auto longest = static_cast<uint64_t>(key.longest);
        out[i] = !key.order.descending ? word : length ? longest - word : ~word;
      }
      break;
    }
  }
  if (valid)
    for (int64_t i = 0; i < count; ++i) out[i] = valid[i] ? out[i] : missing;
}

void SortKeys::words(int64_t word, std::span<const KeyRows> keys, int64_t begin, int64_t end,
                     uint64_t* out) const {
  const std::vector<Part>& parts = words_[static_cast<size_t>(word)];
  const auto of = [&](const Part& part) { return keys[static_cast<size_t>(part.key)]; };
  if (parts.size() == 1 && parts[0].right == 0) {  // all of it, however far left
    part_of(parts[0], of(parts[0]), begin, end - begin, out);
    return;
  }
  std::fill(out, out + (end - begin), 0);
  std::array<uint64_t, kBlockRows> values;
  for (int64_t block = begin; block < end; block += kBlockRows) {
    const int64_t count = std::min(kBlockRows, end - block);
    uint64_t* const to = out + (block - begin);
    for (const Part& part : parts) {
      part_of(part, of(part), block, count, values.data());
      const uint64_t mask = low_bits(part.bits);
      for (int64_t i = 0; i < count; ++i)
        to[i] |= ((values[static_cast<size_t>(i)] >> part.right) & mask) << part.left;
    }
  }
}

int SortKeys::compare(std::span<const KeyRows> keys, int64_t a, int64_t b) const {
  for (size_t k = 0; k < keys_.size(); ++k) {
    const Key& key = keys_[k];
    const KeyRows& rows = keys[k];
    const auto null = [&](int64_t row) { return rows.valid && !rows.valid[row]; };
    if (key.dtype.is_decimal()) {
      if (null(a) || null(b)) {
        if (null(a) && null(b)) continue;
        return null(a) == key.order.missing_first ? -1 : 1;
      }
      for (const bool upper : {true, false}) {
        const uint64_t x = decimal_word(rows.values + 16 * a, upper, false);
        const uint64_t y = decimal_word(rows.values + 16 * b, upper, false);
        if (x != y) return (x < y) != key.order.descending ? -1 : 1;
      }
      continue;
    }
    if (!key.dtype.is_string()) {
      const Part value{static_cast<int64_t>(k), Kind::kValue, 0, 0, key.bits, 0};
      uint64_t words[2];
      if (key.nullable && !key.dtype.is_floating() && null(a) != null(b))
        return null(a) == key.order.missing_first ? -1 : 1;
      part_of(value, rows, a, 1, &words[0]);
      part_of(value, rows, b, 1, &words[1]);
      if (words[0] != words[1]) return words[0] < words[1] ? -1 : 1;
      continue;
    }
    if (null(a) || null(b)) {
      if (null(a) && null(b)) continue;
      return null(a) == key.order.missing_first ? -1 : 1;
    }
    const auto* const views = reinterpret_cast<const StringView*>(rows.values);
    const int order = text_at(views[a], key.text).compare(text_at(views[b], key.text));
    if (order != 0) return (order < 0) != key.order.descending ? -1 : 1;
  }
  return 0;
}

}  // namespace hr
