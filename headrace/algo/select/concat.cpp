// SPDX-License-Identifier: Apache-2.0
// Chunks of a column made one.
#include "headrace/algo/select/concat.h"

#include "headrace/algo/select/concat_kernels.h"
#include "headrace/base/bits.h"
#include "headrace/base/checked.h"
#include "headrace/base/error.h"
#include "headrace/data/device.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hr {

namespace {

// Copies `count` bits into zeros: the rest of the first byte, then words.
void copy_bits(const uint8_t* from, int64_t from_bit, uint8_t* to, int64_t to_bit, int64_t count) {
  for (int64_t i = 0; i < count;) {
    const int64_t in_byte = (to_bit + i) & 7;
    uint8_t* const at = to + ((to_bit + i) >> 3);
    const bool is_word = in_byte == 0 && count - i >= 64;
    const int64_t step = is_word ? 64 : std::min<int64_t>(count - i, 8 - in_byte);
    const uint64_t bits = load_bits(from, from_bit + i, step);
    if (is_word)
      std::memcpy(at, &bits, sizeof bits);
    else
      *at |= static_cast<uint8_t>(bits << in_byte);
    i += step;
  }
}

void set_bits(uint8_t* to, int64_t begin, int64_t count) {
  int64_t at = begin;
  const int64_t end = begin + count;
  for (; at < end && at % 8 != 0; ++at) set_bit(to, at, true);
  std::memset(to + at / 8, 0xFF, static_cast<size_t>((end - at) / 8));
  for (at = end - (end - at) % 8; at < end; ++at) set_bit(to, at, true);
}

// The values of a chunk at row `begin` of `out`: codes by their new numbers, far strings by the new
// numbers of their text buffers, lists and structs by where their items or fields begin now.
void copy_values(const Column& chunk, const int32_t* codes, size_t texts, int64_t items,
                 Buffer& out, int64_t begin) {
  const int64_t width = chunk.dtype().size_bytes(), count = chunk.num_rows();
  if (count == 0) return;
  const std::byte* in = chunk.values_buffer().data() + chunk.offset() * width;
  std::byte* to = out.mutable_data() + begin * width;
  const std::vector<BufferAccess> accesses{
      {&chunk.values_buffer(), 8 * chunk.offset() * width, 8 * width, 8 * width, count},
      {&out, 8 * begin * width, 8 * width, 8 * width, count, 0, 0, true}};
  parallel_morsels(count, accesses, [&](Morsel morsel) {
    if (codes) {
      const auto* old = reinterpret_cast<const int32_t*>(in);
      auto* made = reinterpret_cast<int32_t*>(to);
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        made[row] = chunk.is_null(row) ? 0 : codes[old[row]];
      return;
    }
    std::memcpy(to + morsel.begin * width, in + morsel.begin * width,
                static_cast<size_t>((morsel.end - morsel.begin) * width));
    if (items > 0 && chunk.dtype().is_struct()) {
      auto* places = reinterpret_cast<int64_t*>(to);
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        places[row] =
            static_cast<int64_t>(static_cast<uint64_t>(places[row]) + items);  // nulls may have any
    } else if (items > 0) {
      auto* spans = reinterpret_cast<ListSpan*>(to);
      for (int64_t row = morsel.begin; row < morsel.end; ++row)
        if (spans[row].size > 0) spans[row].begin += items;
    }
    if (texts == 0) return;
    auto* views = reinterpret_cast<StringView*>(to);
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      if (views[row].size > sizeof views[row].inlined)
        views[row].indirect.buffer += static_cast<uint32_t>(texts);
  });
}

int64_t bytes_of(std::string_view op, Dtype dtype, int64_t rows) {
  return dtype.is_bool() ? bitmap_bytes(rows) : checked_multiply(op, rows, dtype.size_bytes());
}

// The items of lists, or the fields of structs: those of the chunks, once each, as several chunks
// may have the same.
struct Children {
  std::vector<std::vector<Column>> columns{};  // [field][chunk]
  std::vector<int64_t> first{};                // row of the children, of each chunk
};

// Rows that all fields have.
int64_t rows_of_fields(const std::vector<Column>& fields) {
  int64_t rows = std::numeric_limits<int64_t>::max();
  for (const Column& field : fields) rows = std::min(rows, field.num_rows());
  return fields.empty() ? 0 : rows;
}

Children children_of(std::string_view op, Dtype dtype, std::span<const Column> chunks) {
  Children made;
  if (!dtype.is_nested()) return made;
  made.columns.resize(dtype.has_items() ? 1 : dtype.fields().size());
  for (int64_t before = 0; const Column& chunk : chunks) {
    const size_t same = static_cast<size_t>(
        (dtype.has_items() ? std::ranges::find(chunks, chunk.items(), &Column::items)
                           : std::ranges::find(chunks, chunk.fields(), &Column::fields)) -
        chunks.begin());
    made.first.push_back(same < made.first.size() ? made.first[same] : before);
    if (same < made.first.size() - 1) continue;
    const int64_t rows =
        dtype.has_items() ? chunk.items()->num_rows() : rows_of_fields(*chunk.fields());
    for (size_t f = 0; f < made.columns.size(); ++f)
      made.columns[f].push_back(dtype.has_items() ? *chunk.items()
                                                  : (*chunk.fields())[f].slice(0, rows));
    before = checked_add(op, before, rows);
  }
  return made;
}

Column concatenate_there(std::string_view op, Dtype dtype, std::span<const Column> chunks) {
  if (dtype.is_nested() || !std::ranges::all_of(chunks, [&](const Column& each) {
        return each.dictionary() == chunks[0].dictionary();
      }))
    throw_error<UnsupportedError>(op, "categories with different dictionaries have no kernel",
                                  {{"dtype", dtype.name()}}, "move the values first: x.to('cpu')");
  if constexpr (built_with_cuda) return cuda::concatenate(op, dtype, chunks);
  for (const Column& chunk : chunks) check_on_host(op, chunk.place());
  return chunks[0];
}

}  // namespace

Column null_rows(std::string_view op, const Column& like, int64_t rows) {
  if constexpr (built_with_cuda)
    if (like.place().is_gpu()) return cuda::null_rows(op, like, rows);
  check_on_host(op, like.place());
  const Dtype dtype = like.dtype();
  Buffer values = Buffer::allocate_zeroed(bytes_of(op, dtype, rows));
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(rows));
  if (dtype.is_string())
    return Column::strings(rows, std::move(values), {}, std::move(validity), rows);
  return like.with_rows(rows, std::move(values), std::move(validity), rows);
}

Column concat_chunks(std::string_view op, Dtype dtype, std::span<const Column> chunks) {
  if (chunks.size() > 1) {
    int64_t rows = 0;
    int64_t items = 0;
    for (const Column& chunk : chunks) {
      rows = checked_add(op, rows, chunk.num_rows());
      if (chunk.items()) items += chunk.items()->size_bytes();
      if (chunk.fields())
        for (const Column& field : *chunk.fields()) items += field.size_bytes();
    }
    record_copy(op, "chunks become one column", bytes_of(op, dtype, rows) + items, false);
  }
  return concatenate(op, dtype, chunks);
}

Column concatenate(std::string_view op, Dtype dtype, std::span<const Column> chunks) {
  if (chunks.empty()) return Column(dtype, 0, {});
  if (chunks.size() == 1) return chunks[0];
  if (std::ranges::any_of(chunks, [](const Column& each) { return each.place().is_gpu(); }))
    return concatenate_there(op, dtype, chunks);
  int64_t rows = 0, nulls = 0;
  for (const Column& chunk : chunks) {
    rows = checked_add(op, rows, chunk.num_rows());
    nulls += chunk.null_count();
  }
  const int64_t bytes = bytes_of(op, dtype, rows);
  Buffer values =
      dtype.is_bool() ? Buffer::allocate_zeroed(bytes) : Buffer::allocate_spillable(bytes);
  Buffer validity = nulls > 0 ? Buffer::allocate_zeroed(bitmap_bytes(rows)) : Buffer();
  uint8_t* valid = nulls > 0 ? validity.mutable_as<uint8_t>() : nullptr;
  std::vector<Buffer> text;
  MergedDictionary merged;
  if (dtype.is_category()) {
    std::vector<DictionaryPtr> dictionaries;
    for (const Column& chunk : chunks) dictionaries.push_back(chunk.dictionary());
    merged = merge_dictionaries(dictionaries);
  }
  const Children children = children_of(op, dtype, chunks);
  int64_t begin = 0;
  for (size_t k = 0; k < chunks.size(); ++k) {
    const Column& chunk = chunks[k];
    const int64_t count = chunk.num_rows();
    if (dtype.is_bool())
      copy_bits(chunk.bits(), chunk.offset(), values.mutable_as<uint8_t>(), begin, count);
    else
      copy_values(
          chunk, merged.codes.empty() || !merged.codes[k] ? nullptr : merged.codes[k].as<int32_t>(),
          text.size(), children.first.empty() ? 0 : children.first[k], values, begin);
    if (dtype.is_string())
      text.insert(text.end(), chunk.text_buffers().begin(), chunk.text_buffers().end());
    if (valid && chunk.validity())
      copy_bits(chunk.validity(), chunk.offset(), valid, begin, count);
    else if (valid)
      set_bits(valid, begin, count);
    begin += count;
  }
  values.seal();
  if (dtype.is_string())
    return Column::strings(rows, std::move(values), std::move(text), std::move(validity), nulls);
  if (dtype.has_items()) {
    const auto make = dtype.is_map() ? Column::maps : Column::lists;
    return make(rows, std::move(values), concatenate(op, dtype.item(), children.columns[0]),
                std::move(validity), nulls, 0);
  }
  if (dtype.is_struct()) {
    std::vector<Column> fields;
    for (size_t f = 0; f < children.columns.size(); ++f)
      fields.push_back(concatenate(op, dtype.fields()[f].dtype, children.columns[f]));
    return Column::structs_at(dtype, rows, std::move(values), std::move(fields),
                              std::move(validity), nulls);
  }
  if (dtype.is_category())
    return Column::categories(rows, std::move(values), std::move(merged.dictionary),
                              std::move(validity), nulls);
  return Column(dtype, rows, std::move(values), std::move(validity), nulls);
}

}  // namespace hr
