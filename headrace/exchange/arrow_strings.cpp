// SPDX-License-Identifier: Apache-2.0
// String views from offsets and checked ones; categories from dictionaries, and their export.
#include "headrace/exchange/arrow_strings.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/base/utf8.h"
#include "headrace/data/dictionary.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/log/ledger.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace hr {

namespace {

constexpr int64_t kViewBytes = sizeof(StringView);
// Whose text the caches hold from one look to the next.
constexpr int64_t kCheckedRows = 1024;
constexpr int64_t kCheckedBytes = 16 << 10;

StringView make_view(const char* text, int64_t begin, int64_t size) {
  StringView view{};
  view.size = static_cast<uint32_t>(size);
  if (size <= static_cast<int64_t>(sizeof view.inlined)) {
    if (size > 0) std::memcpy(view.inlined, text + begin, static_cast<size_t>(size));
  } else {
    std::memcpy(view.indirect.prefix, text + begin, sizeof view.indirect.prefix);
    view.indirect.buffer = static_cast<uint32_t>(begin / kTextPart);
    view.indirect.offset = static_cast<uint32_t>(begin % kTextPart);
  }
  return view;
}

// Behind a short text are zeros.
bool is_inline_ascii(const StringView& view) {
  uint64_t first;
  uint32_t last;
  std::memcpy(&first, view.inlined, sizeof first);
  std::memcpy(&last, view.inlined + sizeof first, sizeof last);
  return view.size <= sizeof view.inlined && ((first | last) & 0x8080808080808080) == 0;
}

bool is_valid(const uint8_t* validity, int64_t bit) {
  return !validity || get_bit(validity, bit);
}

constexpr std::string_view kDecode =
    "decode the bytes with the encoding that they have, in Python as "
    "[None if b is None else b.decode('latin-1') for b in column.cast('binary').to_pylist()]";

void check_text(const TextOrigin& origin, int64_t row, std::string_view text) {
  if (is_ascii(text) || is_valid_utf8(text)) return;
  throw_error<InvalidArgumentError>(origin.op, "text that is not UTF-8",
                                    {{"column", origin.column},
                                     {origin.row_word, origin.first_row + row},
                                     {"byte", valid_utf8_bytes(text)},
                                     {"text", printable(text)}},
                                    kDecode);
}

// Texts that follow each other are looked at together; each on its own where that finds something.
template <class Offset>
void check_texts(const TextOrigin& origin, int64_t first, int64_t last, const Offset* offsets,
                 const char* text, const uint8_t* validity, int64_t validity_offset) {
  const auto between = [&](int64_t from, int64_t to) {
    return std::string_view(text + offsets[from], static_cast<size_t>(offsets[to] - offsets[from]));
  };
  const std::string_view all = between(first, last);
  if (is_ascii(all)) return;
  bool good = is_valid_utf8(all);
  for (int64_t row = first; good && row < last; ++row)  // none begins within a letter
    good = offsets[row] == offsets[last] || (text[offsets[row]] & 0xC0) != 0x80;
  for (int64_t row = first; !good && row < last; ++row)
    if (is_valid(validity, validity_offset + row)) check_text(origin, row, between(row, row + 1));
}

}  // namespace

void check_name(std::string_view op, std::string_view name) {
  if (!is_valid_utf8(name))
    throw_error<InvalidArgumentError>(op, "a name that is not UTF-8", {{"name", printable(name)}},
                                      "rename the column first");
}

template <class Offset>
Buffer views_from_offsets(const TextOrigin& origin, int64_t num_rows, const Offset* offsets,
                          TextParts text, const uint8_t* validity, int64_t validity_offset) {
  record_copy(origin.op, "string offsets become views", num_rows * kViewBytes, false);
  Buffer buffer = Buffer::allocate(num_rows * kViewBytes);
  auto* views = buffer.mutable_as<StringView>();
  parallel_morsels(num_rows, [&](Morsel morsel) {
    for (int64_t first = morsel.begin; first < morsel.end; first += kCheckedRows) {
      const int64_t last = std::min(first + kCheckedRows, morsel.end);
      for (int64_t row = first; row < last; ++row) {
        const int64_t begin = offsets[row], end = offsets[row + 1];
        if (begin < 0 || end < begin || end > text.size_bytes || end - begin > kTextPart)
          throw_error<InvalidArgumentError>(
              origin.op, "the offsets of a string column are not in order",
              {{"row", row}, {"begin", begin}, {"end", end}, {"text_bytes", text.size_bytes}});
        views[row] = is_valid(validity, validity_offset + row)
                         ? make_view(text.text, begin, end - begin)
                         : StringView{};
      }
      check_texts(origin, first, last, offsets, text.text, validity, validity_offset);
    }
  });
  return buffer;
}

StringOffsets offsets_of(std::string_view op, const Column& strings) {
  const int64_t rows = strings.num_rows();
  int64_t bytes = 0;
  for (int64_t row = 0; row < rows; ++row)
    bytes += static_cast<int64_t>(strings.string(row).size());
  if (bytes > std::numeric_limits<int32_t>::max())
    throw_error<UnsupportedError>(op, "a dictionary of more than 2 GiB of text", {{"bytes", bytes}},
                                  "use astype('string') first");
  record_copy(op, "dictionary strings get offsets", bytes + (rows + 1) * 4, false);
  StringOffsets result{Buffer::allocate((rows + 1) * 4), Buffer::allocate(bytes)};
  auto* offsets = result.offsets.mutable_as<int32_t>();
  char* text = bytes > 0 ? result.text.mutable_as<char>() : nullptr;
  int32_t used = 0;
  for (int64_t row = 0; row < rows; ++row) {
    offsets[row] = used;
    const std::string_view from = strings.string(row);
    if (!from.empty()) std::memcpy(text + used, from.data(), from.size());
    used += static_cast<int32_t>(from.size());
  }
  offsets[rows] = used;
  return result;
}

namespace {

template <class Index>
[[noreturn]] void refuse_index(std::string_view op, int64_t row, Index index, int64_t num_entries) {
  throw_error<InvalidArgumentError>(op, "an index points outside of its dictionary",
                                    {{"row", row}, {"index", index}, {"entries", num_entries}});
}

}  // namespace

template <class Index>
Column categories_from_indices(std::string_view op, int64_t num_rows, const Index* indices,
                               const DictionaryPtr& dictionary, int64_t num_entries,
                               const Buffer& codes, const uint8_t* validity,
                               int64_t validity_offset) {
  record_copy(op, "dictionary indices become codes", num_rows * 4, false);
  Buffer buffer = Buffer::allocate(num_rows * 4);
  Buffer new_validity = Buffer::allocate_zeroed(bitmap_bytes(num_rows));
  auto* out = buffer.mutable_as<int32_t>();
  auto* bits = new_validity.mutable_as<uint8_t>();
  const int32_t* lookup = codes ? codes.as<int32_t>() : nullptr;
  parallel_morsels(num_rows, [&](Morsel morsel) {  // morsels begin at whole bytes
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      out[row] = 0;
      if (!is_valid(validity, validity_offset + row)) continue;
      const auto index = static_cast<uint64_t>(indices[row]);
      if (index >= static_cast<uint64_t>(num_entries))
        refuse_index(op, row, indices[row], num_entries);
      const int32_t code = lookup ? lookup[index] : static_cast<int32_t>(index);
      if (code < 0) continue;
      out[row] = code;
      set_bit(bits, row, true);
    }
  });
  return Column::categories(num_rows, std::move(buffer), dictionary, std::move(new_validity), -1);
}

void check_indices(std::string_view op, const Column& indices, int64_t num_entries) {
  if (indices.num_rows() == 0) return;
  const uint32_t* values = indices.values<uint32_t>().data();
  parallel_morsels(indices.num_rows(), [&](Morsel morsel) {
    // A negative index is a large one here; without nulls the loop has no branch but this one.
    bool good = true;
    for (int64_t row = morsel.begin; row < morsel.end; ++row)
      good &= values[row] < static_cast<uint64_t>(num_entries);
    for (int64_t row = morsel.begin; !good && row < morsel.end; ++row)
      if (values[row] >= static_cast<uint64_t>(num_entries) && !indices.is_null(row))
        refuse_index(op, row, static_cast<int32_t>(values[row]), num_entries);
  });
}

Column checked_views(const TextOrigin& origin, const Column& column) {
  const std::span<const StringView> views = column.values<StringView>();
  const std::vector<Buffer>& text = column.text_buffers();
  std::atomic<bool> clean{true};
  parallel_morsels(column.num_rows(), [&](Morsel morsel) {
    // Producers put one text behind the other: these are looked at together.
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
        if (view.size != 0) clean = false;
        continue;
      }
      if (is_inline_ascii(view)) continue;
      if (view.size > sizeof view.inlined &&
          (view.indirect.buffer >= text.size() ||
           int64_t{view.indirect.offset} + view.size > text[view.indirect.buffer].size_bytes()))
        throw_error<InvalidArgumentError>(origin.op, "a string view leaves its text",
                                          {{"row", row},
                                           {"buffer", view.indirect.buffer},
                                           {"offset", view.indirect.offset},
                                           {"bytes", view.size}});
      const std::string_view bytes = column.string(row);
      if (bytes.data() != end || end - begin > kCheckedBytes) {
        check_until(row);
        begin = bytes.data();
      }
      end = bytes.data() + bytes.size();
    }
    check_until(morsel.end);
  });
  if (clean) return column;
  record_copy(origin.op, "null strings become empty", column.num_rows() * kViewBytes, false);
  Buffer buffer = Buffer::allocate(column.num_rows() * kViewBytes);
  Buffer validity = Buffer::allocate_zeroed(bitmap_bytes(column.num_rows()));
  auto* out = buffer.mutable_as<StringView>();
  uint8_t* bits = validity.mutable_as<uint8_t>();
  for (int64_t row = 0; row < column.num_rows(); ++row) {
    const bool valid = !column.is_null(row);
    out[row] = valid ? views[static_cast<size_t>(row)] : StringView{};
    if (valid) set_bit(bits, row, true);
  }
  return Column::strings(column.num_rows(), std::move(buffer), text, std::move(validity),
                         column.null_count());
}

template Buffer views_from_offsets(const TextOrigin&, int64_t, const int32_t*, TextParts,
                                   const uint8_t*, int64_t);
template Buffer views_from_offsets(const TextOrigin&, int64_t, const int64_t*, TextParts,
                                   const uint8_t*, int64_t);
#define HR_INDEX(T)                                                                     \
  template Column categories_from_indices(std::string_view, int64_t, const T*,          \
                                          const DictionaryPtr&, int64_t, const Buffer&, \
                                          const uint8_t*, int64_t);
HR_INDEX(int8_t)
HR_INDEX(int16_t)
HR_INDEX(int32_t)
HR_INDEX(int64_t)
HR_INDEX(uint8_t)
HR_INDEX(uint16_t)
HR_INDEX(uint32_t)
HR_INDEX(uint64_t)
#undef HR_INDEX

}  // namespace hr
