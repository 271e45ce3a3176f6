// SPDX-License-Identifier: Apache-2.0
// Assembles the columns of a CSV result from the pieces that the ranges gave.
#include "headrace/io/csv_columns.h"

#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/spill/spill.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace hr {

namespace {

constexpr int64_t kMaxTextBuffer = int64_t{1} << 31;
constexpr int64_t kTextBlock = int64_t{1} << 20;  // enough chunks to leave memory one by one

// Sets bits [at, at + count) of a zeroed bitmap to those of `source` (null: ones).
void put_bits(uint8_t* bitmap, int64_t at, const uint8_t* source, int64_t count) {
  for (int64_t i = 0; i < count;) {
    const int shift = static_cast<int>((at + i) & 7);
    const int64_t n = std::min<int64_t>(count - i, 56);  // with the shift still one word
    uint64_t bits = source ? load_bits(source, i, n) : (uint64_t{1} << n) - 1;
    bits <<= shift;
    uint8_t* first = bitmap + ((at + i) >> 3);
    const auto bytes = static_cast<int>(divide_up(n + shift, 8));
    for (int b = 0; b < bytes; ++b) first[b] |= static_cast<uint8_t>(bits >> (8 * b));
    i += n;
  }
}

template <class T>
Buffer buffer_of(const std::vector<T>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  Buffer buffer = Buffer::allocate(bytes);
  if (bytes > 0) std::memcpy(buffer.mutable_data(), values.data(), static_cast<size_t>(bytes));
  return buffer;
}

}  // namespace

CsvColumns::CsvColumns(const CsvSchema& schema, int64_t slots)
    : schema_(schema), text_(schema.dtypes.size()) {
  const WrittenTogether together(std::ssize(schema.dtypes));
  for (const Dtype dtype : schema.dtypes)
    values_.push_back(dtype.is_bool() ? Buffer()
                                      : Buffer::allocate_spillable(checked_multiply(
                                            "read_csv", slots, dtype.size_bytes())));
}

std::byte* CsvColumns::values(int64_t column) {
  return values_[static_cast<size_t>(column)].mutable_data();
}

std::vector<BufferAccess> CsvColumns::accesses() const {
  std::vector<BufferAccess> result;
  for (size_t c = 0; c < values_.size(); ++c)
    if (values_[c]) result.push_back(writes(values_[c], schema_.dtypes[c].size_bytes()));
  return result;
}

void CsvColumns::keep_text(CsvPartial& piece, int64_t first_slot, int64_t text_bytes) {
  const ByteBuffer shared = std::move(piece.text);
  if (shared.size() == 0) return;
  const auto num_strings = std::count_if(schema_.dtypes.begin(), schema_.dtypes.end(),
                                         [](Dtype dtype) { return dtype.is_string(); });
  const int64_t block_bytes = std::min(text_bytes / num_strings, kTextBlock);
  const auto is_far = [](const StringView& view) { return view.size > sizeof view.inlined; };
  for (size_t c = 0; c < values_.size(); ++c) {
    if (!schema_.dtypes[c].is_string()) continue;
    constexpr auto kSize = static_cast<int64_t>(sizeof(StringView));
    const PinnedRange rows{&values_[c], first_slot * kSize, (first_slot + piece.rows) * kSize,
                           true};
    const std::span views(values_[c].mutable_as<StringView>() + first_slot,
                          static_cast<size_t>(piece.rows));
    int64_t bytes = 0;
    {
      const Pin pin{rows};
      for (const StringView& view : views) bytes += is_far(view) ? view.size : 0;
    }
    if (bytes == 0) continue;
    const TextRoom room = take_text_room(text_[c], bytes, block_bytes);
    auto* const first = room.buffer->mutable_as<char>();
    int64_t at = room.offset;
    const Pin pin{rows, {room.buffer, at, at + bytes, true}};
    for (StringView& view : views) {
      if (!is_far(view)) continue;
      std::memcpy(first + at, shared.data() + view.indirect.offset, view.size);
      view.indirect.buffer = room.index;
      view.indirect.offset = static_cast<uint32_t>(at);
      at += view.size;
    }
  }
}

CsvColumns::TextRoom CsvColumns::take_text_room(ByteSource& text, int64_t bytes,
                                                int64_t block_bytes) {
  for (Buffer fresh;;) {
    {
      const std::lock_guard lock(text.mutex);
      const auto has_room = [&] {
        return !text.blocks.empty() &&
               text.blocks.back().buffer.size_bytes() - text.blocks.back().used >= bytes;
      };
      if (fresh && !has_room()) text.blocks.push_back({std::move(fresh), 0});
      if (has_room()) {
        ByteSource::Block& last = text.blocks.back();
        const int64_t offset = last.used;
        last.used += bytes;
        return {&last.buffer, static_cast<uint32_t>(text.blocks.size() - 1), offset};
      }
    }
    fresh =
        Buffer::allocate_spillable(std::max(bytes, block_bytes));  // may wait: not with the lock
  }
}

Table CsvColumns::finish(std::vector<CsvPartial>& pieces, const std::vector<int64_t>& first_slots,
                         int64_t max_rows) {
  std::vector<int64_t> rows{0};  // first row of each piece, then the end
  for (const CsvPartial& piece : pieces)
    rows.push_back(std::min(rows.back() + piece.rows, max_rows));
  std::vector<Column> columns(values_.size());
  parallel_for(static_cast<int64_t>(columns.size()), [&](int64_t c) {
    const auto column = static_cast<size_t>(c);
    columns[column] = finish_column(column, pieces, first_slots, rows);
  });
  return Table(schema_.names, std::move(columns));
}

namespace {

// The dictionary of all rows, in the order seen first, and their codes turned into its codes. Each
// piece counts its own strings from 0 on in that order.
DictionaryPtr merge_entries(size_t column, std::vector<CsvPartial>& pieces,
                            const std::vector<int64_t>& rows, const Buffer& validity,
                            Buffer& values) {
  int32_t* const codes = rows.back() > 0 ? values.mutable_as<int32_t>() : nullptr;
  const uint8_t* const valid = validity ? validity.as<uint8_t>() : nullptr;
  DictionaryBuilder builder;
  std::vector<Buffer> turned(pieces.size());
  for (size_t k = 0; k < pieces.size(); ++k) {
    if (rows[k] == rows[k + 1]) continue;
    const Column entries = std::move(pieces[k].parts[column].entries);
    if (!entries.dtype().is_string()) continue;
    int64_t used = entries.num_rows();
    if (rows[k + 1] - rows[k] < pieces[k].rows) {  // cut short: what only later rows have goes
      used = 0;
      for (int64_t row = rows[k]; row < rows[k + 1]; ++row)
        if (!valid || get_bit(valid, row)) used = std::max<int64_t>(used, codes[row] + 1);
    }
    turned[k] = builder.add_all(entries.slice(0, used));
  }
  parallel_for(static_cast<int64_t>(pieces.size()), [&](int64_t piece) {
    const auto k = static_cast<size_t>(piece);
    if (!turned[k]) return;
    const auto* to = turned[k].as<int32_t>();
    const Pin pin{{&values, rows[k] * 4, rows[k + 1] * 4, true}};
    for (int64_t row = rows[k]; row < rows[k + 1]; ++row) codes[row] = to[codes[row]];
  });
  return builder.finish();
}

}  // namespace

Column CsvColumns::finish_column(size_t column, std::vector<CsvPartial>& pieces,
                                 const std::vector<int64_t>& first_slots,
                                 const std::vector<int64_t>& rows) {
  const Dtype dtype = schema_.dtypes[column];
  const int64_t total = rows.back();
  Buffer values = std::move(values_[column]);
  Buffer validity;
  bool has_nulls = false;
  for (const CsvPartial& piece : pieces)
    has_nulls |= !piece.parts.empty() && piece.parts[column].validity;
  if (dtype.is_bool()) values = Buffer::allocate_zeroed(bitmap_bytes(total));
  if (has_nulls) validity = Buffer::allocate_zeroed(bitmap_bytes(total));
  std::vector<Buffer> text;
  bool has_text = false;
  for (size_t k = 0; k < pieces.size(); ++k) {
    CsvPartial::Part none;
    CsvPartial::Part& part = pieces[k].parts.empty() ? none : pieces[k].parts[column];
    const int64_t count = rows[k + 1] - rows[k];
    if (has_nulls)
      put_bits(validity.mutable_as<uint8_t>(), rows[k], part.validity.as<uint8_t>(), count);
    if (dtype.is_bool()) {
      put_bits(values.mutable_as<uint8_t>(), rows[k], part.bits.as<uint8_t>(), count);
    } else if (first_slots[k] != rows[k] && count > 0) {
      const int64_t size = dtype.size_bytes();
      const Pin pin{{&values, rows[k] * size, rows[k + 1] * size, true},
                    {&values, first_slots[k] * size, (first_slots[k] + count) * size}};
      std::memmove(values.mutable_data() + rows[k] * size, values.data() + first_slots[k] * size,
                   static_cast<size_t>(count * size));
    }
    has_text |= bool(part.text);
    text.push_back(std::move(part.text));
  }
  if (!dtype.is_bool()) values.shrink(total * dtype.size_bytes());
  if (dtype.is_category()) {
    DictionaryPtr dictionary = merge_entries(column, pieces, rows, validity, values);
    return Column::categories(total, std::move(values), std::move(dictionary), std::move(validity),
                              -1);
  }
  if (!dtype.is_string()) return Column(dtype, total, std::move(values), std::move(validity), -1);
  if (!has_text) text.clear();
  for (ByteSource::Block& block : text_[column].blocks) {
    block.buffer.shrink(block.used);
    block.buffer.seal();
    text.push_back(std::move(block.buffer));
  }
  return Column::strings(total, std::move(values), std::move(text), std::move(validity), -1);
}

void CsvRejects::Strings::add(std::string_view text) {
  StringView view{};
  view.size = static_cast<uint32_t>(text.size());
  if (text.size() <= sizeof view.inlined) {
    std::memcpy(view.inlined, text.data(), text.size());
  } else {
    if (arena.size() > kMaxTextBuffer) full.push_back(arena.finish());
    std::memcpy(view.indirect.prefix, text.data(), sizeof view.indirect.prefix);
    view.indirect.buffer = static_cast<uint32_t>(full.size());
    view.indirect.offset = static_cast<uint32_t>(arena.size());
    arena.append(text);
  }
  views.push_back(view);
}

Column CsvRejects::Strings::finish() {
  if (arena.size() > 0) full.push_back(arena.finish());
  return Column::strings(static_cast<int64_t>(views.size()), buffer_of(views), std::move(full));
}

void CsvRejects::add(int64_t line, int64_t column, std::string_view text, std::string_view reason) {
  lines_.push_back(line);
  columns_.push_back(column);
  texts_.add(text);
  reasons_.add(reason);
}

Table CsvRejects::finish() {
  const auto rows = static_cast<int64_t>(lines_.size());
  return Table(
      {"line", "column", "text", "reason"},
      {Column(TypeId::kInt64, rows, buffer_of(lines_)),
       Column(TypeId::kInt64, rows, buffer_of(columns_)), texts_.finish(), reasons_.finish()});
}

}  // namespace hr
