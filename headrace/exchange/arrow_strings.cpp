// SPDX-License-Identifier: Apache-2.0
// String views from offsets, from dictionaries, and checked ones.
#include "headrace/exchange/arrow_strings.h"

#include "headrace/base/bits.h"
#include "headrace/base/error.h"
#include "headrace/exec/workers.h"
#include "headrace/memory/ledger.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace hr {

namespace {

constexpr int64_t kViewBytes = sizeof(StringView);

StringView make_view(const char* text, int64_t begin, int64_t size) {
  StringView view{};
  view.size = static_cast<uint32_t>(size);
  if (size <= static_cast<int64_t>(sizeof view.inlined)) {
    if (size > 0) std::memcpy(view.inlined, text + begin, static_cast<size_t>(size));
  } else {
    std::memcpy(view.far.prefix, text + begin, sizeof view.far.prefix);
    view.far.buffer = static_cast<uint32_t>(begin / kTextPart);
    view.far.offset = static_cast<uint32_t>(begin % kTextPart);
  }
  return view;
}

bool is_valid(const uint8_t* validity, int64_t bit) {
  return !validity || get_bit(validity, bit);
}

}  // namespace

template <class Offset>
Buffer views_from_offsets(std::string_view op, int64_t num_rows, const Offset* offsets,
                          TextParts text, const uint8_t* validity, int64_t validity_offset) {
  record_copy(op, "string offsets become views", num_rows * kViewBytes, false);
  Buffer buffer = Buffer::allocate(num_rows * kViewBytes);
  auto* views = buffer.mutable_as<StringView>();
  parallel_morsels(num_rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const int64_t begin = offsets[row], end = offsets[row + 1];
      if (begin < 0 || end < begin || end > text.size_bytes || end - begin > kTextPart)
        throw_error<InvalidArgumentError>(
            op, "the offsets of a string column are not in order",
            {{"row", row}, {"begin", begin}, {"end", end}, {"text_bytes", text.size_bytes}});
      views[row] = is_valid(validity, validity_offset + row)
                       ? make_view(text.text, begin, end - begin)
                       : StringView{};
    }
  });
  return buffer;
}

template <class Index>
Column strings_from_dictionary(std::string_view op, int64_t num_rows, const Index* indices,
                               const Column& dictionary, const uint8_t* validity,
                               int64_t validity_offset) {
  record_copy(op, "dictionary becomes strings", num_rows * kViewBytes, false);
  Buffer buffer = Buffer::allocate(num_rows * kViewBytes);
  auto* views = buffer.mutable_as<StringView>();
  const bool has_nulls = validity || dictionary.null_count() > 0;
  Buffer new_validity = has_nulls ? Buffer::allocate_zeroed(bitmap_bytes(num_rows)) : Buffer();
  uint8_t* bits = has_nulls ? new_validity.mutable_as<uint8_t>() : nullptr;
  const std::span<const StringView> entries = dictionary.values<StringView>();
  parallel_morsels(num_rows, [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      views[row] = StringView{};
      if (!is_valid(validity, validity_offset + row)) continue;
      const uint64_t index = static_cast<uint64_t>(indices[row]);
      if (index >= entries.size())
        throw_error<InvalidArgumentError>(
            op, "an index points outside of its dictionary",
            {{"row", row}, {"index", indices[row]}, {"entries", dictionary.num_rows()}});
      if (dictionary.is_null(static_cast<int64_t>(index))) continue;
      views[row] = entries[index];
      if (bits) set_bit(bits, row, true);
    }
  });
  return Column::strings(num_rows, std::move(buffer), dictionary.text_buffers(),
                         std::move(new_validity), has_nulls ? -1 : 0);
}

Column checked_views(std::string_view op, const Column& column) {
  const std::span<const StringView> views = column.values<StringView>();
  const std::vector<Buffer>& text = column.text_buffers();
  std::atomic<bool> clean{true};
  parallel_morsels(column.num_rows(), [&](Morsel morsel) {
    for (int64_t row = morsel.begin; row < morsel.end; ++row) {
      const StringView& view = views[static_cast<size_t>(row)];
      if (column.is_null(row)) {
        if (view.size != 0) clean = false;
      } else if (view.size > sizeof view.inlined &&
                 (view.far.buffer >= text.size() ||
                  int64_t{view.far.offset} + view.size > text[view.far.buffer].size_bytes())) {
        throw_error<InvalidArgumentError>(op, "a string view leaves its text",
                                          {{"row", row},
                                           {"buffer", view.far.buffer},
                                           {"offset", view.far.offset},
                                           {"bytes", view.size}});
      }
    }
  });
  if (clean) return column;
  record_copy(op, "null strings become empty", column.num_rows() * kViewBytes, false);
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

template Buffer views_from_offsets(std::string_view, int64_t, const int32_t*, TextParts,
                                   const uint8_t*, int64_t);
template Buffer views_from_offsets(std::string_view, int64_t, const int64_t*, TextParts,
                                   const uint8_t*, int64_t);
#define HR_INDEX(T)                                                                           \
  template Column strings_from_dictionary(std::string_view, int64_t, const T*, const Column&, \
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
